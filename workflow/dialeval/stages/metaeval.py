"""Stages that compare scores of judges with ratings by people, and tell which perturbations judges notice."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from pydantic import BaseModel

from dialeval.corpora.items import Rating, iterate_items
from dialeval.corpora.rated_items import rating_rows
from dialeval.labels.agreement import agreement, annotators
from dialeval.measures.differences import corrected
from dialeval.measures.metaeval.averages import average_rows, chinese_rows, language_rows, matrix_rows
from dialeval.measures.metaeval.cells import SCORED, Filled, gather
from dialeval.measures.metaeval.correlations import (
    Candidates,
    correlate_cells,
    correlation_rows,
    pair_rows,
    ranking_rows,
)
from dialeval.measures.metaeval.ensembles import Ensembles, dimension_ensemble_rows, model_ensemble_rows
from dialeval.measures.metaeval.reliability import (
    REPEAT_COLUMNS as REPEATS_COLUMNS,
)
from dialeval.measures.metaeval.reliability import (
    SINGLE_RATING_COLUMNS,
    SingleOpinions,
    ceiling_rows,
    repeat_rows,
    trust_rows,
)
from dialeval.measures.rated_corpora import annotator_rows, corpus_rows, filled_ratings
from dialeval.measures.robustness import (
    average_rows as robustness_average_rows,
)
from dialeval.measures.robustness import (
    drop_rows,
    ladder_rows,
    pair_count_rows,
    robustness_differences,
    robustness_rows,
    score_pairs,
    theta_rows,
)
from dialeval.tables.dialogues import JUDGEMENTS
from dialeval.tables.files import read_table, read_tables, to_table, write_for_people, write_rows, write_table
from dialeval.tables.labels import AGREEMENT, ANNOTATORS, LABELS
from dialeval.tables.metaeval import (
    ANNOTATOR_AGREEMENT,
    AVERAGES,
    BY_LANGUAGE,
    CEILINGS,
    CORRELATIONS,
    DIMENSION_ENSEMBLE,
    ITEMS,
    JUDGE_PAIRS,
    MATRICES,
    MODEL_ENSEMBLE,
    NATURAL_CHINESE,
    RANKING_AGREEMENT,
    RATED_CORPORA,
    RATINGS,
    REPEAT_AGREEMENT,
    TRUST,
)
from dialeval.tables.robustness import (
    DROPS,
    LADDERS,
    PAIR_COUNTS,
    PAIRS,
    ROBUSTNESS,
    ROBUSTNESS_AVERAGES,
    ROBUSTNESS_DIFFERENCES,
    THETAS,
)

# Fills in what nobody rated with a judge's own repeated ratings (comp-analysis, "Fill up missing annotations").

_JUDGED = ("corpus", "language", "item_id", "criterion", "repeat", "value", "scale_min", "scale_max")


class FillRatingsSettings(BaseModel, defer_build=True):
    """The judge that fills in, and the dimensions that corpora are limited to, by corpus."""

    judge: str
    dimensions: dict[str, list[str]] = {}


def fill_ratings(
    settings: FillRatingsSettings,
    items: list[Path],
    ratings: list[Path],
    judgements: Path,
    filled: Path,
) -> None:
    """Writes a table `ratings` of what was filled in, and says what that is."""
    rated = read_tables(ratings, RATINGS, ["corpus", "dimension"])
    found = list(
        filled_ratings(
            settings.judge,
            read_tables(items, ITEMS, ["corpus", "language", "item_id"]).to_pylist(),
            {(row["corpus"], row["dimension"]) for row in rated.to_pylist()},
            read_tables([judgements], JUDGEMENTS, list(_JUDGED)).to_pylist(),
            settings.dimensions,
        )
    )
    write_table(filled, RATINGS, to_table(RATINGS, rating_rows(found)))
    means = [rating for rating in found if rating.round is None]
    for corpus, dimension in dict.fromkeys((rating.corpus, rating.dimension) for rating in means):
        n = sum((rating.corpus, rating.dimension) == (corpus, dimension) for rating in means)
        print(f"{corpus}: {dimension}, which nobody rated, is filled in by {settings.judge} on {n} items")
    if not means:
        print(f"every dimension on which {settings.judge} gave ratings is rated in its corpus; nothing is filled in")


# Finds how high judges could come, given how far the raters agree, and what is left of what they miss.


class FindCeilingsSettings(BaseModel, defer_build=True):
    """How intervals are made, and which corpora belong together."""

    resamples: int
    confidence: float
    random_seed: int
    benchmarks: dict[str, str]
    partial: list[str] = []
    joined: dict[str, dict[str, str]] = {}


def find_ceilings(
    settings: FindCeilingsSettings,
    items: list[Path],
    ratings: list[Path],
    filled: list[Path],
    judgements: list[Path],
    folder: Path,
) -> None:
    """Writes the table `metaeval/ceilings` into a folder, as Parquet and as CSV."""
    given, judged = read_tables(ratings, RATINGS), read_tables(judgements, JUDGEMENTS, SINGLE_RATING_COLUMNS)
    stood_in = Filled(read_tables(filled, RATINGS), settings.partial)
    cells = gather(read_tables(items, ITEMS), given, judged, settings.benchmarks, stood_in, settings.joined)
    how = settings.model_dump(exclude={"benchmarks", "partial", "joined"})
    results = correlate_cells(cells, **how, methods=("pearson",))
    write_rows(folder, CEILINGS, ceiling_rows(results, SingleOpinions(given, judged, stood_in.ratings)))


# Correlates judges' scores with ratings: per corpus and language, averaged, and judge against judge.


class CorrelateSettings(BaseModel, defer_build=True):
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


def correlate(
    settings: CorrelateSettings,
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


# Ensembles of dimensions and of judges, and what goes with what (comp-analysis, Tables 8 and 9, Figures 1 and 2).


class EnsemblesSettings(BaseModel, defer_build=True):
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


def ensembles(
    settings: EnsemblesSettings,
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


# Says how far annotators agree, and who of them differs.


class TabulateAgreementSettings(BaseModel, defer_build=True):
    """How intervals are made."""

    resamples: int = 1000
    confidence: float = 0.95
    random_seed: int = 0


def tabulate_agreement(
    settings: TabulateAgreementSettings,
    labels: Path,
    table: Path,
    csv: Path,
    annotators_table: Path,
    annotators_csv: Path,
) -> None:
    """Writes the tables `agreement` and `annotators`."""
    said = read_table(labels, LABELS).to_pandas()
    write_for_people(table, csv, AGREEMENT, to_table(AGREEMENT, agreement(said, **settings.model_dump())))
    beside = annotators(said, confidence=settings.confidence)
    write_for_people(annotators_table, annotators_csv, ANNOTATORS, to_table(ANNOTATORS, beside))


# Lays correlations out by language and by natural Chinese corpus, with the rows that xDial-Eval prints.


class TabulateByLanguageSettings(BaseModel, defer_build=True):
    """Nothing is to be set."""


def tabulate_by_language(
    settings: TabulateByLanguageSettings, averages: Path, correlations: Path, folder: Path
) -> None:
    """Writes both tables into a folder, each as Parquet and as CSV."""
    for table, rows in (
        (BY_LANGUAGE, language_rows(read_tables([averages], AVERAGES).to_pylist())),
        (NATURAL_CHINESE, chinese_rows(read_tables([correlations], CORRELATIONS).to_pylist())),
    ):
        write_rows(folder, table, rows)


# What the rated corpora consist of, and how far their raters agree (comp-analysis, Table 1).


class TabulateRatedSettings(BaseModel, defer_build=True):
    """How intervals are made, and by corpus and language which model translated."""

    translated: dict[str, dict[str, str]] = {}
    resamples: int
    confidence: float
    random_seed: int


def tabulate_rated(
    settings: TabulateRatedSettings,
    items: list[Path],
    ratings: list[Path],
    filled: list[Path],
    corpora: Path,
    annotator_agreement: Path,
) -> None:
    """Writes both tables, each as Parquet and, beside it, as CSV."""
    every = list(chain.from_iterable(iterate_items(path) for path in items))
    given, stood_in = (
        [Rating(**row) for row in read_tables(paths, RATINGS).to_pylist()] for paths in (ratings, filled)
    )
    intervals = settings.model_dump(exclude={"translated"})
    between = annotator_rows(every, [*given, *stood_in], **intervals)
    for path, table, rows in (
        (corpora, RATED_CORPORA, corpus_rows(every, given, settings.translated, stood_in, between)),
        (annotator_agreement, ANNOTATOR_AGREEMENT, between),
    ):
        write_for_people(path, path.with_suffix(".csv"), table, to_table(table, rows))


# How far judges agree with themselves from one repeat to the next.


class TabulateRepeatsSettings(BaseModel, defer_build=True):
    """How intervals are made."""

    resamples: int
    confidence: float
    random_seed: int


def tabulate_repeats(
    settings: TabulateRepeatsSettings, items: list[Path], judgements: list[Path], folder: Path
) -> None:
    """Writes the table `metaeval/repeat_agreement` into a folder, as Parquet and as CSV."""
    rated, judged = read_tables(items, ITEMS), read_tables(judgements, JUDGEMENTS, REPEATS_COLUMNS)
    write_rows(folder, REPEAT_AGREEMENT, repeat_rows(rated, judged, **settings.model_dump()))


# Says how far the judges of a protocol can be trusted on its criteria, by the rated corpora of the same run.


class TabulateTrustSettings(BaseModel, defer_build=True):
    """The judges and criteria of a protocol, the protocols of its form, and the dialogues' language."""

    judges: list[str]
    criteria: list[str]
    methods: list[str]
    language: str = "en"


