"""Measures who wins how often against whom (BotChat, Figures 5 and 6)."""

from __future__ import annotations

from pathlib import Path

from dialeval.aggregation.measures.design import Design
from dialeval.aggregation.measures.ratings import COLUMNS
from dialeval.aggregation.measures.win_rates import win_rates
from dialeval.schemas.measures import WIN_RATES
from dialeval.stages.measuring import for_cascade, read_judgements, write_measure


def stage(
    settings: Design,
    judgements: list[Path],
    items: list[Path],
    seeds: list[Path],
    table: Path,
    csv: Path,
) -> None:
    """Writes the table `win_rates` of a protocol."""
    frame = read_judgements(judgements, COLUMNS)
    rows = for_cascade(win_rates(frame, settings), "win_rates", judgements, settings)
    write_measure(table, csv, settings.protocol, WIN_RATES, rows)
