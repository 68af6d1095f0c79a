"""Averages of correlations over corpora and dimensions, by language, and correlation matrices.

Correlations are computed within a corpus and then averaged (comp-analysis, Tables 5 and 6; xDial-Eval, Tables 4 and 5).
The matrices are those of Figures 1 and 2 of comp-analysis and of Figures 1 to 3 of xDial-Eval. Tables are laid out as
in the papers, with the papers' rows below the rows of the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from dialeval.criteria import LEVELS
from dialeval.languages import AVERAGE as OVER_LANGUAGES
from dialeval.languages import PAPER_ORDER
from dialeval.measures.correlations import (
    ALL,
    AVERAGE,
    METHODS,
    NO_PUBLISHED_NAMES,
    ByMethod,
    Correlated,
    behind,
    values_of,
)
from dialeval.measures.score_cells import Cell, Scorer
from dialeval.papers import folded, xdial_eval
from dialeval.papers.comp_analysis import STATISTICS, published_average, system_of
from dialeval.papers.xdial_eval import CORRELATED
from dialeval.stats.arrays import BoolArray, FloatArray
from dialeval.stats.correlation import Correlations, average_over

THIS_RUN = "this run"
Row = Mapping[str, Any]
_Key = tuple[str, ...]
RATINGS = " ratings"
"""Suffix of the kind of rater in the name of ratings that are listed as a judge."""


def average_rows(
    results: Sequence[Correlated], published_as: Mapping[str, str] = NO_PUBLISHED_NAMES
) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `metaeval/averages`.

    Over corpora: the mean over corpora for each judge, language and dimension, and the mean of these over dimensions.
    `raters` human uses human ratings only (Table 6); `raters` full uses a model's ratings where human ratings are
    missing (Table 5). Dimension `all` is the mean over corpora with all their rated dimensions; a rating that is
    compared with another criterion counts once. Over languages: the mean over languages of the means over corpora
    (xDial-Eval, Table 5).

    Args:
        results: the correlations of every cell.
        published_as: the papers' system that a judge is, where it is not that of its name; empty for none.
    """
    printed_numbers = _PrintedNumbers(results, published_as)
    for raters in ("human", "full"):
        pieces = _pieces(results, raters)
        groups: dict[_Place, list[_Part]] = {}
        for place, parts in pieces.items():
            over_corpora = _averaged(parts, "corpora")
            yield _average_row(place, "corpora", raters, over_corpora, len(parts)) | printed_numbers.columns(
                place, raters, over_corpora
            )
            if place.dimension != ALL:
                groups.setdefault(place._replace(dimension=AVERAGE), []).append(over_corpora)
            groups.setdefault(place._replace(language=AVERAGE), []).append(over_corpora)
        for place, members in groups.items():
            averaged_over = "dimensions" if place.dimension == AVERAGE else "languages"
            if len(members) > 1:
                mean = _averaged(members, averaged_over)
                yield _average_row(place, averaged_over, raters, mean, len(members)) | printed_numbers.columns(
                    place, raters, mean
                )


class _PrintedNumbers:
    """The papers' value of an average, which depends on the corpora of the average."""

    def __init__(self, results: Sequence[Correlated], published_as: Mapping[str, str]) -> None:
        self._published_as = published_as
        self._corpora: dict[tuple[str, str], set[str]] = {}
        for cell in (result.cell for result in results if result.rater_kind != "construction"):
            self._corpora.setdefault((cell.benchmark, cell.level), set()).add(cell.corpus)

    def columns(self, place: _Place, raters: str, average: _Part) -> dict[str, float | None]:
        """Return the columns with the printed numbers.

        Comp-analysis imputed missing ratings; xDial-Eval, with one rating per corpus, did not. A criterion of
        xDial-Eval that is compared with another rated dimension gets the numbers of xDial-Eval.
        """
        dimension = place.dimension
        if average.joined:
            dimension = ALL if dimension in (ALL, CORRELATED.get(place.level)) else ""
        if not dimension or (average.n_imputed and dimension == ALL):
            return {f"published_{name}": None for name in STATISTICS}
        corpora = self._corpora[place.benchmark, place.level]
        system = system_of(place.scorer.judge, self._published_as)
        columns = (system, place.level, place.language, dimension, raters)
        return {
            f"published_{name}": published_average(*columns, corpora=corpora, statistic=name) for name in STATISTICS
        }


