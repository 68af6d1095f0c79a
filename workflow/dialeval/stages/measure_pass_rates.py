"""Measures how many of a system's dialogues pass for human (BotChat, Figure 4)."""

from __future__ import annotations

from pathlib import Path

from dialeval.aggregation.measures.design import Design
from dialeval.aggregation.measures.pass_rates import pass_rates
from dialeval.aggregation.measures.passes import COLUMNS
from dialeval.schemas.measures import PASS_RATES
from dialeval.stages.measuring import read_judgements, write_measure


def stage(
    settings: Design,
    judgements: list[Path],
    items: list[Path],
    seeds: list[Path],
    table: Path,
    csv: Path,
) -> None:
    """Writes the table `pass_rates` of a protocol."""
    frame = read_judgements(judgements, COLUMNS)
    rows = pass_rates(frame, settings)
    write_measure(table, csv, settings.protocol, PASS_RATES, rows)
