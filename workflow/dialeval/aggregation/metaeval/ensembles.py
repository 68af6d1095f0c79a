"""Ensembles: of one judge's dimensions, and of several judges (comp-analysis, Tables 8 and 9).

A model ensemble is the mean of the best judges' scores, scaled to [0, 1]; a judge that scored by several methods is in
it once, by the one that went best, and no ensemble is a member of another. Which are the best is said in two ways: by
their mean correlation over all corpora, the scored one among them, as the paper has it; and over the other corpora
alone, which is what one could know beforehand.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from dialeval.aggregation.metaeval.cells import ANNOTATION, Cell, Scorer
from dialeval.aggregation.metaeval.correlations import AVERAGE, behind, corpus_seed
from dialeval.published.metaeval import DIRECT, ENSEMBLE, published
from dialeval.stats.arrays import FloatArray
from dialeval.stats.correlation import Correlations, average_over, correlate

OVERALL = "overall"
ALL_CORPORA = "all corpora"
OTHER_CORPORA = "other corpora"


def dimension_ensemble_rows(
    cells: Sequence[Cell], *, resamples: int, confidence: float, random_seed: int
) -> Iterator[dict[str, Any]]:
    """Yields the rows of the table `metaeval/dimension_ensemble`, with the mean over corpora last.

    The ensemble is the mean of a judge's scores on the dimensions other than overall; it and the score on overall
    itself are correlated with the overall rating.
    """
    averaged: dict[tuple[str, str, str, Scorer], list[Correlations]] = defaultdict(list)
    for cell in cells:
        if OVERALL not in cell.dimensions or (best := cell.best_ratings(cell.dimensions.index(OVERALL))) is None:
            continue
        kind, ratings = best
        overall = cell.dimensions.index(OVERALL)
        for number, scorer in enumerate(cell.scorers):
            others = [n for n in range(len(cell.dimensions)) if n != overall and _any(cell.scores[number, n])]
            if len(others) < 2 or not _any(cell.scores[number, overall]):
                continue
            if _is_itself(scorer, kind) or (kind == "model" and cell.own[number, overall]):
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
            row = _dimension_row(scorer, cell.benchmark, cell.level, cell.corpus, cell.language, kind, result)
            yield row | {"filled_by": cell.filled_by.get(OVERALL) if kind == "model" else None}
            if kind != "construction":
                averaged[cell.benchmark, cell.level, cell.language, scorer].append(result)
    for (benchmark, level, language, scorer), results in averaged.items():
        if len(results) > 1:
            yield _dimension_row(scorer, benchmark, level, AVERAGE, language, "full", average_over(results))


def model_ensemble_rows(
    cells: Sequence[Cell],
    named: Collection[str] = (),
    *,
    size: int,
    resamples: int,
    confidence: float,
    random_seed: int,
) -> Iterator[dict[str, Any]]:
    """Yields the rows of the table `metaeval/model_ensemble`, with the mean over corpora last.

    Args:
        cells: of all corpora, levels and languages.
        named: judges that are ensembles themselves.
        size: number of judges in an ensemble.
    """
    groups: dict[tuple[str, str, str], list[Cell]] = defaultdict(list)
    for cell in cells:
        groups[cell.benchmark, cell.level, cell.language].append(cell)
    for (benchmark, level, language), group in groups.items():
        for dimension in dict.fromkeys(name for cell in group for name in cell.dimensions):
            rated = [_Rated(cell, dimension, named) for cell in group if dimension in cell.dimensions]
            rated = [one for one in rated if one.kind]
            if not rated:
                continue
            where = {"benchmark": benchmark, "level": level, "language": language, "dimension": dimension}
            for chosen_on in (ALL_CORPORA, OTHER_CORPORA):
                about = where | {"chosen_on": chosen_on}
                results = []
                for one in rated:
                    basis = rated if chosen_on == ALL_CORPORA else [other for other in rated if other is not one]
                    members = _best(basis, size)
                    about = {
                        "benchmark": benchmark,
                        "level": level,
                        "language": language,
                        "dimension": dimension,
                        "chosen_on": chosen_on,
                    }
                    row, result = _ensemble(one, members, size, resamples, confidence, random_seed)
                    yield about | row
                    if result is not None and one.kind != "construction":
                        results.append(result)
                if len(results) > 1:
                    mean = average_over(results)
                    yield about | {
                        "corpus": AVERAGE,
                        "rater_kind": "full",
                        "members": "",
                        "pearson": float(mean.estimate[0, 0]),
                        "pearson_low": float(mean.low[0, 0]),
                        "pearson_high": float(mean.high[0, 0]),
                        "n": int(mean.n[0, 0]),
                        **behind(mean, 0, 0),
                        "reason": mean.reason[0][0] or None,
                    }


class _Rated:
    """One cell's scores and ratings on one dimension, and how each scorer that may be a member correlates."""

    def __init__(self, cell: Cell, dimension: str, named: Collection[str]) -> None:
        place = cell.dimensions.index(dimension)
        self.cell = cell
        self.kind, self.ratings = cell.best_ratings(place) or ("", np.zeros(0))
        self.filled_by = cell.filled_by.get(dimension) if self.kind == "model" else None
        self.scores: dict[Scorer, FloatArray] = {}
        self.pearson: dict[Scorer, float] = {}
        for number, scorer in enumerate(cell.scorers if self.kind else ()):
            values = cell.scores[number, place]
            if scorer.method == ANNOTATION or scorer.judge in named or not _any(values):
                continue
            if self.filled_by and cell.own[number, place]:
                continue
            result = correlate(values[np.newaxis, np.newaxis], self.ratings[np.newaxis], cell.cluster, resamples=0)
            self.scores[scorer] = values
            self.pearson[scorer] = float(result.estimate[0, 0])