class _Place(NamedTuple):
    """Benchmark, level, language, dimension and scorer of an average."""

    benchmark: str
    level: str
    language: str
    dimension: str
    scorer: Scorer


class _Part(NamedTuple):
    """A term of an average: a correlation, or an average of correlations.

    Attributes:
        n_imputed: number of averaged correlations with imputed ratings.
        rated: on what the ratings behind it are.
        joined: whether some of these are on another dimension than the judged one.
    """

    by_method: ByMethod
    n_imputed: int
    rated: tuple[str, ...]
    joined: bool


def _pieces(results: Sequence[Correlated], raters: str) -> dict[_Place, list[_Part]]:
    """Return each scorer's correlations per corpus, with the raters that count: by dimension, and on all of them."""
    by_people = {
        (result.cell.corpus, result.cell.language, result.cell.level, dimension)
        for result in results
        if result.rater_kind == "human"
        for dimension in result.dimensions
    }
    pieces: dict[_Place, list[_Part]] = {}
    parts_of: dict[_Place, list[_Part]] = {}
    for result in results:
        if result.rater_kind == "construction" or (raters == "human" and result.rater_kind != "human"):
            continue
        cell, twice = result.cell, _compared_twice(result)
        for place, dimension in enumerate(result.dimensions):
            people_too = (cell.corpus, cell.language, cell.level, dimension) in by_people
            if result.rater_kind != "human" and people_too:
                continue
            for judge, scorer in enumerate(result.scorers):
                if not result.requested[judge, place]:
                    continue
                one = {method: _single(values, judge, place) for method, values in result.by_method.items()}
                where = _Place(cell.benchmark, cell.level, cell.language, dimension, scorer)
                rated, n_imputed = cell.rated_on(dimension), int(result.imputed_by(dimension) is not None)
                part = _Part(one, n_imputed, (rated,), rated != dimension)
                pieces.setdefault(where, []).append(part)
                if not twice[judge, place]:
                    parts_of.setdefault(where._replace(dimension=ALL), []).append(part)
    return pieces | parts_of


def _compared_twice(result: Correlated) -> BoolArray:
    """Return whether ratings on a dimension already count through another dimension that a scorer judged.

    Shape [n_scorers, n_dimensions].
    """
    place = {name: number for number, name in enumerate(result.dimensions)}
    twice = np.zeros(result.requested.shape, dtype=bool)
    for judged, rated in result.cell.joined.items():
        if judged in place and rated in place and rated not in result.cell.joined:
            twice[:, place[rated]] |= result.requested[:, place[judged]]
    return twice


def _single(result: Correlations, judge: int, dimension: int) -> Correlations:
    """Return one scorer's correlation on one dimension."""
    cell = np.s_[judge : judge + 1, dimension : dimension + 1]
    return replace(
        result,
        estimate=result.estimate[cell],
        ci_low=result.ci_low[cell],
        ci_high=result.ci_high[cell],
        replicates=result.replicates[:, judge : judge + 1, dimension : dimension + 1],
        n=result.n[cell],
        n_clusters=result.n_clusters[cell],
        resampled=result.resampled[cell],
        design_effect=result.design_effect[cell],
        reason=((result.reason[judge][dimension],),),
    )


def _averaged(parts: Sequence[_Part], over: str) -> _Part:
    means = {method: average_over([part.by_method[method] for part in parts], over) for method in METHODS}
    rated = dict.fromkeys(name for part in parts for name in part.rated)
    return _Part(means, sum(part.n_imputed for part in parts), tuple(rated), any(part.joined for part in parts))


def _average_row(place: _Place, over: str, raters: str, average: _Part, n_averaged: int) -> dict[str, Any]:
    pearson = average.by_method["pearson"].one()
    return {
        **place.scorer._asdict(),
        "benchmark": place.benchmark,
        "level": place.level,
        "averaged_over": over,
        "language": place.language,
        "dimension": place.dimension,
        "rated": ", ".join(average.rated),
        "raters": raters,
        **values_of(average.by_method),
        "n_averaged": n_averaged,
        "n_imputed": average.n_imputed,
        **behind(pearson),
        "reason": pearson.note or None,
    }


