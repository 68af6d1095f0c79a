"""What the stages that measure have in common: what they read beside judgements, and how they write their table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

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


def human_lengths(seeds: Iterable[Path]) -> dict[str, int]:
    """Returns the number of human utterances by ChatSEED, of those that serve Arena."""
    rows = read_tables(seeds, SEEDS, ["seed_id", "n_human", "for_arena"]).to_pylist()
    return {row["seed_id"]: row["n_human"] for row in rows if row["for_arena"]}


def write_measure(parquet: Path, csv: Path, protocol: str, table: Table, rows: list[dict[str, Any]]) -> None:
    """Writes the table of a measure under the protocol's name."""
    write_for_people(parquet, csv, under(protocol, table), to_table(table, rows))
