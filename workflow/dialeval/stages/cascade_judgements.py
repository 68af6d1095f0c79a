"""Puts the judgements of a cascade's two judges together: the second's where it was asked, else the first's."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.aggregation.cascades import as_one
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.tables import read_table, write_table


class Settings(BaseModel, defer_build=True):
    """The cascade's name as a judge."""

    name: str


def stage(settings: Settings, first: Path, then: Path, cascade: Path) -> None:
    """Writes the table `judgements` of the cascade."""
    table = as_one(read_table(first, JUDGEMENTS), read_table(then, JUDGEMENTS), settings.name)
    write_table(cascade, JUDGEMENTS, table)
