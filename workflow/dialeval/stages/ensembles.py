"""Ensembles of dimensions and of judges, and what goes with what (comp-analysis, Tables 8 and 9, Figures 1 and 2)."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.aggregation.metaeval.cells import gather
from dialeval.aggregation.metaeval.ensembles import dimension_ensemble_rows, model_ensemble_rows
from dialeval.aggregation.metaeval.matrices import matrix_rows
from dialeval.stages.command import run
from dialeval.tables import Provenance, read_tables, to_table, write_for_people


class Settings(BaseModel):
    """How intervals are made, which corpora are averaged together, and how many judges an ensemble has."""

    resamples: int
    confidence: float
    random_seed: int
    benchmarks: dict[str, str]
    ensemble_size: int


def stage(
    settings: Settings,
    items: list[Path],
    ratings: list[Path],
    scores: list[Path],
    folder: Path,
    provenance: Provenance,
) -> None:
    """Writes three tables `metaeval/*` into a folder, each as Parquet and as CSV."""
    cells = gather(
        read_tables(items, "items"),
        read_tables(ratings, "ratings"),
        read_tables(scores, "scores"),
        settings.benchmarks,
    )
    how = settings.model_dump(exclude={"ensemble_size", "benchmarks"})
    for name, rows in (
        ("dimension_ensemble", dimension_ensemble_rows(cells, **how)),
        ("model_ensemble", model_ensemble_rows(cells, size=settings.ensemble_size, **how)),
        ("matrices", matrix_rows(cells)),
    ):
        table = to_table(f"metaeval/{name}", list(rows))
        write_for_people(folder / f"{name}.parquet", folder / f"{name}.csv", f"metaeval/{name}", table, provenance)


if __name__ == "__main__":
    run(stage)
