"""Finds how high judges could come, given how far the raters agree, and what is left of what they miss."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.aggregation.metaeval.ceilings import ceiling_rows
from dialeval.aggregation.metaeval.cells import Filled, gather
from dialeval.aggregation.metaeval.correlations import correlate_cells
from dialeval.aggregation.metaeval.single_opinions import COLUMNS, SingleOpinions
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.schemas.metaeval import ITEMS, RATINGS
from dialeval.schemas.raters import CEILINGS
from dialeval.tables import read_tables, write_rows


class Settings(BaseModel, defer_build=True):
    """How intervals are made, and which corpora belong together."""

    resamples: int
    confidence: float
    random_seed: int
    benchmarks: dict[str, str]
    partial: list[str] = []
    joined: dict[str, dict[str, str]] = {}


def stage(
    settings: Settings,
    items: list[Path],
    ratings: list[Path],
    filled: list[Path],
    judgements: list[Path],
    folder: Path,
) -> None:
    """Writes the table `metaeval/ceilings` into a folder, as Parquet and as CSV."""
    given, judged = read_tables(ratings, RATINGS), read_tables(judgements, JUDGEMENTS, COLUMNS)
    stood_in = Filled(read_tables(filled, RATINGS), settings.partial)
    cells = gather(read_tables(items, ITEMS), given, judged, settings.benchmarks, stood_in, settings.joined)
    how = settings.model_dump(exclude={"benchmarks", "partial", "joined"})
    results = correlate_cells(cells, **how, methods=("pearson",))
    write_rows(folder, CEILINGS, ceiling_rows(results, SingleOpinions(given, judged, stood_in.ratings)))
