"""Measures to how many items a judge gives an answer."""

from __future__ import annotations

from pathlib import Path

from dialeval.aggregation.measures.design import Design
from dialeval.aggregation.measures.rates import rates
from dialeval.aggregation.measures.scores import COLUMNS
from dialeval.schemas.measures import RATES
from dialeval.stages.measuring import for_cascade, read_judgements, write_measure


def stage(
    settings: Design,
    judgements: list[Path],
    items: list[Path],
    seeds: list[Path],
    table: Path,
    csv: Path,
) -> None:
    """Writes the table `rates` of a protocol."""
    frame = read_judgements(judgements, COLUMNS)
    rows = for_cascade(rates(frame, settings), "rates", judgements, settings)
    write_measure(table, csv, settings.protocol, RATES, rows)
