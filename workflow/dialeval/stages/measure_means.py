"""Measures what judges score systems at, by criterion."""

from __future__ import annotations

from pathlib import Path

from dialeval.aggregation.measures.design import Design
from dialeval.aggregation.measures.means import means
from dialeval.aggregation.measures.scores import COLUMNS
from dialeval.schemas.measures import MEANS
from dialeval.stages.measuring import for_cascade, read_judgements, write_measure


def stage(
    settings: Design,
    judgements: list[Path],
    items: list[Path],
    seeds: list[Path],
    table: Path,
    csv: Path,
) -> None:
    """Writes the table `means` of a protocol."""
    frame = read_judgements(judgements, COLUMNS)
    rows = for_cascade(means(frame, settings), "means", judgements, settings)
    write_measure(table, csv, settings.protocol, MEANS, rows)
