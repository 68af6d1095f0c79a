"""Measures how many questions of a checklist are answered with yes."""

from __future__ import annotations

from pathlib import Path

from dialeval.aggregation.measures.checklist import checklist
from dialeval.aggregation.measures.design import Design
from dialeval.aggregation.measures.scores import COLUMNS
from dialeval.schemas.measures import CHECKLIST
from dialeval.stages.measuring import for_cascade, read_judgements, write_measure


def stage(
    settings: Design,
    judgements: list[Path],
    items: list[Path],
    seeds: list[Path],
    table: Path,
    csv: Path,
) -> None:
    """Writes the table `checklist` of a protocol."""
    frame = read_judgements(judgements, COLUMNS)
    rows = for_cascade(checklist(frame, settings), "checklist", judgements, settings)
    write_measure(table, csv, settings.protocol, CHECKLIST, rows)
