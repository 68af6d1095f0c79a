"""Gathers what became of the utterances of all translated corpora."""

from __future__ import annotations

from pathlib import Path

from dialeval.schemas.translation import TRANSLATED_CORPORA
from dialeval.tables import read_tables, write_for_people


def stage(counts: list[Path], corpora: Path) -> None:
    """Writes the table `translation/corpora`, as Parquet and, beside it, as CSV."""
    table = read_tables(counts, TRANSLATED_CORPORA)
    write_for_people(corpora, corpora.with_suffix(".csv"), TRANSLATED_CORPORA, table)
