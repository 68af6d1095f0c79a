"""Sums up what models were asked and what it took, by model and protocol."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.aggregation.usage import read_usage, usage_table
from dialeval.engines.prices import Prices
from dialeval.engines.spending.ledger import FOLDER, Ledger
from dialeval.schemas.shared import USAGE
from dialeval.tables import write_for_people


class Settings(BaseModel, defer_build=True):
    """The prices of the models that have any, and under which digest the ledger has their spending."""

    prices: dict[str, Prices] = {}
    spending: dict[str, str] = {}


def stage(settings: Settings, records: list[Path], store: Path, table: Path, csv: Path) -> None:
    """Writes the table `usage` from the records that the jobs left and the ledger of what was spent."""
    spent = Ledger(store / FOLDER).by_name(settings.spending)
    usage = usage_table(map(read_usage, records), settings.prices, spent)
    write_for_people(table, csv, USAGE, usage)
