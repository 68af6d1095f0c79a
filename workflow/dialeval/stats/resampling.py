"""One way to resample: whole clusters (seeds, dialogues, items), as matrices of counts.

Verdicts on one seed are not independent, so what is drawn with repetition is the seed, with all that belongs to it.
A resample is a row of counts, one count per cluster. Every statistic that can be computed from weighted data is then
computed from the same rows, so that differences between models or judges are paired.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from dialeval.stats.arrays import BoolArray, FloatArray, IntArray, check_confidence

_DRAWS_PER_BLOCK = 50_000


@dataclass(frozen=True)
class Interval:
    """A statistic with its percentile interval.

    Attributes:
        estimate: the statistic on the data themselves.
        low, high: ends of the interval; NaN where there is none.
        confidence: the interval's nominal coverage.
        resamples: replicates behind it that have a value.
        reason: why a number is missing; empty where none is.
    """

    estimate: float
    low: float
    high: float
    confidence: float
    resamples: int
    reason: str = ""


@dataclass(frozen=True)
class Difference:
    """A paired difference, first minus second.

    Attributes:
        interval: the difference with its percentile interval.
        p_reversed: share of the paired replicates in which the sign is the other one; a replicate without a
            difference counts half. NaN where the difference is missing or exactly 0.
    """

    interval: Interval
    p_reversed: float


def cluster_counts(n_clusters: int, resamples: int, rng: np.random.Generator) -> FloatArray:
    """Draw bootstrap resamples of clusters.

    Returns:
        How often each cluster was drawn, shape [resamples, n_clusters]; rows sum to n_clusters.

    Raises:
        ValueError: if a number is negative.
    """
    if n_clusters < 0 or resamples < 0:
        raise ValueError(f"n_clusters is {n_clusters} and resamples is {resamples}; neither may be negative")
    if n_clusters == 0:
        return np.zeros((resamples, 0))
    counts = np.empty((resamples, n_clusters))
    step = max(1, _DRAWS_PER_BLOCK // n_clusters)
    for block in (counts[begin : begin + step] for begin in range(0, resamples, step)):
        drawn = rng.integers(0, n_clusters, size=block.shape)
        drawn += n_clusters * np.arange(len(block))[:, np.newaxis]
        block[:] = np.bincount(drawn.ravel(), minlength=block.size).reshape(block.shape)
    return counts


def percentile_interval(replicates: FloatArray, confidence: float = 0.95) -> tuple[FloatArray, FloatArray]:
    """Percentile interval over the first axis, leaving out replicates that are NaN.

    Args:
        replicates: shape [resamples, ...].
        confidence: nominal coverage.

    Returns:
        Lower and upper ends, shape [...]; NaN where no replicate has a value.

    Raises:
        ValueError: if `confidence` is not between 0 and 1.
    """
    check_confidence(confidence)
    shape = replicates.shape[1:]
    columns = np.sort(replicates.reshape(len(replicates), math.prod(shape)), axis=0)  # NaN goes last
    known = np.count_nonzero(~np.isnan(columns), axis=0)
    if len(columns) == 0:
        return np.full(shape, np.nan), np.full(shape, np.nan)
    tail = 0.5 * (1.0 - confidence)
    ends = []
    for share in (tail, 1.0 - tail):
        position = share * np.maximum(known - 1, 0)
        below = np.floor(position).astype(np.int64)
        above = np.minimum(below + 1, np.maximum(known - 1, 0))
        low, high = (np.take_along_axis(columns, row[np.newaxis], axis=0)[0] for row in (below, above))
        ends.append((low + (position - below) * (high - low)).reshape(shape))
    return ends[0], ends[1]


def interval(estimate: float, replicates: FloatArray, confidence: float = 0.95, reason: str = "") -> Interval:
    """Gather a statistic and its replicates, shape [resamples], into an `Interval`."""
    low, high = percentile_interval(replicates, confidence)
    known = int(np.count_nonzero(~np.isnan(replicates)))
    if math.isnan(estimate):
        return Interval(math.nan, math.nan, math.nan, confidence, known, reason or "the statistic is undefined")
    if known == 0:
        reason = reason or "no resample has a value"
    return Interval(float(estimate), float(low), float(high), confidence, known, reason)


def ratio_replicates(
    numerator: FloatArray, denominator: FloatArray, cluster: IntArray, weights: FloatArray
) -> FloatArray:
    """Ratio of two sums on each resample of the clusters.

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
    ratio = np.full(len(weights), np.nan)
    np.divide(above, below, out=ratio, where=below > 0)
    return ratio


