"""Tables of judges' correlations with human ratings, differences of two judges, and rankings of judges.

Intervals resample dialogues. All languages of a corpus share its resamples, so that languages are paired. Different
corpora are resampled independently.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from dialeval.measures.score_cells import ANNOTATION, Cell, Scorer
from dialeval.papers.comp_analysis import RANKINGS, STATISTICS, published_correlation, published_in_corpus, system_of
from dialeval.stats.arrays import BoolArray, FloatArray
from dialeval.stats.auc import midranks
from dialeval.stats.correlation import Correlations, Method, correlate, williams_test
from dialeval.stats.estimates import Estimate
from dialeval.stats.judge_panels import JudgePairs, compare_judges
from dialeval.stats.significance import benjamini_hochberg, holm
from dialeval.tables.schema import BEHIND

NO_PUBLISHED_NAMES: Mapping[str, str] = MappingProxyType({})
METHODS: tuple[Method, ...] = ("pearson", "spearman", "kendall")
AVERAGE = "average"
"""Name for the mean over dimensions, or over languages."""
ALL = "all"
"""Name for all rated dimensions of a corpus, each counted once; in xDial-Eval a corpus has one rating."""
ByMethod = dict[Method, Correlations]
RATING = "rating"
"""The method whose scores count as a model's ratings, for example to impute missing ratings."""


def correlation_rows(
    results: Iterable[Correlated], published_as: Mapping[str, str] = NO_PUBLISHED_NAMES
) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `metaeval/correlations`.

    Args:
        results: the correlations of every cell.
        published_as: the papers' system that a judge is, where it is not that of its name; empty for none.
    """
    for result in results:
        n_rated = (~np.isnan(result.ratings)).sum(axis=1)
        for judge, scorer in enumerate(result.scorers):
            for dimension, name in enumerate(result.dimensions):
                if not result.requested[judge, dimension]:
                    continue
                pearson = result.by_method["pearson"].one(judge, dimension)
                yield {
                    **scorer._asdict(),
                    **result.about(name),
                    **values_of(result.by_method, judge, dimension),
                    "n": pearson.n_items,
                    "n_missing": int(n_rated[dimension]) - pearson.n_items,
                    **behind(pearson),
                    "reason": pearson.note or None,
                    **_published_in_corpus(result, scorer, name, published_as),
                }


def _published_in_corpus(
    result: Correlated, scorer: Scorer, dimension: str, published_as: Mapping[str, str]
) -> dict[str, float | None]:
    cell = result.cell
    columns = (system_of(scorer.judge, published_as), cell.level, cell.corpus, cell.language, dimension)
    by_people = result.rater_kind == "human"
    return {f"published_{name}": published_in_corpus(*columns, name) if by_people else None for name in STATISTICS}


def pair_rows(results: Iterable[Correlated]) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `metaeval/judge_pairs`.

    All pairs of judges on one dimension of one corpus are a family, within which p-values are adjusted. The main test
    is the paired bootstrap. Williams' test is reported too, with a note if items are not independent.
    """
    for result in results:
        pearson = result.by_method["pearson"]
        for dimension, name in enumerate(result.dimensions):
            pairs = compare_judges(
                result.scores[:, dimension],
                result.ratings[dimension],
                result.cell.cluster,
                resamples=pearson.resamples,
                confidence=pearson.confidence,
                random_seed=pearson.random_seed,
            )
            columns = {"benchmark": result.cell.benchmark} | result.about(name)
            for row in _rows(result, pairs):
                yield columns | row


def _rows(result: Correlated, pairs: JudgePairs) -> Iterator[dict[str, Any]]:
    p_holm, q_bh = holm(pairs.p), benjamini_hochberg(pairs.p)
    family_size = int(np.count_nonzero(~np.isnan(pairs.p)))
    for number, (one, other) in enumerate(zip(pairs.first, pairs.second, strict=True)):
        first, second = result.scorers[one], result.scorers[other]
        n, n_clusters = int(pairs.n[number]), int(pairs.n_clusters[number])
        with_first, with_second, compared = (
            float(values[number]) for values in (pairs.first_pearson, pairs.second_pearson, pairs.between)
        )
        williams = williams_test(with_first, with_second, compared, n)
        yield {
            "judge": first.judge,
            "method": first.method,
            "other_judge": second.judge,
            "other_method": second.method,
            "pearson": with_first,
            "other_pearson": with_second,
            "judge_correlation": compared,
            "difference": float(pairs.difference[number]),
            "difference_ci_low": float(pairs.ci_low[number]),
            "difference_ci_high": float(pairs.ci_high[number]),
            "p": float(pairs.p[number]),
            "p_holm": float(p_holm[number]),
            "q_bh": float(q_bh[number]),
            "family_size": family_size,
            "p_reversed": float(pairs.p_reversed[number]),
            "n": n,
            "n_clusters": n_clusters,
            "reason": pairs.reason[number] or None,
            "williams_t": williams.t,
            "p_williams": williams.p_value,
            "williams_note": williams.reason or _dependence(n, n_clusters),
        }


