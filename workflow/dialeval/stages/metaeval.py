"""Stages of meta-evaluation: judges' scores against human ratings, and detection of perturbations."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from dialeval.corpora.items import Rating, iterate_items
from dialeval.corpora.rated_sources import rating_rows
from dialeval.labels.agreement import agreement, annotators, components
from dialeval.measures.average_correlations import average_rows, chinese_rows, language_rows, matrix_rows
from dialeval.measures.corpora import annotator_rows, corpus_rows, imputed_ratings
from dialeval.measures.correlations import Candidates, correlate_cells, correlation_rows, pair_rows, ranking_rows
from dialeval.measures.differences import with_adjusted_p
from dialeval.measures.ensemble_correlations import Ensembles, dimension_ensemble_rows, model_ensemble_rows
from dialeval.measures.reliability import (
    REPEAT_COLUMNS as REPEATS_COLUMNS,
)
from dialeval.measures.reliability import (
    SINGLE_RATING_COLUMNS,
    SingleOpinions,
    ceiling_rows,
    judge_validity_rows,
    repeat_rows,
)
from dialeval.measures.robustness import (
    average_rows as robustness_average_rows,
)
from dialeval.measures.robustness import (
    ladder_rows,
    pair_count_rows,
    robustness_differences,
    robustness_rows,
    score_drop_rows,
    score_pairs,
    threshold_rows,
)
from dialeval.measures.score_cells import SCORED, Imputed, gather
from dialeval.tables.dialogues import JUDGEMENTS
from dialeval.tables.files import read_table, read_tables, to_table, write_for_people, write_rows, write_table
from dialeval.tables.labels import AGREEMENT, ANNOTATORS, LABELS, VARIANCE_COMPONENTS
from dialeval.tables.metaeval import (
    ANNOTATOR_AGREEMENT,
    AVERAGES,
    BY_LANGUAGE,
    CEILINGS,
    CORRELATIONS,
    DIMENSION_ENSEMBLE,
    ITEMS,
    JUDGE_PAIRS,
    JUDGE_VALIDITY,
    MATRICES,
    MODEL_ENSEMBLE,
    NATURAL_CHINESE,
    RANKING_AGREEMENT,
    RATED_CORPORA,
    RATINGS,
    REPEAT_AGREEMENT,
)
from dialeval.tables.robustness import (
    LADDERS,
    PAIR_COUNTS,
    PAIRS,
    ROBUSTNESS,
    ROBUSTNESS_AVERAGES,
    ROBUSTNESS_DIFFERENCES,
    SCORE_DROPS,
    THRESHOLDS,
)

_JUDGED = ("corpus", "language", "item_id", "criterion", "repeat", "value", "scale_min", "scale_max")


class FillRatingsSettings(BaseModel, defer_build=True):
    """The imputer, and the dimensions that corpora are limited to, by corpus."""

    judge: str
    dimensions: dict[str, list[str]] = {}


def impute_ratings(
    settings: FillRatingsSettings,
    items: list[Path],
    ratings: list[Path],
    judgements: Path,
    imputed: Path,
) -> None:
    """Write a table `ratings` with a judge's repeated ratings on the dimensions without human ratings."""
    rated = read_tables(ratings, RATINGS, ["corpus", "dimension"])
    found = list(
        imputed_ratings(
            settings.judge,
            read_tables(items, ITEMS, ["corpus", "language", "item_id"]).to_pylist(),
            {(row["corpus"], row["dimension"]) for row in rated.to_pylist()},
            read_tables([judgements], JUDGEMENTS, list(_JUDGED)).to_pylist(),
            settings.dimensions,
        )
    )
    write_table(imputed, RATINGS, to_table(RATINGS, rating_rows(found)))
    means = [rating for rating in found if rating.round is None]
    for corpus, dimension in dict.fromkeys((rating.corpus, rating.dimension) for rating in means):
        n = sum((rating.corpus, rating.dimension) == (corpus, dimension) for rating in means)
        print(f"{corpus}: {dimension}, without human ratings, is imputed by {settings.judge} on {n} items")
    if not means:
        print(f"every dimension that {settings.judge} rated has ratings in its corpus; nothing is imputed")


class Intervals(BaseModel, defer_build=True):
    """How bootstrap intervals are made."""

    resamples: int
    confidence: float
    random_seed: int

    def intervals(self) -> dict[str, Any]:
        """Return the settings of the intervals, as the measures take them."""
        return self.model_dump(include={*Intervals.model_fields})


