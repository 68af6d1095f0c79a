"""What stands in the user's files, as a digest, so that other content is noticed whatever its time stamp says.

`cp -p`, `rsync -a`, `unzip` and `mv` put files in the place of others that look older than what was made of these. Time
stamps therefore decide nothing here. They only save reading a large file again: what was computed of it is kept in the
user's cache for as long as its size, its inode, the time of its content and that of its last change of any kind
(`ctime`, which no tool can set) are the same.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from dialeval.errors import UserError
from dialeval.user_cache import cache_folder

SMALL = 1 << 20
"""Bytes up to which a file is read every time, which is sooner done than looking it up."""
SETTLED = 2.0
"""Seconds that a file must have been left alone for: within a tick of a file system's clock, two changes look alike."""


def content_digest(paths: Iterable[Path]) -> str:
    """Returns a digest of what stands in files, in their order; empty without any. Their names and times do not count.

    A folder in the place of a file is no mistake here: whoever reads it says what is wrong with it.

    Raises:
        UserError: a file cannot be read.
    """
    digests = [_file_digest(path) for path in paths]
    return hashlib.sha256("".join(digests).encode()).hexdigest() if digests else ""


def kept(kind: str, files: Sequence[Path], compute: Callable[[], str]) -> str:
    """Returns what is computed of files, or what was computed when they were last seen as they are now.

    Where nothing can be kept it is computed again. Processes may do this at the same time.

    Args:
        kind: what is computed.
        files: everything that it is computed of.
        compute: reads them.

    Raises:
        OSError: a file cannot be looked at.
    """
    paths = [str(path.resolve()) for path in files]
    seen = _looks(files)
    name = hashlib.sha256(json.dumps([kind, paths]).encode()).hexdigest()[:32]
    place = _folder() / f"{name}.json"
    with suppress(OSError, ValueError, KeyError, TypeError):
        found = json.loads(place.read_bytes())
        if found["paths"] == paths and found["seen"] == seen:
            return str(found["digest"])
    settled = all(time.time_ns() - changed > SETTLED * 1e9 for *_, changed in seen)
    digest = compute()
    if settled and seen == _looks(files):
        _keep(place, json.dumps({"paths": paths, "seen": seen, "digest": digest}))
    return digest


def _file_digest(path: Path) -> str:
    try:
        if path.is_dir():
            return "a folder"
        if path.stat().st_size <= SMALL:
            return _read(path)
        return kept("file", [path], partial(_read, path))
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}; see to its rights") from error


def _read(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _looks(files: Iterable[Path]) -> list[list[int]]:
    """Returns what changes when a file's content does, or another file takes its place; the last is its `ctime`."""
    found = [path.stat() for path in files]
    return [[of.st_size, of.st_ino, of.st_mtime_ns, of.st_ctime_ns] for of in found]


def _folder() -> Path:
    return cache_folder() / "contents"


def _keep(place: Path, text: str) -> None:
    with suppress(OSError):  # a full disk, or a home that is only read: it is computed again the next time
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=place.parent, prefix=place.name, delete=False) as part:
            part.write(text)
        Path(part.name).replace(place)
