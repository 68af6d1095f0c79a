"""What is made once for all worker processes of a test run."""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from pathlib import Path

import pytest


def once(tmp_path_factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Return a path that the first worker process to ask for it made, while the others waited.

    Args:
        name: of the file or folder, below the folder that all workers of this run share.
        make: makes it at the path that it is given.
    """
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if own.name.startswith("popen-") else own  # a worker's own folder lies in that of the run
    path, made = shared / name, shared / f"{name}.made"
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            make(path)
            made.touch()
    return path