def _best(basis: Sequence[_Rated], size: int) -> list[Scorer]:
    """Returns the judges with the highest mean correlation over some corpora, best first, each by its best method.

    Those whose correlation is nowhere defined are out.
    """
    found: dict[Scorer, list[float]] = defaultdict(list)
    for one in basis:
        for scorer, value in one.pearson.items():
            if not np.isnan(value):
                found[scorer].append(value)
    means = {scorer: float(np.mean(values)) for scorer, values in found.items()}
    best: dict[str, Scorer] = {}
    for scorer in sorted(means, key=lambda scorer: (-means[scorer], scorer)):
        best.setdefault(scorer.judge, scorer)
    return list(best.values())[:size]


def _ensemble(
    one: _Rated, members: Sequence[Scorer], size: int, resamples: int, confidence: float, random_seed: int
) -> tuple[dict[str, Any], Correlations | None]:
    present = [scorer for scorer in members if scorer in one.scores]
    row: dict[str, Any] = {
        "corpus": one.cell.corpus,
        "rater_kind": one.kind,
        "filled_by": one.filled_by,
        "members": ", ".join(f"{scorer.judge} ({scorer.method})" for scorer in present),
    }
    if len(present) < size:
        return row | {
            "n": 0,
            "reason": f"only {len(present)} of {size} judges have scores to choose by and to use",
        }, None
    values = np.mean([one.scores[scorer] for scorer in present], axis=0)
    result = correlate(
        values[np.newaxis, np.newaxis],
        one.ratings[np.newaxis],
        one.cell.cluster,
        resamples=resamples,
        confidence=confidence,
        random_seed=corpus_seed(one.cell.corpus, random_seed),
    )
    return row | {
        "pearson": float(result.estimate[0, 0]),
        "pearson_low": float(result.low[0, 0]),
        "pearson_high": float(result.high[0, 0]),
        "best_member": max(one.pearson[scorer] for scorer in present),
        "n": int(result.n[0, 0]),
        **behind(result, 0, 0),
        "reason": result.reason[0][0] or None,
    }, result


def _dimension_row(
    scorer: Scorer, benchmark: str, level: str, corpus: str, language: str, kind: str, result: Correlations
) -> dict[str, Any]:
    row: dict[str, Any] = {
        "judge": scorer.judge,
        "method": scorer.method,
        "benchmark": benchmark,
        "level": level,
        "corpus": corpus,
        "language": language,
        "rater_kind": kind,
        "n": int(result.n[0, 0]),
        **behind(result, 0, 0),
        "reason": "; ".join(dict.fromkeys(reason for reason in result.reason[0] if reason)) or None,
    }
    for place, name in enumerate(("ensemble", "direct")):
        row[name] = float(result.estimate[0, place])
        row[f"{name}_low"] = float(result.low[0, place])
        row[f"{name}_high"] = float(result.high[0, place])
    if corpus == AVERAGE and language == "en":
        row["published_ensemble"] = published(ENSEMBLE, scorer.judge, level)
        row["published_direct"] = published(DIRECT, scorer.judge, level)
    return row


def _any(values: FloatArray) -> bool:
    return not bool(np.isnan(values).all())


def _is_itself(scorer: Scorer, kind: str) -> bool:
    """Returns whether a scorer's own annotation is what it would be compared with."""
    return scorer.method == ANNOTATION and kind != "human"