def share_interval(
    among: BoolArray, which: BoolArray, cluster: IntArray, weights: FloatArray, confidence: float, reason: str
) -> Interval:
    """Share of the rows `among` that are also `which`, with its cluster interval; `reason` tells why there is none.

    Of a share that is 0 or 1 every resample has the same; its interval is Wilson's, each cluster counting once.
    """
    n_among = int(np.count_nonzero(among))
    hits = (among & which).astype(np.float64)
    n_hits = int(hits.sum())
    estimate = n_hits / n_among if n_among else math.nan
    replicates = ratio_replicates(hits, among.astype(np.float64), cluster, weights)
    result = interval(estimate, replicates, confidence, reason="" if n_among else reason)
    if n_among and n_hits in (0, n_among):
        n_clusters = len(np.unique(cluster[among]))
        low, high = wilson_interval(n_clusters if n_hits else 0, n_clusters, confidence)
        result = replace(result, low=float(low), high=float(high))
    return result


def paired_difference(
    first: float,
    second: float,
    first_replicates: FloatArray,
    second_replicates: FloatArray,
    confidence: float = 0.95,
) -> Difference:
    """Compare two statistics that were computed on the same resamples.

    Args:
        first, second: the statistics on the data themselves.
        first_replicates, second_replicates: on each resample, the same ones for both, shape [resamples].
        confidence: nominal coverage of the interval of first - second.

    Raises:
        ValueError: if the replicates differ in number.
    """
    if first_replicates.shape != second_replicates.shape:
        raise ValueError(f"replicates of shapes {first_replicates.shape} and {second_replicates.shape} are not paired")
    difference = first_replicates - second_replicates
    estimate = first - second
    known = difference[~np.isnan(difference)]
    p_reversed = math.nan
    if len(known) and estimate != 0.0 and not math.isnan(estimate):
        p_reversed = float(np.mean(0.5 * (1.0 - np.sign(known) * np.sign(estimate))))
    return Difference(interval(estimate, difference, confidence), p_reversed)


def p_above_next(rating: FloatArray, replicates: FloatArray) -> FloatArray:
    """For each model, the share of paired replicates in which it is above the next one of the ranking.

    Args:
        rating: rating of each model on the data themselves, shape [n_models]; NaN for an unrated one.
        replicates: ratings on the same resamples for all, shape [resamples, n_models].

    Returns:
        Shape [n_models]; equal replicates count half. NaN for the last model, for unrated ones, and where no
        replicate rates both.
    """
    share = np.full(len(rating), np.nan)
    order = np.argsort(-rating, kind="stable")
    order = order[~np.isnan(rating[order])]
    for upper, lower in itertools.pairwise(order):
        difference = replicates[:, upper] - replicates[:, lower]
        difference = difference[~np.isnan(difference)]
        if len(difference):
            share[upper] = np.mean(0.5 * (1.0 + np.sign(difference)))
    return share


def wilson_interval(successes: ArrayLike, n: ArrayLike, confidence: float = 0.95) -> tuple[FloatArray, FloatArray]:
    """Wilson score interval of a proportion (Wilson 1927), for independent trials.

    Args:
        successes: number of successes, any shape.
        n: number of trials, a shape that fits.
        confidence: nominal coverage.

    Returns:
        Lower and upper ends as shares, in the common shape; NaN where n is 0.

    Raises:
        ValueError: if a number of successes is negative or above n, or `confidence` is not between 0 and 1.
    """
    check_confidence(confidence)
    count, trials = np.broadcast_arrays(np.asarray(successes, np.float64), np.asarray(n, np.float64))
    if ((count < 0) | (count > trials)).any():
        raise ValueError("successes must lie between 0 and n")
    z2 = float(ndtri(0.5 + 0.5 * confidence)) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        share = count / trials
        centre = (share + z2 / (2.0 * trials)) / (1.0 + z2 / trials)
        spread = np.sqrt(z2 * (share * (1.0 - share) / trials + z2 / (4.0 * trials**2))) / (1.0 + z2 / trials)
    low = np.where(count == 0, 0.0, centre - spread)  # exactly 0 and 1 at the ends, without rounding
    high = np.where(count == trials, 1.0, centre + spread)
    low, high = np.where(trials > 0, low, np.nan), np.where(trials > 0, high, np.nan)
    return cast("FloatArray", low), cast("FloatArray", high)
