"""How well judges agree with people: per corpus, language and dimension, then averaged as the papers do.

Correlations are taken within a corpus and then averaged (comp-analysis, Tables 5 and 6; xDial-Eval, Tables 4 and 5).
Intervals resample dialogues. One corpus gives the same resamples in every language, so that its languages are paired;
different corpora are resampled independently.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from dialeval.aggregation.metaeval.cells import ANNOTATION, Cell, Scorer
from dialeval.published.metaeval import STATISTICS, published_average, published_in_corpus, system_of
from dialeval.published.xdial import CORRELATED
from dialeval.stats.arrays import BoolArray, FloatArray
from dialeval.stats.correlation import (
    Correlations,
    Method,
    average_over,
    correlate,
)

NOTHING: Mapping[str, str] = MappingProxyType({})
METHODS: tuple[Method, ...] = ("pearson", "spearman", "kendall")
AVERAGE = "average"
"""Stands for the mean over dimensions, or over languages, where a table names one."""
ALL = "all"
"""Stands for every rated dimension, each of each corpus counting once: in xDial-Eval a corpus has one rating."""


_ByMethod = dict[Method, Correlations]


class _Part(NamedTuple):
    """What is averaged: a correlation, or an average of them.

    Attributes:
        n_filled: how many correlations behind it are with filled-in ratings.
        rated: on what the ratings behind it are.
        joined: whether some of these are on something else than what the judge was asked about.
    """

    by_method: _ByMethod
    n_filled: int
    rated: tuple[str, ...]
    joined: bool


class _Place(NamedTuple):
    """Of whom, and of what, something is averaged."""

    benchmark: str
    level: str
    language: str
    dimension: str
    scorer: Scorer


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
    by_method: _ByMethod
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
                    **_values(result.by_method, judge, dimension),
                    "n": n,
                    "n_missing": int(n_rated[dimension]) - n,
                    **behind(pearson, judge, dimension),
                    "reason": pearson.reason[judge][dimension] or None,
                    **_published_in_corpus(result, scorer, name, published_as),
                }


def average_rows(results: Sequence[Correlated], published_as: Mapping[str, str] = NOTHING) -> Iterator[dict[str, Any]]:
    """Yields the rows of the table `metaeval/averages`.

    Over corpora: per judge, language and dimension the mean over corpora, and over these the mean over dimensions;
    with people's ratings alone (`raters` human: Table 6) and with a model's where people's are missing (`raters` full:
    Table 5). Dimension `all` is the mean over corpora with whatever they are rated on; ratings with which another
    criterion is compared count by that alone. Over languages: the mean over languages of the means over corpora
    (xDial-Eval, Table 5).

    Args:
        results: the correlations of every cell.
        published_as: the papers' system that a judge is, where it is not that of its name; empty for none.
    """
    beside = _Beside(results, published_as)
    for raters in ("human", "full"):
        pieces = _pieces(results, raters)
        groups: dict[_Place, list[_Part]] = {}
        for place, parts in pieces.items():
            over_corpora = _averaged(parts, "corpora")
            yield _average_row(place, "corpora", raters, over_corpora, len(parts)) | beside.of(
                place, raters, over_corpora
            )
            if place.dimension != ALL:
                groups.setdefault(place._replace(dimension=AVERAGE), []).append(over_corpora)
            groups.setdefault(place._replace(language=AVERAGE), []).append(over_corpora)
        for place, members in groups.items():
            over = "dimensions" if place.dimension == AVERAGE else "languages"
            if len(members) > 1:
                mean = _averaged(members, over)
                yield _average_row(place, over, raters, mean, len(members)) | beside.of(place, raters, mean)


def _pieces(results: Sequence[Correlated], raters: str) -> dict[_Place, list[_Part]]:
    """Returns each scorer's correlations per corpus, with the raters that count: by dimension, and on all of them."""
    by_people = {
        (result.cell.corpus, result.cell.language, result.cell.level, dimension)
        for result in results
        if result.rater_kind == "human"
        for dimension in result.dimensions
    }
    pieces: dict[_Place, list[_Part]] = {}
    everything: dict[_Place, list[_Part]] = {}
    for result in results:
        if result.rater_kind == "construction" or (raters == "human" and result.rater_kind != "human"):
            continue
        cell, twice = result.cell, _compared_twice(result)
        for place, dimension in enumerate(result.dimensions):
            people_too = (cell.corpus, cell.language, cell.level, dimension) in by_people
            if result.rater_kind != "human" and people_too:
                continue
            for judge, scorer in enumerate(result.scorers):
                if not result.asked[judge, place]:
                    continue
                one = {method: _single(values, judge, place) for method, values in result.by_method.items()}
                where = _Place(cell.benchmark, cell.level, cell.language, dimension, scorer)
                rated, n_filled = cell.rated_on(dimension), int(result.filled_by(dimension) is not None)
                part = _Part(one, n_filled, (rated,), rated != dimension)
                pieces.setdefault(where, []).append(part)
                if not twice[judge, place]:
                    everything.setdefault(where._replace(dimension=ALL), []).append(part)
    return pieces | everything