def language_rows(averages: Iterable[Row]) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `metaeval/by_language`.

    A benchmark has rows at a level if it is in several languages, or if its judges score one criterion that is compared
    with ratings on another, as in the paper. A judge's row is about the paper's criterion, or else about all rated
    dimensions.

    Args:
        averages: rows of the table `metaeval/averages`.
    """
    by_people = [row for row in averages if row["raters"] == "human" and row["averaged_over"] != "dimensions"]
    shown = _as_in_the_paper(by_people)
    judged: dict[_Key, dict[str, Row]] = {}
    for row in by_people:
        if (row["benchmark"], row["level"]) in shown and row["dimension"] in (xdial_eval.CORRELATED[row["level"]], ALL):
            key = (row["level"], row["benchmark"], row["judge"], row["method"], row["dimension"])
            judged.setdefault(key, {})[row["language"]] = row
    ours = {
        key: rows
        for key, rows in judged.items()
        if key[-1] != ALL or (*key[:-1], xdial_eval.CORRELATED[key[0]]) not in judged
    }
    for level, statistic in product(LEVELS, STATISTICS):
        here = {key: rows for key, rows in ours.items() if key[0] == level}
        for (_, benchmark, judge, method, dimension), rows in here.items():
            first = next(iter(rows.values()))
            yield {
                "level": level,
                "statistic": statistic,
                "source": THIS_RUN,
                "benchmark": benchmark,
                "judge": judge,
                "method": method,
                "dimension": dimension,
                "rated": rows.get(OVER_LANGUAGES, first)["rated"],
                "n_languages": len(rows.keys() - {OVER_LANGUAGES}),
                **{name: row[statistic] for name, row in rows.items() if name in (*PAPER_ORDER, OVER_LANGUAGES)},
            }
        for printed in _printed(level, statistic, chinese=False) if here else ():
            yield {
                **_about(printed),
                "dimension": xdial_eval.CORRELATED[level],
                "n_languages": len(printed.values.keys() - {xdial_eval.AVERAGE}),
                **printed.values,
            }


def _as_in_the_paper(averages: Sequence[Row]) -> set[tuple[str, str]]:
    """Return the benchmarks and levels with several languages or a mapped criterion, as in the paper's rows."""
    languages: dict[tuple[str, str], set[str]] = {}
    joined = set()
    for row in averages:
        place = (row["benchmark"], row["level"])
        if row["language"] in PAPER_ORDER:
            languages.setdefault(place, set()).add(row["language"])
        if row["dimension"] == xdial_eval.CORRELATED[row["level"]] and row["rated"] != row["dimension"]:
            joined.add(place)
    return {place for place, found in languages.items() if len(found) > 1 or place in joined}


def chinese_rows(correlations: Iterable[Row]) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `metaeval/natural_chinese`; none if no corpus has one of the paper's names.

    Args:
        correlations: rows of the table `metaeval/correlations`.
    """
    judged: dict[_Key, dict[str, Row]] = {}
    for row in correlations:
        judged_dimension = xdial_eval.CORRELATED[row["level"]]
        if (
            row["rater_kind"] == "human"
            and row["language"] == "zh"
            and row["dimension"] == row["rated"] == judged_dimension
        ):
            column = _columns(row["level"]).get(folded(row["corpus"]))
            if column:
                judged.setdefault((row["level"], row["judge"], row["method"]), {})[column] = row
    for level, statistic in product(LEVELS, STATISTICS):
        here = {key: rows for key, rows in judged.items() if key[0] == level}
        columns = tuple(_columns(level).values())
        for (_, judge, method), rows in here.items():
            values = {column: row[statistic] for column, row in rows.items()}
            yield {
                "level": level,
                "statistic": statistic,
                "source": THIS_RUN,
                "judge": judge,
                "method": method,
                "rated": xdial_eval.CORRELATED[level],
                **values,
                "average": _mean([values.get(column) for column in columns]),
            }
        for printed in _printed(level, statistic, chinese=True) if here else ():
            values = {_columns(level).get(folded(name), name): value for name, value in printed.values.items()}
            yield {**_about(printed), "rated": xdial_eval.CORRELATED[level], **values}


def _columns(level: str) -> dict[str, str]:
    """Return the columns of a level's natural Chinese corpora by their folded names."""
    return {folded(name): name.lower().replace("-", "_") for name in xdial_eval.CHINESE.get(level, ())}


