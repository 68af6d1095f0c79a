"""Resampling of whole clusters, and intervals from resamples.

Verdicts on one seed are not independent, so seeds are resampled, with all their verdicts. A resample is a row of
counts, one count per cluster. All statistics use the same rows as weights, so that differences between models or judges
are paired.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dialeval.stats.arrays import FloatArray, IntArray, check_confidence, ratio
from dialeval.stats.estimates import SINGLE_CLUSTER, Estimate

ALL_THE_SAME = "every resample gives the same rating, so there is no interval"
_DRAWS_PER_BLOCK = 100_000
_FAR = 1.5  # standard deviations; about 7% of normal replicates are beyond it on each side, including the 95% limits
_NO_WIDTH = 1e-6  # points; widths below it are rounding errors


def cluster_counts(n_clusters: int, resamples: int, rng: np.random.Generator) -> FloatArray:
    """Draw bootstrap resamples of clusters.

    Returns:
        Number of draws of each cluster, shape [resamples, n_clusters]; rows sum to n_clusters.

    Raises:
        ValueError: if a number is negative.
    """
    return integer_counts(n_clusters, resamples, rng, n_clusters).astype(np.float64)


def integer_counts(n_clusters: int, resamples: int, rng: np.random.Generator, largest: int) -> NDArray[Any]:
    """Draw the resamples of `cluster_counts` in the narrowest whole numbers up to `largest`, which fill in less time.

    Args:
        n_clusters: clusters to draw from; no count is larger.
        resamples: resamples to draw.
        rng: source of the draws.
        largest: largest number that the dtype must represent, `n_clusters` or more.

    Returns:
        Shape [resamples, n_clusters], of unsigned whole numbers.

    Raises:
        ValueError: if a number is negative.
    """
    if n_clusters < 0 or resamples < 0:
        raise ValueError(f"n_clusters is {n_clusters} and resamples is {resamples}; neither may be negative")
    counts = np.zeros((resamples, n_clusters), dtype=np.min_scalar_type(largest))
    step = max(1, _DRAWS_PER_BLOCK // max(n_clusters, 1))
    for block in (counts[begin : begin + step] for begin in range(0, resamples if n_clusters else 0, step)):
        drawn = rng.integers(0, n_clusters, size=block.shape)
        drawn += n_clusters * np.arange(len(block))[:, np.newaxis]
        block[:] = np.bincount(drawn.ravel(), minlength=block.size).reshape(block.shape)
    return counts


def percentile_interval(
    replicates: FloatArray, confidence: float = 0.95, n_clusters: ArrayLike | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return percentile intervals over the first axis, expanded for few clusters. NaN replicates are left out.

    The tail beyond each limit is Phi(-sqrt(K / (K - 1)) t), with t the quantile of Student's distribution with K - 1
    degrees of freedom (Hesterberg 2015, section 4.4). For a mean, the result is close to the t interval.

    Args:
        replicates: shape [resamples, ...].
        confidence: nominal coverage.
        n_clusters: number K of resampled clusters, one number or shape [...]; None if there are so many that the
            expansion is negligible.

    Returns:
        Lower and upper limits, shape [...]; NaN if no replicate has a value or there is a single cluster.

    Raises:
        ValueError: if `confidence` is not between 0 and 1.
    """
    check_confidence(confidence)
    shape = replicates.shape[1:]
    if len(replicates) == 0:
        return np.full(shape, np.nan), np.full(shape, np.nan)
    rows = np.ascontiguousarray(replicates.reshape(len(replicates), math.prod(shape)).T, dtype=np.float64)
    known = len(replicates) - np.count_nonzero(np.isnan(rows), axis=1)
    tail = np.broadcast_to(_tail(confidence, n_clusters), shape).ravel()
    known = np.where(np.isnan(tail), 0, known)
    position = np.stack([np.nan_to_num(tail), 1.0 - np.nan_to_num(tail)]) * np.maximum(known - 1, 0)
    below = np.floor(position).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(known - 1, 0))
    low, high = np.split(_at_ranks(rows, np.concatenate([below, above])), 2)
    with np.errstate(invalid="ignore"):  # of infinite replicates the outer one is the end
        between = low + (position - below) * (high - low)
    between = np.where(np.isinf(low) | (position == below), low, np.where(np.isinf(high), high, between))
    limits = np.where(np.isnan(tail), np.nan, between).reshape(2, *shape)
    return limits[0], limits[1]