def _compared_twice(result: Correlated) -> BoolArray:
    """Returns whether ratings on a dimension count already by another that a scorer was asked about.

    Shape [n_scorers, n_dimensions].
    """
    place = {name: number for number, name in enumerate(result.dimensions)}
    twice = np.zeros(result.asked.shape, dtype=bool)
    for asked, rated in result.cell.joined.items():
        if asked in place and rated in place and rated not in result.cell.joined:
            twice[:, place[rated]] |= result.asked[:, place[asked]]
    return twice


def _single(result: Correlations, judge: int, dimension: int) -> Correlations:
    """Returns one scorer's correlation on one dimension."""
    at = np.s_[judge : judge + 1, dimension : dimension + 1]
    return replace(
        result,
        estimate=result.estimate[at],
        low=result.low[at],
        high=result.high[at],
        replicates=result.replicates[:, judge : judge + 1, dimension : dimension + 1],
        n=result.n[at],
        n_clusters=result.n_clusters[at],
        resampled=result.resampled[at],
        design_effect=result.design_effect[at],
        reason=((result.reason[judge][dimension],),),
    )


def _averaged(parts: Sequence[_Part], over: str) -> _Part:
    means = {method: average_over([part.by_method[method] for part in parts], over) for method in METHODS}
    rated = dict.fromkeys(name for part in parts for name in part.rated)
    return _Part(means, sum(part.n_filled for part in parts), tuple(rated), any(part.joined for part in parts))


def _average_row(place: _Place, over: str, raters: str, average: _Part, n_averaged: int) -> dict[str, Any]:
    judge, method = place.scorer
    mean = average.by_method
    return {
        "judge": judge,
        "method": method,
        "benchmark": place.benchmark,
        "level": place.level,
        "over": over,
        "language": place.language,
        "dimension": place.dimension,
        "rated": ", ".join(average.rated),
        "raters": raters,
        **_values(mean, 0, 0),
        "n_averaged": n_averaged,
        "n_filled": average.n_filled,
        **behind(mean["pearson"], 0, 0),
        "reason": mean["pearson"].reason[0][0] or None,
    }


class _Beside:
    """What the papers print of an average: that depends on the corpora behind it, too."""

    def __init__(self, results: Sequence[Correlated], published_as: Mapping[str, str]) -> None:
        self._published_as = published_as
        self._corpora: dict[tuple[str, str], set[str]] = {}
        for cell in (result.cell for result in results if result.rater_kind != "construction"):
            self._corpora.setdefault((cell.benchmark, cell.level), set()).add(cell.corpus)

    def of(self, place: _Place, raters: str, average: _Part) -> dict[str, float | None]:
        """Returns the columns that hold the printed numbers.

        Comp-analysis filled in what was missing, too; where xDial-Eval has one rating a corpus, nothing is. What that
        paper asks about, compared with whatever was rated, has its numbers and not those of comp-analysis.
        """
        dimension = place.dimension
        if average.joined:
            dimension = ALL if dimension in (ALL, CORRELATED.get(place.level)) else ""
        if not dimension or (average.n_filled and dimension == ALL):
            return {f"published_{name}": None for name in STATISTICS}
        corpora = self._corpora[place.benchmark, place.level]
        system = system_of(place.scorer.judge, self._published_as)
        about = (system, place.level, place.language, dimension, raters)
        return {f"published_{name}": published_average(*about, corpora=corpora, statistic=name) for name in STATISTICS}


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


def _values(by_method: _ByMethod, judge: int, dimension: int) -> dict[str, float]:
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