def _dependence(n: int, n_clusters: int) -> str | None:
    """Return a warning if items share dialogues, which Williams' test excludes; else empty."""
    if n_clusters == n:
        return None
    return f"treats {n} items of {n_clusters} dialogues as independent, so its p-value is too small"


def ranking_rows(
    results: Sequence[Correlated], candidates: Candidates | None = None, imputer: str | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `metaeval/ranking_agreement`.

    Judges are ranked by their Pearson correlation with human ratings, and by their correlation with a model's ratings
    of the same items. The row has Spearman's correlation of the two rankings. The model's ratings came with the corpus,
    or are those of the imputer on items with human ratings.

    Args:
        results: the correlations of every cell.
        candidates: who is ranked: no ensemble among its own members, and each model once, by the method that goes best
            with people in the corpus.
        imputer: the judge that imputes ratings. No judge is ranked by its own ratings, nor by ratings of the corpus
            that a model of its name gave.
    """
    ranked = candidates or Candidates()
    by_model = {
        (result.cell.corpus, result.cell.language, result.cell.level): result
        for result in results
        if result.rater_kind == "model"
    }
    for people in results:
        if people.rater_kind != "human":
            continue
        cell = people.cell
        scorers = _ranked(people, ranked)
        model = by_model.get((cell.corpus, cell.language, cell.level))
        for place, dimension in enumerate(people.dimensions):
            first = {scorer: float(people.by_method["pearson"].estimate[n, place]) for n, scorer in scorers.items()}
            for second in (_came_with_the_corpus(model, dimension), _of_the_judge(people, place, imputer, ranked)):
                if second is None:
                    continue
                pairs = [(value, second.pearson.get(scorer, np.nan)) for scorer, value in first.items()]
                columns = {
                    "level": cell.level,
                    "corpus": cell.corpus,
                    "language": cell.language,
                    "dimension": dimension,
                    "rated": cell.rated_on(dimension),
                    "first_rater": "human",
                    "second_rater": second.name,
                    "published_spearman": published_correlation(
                        RANKINGS, cell.corpus, cell.level, cell.language, dimension
                    ),
                }
                yield columns | _agreement(np.array(pairs, dtype=np.float64).reshape(-1, 2))


def _ranked(people: Correlated, candidates: Candidates) -> dict[int, Scorer]:
    """Return the ranked judges of a corpus by position: each model once."""
    estimate = people.by_method["pearson"].estimate
    means = {
        scorer: float(np.mean(known))
        for scorer, values in zip(people.scorers, estimate, strict=True)
        if candidates.may_be(scorer) and len(known := values[~np.isnan(values)])
    }
    return {people.scorers.index(scorer): scorer for scorer in candidates.best_first(means)}


def _came_with_the_corpus(model: Correlated | None, dimension: str) -> _Second | None:
    if model is None or dimension not in model.dimensions or model.imputed_by(dimension):
        return None
    place, own = model.dimensions.index(dimension), model.cell.dimensions.index(dimension)
    who = [
        scorer.judge
        for n, scorer in enumerate(model.cell.scorers)
        if scorer.method == ANNOTATION and not np.isnan(model.cell.scores[n, own]).all()
    ]
    estimate = model.by_method["pearson"].estimate[:, place]
    return _Second(", ".join(who) or "model", dict(zip(model.scorers, estimate.tolist(), strict=True)))


class _Second(NamedTuple):
    """A model whose ratings are compared with human ratings: its name, and every scorer's correlation with them."""

    name: str
    pearson: dict[Scorer, float]


def _of_the_judge(people: Correlated, place: int, imputer: str | None, candidates: Candidates) -> _Second | None:
    """Return the correlations of all other scorers with the imputing judge's ratings; None without any."""
    if imputer is None or (judge := Scorer(imputer, RATING)) not in people.scorers:
        return None
    own = people.scores[people.scorers.index(judge), place]
    if np.isnan(own).all():
        return None
    model = candidates.model_of(imputer)
    others = [n for n, scorer in enumerate(people.scorers) if candidates.model_of(scorer.judge) != model]
    if not others:
        return _Second(imputer, {})
    scores: FloatArray = people.scores[others, place][:, np.newaxis]
    estimate = correlate(scores, own[np.newaxis], people.cell.cluster, resamples=0).estimate[:, 0]
    return _Second(imputer, {people.scorers[n]: float(value) for n, value in zip(others, estimate, strict=True)})


def _agreement(pairs: FloatArray) -> dict[str, Any]:
    """Return Spearman's correlation of two rankings; pairs have the shape [n_judges, 2], NaN where one is missing."""
    known = pairs[~np.isnan(pairs).any(axis=1)]
    if len(known) < 3:
        there = "judge has" if len(known) == 1 else "judges have"
        return {"n_judges": len(known), "reason": f"only {len(known)} {there} both correlations; 3 are needed"}
    if (np.ptp(known, axis=0) == 0).any():
        return {"n_judges": len(known), "reason": "all judges are equal in one of the two rankings"}
    return {"n_judges": len(known), "spearman": float(np.corrcoef([midranks(column) for column in known.T])[0, 1])}


@dataclass(frozen=True)
class Correlated:
    """A cell's correlations with one kind of rater.

    Attributes:
        dimensions: those that this kind of rater rated.
        scorers: those that are compared with it; a model's annotation is compared with people only, and a judge not
            with the ratings that it imputed, nor with ratings that came with the corpus under its name.
        by_method: correlations, shape [n_scorers, n_dimensions], by method.
        scores, ratings: what was correlated.
        requested: whether a scorer got requests on a dimension at all, shape [n_scorers, n_dimensions].
    """

    cell: Cell
    rater_kind: str
    dimensions: tuple[str, ...]
    scorers: tuple[Scorer, ...]
    by_method: ByMethod
    scores: FloatArray
    requested: BoolArray
    ratings: FloatArray

    def imputed_by(self, dimension: str) -> str | None:
        """Return the judge that imputed the ratings on a dimension; None if they came with the corpus."""
        return self.cell.imputed_by.get(dimension) if self.rater_kind == "model" else None

    def about(self, dimension: str) -> dict[str, Any]:
        """Return the columns that describe a dimension: its corpus, its raters, and the rated criterion."""
        return {
            "level": self.cell.level,
            "corpus": self.cell.corpus,
            "language": self.cell.language,
            "dimension": dimension,
            "rated": self.cell.rated_on(dimension),
            "rater_kind": self.rater_kind,
            "imputed_by": self.imputed_by(dimension),
        }


def correlate_cells(
    cells: Iterable[Cell],
    *,
    resamples: int,
    confidence: float,
    random_seed: int,
    methods: Sequence[Method] = METHODS,
) -> list[Correlated]:
    """Return the correlations of every cell with every kind of rater it has."""
    results = []
    for cell in cells:
        for kind, ratings in cell.ratings.items():
            rated = np.flatnonzero(~np.isnan(ratings).all(axis=1))
            judging = np.array(
                [n for n, scorer in enumerate(cell.scorers) if kind == "human" or scorer.method != ANNOTATION],
                dtype=int,
            )
            if not len(rated) or not len(judging):
                continue
            # No scorer is compared with its own ratings.
            own = cell.own[np.ix_(judging, rated)] & (kind == "model")
            scores = np.where(own[:, :, np.newaxis], np.nan, cell.scores[np.ix_(judging, rated)])
            by_method = {
                method: correlate(
                    scores,
                    ratings[rated],
                    cell.cluster,
                    method=method,
                    resamples=resamples,
                    confidence=confidence,
                    random_seed=corpus_seed(cell.corpus, random_seed),
                )
                for method in methods
            }
            results.append(
                Correlated(
                    cell=cell,
                    rater_kind=kind,
                    dimensions=tuple(cell.dimensions[n] for n in rated),
                    scorers=tuple(cell.scorers[n] for n in judging),
                    by_method=by_method,
                    scores=scores,
                    requested=cell.requested[np.ix_(judging, rated)] & ~own,
                    ratings=ratings[rated],
                )
            )
    return results


def behind(found: Estimate) -> dict[str, Any]:
    """Return the columns beside an interval: clusters, and Pearson's design effect and effective n."""
    return {name: getattr(found, name) for name in BEHIND}


def values_of(by_method: ByMethod, judge: int = 0, dimension: int = 0) -> dict[str, float]:
    """Return the columns of a correlation by each method, with its interval."""
    values: dict[str, float] = {}
    for method, result in by_method.items():
        values |= result.one(judge, dimension).limits(method, f"{method}_")
    return values


def corpus_seed(corpus: str, random_seed: int) -> int:
    """Return the seed of a corpus's resamples, the same in all its languages."""
    digest = hashlib.sha256(f"{random_seed}/{corpus}".encode()).digest()
    return int.from_bytes(digest[:4])


@dataclass(frozen=True)
class Candidates:
    """Possible members of the ensemble of the best judges.

    Attributes:
        named: judges that are ensembles themselves, of which none is a member of another.
        pool: the judges that may be members; None for all.
        models: judge -> the model that it is, where several judges are one model; such judges count once.
    """

    named: Collection[str] = ()
    pool: Collection[str] | None = None
    models: Mapping[str, str] = field(default_factory=dict)

    def may_be(self, scorer: Scorer) -> bool:
        """Return whether a scorer may be a candidate: not an ensemble or an annotation that came with a corpus."""
        among = self.pool is None or scorer.judge in self.pool
        return among and scorer.method != ANNOTATION and scorer.judge not in self.named

    def model_of(self, judge: str) -> str:
        """Return the model that a judge is counted as."""
        return self.models.get(judge, judge)

    def best_first(self, correlation: Mapping[Scorer, float]) -> list[Scorer]:
        """Return the judges by their correlation, the highest first, each model by its best method alone."""
        best: dict[str, Scorer] = {}
        for scorer in sorted(correlation, key=lambda scorer: (-correlation[scorer], scorer)):
            best.setdefault(self.model_of(scorer.judge), scorer)
        return list(best.values())
