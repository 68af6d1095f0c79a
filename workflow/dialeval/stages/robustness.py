"""Do judges notice damage? Ratios, averages, a sweep of theta, score drops and severity ladders (Tables 11 and 12)."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.aggregation.differences import corrected
from dialeval.aggregation.robustness import (
    average_rows,
    drop_rows,
    ladder_rows,
    pair_count_rows,
    robustness_rows,
    score_pairs,
    theta_rows,
)
from dialeval.aggregation.robustness_differences import robustness_differences
from dialeval.stages.command import run
from dialeval.tables import Provenance, read_tables, to_table, write_for_people


class Settings(BaseModel):
    """The thresholds of the sweep, and the confidence of the intervals."""

    thetas: list[float]
    confidence: float


def stage(settings: Settings, pairs: list[Path], scores: list[Path], folder: Path, provenance: Provenance) -> None:
    """Writes the tables `robustness/*` into a folder, each as Parquet and as CSV."""
    every, given = read_tables(pairs, "pairs"), read_tables(scores, "scores")
    scored = score_pairs(every, given)
    for name, rows in (
        ("pairs", pair_count_rows(every)),
        ("robustness", robustness_rows(scored, settings.confidence)),
        ("averages", average_rows(scored, settings.confidence)),
        ("thetas", theta_rows(scored, settings.thetas, settings.confidence)),
        ("drops", drop_rows(scored)),
        ("ladders", ladder_rows(every, given, settings.confidence)),
        ("differences", corrected(robustness_differences(scored, settings.confidence))),
    ):
        table = to_table(f"robustness/{name}", list(rows))
        write_for_people(folder / f"{name}.parquet", folder / f"{name}.csv", f"robustness/{name}", table, provenance)


if __name__ == "__main__":
    run(stage)