class MetaevalSettings(Intervals):
    """Intervals, and how scores and ratings meet.

    Attributes:
        benchmarks: corpus -> the benchmark that it is averaged under.
        partial: the imputer and the ensembles that contain it: they are not compared with imputed ratings.
        joined: by corpus, criterion -> the dimension that was rated.
    """

    benchmarks: dict[str, str]
    partial: list[str] = []
    joined: dict[str, dict[str, str]] = {}


def find_ceilings(
    settings: MetaevalSettings,
    items: list[Path],
    ratings: list[Path],
    imputed: list[Path],
    judgements: list[Path],
    folder: Path,
) -> None:
    """Write the table `metaeval/ceilings`: the highest correlation that the raters' agreement allows."""
    given, judged = read_tables(ratings, RATINGS), read_tables(judgements, JUDGEMENTS, SINGLE_RATING_COLUMNS)
    stood_in = Imputed(read_tables(imputed, RATINGS), settings.partial)
    cells = gather(read_tables(items, ITEMS), given, judged, settings.benchmarks, stood_in, settings.joined)
    results = correlate_cells(cells, **settings.intervals(), methods=("pearson",))
    write_rows(folder, CEILINGS, ceiling_rows(results, SingleOpinions(given, judged, stood_in.ratings)))


class CorrelateSettings(MetaevalSettings):
    """Settings of the correlations: mapping of scores to ratings, published judges, and ensembles.

    Attributes:
        published_as: what judges are among the papers' systems.
        ensembles: judges that are ensembles.
        models: judge -> the model that it is, of models that judge under several names.
        imputer: the judge that imputes ratings; its ratings are also compared with human ratings.
    """

    published_as: dict[str, str] = {}
    ensembles: list[str] = []
    models: dict[str, str] = {}
    imputer: str | None = None


def correlate(
    settings: CorrelateSettings,
    items: list[Path],
    ratings: list[Path],
    imputed: list[Path],
    judgements: list[Path],
    folder: Path,
) -> None:
    """Write the tables of correlations, averages, pairs of judges and agreement of rankings into a folder."""
    cells = gather(
        read_tables(items, ITEMS),
        read_tables(ratings, RATINGS),
        read_tables(judgements, JUDGEMENTS, SCORED),
        settings.benchmarks,
        Imputed(read_tables(imputed, RATINGS), settings.partial),
        settings.joined,
    )
    ranked = Candidates(settings.ensembles, models=settings.models)
    results = correlate_cells(cells, **settings.intervals())
    for table, rows in (
        (CORRELATIONS, correlation_rows(results, settings.published_as)),
        (AVERAGES, average_rows(results, settings.published_as)),
        (JUDGE_PAIRS, pair_rows(results)),
        (RANKING_AGREEMENT, ranking_rows(results, ranked, settings.imputer)),
    ):
        write_rows(folder, table, rows)


class EnsemblesSettings(CorrelateSettings):
    """The same, with the pool of the ensembles.

    Attributes:
        ensemble_size: how many judges an ensemble has.
        ensemble_pool: the judges that may be members; None for all.
    """

    ensemble_size: int
    ensemble_pool: list[str] | None = None


def ensembles(
    settings: EnsemblesSettings,
    items: list[Path],
    ratings: list[Path],
    imputed: list[Path],
    judgements: list[Path],
    folder: Path,
) -> None:
    """Write the tables of ensembles of dimensions and of judges, and of matrices (Tables 8 and 9, Figures 1 and 2)."""
    cells = gather(
        read_tables(items, ITEMS),
        read_tables(ratings, RATINGS),
        read_tables(judgements, JUDGEMENTS, SCORED),
        settings.benchmarks,
        Imputed(read_tables(imputed, RATINGS), settings.partial),
        settings.joined,
    )
    how = settings.intervals()
    candidates = Candidates(settings.ensembles, settings.ensemble_pool, settings.models)
    ensembles = Ensembles(settings.ensemble_size, candidates, settings.published_as, **how)
    for table, rows in (
        (DIMENSION_ENSEMBLE, dimension_ensemble_rows(cells, settings.published_as, **how)),
        (MODEL_ENSEMBLE, model_ensemble_rows(cells, ensembles)),
        (MATRICES, matrix_rows(cells)),
    ):
        write_rows(folder, table, rows)


