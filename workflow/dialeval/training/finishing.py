"""A folder of trained weights that appears whole or not at all, and is found again by the training that made it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dialeval.errors import UserError
from dialeval.schemas.training import TRAINING_CURVE, TRAINING_RUNS, TRAINING_SCORES
from dialeval.tables import to_table, write_table
from dialeval.training.digest import make_readable
from dialeval.whole_files import refuse_links


@contextmanager
def finished_folder(path: Path) -> Iterator[Path]:
    """Gives a temporary folder beside `path`; on success it takes the place of `path`, which anybody may read.

    Raises:
        UserError: the disk is full or the folder not writable.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
    refuse_links(path)
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


def write_record(
    folder: Path,
    judge: str,
    scores: Sequence[dict[str, Any]],
    curve: Sequence[Mapping[str, Any]],
    run: dict[str, Any],
) -> None:
    """Writes the record of a training beside what it gave: tables of scores held back, of the curve, and of the run.

    Args:
        folder: of what it gave.
        judge: the name of who was trained.
        scores: rows of `training_scores`.
        curve: rows of `training_curve`, without the judge.
        run: the row of `training_runs`.
    """
    for name, table, rows in (
        ("scores", TRAINING_SCORES, scores),
        ("curve", TRAINING_CURVE, [{"judge": judge, **row} for row in curve]),
        ("run", TRAINING_RUNS, [run]),
    ):
        write_table(folder / f"{name}.parquet", table, to_table(table, rows))


def keep(folder: Path, kept: Path) -> None:
    """Keeps a finished folder where the same training finds it again, without a second copy where the disk allows it.

    Args:
        folder: what a training gave.
        kept: where it goes; named by everything that decides what is in it.
    """
    with finished_folder(kept) as temporary:
        _link(folder, temporary)


def take(kept: Path, folder: Path) -> None:
    """Puts what the same training gave before, where `keep` has put it, into its place."""
    with finished_folder(folder) as temporary:
        _link(kept, temporary)


def _link(source: Path, target: Path) -> None:
    for path in source.rglob("*"):
        place = target / path.relative_to(source)
        if path.is_dir():
            place.mkdir(exist_ok=True)
        elif not path.name.startswith("."):  # marks of Snakemake's
            place.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(path, place)
            except OSError:
                shutil.copy2(path, place)


def _to_disk(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
