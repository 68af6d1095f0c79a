"""Sums up what models were asked and what it took, by model and protocol."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.aggregation.usage import read_usage, usage_table
from dialeval.engines.prices import Prices
from dialeval.stages.command import run
from dialeval.tables import Provenance, write_for_people


class Settings(BaseModel):
    """The prices of the models that have any."""

    prices: dict[str, Prices] = {}


def stage(settings: Settings, records: list[Path], table: Path, csv: Path, provenance: Provenance) -> None:
    """Writes the table `usage` from the records that the jobs left."""
    usage = usage_table(map(read_usage, records), settings.prices)
    write_for_people(table, csv, "usage", usage, provenance)


if __name__ == "__main__":
    run(stage)
