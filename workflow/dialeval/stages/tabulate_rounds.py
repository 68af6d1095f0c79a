"""Gathers the rounds in which the judges of a protocol were asked."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.schemas.measures import ADAPTIVE_ROUNDS, under
from dialeval.tables import read_tables, write_for_people


class Settings(BaseModel, defer_build=True):
    """The protocol, under whose name the table stands."""

    protocol: str


def stage(settings: Settings, rounds: list[Path], table: Path, csv: Path) -> None:
    """Writes the table `adaptive_rounds` of a protocol."""
    kind = under(settings.protocol, ADAPTIVE_ROUNDS)
    write_for_people(table, csv, kind, read_tables(rounds, ADAPTIVE_ROUNDS))
