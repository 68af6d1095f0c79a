"""Correlations of ensembles: of the best judges, and of one judge's dimensions.

An ensemble of judges is the mean of its members' scores, scaled to [0, 1]. A model that scored by several methods is
one member, with its best method. The best judges are chosen in two ways: by the mean correlation over all corpora,
including the scored one, as in the paper; and by the mean over the other corpora only. `raters` says whether human
ratings alone were used (human), or also a model's where there are no human ratings (full, as in the paper). Corpora
whose reference is known by construction are separate.

The ensemble of dimensions is the mean of a judge's scores on the dimensions other than overall. The ensemble and the
judge's score on overall are both correlated with the overall rating.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from dialeval.measures.correlations import AVERAGE, NO_PUBLISHED_NAMES, Candidates, behind, corpus_seed
from dialeval.measures.score_cells import ANNOTATION, Cell, Scorer
from dialeval.papers.comp_analysis import DIRECT, ENSEMBLE, HUMAN, published_correlation, published_ensemble, system_of
from dialeval.stats.arrays import FloatArray
from dialeval.stats.correlation import Correlations, average_over, correlate

ALL_CORPORA = "all corpora"
OTHER_CORPORA = "other corpora"
RATERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"human": ("human",), "full": ("human", "model"), "construction": ("construction",)}
)
"""Kinds of raters by value of the column `raters`."""
_PAPERS_SIZE, _PAPERS_DIMENSIONS = 3, 5
OVERALL = "overall"


@dataclass(frozen=True)
class Ensembles:
    """Settings of ensembles and of their measures.

    Attributes:
        size: number of judges in each.
        candidates: who may be one of them.
        published_as: by judge the papers' system that it is, where it is not that of its name.
        resamples, confidence, random_seed: of the intervals.
    """

    size: int
    candidates: Candidates = field(default_factory=Candidates)
    published_as: Mapping[str, str] = field(default_factory=dict)
    resamples: int = 1000
    confidence: float = 0.95
    random_seed: int = 0


def model_ensemble_rows(cells: Sequence[Cell], how: Ensembles) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `metaeval/model_ensemble`: each corpus, their mean, and the mean over dimensions."""
    groups: dict[tuple[str, str, str], list[Cell]] = defaultdict(list)
    for cell in cells:
        groups[cell.benchmark, cell.level, cell.language].append(cell)
    for (benchmark, level, language), group in groups.items():
        where = {"benchmark": benchmark, "level": level, "language": language}
        means: dict[tuple[str, str], dict[str, _Mean]] = defaultdict(dict)
        n_rated: dict[str, int] = defaultdict(int)
        for dimension in dict.fromkeys(name for cell in group for name in cell.dimensions):
            every = [_Rated(cell, dimension, how) for cell in group if dimension in cell.dimensions]
            for raters, rater_kinds in RATERS.items():
                rated = [one for one in every if one.kind in rater_kinds]
                n_rated[raters] += bool(rated)
                for chosen_on in (ALL_CORPORA, OTHER_CORPORA) if rated else ():
                    columns = where | {"dimension": dimension, "raters": raters, "chosen_on": chosen_on}
                    found = [(one, _members(one, rated, chosen_on, how)) for one in rated]
                    for one, members in found:
                        yield columns | one.row(members)
                    mean = None if raters == "construction" else _mean_over_corpora(found)
                    if mean is not None:
                        means[raters, chosen_on][dimension] = mean
                        if len(every) > 1:
                            yield _average_row(columns, mean, how)
        for (raters, chosen_on), of_dimensions in means.items():
            if len(of_dimensions) > 1:
                columns = where | {"raters": raters, "chosen_on": chosen_on}
                yield _over_dimensions(columns, of_dimensions, n_rated[raters], how)


class _Mean(NamedTuple):
    """The mean over corpora of one dimension's ensembles, and their members; none if they differ.

    Attributes:
        rated: on what the ratings in these corpora are.
    """

    result: Correlations
    members: tuple[Scorer, ...]
    rated: tuple[str, ...]


