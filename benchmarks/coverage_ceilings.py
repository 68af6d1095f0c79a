"""Coverage of the raters' reliability, of ceilings, and of correlations corrected for the raters' errors."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from coverage_cases import Measured, cases, measured
from dialeval.stats.correlation import correlate
from dialeval.stats.reliability import Reliability, corrected_correlation, reliability

ITEMS = 5
"""Items of a dialogue."""
MOST_RATERS = 5
"""Of an item; each has two to five, by chance."""
SINGLE = (0.15, 0.5)
"""Share of a single rating's variance that is the item's."""
TRUE_CORRELATION = 0.7
"""Of the judge with the items' true values."""
HARSHNESS = 0.3
"""Variance of the severity of raters who all rate all items; the items' is 1."""
SINGLE_ITEMS = (15, 25, 40, 120)
"""Dialogues with one item each."""
RATERS = 3
HIGH = (0.5, 0.85)
"""Correlations of judges with the items' true values."""


def ceilings(repetitions: int) -> Iterator[Measured]:
    """Yield the coverage of ICC, ceiling and corrected correlation, with anonymous raters and with named ones."""
    for clusters, within in cases():
        for icc in SINGLE:
            yield from _measured(clusters, within, icc, repetitions, named=False)
        yield from _measured(clusters, within, SINGLE[1], repetitions, named=True)
    yield from single_items(repetitions)


def single_items(repetitions: int) -> Iterator[Measured]:
    """Yield the coverage of corrected correlations with one item a dialogue, of normal and of five-level ratings.

    Three raters err as much as items differ. Five levels have their middle above the scale's, so that many are 5.
    """
    for rho in HIGH:
        for levels in (False, True):
            truth = _true_correlation(rho) if levels else rho
            for n in SINGLE_ITEMS:
                ends = np.full((repetitions, 2), np.nan)
                for number in range(repetitions):
                    rng = np.random.default_rng([number, n, levels, int(100 * rho)])
                    true = rng.normal(size=n)
                    ratings = true[:, np.newaxis] + rng.normal(size=(n, RATERS))
                    ratings = _five_levels(ratings) if levels else ratings
                    score = rho * true + math.sqrt(1.0 - rho**2) * rng.normal(size=n)
                    item, dialogue = np.repeat(np.arange(n), RATERS), np.arange(n)
                    raters = reliability(ratings.ravel(), item, dialogue, resamples=1000, random_seed=number)
                    mean = ratings.mean(axis=1)[np.newaxis]
                    found = correlate(score[np.newaxis, np.newaxis], mean, dialogue, random_seed=number)
                    pearson = float(found.estimate[0, 0]), found.replicates[:, 0, 0]
                    corrected = corrected_correlation(*pearson, raters)
                    ends[number] = corrected.ci_low, corrected.ci_high
                case = f"{'5 levels' if levels else 'normal'}, {truth:.2f}"
                yield measured("corrected, 1 item each", n, 0.0, case, *ends.T, truth)


def _five_levels(rating: np.ndarray) -> np.ndarray:
    return np.clip(np.round(4.2 + 0.9 * rating), 1.0, 5.0)


def _true_correlation(rho: float) -> float:
    """Correlation of a judge with the mean of infinitely many five-level ratings of an item."""
    rng = np.random.default_rng(0)
    true = rng.normal(size=200_000)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    parts = zip(nodes, weights / weights.sum(), strict=True)
    mean = sum(weight * _five_levels(true + node) for node, weight in parts)
    score = rho * true + math.sqrt(1.0 - rho**2) * rng.normal(size=len(true))
    return float(np.corrcoef(mean, score)[0, 1])


def _measured(clusters: int, within: float, icc: float, repetitions: int, *, named: bool) -> Iterator[Measured]:
    """The items' values have variance 1, the errors of a rating as much as makes the share of the items `icc`."""
    errors = (1.0 - icc) / icc - (HARSHNESS if named else 0.0)
    found: dict[str, list[tuple[float, float, float]]] = {"icc": [], "ceiling": [], "corrected": []}
    for number in range(repetitions):
        rng = np.random.default_rng([number, clusters, int(100 * within), int(100 * icc), named])
        # Intervals are about these raters, so the truth is that of their own severity.
        harsh = math.sqrt(HARSHNESS) * rng.normal(size=MOST_RATERS) if named else np.zeros(MOST_RATERS)
        raters, pearson = _one(rng, clusters, within, errors, harsh, number)
        corrected = corrected_correlation(pearson[0], pearson[1], raters)
        true_icc = 1.0 / (1.0 + errors + harsh.var(ddof=1))
        # Of means over as many raters as there happened to be.
        true_ceiling = 1.0 / math.sqrt(1.0 + errors / raters.n_raters)
        found["icc"].append((raters.icc.ci_low, raters.icc.ci_high, true_icc))
        found["ceiling"].append((raters.ceiling.ci_low, raters.ceiling.ci_high, true_ceiling))
        found["corrected"].append((corrected.ci_low, corrected.ci_high, TRUE_CORRELATION))
    case = f"icc {icc}{', named' if named else ''}"
    for name in ("icc", "ceiling", "corrected"):
        low, high, truths = np.array(found[name]).T
        yield measured(_NAMES[name], clusters, within, case, low, high, truths.reshape(-1, 1))


_NAMES = {"icc": "ICC of one rater", "ceiling": "ceiling", "corrected": "corrected correlation"}


def _one(
    rng: np.random.Generator, clusters: int, within: float, errors: float, harsh: np.ndarray, seed: int
) -> tuple[Reliability, tuple[float, np.ndarray]]:
    """The raters' reliability, and a judge's correlation with their mean: the estimate and its replicates."""
    named = bool(harsh.any())
    cluster = np.repeat(np.arange(clusters), ITEMS)
    n = len(cluster)
    true = math.sqrt(within) * np.repeat(rng.normal(size=clusters), ITEMS) + math.sqrt(1 - within) * rng.normal(size=n)
    given = np.arange(MOST_RATERS) < rng.integers(2, MOST_RATERS + 1, n)[:, np.newaxis]
    if named:
        given = np.ones_like(given)  # all rate all, so that severity does not disturb the means
    ratings = true[:, np.newaxis] + harsh + math.sqrt(errors) * rng.normal(size=(n, MOST_RATERS))
    item, rater = np.nonzero(given)
    found = reliability(ratings[given], item, cluster, rater if named else None, resamples=1000, random_seed=seed)
    mean = np.where(given, ratings, 0.0).sum(axis=1) / given.sum(axis=1)
    score = TRUE_CORRELATION * true + math.sqrt(1 - TRUE_CORRELATION**2) * rng.normal(size=n)
    pearson = correlate(score[np.newaxis, np.newaxis], mean[np.newaxis], cluster, random_seed=seed)
    return found, (float(pearson.estimate[0, 0]), pearson.replicates[:, 0, 0])
