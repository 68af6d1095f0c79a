"""Measures how many dialogues pass for human at the length of the human one (BotChat, Figure 7)."""

from __future__ import annotations

from pathlib import Path

from dialeval.aggregation.measures.design import Design
from dialeval.aggregation.measures.pass_rates import pass_rates_at_gt_length
from dialeval.aggregation.measures.passes import COLUMNS
from dialeval.schemas.measures import PASS_RATES_AT_GT_LENGTH
from dialeval.stages.measuring import human_lengths, read_judgements, write_measure


def stage(
    settings: Design,
    judgements: list[Path],
    items: list[Path],
    seeds: list[Path],
    table: Path,
    csv: Path,
) -> None:
    """Writes the table `pass_rates_at_gt_length` of a protocol."""
    frame = read_judgements(judgements, COLUMNS)
    rows = pass_rates_at_gt_length(frame, settings, human_lengths(seeds))
    write_measure(table, csv, settings.protocol, PASS_RATES_AT_GT_LENGTH, rows)
