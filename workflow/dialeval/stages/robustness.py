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
from dialeval.aggregation.score_arrays import SCORED
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.schemas.robustness import (
    DROPS,
    LADDERS,
    PAIR_COUNTS,
    PAIRS,
    ROBUSTNESS,
    ROBUSTNESS_AVERAGES,
    ROBUSTNESS_DIFFERENCES,
    THETAS,
)
from dialeval.tables import read_tables, write_rows


class Settings(BaseModel, defer_build=True):
    """The thresholds of the sweep, the confidence of the intervals, and what lowers the user's criteria."""

    thetas: list[float]
    confidence: float
    hurt: dict[str, list[str]] = {}


def stage(settings: Settings, pairs: list[Path], judgements: list[Path], folder: Path) -> None:
    """Writes the tables `robustness/*` into a folder, each as Parquet and as CSV."""
    every, given = read_tables(pairs, PAIRS), read_tables(judgements, JUDGEMENTS, SCORED)
    scored = score_pairs(every, given, settings.hurt)
    for table, rows in (
        (PAIR_COUNTS, pair_count_rows(every)),
        (ROBUSTNESS, robustness_rows(scored, settings.confidence)),
        (ROBUSTNESS_AVERAGES, average_rows(scored, settings.confidence)),
        (THETAS, theta_rows(scored, settings.thetas, settings.confidence)),
        (DROPS, drop_rows(scored)),
        (LADDERS, ladder_rows(every, given, settings.confidence, settings.hurt)),
        (ROBUSTNESS_DIFFERENCES, corrected(robustness_differences(scored, settings.confidence))),
    ):
        write_rows(folder, table, rows)
