"""Averages of correlations, as the papers have them: over corpora, dimensions and languages.

Correlations are taken within a corpus and then averaged (comp-analysis, Tables 5 and 6; xDial-Eval, Tables 4 and 5).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dialeval.aggregation.metaeval.cells import Scorer
from dialeval.aggregation.metaeval.correlations import (
    ALL,
    AVERAGE,
    METHODS,
    NOTHING,
    ByMethod,
    Correlated,
    behind,
    values_of,
)
from dialeval.published.metaeval import STATISTICS, published_average, system_of
from dialeval.published.xdial import CORRELATED
from dialeval.stats.arrays import BoolArray
from dialeval.stats.correlation import Correlations, average_over


class _Part(NamedTuple):
    """What is averaged: a correlation, or an average of them.

    Attributes:
        n_filled: how many correlations behind it are with filled-in ratings.
        rated: on what the ratings behind it are.
        joined: whether some of these are on something else than what the judge was asked about.
    """

    by_method: ByMethod
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
        **values_of(mean, 0, 0),
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
