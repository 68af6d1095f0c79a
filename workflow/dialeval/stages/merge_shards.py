"""Puts the parts that several jobs wrote for one model into one table."""

from __future__ import annotations

from pathlib import Path

from dialeval.schemas.botchat import GENERATED, SEEDS
from dialeval.tables import read_table, read_tables, write_table


def stage(seeds: Path, parts: list[Path], merged: Path) -> None:
    """Writes the rows of all parts as one table, in the order of the seeds, as one job would have."""
    order = {seed_id: number for number, seed_id in enumerate(read_table(seeds, SEEDS)["seed_id"].to_pylist())}
    table = read_tables(parts, GENERATED)
    rows = sorted(range(len(table)), key=lambda row: order[table["seed_id"][row].as_py()])
    write_table(merged, GENERATED, table.take(rows))
