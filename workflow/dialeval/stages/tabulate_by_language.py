"""Lays correlations out by language and by natural Chinese corpus, with the rows that xDial-Eval prints."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.aggregation.metaeval.by_language import chinese_rows, language_rows
from dialeval.schemas.by_language import BY_LANGUAGE, NATURAL_CHINESE
from dialeval.schemas.metaeval import AVERAGES, CORRELATIONS
from dialeval.tables import read_tables, write_rows


class Settings(BaseModel, defer_build=True):
    """Nothing is to be set."""


def stage(settings: Settings, averages: Path, correlations: Path, folder: Path) -> None:
    """Writes both tables into a folder, each as Parquet and as CSV."""
    for table, rows in (
        (BY_LANGUAGE, language_rows(read_tables([averages], AVERAGES).to_pylist())),
        (NATURAL_CHINESE, chinese_rows(read_tables([correlations], CORRELATIONS).to_pylist())),
    ):
        write_rows(folder, table, rows)