def _at_ranks(rows: FloatArray, ranks: IntArray) -> FloatArray:
    """Return the values of each row, shape [rows, n], at ranks counted from 0, shape [k, rows]; NaN has the last ranks.

    Only values far from a row's mean are sorted, unless a rank is closer to the mean.
    """
    n = rows.shape[1]
    with np.errstate(invalid="ignore", over="ignore"):  # a row with NaN or without a limit is sorted whole
        mean = rows.mean(axis=1)
        far = _FAR * np.sqrt(np.einsum("rn,rn->r", rows, rows) / n - mean**2)
        low, high = rows < (mean - far)[:, np.newaxis], rows > (mean + far)[:, np.newaxis]
    n_low, n_high = np.count_nonzero(low, axis=1), np.count_nonzero(high, axis=1)
    in_tails = ((ranks < n_low) | (ranks >= n - n_high)).all(axis=0)
    values = np.empty(ranks.shape)
    sorted_rows = np.sort(rows[~in_tails], axis=1)
    values[:, ~in_tails] = np.take_along_axis(sorted_rows, ranks[:, ~in_tails].T, axis=1).T
    n_kept = (n_low + n_high)[in_tails, np.newaxis]
    tails = np.full((len(n_kept), n_kept.max(initial=0)), np.inf)
    tails[np.arange(tails.shape[1]) < n_kept] = rows[(low | high) & in_tails[:, np.newaxis]]
    tails.sort(axis=1)
    place = np.where(ranks < n_low, ranks, ranks - (n - n_low - n_high))
    values[:, in_tails] = np.take_along_axis(tails, place[:, in_tails].T, axis=1).T
    return values


def bias_corrected_interval(
    estimate: float, replicates: FloatArray, confidence: float = 0.95, n_clusters: int | None = None
) -> tuple[float, float]:
    """Return the bias-corrected percentile interval (Efron 1981), expanded as `percentile_interval` is.

    With z the normal quantile of the share of replicates below the estimate, and z_a the normal quantile of the
    expanded interval's tail, the limits are the quantiles Phi(2 z + z_a) and Phi(2 z - z_a) of the replicates.

    Args:
        estimate: the statistic.
        replicates: shape [resamples]; NaN is left out.
        confidence, n_clusters: as in `percentile_interval`.

    Returns:
        The ends; NaN where no replicate has a value, and where there is a single cluster.
    """
    from scipy.special import ndtr, ndtri  # slow to load, and not needed to count clusters

    check_confidence(confidence)
    known = replicates[~np.isnan(replicates)]
    tail = float(_tail(confidence, n_clusters))
    if not len(known) or math.isnan(tail):
        return math.nan, math.nan
    below = np.count_nonzero(known < estimate) + 0.5 * np.count_nonzero(known == estimate)
    shift = 2.0 * ndtri(np.clip(below, 0.5, len(known) - 0.5) / len(known))
    low, high = np.quantile(known, ndtr(shift + ndtri(tail) * np.array([1.0, -1.0])))
    return float(low), float(high)