class _Rated:
    """One cell's scores and ratings on one dimension, with the correlation of each possible member."""

    def __init__(self, cell: Cell, dimension: str, how: Ensembles) -> None:
        place = cell.dimensions.index(dimension)
        self._cell, self._how = cell, how
        self.rated = cell.rated_on(dimension)
        self.kind, self._ratings = cell.best_ratings(place) or ("", np.zeros(0))
        self._imputed_by = cell.imputed_by.get(dimension) if self.kind == "model" else None
        self.scores: dict[Scorer, FloatArray] = {}
        self.pearson: dict[Scorer, float] = {}
        self._results: dict[tuple[Scorer, ...], Correlations] = {}
        for number, scorer in enumerate(cell.scorers if self.kind else ()):
            values = cell.scores[number, place]
            if not how.candidates.may_be(scorer) or bool(np.isnan(values).all()):
                continue
            if self.kind == "model" and cell.own[number, place]:
                continue
            self.scores[scorer] = values
            self.pearson[scorer] = float(self._correlated(values, resamples=0).estimate[0, 0])

    def result(self, members: tuple[Scorer, ...]) -> Correlations | None:
        """Return the correlation of the mean of some judges with the ratings; None if there are too few judges."""
        if len(members) < self._how.size:
            return None
        if members not in self._results:
            mean = np.mean([self.scores[scorer] for scorer in members], axis=0)
            self._results[members] = self._correlated(mean, resamples=self._how.resamples)
        return self._results[members]

    def row(self, members: tuple[Scorer, ...]) -> dict[str, Any]:
        """Return the table's row on the mean score of some judges."""
        row: dict[str, Any] = {
            "corpus": self._cell.corpus,
            "rated": self.rated,
            "rater_kind": self.kind,
            "imputed_by": self._imputed_by,
            "members": _named(members),
        }
        result = self.result(members)
        if result is None:
            reason = (
                f"only {len(members)} of {self._how.size} judges have scores for the selection and for the ensemble"
            )
            return row | {"n": 0, "reason": reason}
        return row | {"best_member": max(self.pearson[scorer] for scorer in members)} | _numbers(result)

    def _correlated(self, values: FloatArray, resamples: int) -> Correlations:
        return correlate(
            values[np.newaxis, np.newaxis],
            self._ratings[np.newaxis],
            self._cell.cluster,
            resamples=resamples,
            confidence=self._how.confidence,
            random_seed=corpus_seed(self._cell.corpus, self._how.random_seed),
        )


def _named(members: Sequence[Scorer]) -> str:
    return ", ".join(map(str, members))


def _numbers(result: Correlations) -> dict[str, Any]:
    found = result.one()
    about = {"n": found.n_items, **behind(found), "reason": found.note or None}
    return found.limits("pearson", "pearson_") | about


def _members(one: _Rated, rated: Sequence[_Rated], chosen_on: str, how: Ensembles) -> tuple[Scorer, ...]:
    """Return the best judges that scored a corpus, chosen on all corpora or on all other corpora."""
    basis = rated if chosen_on == ALL_CORPORA else [other for other in rated if other is not one]
    found: dict[Scorer, list[float]] = defaultdict(list)
    for other in basis:
        for scorer, value in other.pearson.items():
            if not np.isnan(value):  # judges without a defined correlation are left out
                found[scorer].append(value)
    best = how.candidates.best_first({scorer: float(np.mean(values)) for scorer, values in found.items()})
    return tuple(scorer for scorer in best[: how.size] if scorer in one.scores)


def _mean_over_corpora(found: Sequence[tuple[_Rated, tuple[Scorer, ...]]]) -> _Mean | None:
    """Return the mean of one dimension's ensembles; None where there is none."""
    there = [(result, members, one.rated) for one, members in found if (result := one.result(members)) is not None]
    if not there:
        return None
    distinct = {members for _, members, _ in there}
    rated = tuple(dict.fromkeys(rated for _, _, rated in there))
    mean = average_over([result for result, _, _ in there])
    return _Mean(mean, distinct.pop() if len(distinct) == 1 else (), rated)


def _average_row(columns: dict[str, Any], mean: _Mean, how: Ensembles) -> dict[str, Any]:
    printed = _published(columns, columns["dimension"], mean, how)
    more = {"corpus": AVERAGE, "rated": ", ".join(mean.rated), "rater_kind": columns["raters"]}
    more["members"] = _named(mean.members)
    return columns | more | _numbers(mean.result) | {"published_pearson": printed}


def _published(columns: dict[str, Any], dimension: str, mean: _Mean, how: Ensembles) -> float | None:
    """Return the paper's value for an ensemble of the best three of its open models."""
    if (columns["raters"], columns["chosen_on"], columns["language"]) != ("full", ALL_CORPORA, "en"):
        return None
    if mean.rated != (dimension,):
        return None
    systems = [system_of(scorer.judge, how.published_as) for scorer in mean.members]
    return published_ensemble(columns["level"], dimension, systems) if len(systems) == _PAPERS_SIZE else None


