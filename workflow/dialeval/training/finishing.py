"""A folder of trained weights that appears whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dialeval.errors import UserError
from dialeval.training.digest import make_readable


@contextmanager
def finished_folder(path: Path) -> Iterator[Path]:
    """Gives a temporary folder beside `path`; on success it takes the place of `path`, which anybody may read.

    Raises:
        UserError: the disk is full or the folder not writable.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        try:
            yield temporary
            make_readable(temporary)
            for file in temporary.rglob("*"):
                if file.is_file():
                    _to_disk(file)
            if path.is_dir():  # what an earlier run left, or an empty folder that was made for it
                shutil.rmtree(path)
            temporary.replace(path)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    except OSError as error:
        raise UserError(
            f"{path} cannot be written: {error.strerror or error}; check the rights and the free space of that "
            "disk, then run the same command again: the training goes on from its last checkpoint"
        ) from error


def _to_disk(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