def _mean(values: Sequence[float | None]) -> float | None:
    """Return the mean of all values; None where one is missing."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None


def matrix_rows(cells: Sequence[Cell]) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `metaeval/matrices`, each pair once and no diagonal."""
    for cell in cells:
        opinions = dict(zip(map(str, cell.scorers), cell.scores, strict=True))
        opinions |= {f"{kind}{RATINGS}": values for kind, values in cell.ratings.items() if kind != "model"}
        columns = {"level": cell.level, "corpus": cell.corpus, "language": cell.language}
        for name, values in opinions.items():
            own = _own_dimensions(cell, values) if name.endswith(RATINGS) else values
            for row in _pairs(cell.dimensions, own):
                yield {"kind": "dimensions", **columns, "scorer": name, **row}
        for place, dimension in enumerate(cell.dimensions):
            judged = np.array([values[place] for values in opinions.values()])
            for row in _pairs(tuple(opinions), judged):
                yield {"kind": "judges", **columns, "dimension": dimension, "rated": cell.rated_on(dimension), **row}
    yield from _between_languages(cells)


def _own_dimensions(cell: Cell, ratings: FloatArray) -> FloatArray:
    """Return the ratings; NaN on mapped dimensions, which would be compared with themselves."""
    own = [name not in cell.joined for name in cell.dimensions]
    return np.where(np.array(own, dtype=bool)[:, np.newaxis], ratings, np.nan)


def _pairs(names: Sequence[str], values: FloatArray) -> Iterator[dict[str, Any]]:
    """Yield the Pearson correlation of every pair of rows that have values in common."""
    present = [n for n in range(len(names)) if not np.isnan(values[n]).all()]
    for place, first in enumerate(present):
        for second in present[place + 1 :]:
            known = ~np.isnan(values[first]) & ~np.isnan(values[second])
            n = int(known.sum())
            if n == 0:
                continue
            yield {
                "first": names[first],
                "second": names[second],
                "pearson": _pearson(values[first, known], values[second, known]),
                "n": n,
            }


def _pearson(x: FloatArray, y: FloatArray) -> float:
    """Return the Pearson correlation; NaN where one does not vary."""
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(np.corrcoef(x, y)[0, 1])


def _between_languages(cells: Sequence[Cell]) -> Iterator[dict[str, Any]]:
    """Yield the correlations of a judge's scores of the same items between languages."""
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.level, cell.corpus), []).append(cell)
    for (level, corpus), group in groups.items():
        if len(group) < 2:
            continue
        order = {item_id: place for place, item_id in enumerate(group[0].item_ids)}
        for scorer in group[0].scorers:
            for dimension in group[0].dimensions:
                rows = np.full((len(group), len(order)), np.nan)
                for number, cell in enumerate(group):
                    if scorer not in cell.scorers or dimension not in cell.dimensions:
                        continue
                    values = cell.scores[cell.scorers.index(scorer), cell.dimensions.index(dimension)]
                    known = [n for n, item_id in enumerate(cell.item_ids) if item_id in order]
                    rows[number, [order[cell.item_ids[n]] for n in known]] = values[known]
                for row in _pairs(tuple(cell.language for cell in group), rows):
                    yield {
                        "kind": "languages",
                        "level": level,
                        "corpus": corpus,
                        "scorer": str(scorer),
                        "dimension": dimension,
                        **row,
                    }


def _printed(level: str, statistic: str, *, chinese: bool) -> list[xdial_eval.Row]:
    rows = [row for row in xdial_eval.rows() if (row.level, row.statistic) == (level, statistic)]
    return [row for row in rows if (row.table == xdial_eval.TABLE_OF_CHINESE) == chinese]


def _about(printed: xdial_eval.Row) -> dict[str, Any]:
    return {
        "level": printed.level,
        "statistic": printed.statistic,
        "source": f"xDial-Eval, Table {printed.table}",
        "judge": printed.system,
        "training": printed.training or None,
    }
