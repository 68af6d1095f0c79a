"""Measures whether judges, and rules, see the same kinds in the same dialogues."""

from __future__ import annotations

from pathlib import Path

from dialeval.aggregation.measures.agreement import agreement
from dialeval.aggregation.measures.design import Design
from dialeval.aggregation.measures.scores import COLUMNS
from dialeval.schemas.measures import AGREEMENT
from dialeval.stages.measuring import read_judgements, write_measure


def stage(
    settings: Design,
    judgements: list[Path],
    items: list[Path],
    seeds: list[Path],
    table: Path,
    csv: Path,
) -> None:
    """Writes the table `agreement` of a protocol."""
    frame = read_judgements(judgements, COLUMNS)
    rows = agreement(frame, settings)
    write_measure(table, csv, settings.protocol, AGREEMENT, rows)
