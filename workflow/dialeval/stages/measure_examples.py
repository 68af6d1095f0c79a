"""Picks the dialogues that show each kind most clearly."""

from __future__ import annotations

from pathlib import Path

from dialeval.aggregation.measures.design import Design
from dialeval.aggregation.measures.examples import COLUMNS, examples
from dialeval.schemas.measures import EXAMPLES
from dialeval.stages.measuring import read_judgements, write_measure


def stage(
    settings: Design,
    judgements: list[Path],
    items: list[Path],
    seeds: list[Path],
    table: Path,
    csv: Path,
) -> None:
    """Writes the table `examples` of a protocol."""
    frame = read_judgements(judgements, COLUMNS)
    rows = examples(frame, settings, items)
    write_measure(table, csv, settings.protocol, EXAMPLES, rows)