def tabulate_trust(settings: TabulateTrustSettings, correlations: list[Path], table: Path, csv: Path) -> None:
    """Writes the table `trust`; without `correlations` nothing is known."""
    rows = trust_rows(read_tables(correlations, CORRELATIONS).to_pylist(), **settings.model_dump())
    write_for_people(table, csv, TRUST, to_table(TRUST, list(rows)))


# Do judges notice damage? Ratios, averages, a sweep of theta, score drops and severity ladders (Tables 11 and 12).


class RobustnessSettings(BaseModel, defer_build=True):
    """The thresholds of the sweep, the confidence of the intervals, and what lowers the user's criteria."""

    thetas: list[float]
    confidence: float
    hurt: dict[str, list[str]] = {}


def robustness(settings: RobustnessSettings, pairs: list[Path], judgements: list[Path], folder: Path) -> None:
    """Writes the tables `robustness/*` into a folder, each as Parquet and as CSV."""
    every, given = read_tables(pairs, PAIRS), read_tables(judgements, JUDGEMENTS, SCORED)
    scored = score_pairs(every, given, settings.hurt)
    for table, rows in (
        (PAIR_COUNTS, pair_count_rows(every)),
        (ROBUSTNESS, robustness_rows(scored, settings.confidence)),
        (ROBUSTNESS_AVERAGES, robustness_average_rows(scored, settings.confidence)),
        (THETAS, theta_rows(scored, settings.thetas, settings.confidence)),
        (DROPS, drop_rows(scored)),
        (LADDERS, ladder_rows(every, given, settings.confidence, settings.hurt)),
        (ROBUSTNESS_DIFFERENCES, corrected(robustness_differences(scored, settings.confidence))),
    ):
        write_rows(folder, table, rows)
