"""The file of what an embedded model learned: numbers and texts, which anyone may pass on and open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dialeval.engines.embedded.evaluation import ReportRow
from dialeval.engines.embedded.learning import VERSION, Learned, learner_of
from dialeval.engines.embedded.plain_data import packed, unpacked
from dialeval.errors import UserError

FORMAT = 1
"""Raised by hand when what is written here is laid out otherwise."""
_REMEDY = "delete it, and the next run learns it again"


def learned_bytes(learned: Learned) -> bytes:
    """Returns the file of a learned model; what was learned alike is the same file."""
    return packed({"versions": _versions(), "learned": learned}, _classes(learned.method))


def read_learned(path: Path, method: str) -> Learned:
    """Reads what `learned_bytes` wrote of a method; the file may be from anyone.

    Raises:
        UserError: it is not such a model, a damaged one, or one that another version wrote.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}; {_REMEDY}") from error
    if not content.startswith(b"PK"):
        raise UserError(
            f"{path} is not a learned embedded model, or one of an earlier version, which was a pickle: such a file "
            f"can run what it likes and is not opened; {_REMEDY}"
        )
    try:
        found: Any = unpacked(content, _classes(method))
        versions, learned = found["versions"], found["learned"]
        if versions == _versions() and (not isinstance(learned, Learned) or learned.method != method):
            raise ValueError("it holds something else")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        versions = _versions_written(content)  # another version may have had classes that there are no more
        if versions in (None, _versions()):
            raise UserError(f"{path} is damaged, or no learned embedded model ({error!s:.200}); {_REMEDY}") from error
    if versions != _versions():
        raise UserError(
            f"{path} was learned with other versions ({versions}) than the ones in use ({_versions()}); {_REMEDY}"
        )
    assert isinstance(learned, Learned)
    return learned


def _classes(method: str) -> dict[str, type]:
    return {of.__name__: of for of in (Learned, ReportRow, *learner_of(method).classes)}


def _versions_written(content: bytes) -> dict[str, int] | None:
    """Returns the versions that a file says it is of; None where it cannot be read so far."""
    try:
        versions = unpacked(content, {}, "versions")
    except ValueError:
        return None
    return versions if isinstance(versions, dict) else None


def _versions() -> dict[str, int]:
    return {"file": FORMAT, "learning": VERSION}
