"""Says which places the systems can have, by what is known of every two of them."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.aggregation.measures.ranks import ranks
from dialeval.schemas.measures import DIFFERENCES, RANKS, under
from dialeval.tables import read_table, to_table, write_for_people


class Settings(BaseModel, defer_build=True):
    """Whose differences these are, and with what confidence all places hold together."""

    protocol: str
    confidence: float


def stage(settings: Settings, differences: Path, table: Path, csv: Path) -> None:
    """Writes the table `ranks` of a protocol."""
    compared = read_table(differences, under(settings.protocol, DIFFERENCES)).to_pylist()
    rows = ranks(compared, settings.confidence)
    write_for_people(table, csv, under(settings.protocol, RANKS), to_table(RANKS, rows))
