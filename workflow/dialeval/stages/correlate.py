"""Correlates judges' scores with ratings: per corpus and language, averaged, and judge against judge."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.aggregation.metaeval.cells import gather
from dialeval.aggregation.metaeval.correlations import average_rows, correlate_cells, correlation_rows
from dialeval.aggregation.metaeval.judge_pairs import pair_rows
from dialeval.aggregation.metaeval.rankings import ranking_rows
from dialeval.stages.command import run
from dialeval.tables import Provenance, read_tables, to_table, write_for_people


class Settings(BaseModel):
    """How intervals are made, and which corpora are averaged together."""

    resamples: int
    confidence: float
    random_seed: int
    benchmarks: dict[str, str]


def stage(
    settings: Settings,
    items: list[Path],
    ratings: list[Path],
    scores: list[Path],
    folder: Path,
    provenance: Provenance,
) -> None:
    """Writes four tables `metaeval/*` into a folder, each as Parquet and as CSV."""
    cells = gather(
        read_tables(items, "items"),
        read_tables(ratings, "ratings"),
        read_tables(scores, "scores"),
        settings.benchmarks,
    )
    results = correlate_cells(cells, **settings.model_dump(exclude={"benchmarks"}))
    for name, rows in (
        ("correlations", correlation_rows(results)),
        ("averages", average_rows(results)),
        ("judge_pairs", pair_rows(results)),
        ("ranking_agreement", ranking_rows(results)),
    ):
        table = to_table(f"metaeval/{name}", list(rows))
        write_for_people(folder / f"{name}.parquet", folder / f"{name}.csv", f"metaeval/{name}", table, provenance)


if __name__ == "__main__":
    run(stage)