def _over_dimensions(
    columns: dict[str, Any], means: Mapping[str, _Mean], n_rated: int, how: Ensembles
) -> dict[str, Any]:
    """Return the mean over dimensions of the means over corpora; each dimension has members of its own."""
    average = average_over([mean.result for mean in means.values()], "dimensions")
    printed = [_published(columns, name, mean, how) for name, mean in means.items()]
    is_the_papers = len(printed) == _PAPERS_DIMENSIONS and None not in printed
    row = columns | {"dimension": AVERAGE, "corpus": AVERAGE, "rater_kind": columns["raters"], "members": ""}
    row["rated"] = ", ".join(dict.fromkeys(rated for mean in means.values() for rated in mean.rated))
    row |= _numbers(average) | {
        "published_pearson": published_ensemble(columns["level"], AVERAGE) if is_the_papers else None
    }
    if len(means) < n_rated:
        row["reason"] = f"mean of {len(means)} of {n_rated} dimensions: the other dimensions have no ensemble"
    return row


def dimension_ensemble_rows(
    cells: Sequence[Cell],
    published_as: Mapping[str, str] = NO_PUBLISHED_NAMES,
    *,
    resamples: int,
    confidence: float,
    random_seed: int,
) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `metaeval/dimension_ensemble`, with the means over corpora last.

    With several corpora there are two means: over corpora with human ratings (`rater_kind` human), and over all
    (`rater_kind` full), as in the paper.

    Args:
        cells: of all corpora, levels and languages.
        published_as: the papers' system that a judge is, where it is not that of its name; empty for none.
    """
    found: dict[tuple[str, str, str, Scorer], list[tuple[str, Correlations]]] = defaultdict(list)
    for cell in cells:
        if OVERALL not in cell.dimensions or OVERALL in cell.joined:
            continue
        if (best := cell.best_ratings(cell.dimensions.index(OVERALL))) is None:
            continue
        kind, ratings = best
        overall = cell.dimensions.index(OVERALL)
        for number, scorer in enumerate(cell.scorers):
            others = [n for n in range(len(cell.dimensions)) if n != overall and _any(cell.scores[number, n])]
            if len(others) < 2 or not _any(cell.scores[number, overall]):
                continue
            if kind != "human" and scorer.method == ANNOTATION:  # these are the ratings
                continue
            if kind == "model" and cell.own[number, overall]:
                continue
            both = np.stack([cell.scores[number, others].mean(axis=0), cell.scores[number, overall]])
            result = correlate(
                both[np.newaxis],
                np.stack([ratings, ratings]),
                cell.cluster,
                resamples=resamples,
                confidence=confidence,
                random_seed=corpus_seed(cell.corpus, random_seed),
            )
            columns = {"benchmark": cell.benchmark, "level": cell.level, "corpus": cell.corpus}
            imputed_by = cell.imputed_by.get(OVERALL) if kind == "model" else None
            more = {"language": cell.language, "rater_kind": kind, "imputed_by": imputed_by}
            yield columns | more | _numbers_dimension_ensembles(scorer, result)
            if kind != "construction":
                found[cell.benchmark, cell.level, cell.language, scorer].append((kind, result))
    for (benchmark, level, language, scorer), results in found.items():
        for raters, rater_kinds in (("human", ("human",)), ("full", ("human", "model"))):
            counted = [result for kind, result in results if kind in rater_kinds]
            if len(results) > 1 and counted:
                columns = {"benchmark": benchmark, "level": level, "corpus": AVERAGE}
                printed = (
                    _published_dimension_ensembles(system_of(scorer.judge, published_as), level, raters)
                    if language == "en"
                    else {}
                )
                more = {"language": language, "rater_kind": raters}
                yield columns | more | _numbers_dimension_ensembles(scorer, average_over(counted)) | printed


def _any(values: FloatArray) -> bool:
    return not bool(np.isnan(values).all())


def _numbers_dimension_ensembles(scorer: Scorer, result: Correlations) -> dict[str, Any]:
    ensemble, direct = result.one(0, 0), result.one(0, 1)
    return {
        **scorer._asdict(),
        "n": ensemble.n_items,
        **behind(ensemble),
        "reason": "; ".join(dict.fromkeys(reason for reason in result.reason[0] if reason)) or None,
        **ensemble.limits("ensemble", "ensemble_"),
        **direct.limits("direct", "direct_"),
    }


def _published_dimension_ensembles(system: str, level: str, raters: str) -> dict[str, float | None]:
    """Return the published values: Table 8 for the full data; for human ratings, Table 6 has the direct one."""
    if raters == "human":
        return {"published_direct": published_correlation(HUMAN, system, level)}
    tables = {"published_ensemble": ENSEMBLE, "published_direct": DIRECT}
    return {column: published_correlation(table, system, level) for column, table in tables.items()}
