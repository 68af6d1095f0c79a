"""Says how far the judges of a protocol can be trusted on its criteria, by the rated corpora of the same run."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.aggregation.trust import trust_rows
from dialeval.schemas.metaeval import CORRELATIONS
from dialeval.schemas.trust import TRUST
from dialeval.tables import read_tables, to_table, write_for_people


class Settings(BaseModel, defer_build=True):
    """The judges and criteria of a protocol, the protocols of its form, and the dialogues' language."""

    judges: list[str]
    criteria: list[str]
    methods: list[str]
    language: str = "en"


def stage(settings: Settings, correlations: list[Path], table: Path, csv: Path) -> None:
    """Writes the table `trust`; without `correlations` nothing is known."""
    rows = trust_rows(read_tables(correlations, CORRELATIONS).to_pylist(), **settings.model_dump())
    write_for_people(table, csv, TRUST, to_table(TRUST, list(rows)))
