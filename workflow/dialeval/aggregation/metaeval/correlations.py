"""How well judges agree with people: per corpus, language and dimension.

Intervals resample dialogues. One corpus gives the same resamples in every language, so that its languages are paired;
different corpora are resampled independently.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from dialeval.aggregation.metaeval.cells import ANNOTATION, Cell, Scorer
from dialeval.published.metaeval import STATISTICS, published_in_corpus, system_of
from dialeval.stats.arrays import BoolArray, FloatArray
from dialeval.stats.correlation import Correlations, Method, correlate

NOTHING: Mapping[str, str] = MappingProxyType({})
METHODS: tuple[Method, ...] = ("pearson", "spearman", "kendall")
AVERAGE = "average"
"""Stands for the mean over dimensions, or over languages, where a table names one."""
ALL = "all"
"""Stands for every rated dimension, each of each corpus counting once: in xDial-Eval a corpus has one rating."""


ByMethod = dict[Method, Correlations]


@dataclass(frozen=True)
class Correlated:
    """A cell's correlations with one kind of rater.

    Attributes:
        dimensions: those that this kind of rater rated.
        scorers: those that are compared with it; a model's annotation is compared with people only, and a judge not
            with what it filled in itself, nor with ratings that came with the corpus under its name.
        by_method: correlations, shape [n_scorers, n_dimensions], by method.
        scores, ratings: what was correlated.
        asked: whether a scorer was asked about a dimension at all, shape [n_scorers, n_dimensions].
    """

    cell: Cell
    rater_kind: str
    dimensions: tuple[str, ...]
    scorers: tuple[Scorer, ...]
    by_method: ByMethod
    scores: FloatArray
    asked: BoolArray
    ratings: FloatArray

    def filled_by(self, dimension: str) -> str | None:
        """Returns the judge that filled in the ratings on a dimension; None where they came with the corpus."""
        return self.cell.filled_by.get(dimension) if self.rater_kind == "model" else None

    def about(self, dimension: str) -> dict[str, Any]:
        """Returns what tables tell of a dimension: where it is from, and who rated what of it."""
        return {
            "level": self.cell.level,
            "corpus": self.cell.corpus,
            "language": self.cell.language,
            "dimension": dimension,
            "rated": self.cell.rated_on(dimension),
            "rater_kind": self.rater_kind,
            "filled_by": self.filled_by(dimension),
        }


def correlate_cells(
    cells: Iterable[Cell],
    *,
    resamples: int,
    confidence: float,
    random_seed: int,
    methods: Sequence[Method] = METHODS,
) -> list[Correlated]:
    """Returns the correlations of every cell with every kind of rater it has."""
    results = []
    for cell in cells:
        for kind, ratings in cell.ratings.items():
            rated = np.flatnonzero(~np.isnan(ratings).all(axis=1))
            heard = np.array(
                [n for n, scorer in enumerate(cell.scorers) if kind == "human" or scorer.method != ANNOTATION],
                dtype=int,
            )
            if not len(rated) or not len(heard):
                continue
            # Nobody is compared with ratings of its own.
            own = cell.own[np.ix_(heard, rated)] & (kind == "model")
            scores = np.where(own[:, :, np.newaxis], np.nan, cell.scores[np.ix_(heard, rated)])
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
                    scorers=tuple(cell.scorers[n] for n in heard),
                    by_method=by_method,
                    scores=scores,
                    asked=cell.asked[np.ix_(heard, rated)] & ~own,
                    ratings=ratings[rated],
                )
            )
    return results


def correlation_rows(
    results: Iterable[Correlated], published_as: Mapping[str, str] = NOTHING
) -> Iterator[dict[str, Any]]:
    """Yields the rows of the table `metaeval/correlations`.

    Args:
        results: the correlations of every cell.
        published_as: the papers' system that a judge is, where it is not that of its name; empty for none.
    """
    for result in results:
        pearson = result.by_method["pearson"]
        n_rated = (~np.isnan(result.ratings)).sum(axis=1)
        for judge, scorer in enumerate(result.scorers):
            for dimension, name in enumerate(result.dimensions):
                if not result.asked[judge, dimension]:
                    continue
                n = int(pearson.n[judge, dimension])
                yield {
                    "judge": scorer.judge,
                    "method": scorer.method,
                    **result.about(name),
                    **values_of(result.by_method, judge, dimension),
                    "n": n,
                    "n_missing": int(n_rated[dimension]) - n,
                    **behind(pearson, judge, dimension),
                    "reason": pearson.reason[judge][dimension] or None,
                    **_published_in_corpus(result, scorer, name, published_as),
                }


def _published_in_corpus(
    result: Correlated, scorer: Scorer, dimension: str, published_as: Mapping[str, str]
) -> dict[str, float | None]:
    cell = result.cell
    about = (system_of(scorer.judge, published_as), cell.level, cell.corpus, cell.language, dimension)
    by_people = result.rater_kind == "human"
    return {f"published_{name}": published_in_corpus(*about, name) if by_people else None for name in STATISTICS}


def behind(result: Correlations, judge: int, dimension: int) -> dict[str, Any]:
    """Returns what tables put beside an interval: its clusters, and Pearson's design effect and effective n."""
    effect = float(result.design_effect[judge, dimension])
    return {
        "n_clusters": int(result.n_clusters[judge, dimension]),
        "design_effect": effect,
        "effective_n": int(result.n[judge, dimension]) / effect if effect > 0.0 else float("nan"),
    }


def values_of(by_method: ByMethod, judge: int, dimension: int) -> dict[str, float]:
    """Returns a correlation by each method, with its interval, as tables have it."""
    values: dict[str, float] = {}
    for method, result in by_method.items():
        values[method] = float(result.estimate[judge, dimension])
        values[f"{method}_low"] = float(result.low[judge, dimension])
        values[f"{method}_high"] = float(result.high[judge, dimension])
    return values


def corpus_seed(corpus: str, random_seed: int) -> int:
    """Returns the seed of a corpus's resamples: the same in all its languages, another for another corpus."""
    digest = hashlib.sha256(f"{random_seed}/{corpus}".encode()).digest()
    return int.from_bytes(digest[:4])
