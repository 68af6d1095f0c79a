"""What the stages that measure have in common: what they read beside judgements, and how they write their table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from dialeval.aggregation.measures.design import Design
from dialeval.schemas.botchat import SEEDS
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.schemas.measures import under
from dialeval.schemas.table import Table
from dialeval.tables import read_tables, to_table, write_for_people


def read_judgements(paths: Iterable[Path], columns: Sequence[str]) -> pd.DataFrame:
    """Returns some columns of all judges' tables `judgements`, of what systems said.

    What belongs to no system, such as most rated items, is for meta-evaluation and measures nobody.
    """
    frame: pd.DataFrame = read_tables(paths, JUDGEMENTS, columns).to_pandas()
    return frame.dropna(subset=["left"])


def for_cascade(
    rows: list[dict[str, Any]], measure: str, judgements: Sequence[Path], design: Design
) -> list[dict[str, Any]]:
    """Returns the rows of a measure's table, those of a cascade with what the expensive judge would say."""
    if design.cascade is None:
        return rows
    from dialeval.aggregation.cascade_numbers import COLUMNS, with_cascade  # imports scipy, which few stages need

    return with_cascade(rows, measure, read_tables(judgements, JUDGEMENTS, COLUMNS), design)


def differences_for_cascade(
    rows: list[dict[str, Any]], measure: str, judgements: Sequence[Path], design: Design
) -> list[dict[str, Any]]:
    """Returns the rows of a table of differences, those of a cascade between what the expensive judge would say."""
    if design.cascade is None:
        return rows
    from dialeval.aggregation.cascade_numbers import COLUMNS, differences_with_cascade  # as above

    return differences_with_cascade(rows, measure, read_tables(judgements, JUDGEMENTS, COLUMNS), design)


def human_lengths(seeds: Iterable[Path]) -> dict[str, int]:
    """Returns the number of human utterances by ChatSEED, of those that serve Arena."""
    rows = read_tables(seeds, SEEDS, ["seed_id", "n_human", "for_arena"]).to_pylist()
    return {row["seed_id"]: row["n_human"] for row in rows if row["for_arena"]}


def write_measure(parquet: Path, csv: Path, protocol: str, table: Table, rows: list[dict[str, Any]]) -> None:
    """Writes the table of a measure under the protocol's name."""
    write_for_people(parquet, csv, under(protocol, table), to_table(table, rows))
