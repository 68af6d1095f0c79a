"""How far judges agree with themselves from one repeat to the next."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.aggregation.metaeval.repeats import COLUMNS, repeat_rows
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.schemas.metaeval import ITEMS
from dialeval.schemas.raters import REPEAT_AGREEMENT
from dialeval.tables import read_tables, write_rows


class Settings(BaseModel, defer_build=True):
    """How intervals are made."""

    resamples: int
    confidence: float
    random_seed: int


def stage(settings: Settings, items: list[Path], judgements: list[Path], folder: Path) -> None:
    """Writes the table `metaeval/repeat_agreement` into a folder, as Parquet and as CSV."""
    rated, judged = read_tables(items, ITEMS), read_tables(judgements, JUDGEMENTS, COLUMNS)
    write_rows(folder, REPEAT_AGREEMENT, repeat_rows(rated, judged, **settings.model_dump()))