def without_zero_width(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Limits of intervals of ratings, NaN without width: equal resamples carry no information on others."""
    same = high - low <= _NO_WIDTH
    return np.where(same, np.nan, low), np.where(same, np.nan, high)


def interval(
    estimate: float,
    replicates: FloatArray,
    confidence: float = 0.95,
    note: str = "",
    n_clusters: int | None = None,
) -> Estimate:
    """Gather a statistic and its replicates, shape [resamples], into an `Estimate`, expanded for few clusters.

    Without replicates there is no interval, and no note says so: none was asked for.
    """
    low, high = percentile_interval(replicates, confidence, n_clusters)
    known = int(np.count_nonzero(~np.isnan(replicates)))
    behind = n_clusters or 0
    if math.isnan(estimate):
        return Estimate.missing(confidence, note or "the statistic is undefined", behind, known)
    if known == 0 and len(replicates):
        note = note or "no resample has a value"
    elif n_clusters == 1 and len(replicates):
        note = note or SINGLE_CLUSTER
    return Estimate(float(estimate), float(low), float(high), confidence, known, note, behind)


def ratio_replicates(
    numerator: FloatArray, denominator: FloatArray, cluster: IntArray, weights: FloatArray
) -> FloatArray:
    """Return the ratio of two sums on each resample of the clusters.

    Args:
        numerator, denominator: what each row adds to the sums, shape [n].
        cluster: cluster of each row, shape [n].
        weights: counts of the clusters, as `cluster_counts` draws them, shape [resamples, n_clusters].

    Returns:
        Shape [resamples]; NaN where the denominator is 0.
    """
    n_clusters = weights.shape[1]
    above = weights @ np.bincount(cluster, numerator, minlength=n_clusters)
    below = weights @ np.bincount(cluster, denominator, minlength=n_clusters)
    return ratio(above, below)


def p_above_next(rating: FloatArray, replicates: FloatArray) -> FloatArray:
    """Return the share of paired replicates in which each model is above the next one of the ranking.

    Args:
        rating: rating of each model on the data themselves, shape [n_models]; NaN for an unrated one.
        replicates: ratings on the same resamples for all, shape [resamples, n_models].

    Returns:
        Shape [n_models]; replicates within a millionth of a point are equal and count half. NaN for the last model, for
        unrated ones, and where no replicate rates both.
    """
    share = np.full(len(rating), np.nan)
    order = np.argsort(-rating, kind="stable")
    order = order[~np.isnan(rating[order])]
    for upper, lower in itertools.pairwise(order):
        with np.errstate(invalid="ignore"):  # two without a limit are not distinguishable
            difference = replicates[:, upper] - replicates[:, lower]
        difference = difference[~np.isnan(difference)]
        if len(difference):
            sign = np.where(np.abs(difference) > _NO_WIDTH, np.sign(difference), 0.0)
            share[upper] = np.mean(0.5 * (1.0 + sign))
    return share


def mean_of_independent(estimate: FloatArray, low: FloatArray, high: FloatArray) -> tuple[float, float, float]:
    """Return the mean of independent estimates with an interval of the same confidence as theirs.

    The distances to the limits, which need not be alike on both sides, are recovered from each interval and added as
    variances are: L = mean - sqrt(sum (estimate - low)^2) / k, and so for the upper one.

    Args:
        estimate: shape [k], k >= 1.
        low: lower limits, shape [k]; NaN where there is none, and then the mean has none.
        high: upper limits, shape [k].

    Returns:
        The mean, its lower and its upper limit.
    """
    k, mean = len(estimate), float(np.mean(estimate))
    below = float(np.sqrt(np.sum((estimate - low) ** 2))) / k
    above = float(np.sqrt(np.sum((high - estimate) ** 2))) / k
    return mean, mean - below, mean + above


def _tail(confidence: float, n_clusters: ArrayLike | None) -> FloatArray:
    """Return the share of the replicates beyond each limit; NaN with fewer than two clusters."""
    if n_clusters is None:
        return np.asarray(0.5 * (1.0 - confidence))
    from scipy.special import ndtr, stdtrit  # as above

    n = np.asarray(n_clusters, dtype=np.float64)
    freedom = np.maximum(n - 1.0, 1.0)
    tail = ndtr(-np.sqrt((freedom + 1.0) / freedom) * stdtrit(freedom, 0.5 + 0.5 * confidence))
    return np.where(n >= 2.0, tail, np.nan)
