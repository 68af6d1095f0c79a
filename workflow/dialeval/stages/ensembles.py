"""Ensembles of dimensions and of judges, and what goes with what (comp-analysis, Tables 8 and 9, Figures 1 and 2)."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.aggregation.metaeval.best_judges import Candidates
from dialeval.aggregation.metaeval.cells import Filled, gather
from dialeval.aggregation.metaeval.dimension_ensembles import dimension_ensemble_rows
from dialeval.aggregation.metaeval.matrices import matrix_rows
from dialeval.aggregation.metaeval.model_ensembles import Ensembles, model_ensemble_rows
from dialeval.aggregation.score_arrays import SCORED
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.schemas.metaeval import DIMENSION_ENSEMBLE, ITEMS, MATRICES, MODEL_ENSEMBLE, RATINGS
from dialeval.tables import read_tables, write_rows


class Settings(BaseModel, defer_build=True):
    """How intervals are made, which corpora are averaged, and what ensembles of judges are made of.

    Attributes:
        published_as: what judges are among the papers' systems.
        ensemble_size: how many judges an ensemble has.
        ensemble_pool: the judges that may be members; None for all.
        ensembles: judges that are ensembles already.
        models: judge -> the model that it is, of models that judge under several names.
        partial: who is not compared with what a judge filled in: that judge, and ensembles with it.
    """

    resamples: int
    confidence: float
    random_seed: int
    benchmarks: dict[str, str]
    published_as: dict[str, str] = {}
    ensemble_size: int
    ensemble_pool: list[str] | None = None
    ensembles: list[str] = []
    models: dict[str, str] = {}
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
    """Writes three tables `metaeval/*` into a folder, each as Parquet and as CSV."""
    cells = gather(
        read_tables(items, ITEMS),
        read_tables(ratings, RATINGS),
        read_tables(judgements, JUDGEMENTS, SCORED),
        settings.benchmarks,
        Filled(read_tables(filled, RATINGS), settings.partial),
        settings.joined,
    )
    how = settings.model_dump(include={"resamples", "confidence", "random_seed"})
    candidates = Candidates(settings.ensembles, settings.ensemble_pool, settings.models)
    ensembles = Ensembles(settings.ensemble_size, candidates, settings.published_as, **how)
    for table, rows in (
        (DIMENSION_ENSEMBLE, dimension_ensemble_rows(cells, settings.published_as, **how)),
        (MODEL_ENSEMBLE, model_ensemble_rows(cells, ensembles)),
        (MATRICES, matrix_rows(cells)),
    ):
        write_rows(folder, table, rows)
