"""Counts what judges learn from."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.schemas.training import TRAINING_DATA
from dialeval.tables import write_rows
from dialeval.training.pairs.counting import data_rows


class Settings(BaseModel, defer_build=True):
    """Nothing is to be set."""


def stage(settings: Settings, examples: list[Path], overlaps: list[Path], folder: Path) -> None:
    """Writes the table `training/data` as Parquet and CSV."""
    write_rows(folder, TRAINING_DATA, data_rows(examples, overlaps))
