"""Compares every two systems by whatever else is measured of them."""

from __future__ import annotations

from pathlib import Path

from dialeval.aggregation.measures.design import Design
from dialeval.aggregation.measures.differences import COLUMNS, differences
from dialeval.schemas.measures import DIFFERENCES
from dialeval.stages.measuring import differences_for_cascade, human_lengths, read_judgements, write_measure
from dialeval.tables import read_tables


def stage(
    settings: Design,
    judgements: list[Path],
    ratings: list[Path],
    seeds: list[Path],
    table: Path,
    csv: Path,
) -> None:
    """Writes the table `differences` of a protocol, those of its ratings, which are made with them, first."""
    of_ratings = read_tables(ratings, DIFFERENCES).to_pylist()
    frame = read_judgements(judgements, COLUMNS)
    compared = differences(frame, settings, human_lengths(seeds))
    rows = [*of_ratings, *differences_for_cascade(compared, "differences", judgements, settings)]
    write_measure(table, csv, settings.protocol, DIFFERENCES, rows)