def tabulate_agreement(
    settings: Intervals,
    labels: Path,
    table: Path,
    csv: Path,
    annotators_table: Path,
    annotators_csv: Path,
    components_table: Path,
    components_csv: Path,
) -> None:
    """Write how far annotators agree, which of them differ, and where the variance of labels comes from."""
    given = read_table(labels, LABELS).to_pandas()
    write_for_people(table, csv, AGREEMENT, to_table(AGREEMENT, agreement(given, **settings.intervals())))
    beside = annotators(given, confidence=settings.confidence)
    write_for_people(annotators_table, annotators_csv, ANNOTATORS, to_table(ANNOTATORS, beside))
    found = to_table(VARIANCE_COMPONENTS, components(given, **settings.intervals()))
    write_for_people(components_table, components_csv, VARIANCE_COMPONENTS, found)


def tabulate_by_language(folder: Path) -> None:
    """Write the tables of correlations by language and by natural Chinese corpus, beside those of xDial-Eval.

    The folder has the tables of correlations and of averages.
    """
    averages, correlations = (
        read_table(folder / f"{table.file}.parquet", table).to_pylist() for table in (AVERAGES, CORRELATIONS)
    )
    write_rows(folder, BY_LANGUAGE, language_rows(averages))
    write_rows(folder, NATURAL_CHINESE, chinese_rows(correlations))


class TabulateRatedSettings(Intervals):
    """Intervals, and by corpus and language which model translated."""

    translated: dict[str, dict[str, str]] = {}


def tabulate_rated(
    settings: TabulateRatedSettings,
    items: list[Path],
    ratings: list[Path],
    imputed: list[Path],
    folder: Path,
) -> None:
    """Write the tables of rated corpora and of their raters' agreement (comp-analysis, Table 1)."""
    every = list(chain.from_iterable(iterate_items(path) for path in items))
    given, stood_in = (
        [Rating(**row) for row in read_tables(paths, RATINGS).to_pylist()] for paths in (ratings, imputed)
    )
    between = annotator_rows(every, [*given, *stood_in], **settings.intervals())
    write_rows(folder, RATED_CORPORA, corpus_rows(every, given, settings.translated, stood_in, between))
    write_rows(folder, ANNOTATOR_AGREEMENT, between)


def tabulate_repeats(settings: Intervals, items: list[Path], judgements: list[Path], folder: Path) -> None:
    """Write the table `metaeval/repeat_agreement`: how far judges agree with themselves over repeats."""
    rated, judged = read_tables(items, ITEMS), read_tables(judgements, JUDGEMENTS, REPEATS_COLUMNS)
    write_rows(folder, REPEAT_AGREEMENT, repeat_rows(rated, judged, **settings.intervals()))


class TabulateJudgeValiditySettings(BaseModel, defer_build=True):
    """The judges and criteria of a protocol, the protocols of its form, and the dialogues' language."""

    judges: list[str]
    criteria: list[str]
    methods: list[str]
    language: str = "en"


def tabulate_judge_validity(
    settings: TabulateJudgeValiditySettings, correlations: list[Path], table: Path, csv: Path
) -> None:
    """Write the table `judge_validity`: the validity of a protocol's judges; empty without `correlations`."""
    rows = judge_validity_rows(read_tables(correlations, CORRELATIONS).to_pylist(), **settings.model_dump())
    write_for_people(table, csv, JUDGE_VALIDITY, to_table(JUDGE_VALIDITY, list(rows)))


class RobustnessSettings(BaseModel, defer_build=True):
    """Thresholds of the sweep, confidence of the intervals, and perturbations that lower the user's criteria."""

    thresholds: list[float]
    confidence: float
    sensitivities: dict[str, list[str]] = {}


def robustness(settings: RobustnessSettings, pairs: list[Path], judgements: list[Path], folder: Path) -> None:
    """Write the tables `robustness/*` into a folder: whether judges notice perturbations (Tables 11 and 12)."""
    every, given = read_tables(pairs, PAIRS), read_tables(judgements, JUDGEMENTS, SCORED)
    scored = score_pairs(every, given, settings.sensitivities)
    for table, rows in (
        (PAIR_COUNTS, pair_count_rows(every)),
        (ROBUSTNESS, robustness_rows(scored, settings.confidence)),
        (ROBUSTNESS_AVERAGES, robustness_average_rows(scored, settings.confidence)),
        (THRESHOLDS, threshold_rows(scored, settings.thresholds, settings.confidence)),
        (SCORE_DROPS, score_drop_rows(scored)),
        (LADDERS, ladder_rows(every, given, settings.confidence, settings.sensitivities)),
        (ROBUSTNESS_DIFFERENCES, with_adjusted_p(robustness_differences(scored, settings.confidence))),
    ):
        write_rows(folder, table, rows)
