"""Correlates judges' scores with ratings: per corpus and language, averaged, and judge against judge."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.aggregation.metaeval.averages import average_rows
from dialeval.aggregation.metaeval.best_judges import Candidates
from dialeval.aggregation.metaeval.cells import Filled, gather
from dialeval.aggregation.metaeval.correlations import correlate_cells, correlation_rows
from dialeval.aggregation.metaeval.judge_pairs import pair_rows
from dialeval.aggregation.metaeval.rankings import ranking_rows
from dialeval.aggregation.score_arrays import SCORED
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.schemas.metaeval import AVERAGES, CORRELATIONS, ITEMS, JUDGE_PAIRS, RANKING_AGREEMENT, RATINGS
from dialeval.tables import read_tables, write_rows


class Settings(BaseModel, defer_build=True):
    """How intervals are made, which corpora are averaged together, and what judges are: of the papers, or ensembles.

    Attributes:
        models: judge -> the model that it is, of models that judge under several names.
        fill: the judge that fills in what nobody rated, whose ratings are set against people's as well.
        partial: who is not compared with what a judge filled in: that judge, and ensembles with it.
    """

    resamples: int
    confidence: float
    random_seed: int
    benchmarks: dict[str, str]
    published_as: dict[str, str]
    ensembles: list[str] = []
    models: dict[str, str] = {}
    fill: str | None = None
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
    """Writes four tables `metaeval/*` into a folder, each as Parquet and as CSV."""
    cells = gather(
        read_tables(items, ITEMS),
        read_tables(ratings, RATINGS),
        read_tables(judgements, JUDGEMENTS, SCORED),
        settings.benchmarks,
        Filled(read_tables(filled, RATINGS), settings.partial),
        settings.joined,
    )
    how = settings.model_dump(include={"resamples", "confidence", "random_seed"})
    ranked = Candidates(settings.ensembles, models=settings.models)
    results = correlate_cells(cells, **how)
    for table, rows in (
        (CORRELATIONS, correlation_rows(results, settings.published_as)),
        (AVERAGES, average_rows(results, settings.published_as)),
        (JUDGE_PAIRS, pair_rows(results)),
        (RANKING_AGREEMENT, ranking_rows(results, ranked, settings.fill)),
    ):
        write_rows(folder, table, rows)
