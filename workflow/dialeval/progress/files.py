"""How far each job is that asks models, in small files that the run, a live page and later readers look at.

A job writes `results/.progress/<its log's path>/<what it asks>.json` when it begins to ask, every few seconds, and at
its end; nobody else writes there. The files of an earlier run are taken away when a run begins.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from dialeval.errors import UserError
from dialeval.whole_files import refuse_links, write_new

FOLDER = ".progress"
_LOGS = "logs"
_UNFIT = re.compile(r"[^\w.-]+")
_folder: list[Path] = []


@dataclass(frozen=True)
class SoFar:
    """How far a job is with what it asks one model.

    Attributes:
        title: what is asked of whom.
        unit: what is counted.
        done: answered, found in the store, or failed.
        total: how many there are in all; None where that is not known yet.
        stored, failed: of those done.
        tokens: written by the model.
        seconds: since it began.
        state: `running` or `done`; one that was killed stays `running`.
    """

    title: str
    unit: str
    done: int
    total: int | None
    stored: int
    failed: int
    tokens: int
    seconds: float
    state: str

    @property
    def asked(self) -> int:
        """How many the model was asked, failures included."""
        return self.done - self.stored


def tell_for(results_dir: Path, log: Path | None) -> None:
    """Has what this process asks be told under the log of its job; one whose log lies elsewhere tells nothing."""
    name = job_name(results_dir, log) if log else ""
    _folder[:] = [results_dir / FOLDER / name] if name else []


def job_name(results_dir: Path, log: Path) -> str:
    """Returns what the files of a job are called: its log's path below the logs; empty for one that lies elsewhere."""
    logs = results_dir / _LOGS
    return log.relative_to(logs).with_suffix("").as_posix() if log.is_relative_to(logs) else ""


def write(so_far: SoFar) -> None:
    """Writes how far this process is, whole or not at all; what cannot be written is no reason to stop asking."""
    for folder in _folder:
        path = folder / f"{_UNFIT.sub('_', so_far.title)}.json"
        with suppress(OSError, UserError):
            refuse_links(path)
            folder.mkdir(parents=True, exist_ok=True)
            write_new(path, json.dumps(asdict(so_far)) + "\n")


def forget(results_dir: Path) -> None:
    """Takes the files of an earlier run away."""
    shutil.rmtree(results_dir / FOLDER, ignore_errors=True)


def read_all(results_dir: Path) -> dict[str, list[SoFar]]:
    """Returns how far the jobs of the last run are or were, by their names; empty before any has asked."""
    folder = results_dir / FOLDER
    found: dict[str, list[SoFar]] = {}
    for path in sorted(folder.rglob("*.json")):
        found.setdefault(path.parent.relative_to(folder).as_posix(), []).extend(_read(path))
    return found


def read_job(results_dir: Path, name: str) -> list[SoFar]:
    """Returns how far one job is or was, by model asked."""
    return [one for path in sorted((results_dir / FOLDER / name).glob("*.json")) for one in _read(path)]


def _read(path: Path) -> Iterator[SoFar]:
    with suppress(OSError, ValueError, TypeError):  # one that is just being replaced, or is of another version
        yield SoFar(**json.loads(path.read_text(encoding="utf-8")))
