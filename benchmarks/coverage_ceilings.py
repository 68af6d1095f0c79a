"""Coverage of the raters' reliability, of ceilings, and of correlations corrected for the raters' errors."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from coverage_cases import Measured, cases, measured
from dialeval.stats.ceilings import Reliability, corrected_correlation, reliability
from dialeval.stats.correlation import correlate

ITEMS = 5
"""Items of a dialogue."""
MOST_RATERS = 5
"""Of an item; each has two to five, by chance."""
SINGLE = (0.15, 0.5)
"""Share of a single rating's variance that is the item's."""
TRUE_CORRELATION = 0.7
"""Of the judge with the items' true values."""
HARSHNESS = 0.3
"""Variance of the harshness of raters who all rate all items; the items' is 1."""


def ceilings(repetitions: int) -> Iterator[Measured]:
    """Yields the coverage of ICC, ceiling and corrected correlation, with anonymous raters and with named ones."""
    for clusters, within in cases():
        for icc in SINGLE:
            yield from _measured(clusters, within, icc, repetitions, named=False)
        yield from _measured(clusters, within, SINGLE[1], repetitions, named=True)


def _measured(clusters: int, within: float, icc: float, repetitions: int, *, named: bool) -> Iterator[Measured]:
    """The items' values have variance 1, the errors of a rating as much as makes the share of the items `icc`."""
    errors = (1.0 - icc) / icc - (HARSHNESS if named else 0.0)
    found: dict[str, list[tuple[float, float, float]]] = {"icc": [], "ceiling": [], "corrected": []}
    for number in range(repetitions):
        rng = np.random.default_rng([number, clusters, int(100 * within), int(100 * icc), named])
        # Intervals are about these raters, so the truth is that of their own harshness.
        harsh = math.sqrt(HARSHNESS) * rng.normal(size=MOST_RATERS) if named else np.zeros(MOST_RATERS)
        raters, pearson = _one(rng, clusters, within, errors, harsh, number)
        corrected = corrected_correlation(pearson[0], pearson[1], raters)
        true_icc = 1.0 / (1.0 + errors + harsh.var(ddof=1))
        # Of means over as many raters as there happened to be.
        true_ceiling = 1.0 / math.sqrt(1.0 + errors / raters.n_raters)
        found["icc"].append((raters.icc.low, raters.icc.high, true_icc))
        found["ceiling"].append((raters.ceiling.low, raters.ceiling.high, true_ceiling))
        found["corrected"].append((corrected.low, corrected.high, TRUE_CORRELATION))
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
        given = np.ones_like(given)  # all rate all, so that harshness does not disturb the means
    ratings = true[:, np.newaxis] + harsh + math.sqrt(errors) * rng.normal(size=(n, MOST_RATERS))
    item, rater = np.nonzero(given)
    found = reliability(ratings[given], item, cluster, rater if named else None, resamples=1000, random_seed=seed)
    mean = np.where(given, ratings, 0.0).sum(axis=1) / given.sum(axis=1)
    score = TRUE_CORRELATION * true + math.sqrt(1 - TRUE_CORRELATION**2) * rng.normal(size=n)
    pearson = correlate(score[np.newaxis, np.newaxis], mean[np.newaxis], cluster, random_seed=seed)
    return found, (float(pearson.estimate[0, 0]), pearson.replicates[:, 0, 0])
