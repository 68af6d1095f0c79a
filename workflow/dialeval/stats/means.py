"""Means of graded scores, and their differences, where items of one case (seed, dialogue) depend on each other.

The variance is CR2's: every cluster's contribution is divided by the root of one less its leverage (Bell and McCaffrey
2002), which makes it unbiased where items are independent and honest where they are not. Student's t has
Satterthwaite's degrees of freedom, n_clusters - 1 where clusters are of one size. The mean of a scale with two ends has
the interval of a share (`shares`), as that must not close at an end; so has the difference of shares (`differences`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dialeval.stats.arrays import FloatArray, IntArray, as_floats, dense_codes
from dialeval.stats.differences import NO_ITEM, ONE_CLUSTER, contrast_interval
from dialeval.stats.resampling import Interval
from dialeval.stats.shares import share_interval

NO_VALUE = "there is nothing to take a mean of"
NO_SPREAD = "all values are the same, which tells nothing of how far others may be"
_ROUNDING = 1e-12  # of the largest value
_OF_REPEATS = 1e-9  # of the scale: what the mean of equal repeats may lie beyond its end


class MeanDifference(NamedTuple):
    """A difference of two means with its clustered interval.

    Attributes:
        first_value, second_value: the means; of a paired difference those on the common items, of one over strata the
            unweighted means over the strata that both sides have.
        difference: first_value - second_value; NaN where a side has no item.
        low, high, p: interval and two-sided p-value; NaN with a note.
        n: items; of an unpaired difference those of both sides, those in both counting twice.
        n_clusters: clusters that these are of.
        note: why numbers are missing; empty where none are.
    """

    first_value: float
    second_value: float
    difference: float
    low: float
    high: float
    p: float
    n: int
    n_clusters: int
    note: str


class _Mean(NamedTuple):
    """A mean with each cluster's contribution to it, shape [n_clusters of all], and its degrees of freedom."""

    estimate: float
    psi: FloatArray
    freedom: float
    independent: float

    @property
    def variance(self) -> float:
        return float((self.psi**2).sum())


def mean_interval(
    value: ArrayLike,
    cluster: ArrayLike,
    *,
    scale: tuple[float, float] | None = None,
    confidence: float = 0.95,
) -> Interval:
    """The mean of values with an interval that is clustered.

    Args:
        value: one per item, any numbers, shape [n].
        cluster: cluster of each item, numbers or text, shape [n].
        scale: lowest and highest value that there can be. With it the interval is that of the share of the scale,
            (value - lowest) / (highest - lowest), as `shares.share_intervals` has it; without it Student's.
        confidence: nominal coverage.

    Raises:
        ValueError: if shapes differ, a value is missing or outside its scale, or the scale has no width.
    """
    values = _complete(value)
    codes, n_clusters = dense_codes("cluster", cluster, len(values))
    if not len(values):
        return Interval(np.nan, np.nan, np.nan, confidence, 0, NO_VALUE)
    if scale is not None:
        return _on_scale(values, codes, *scale, confidence)
    found = _mean(values, codes, n_clusters)
    if n_clusters < 2:
        return Interval(found.estimate, np.nan, np.nan, confidence, 0, ONE_CLUSTER, n_clusters)
    if found.variance <= _of_rounding(values):
        return Interval(found.estimate, np.nan, np.nan, confidence, 0, NO_SPREAD, n_clusters)
    low, high, _ = contrast_interval(found.estimate, np.sqrt(found.variance), found.freedom, confidence)
    effect = found.variance / found.independent if found.independent > 0.0 else np.nan
    return Interval(
        found.estimate,
        float(low),
        float(high),
        confidence,
        0,
        n_clusters=n_clusters,
        design_effect=effect,
        effective_n=len(values) / effect if effect > 0.0 else np.nan,
    )


def _on_scale(values: FloatArray, cluster: IntArray, lowest: float, highest: float, confidence: float) -> Interval:
    if not lowest < highest:
        raise ValueError(f"scale is from {lowest} to {highest}; its lowest value must be below its highest")
    width = highest - lowest
    beyond = np.maximum(lowest - values, values - highest) > _OF_REPEATS * width
    if beyond.any():
        row = int(np.flatnonzero(beyond)[0])
        raise ValueError(f"value[{row}] is {values[row]}; it must lie on the scale from {lowest} to {highest}")
    share = share_interval(np.clip((values - lowest) / width, 0.0, 1.0), cluster, confidence=confidence)
    mean = float(values.mean())
    low, high = min(lowest + width * share.low, mean), max(lowest + width * share.high, mean)
    return replace(share, estimate=mean, low=low, high=high)


def paired_mean_difference(
    first: ArrayLike, second: ArrayLike, cluster: ArrayLike, *, confidence: float = 0.95
) -> MeanDifference:
    """Compare two systems on the items that both have, subtracting item by item.

    Args:
        first, second: values of the two on each item, shape [n].
        cluster: cluster of each item, shape [n].
        confidence: nominal coverage.

    Raises:
        ValueError: if shapes differ, or a value is missing.
    """
    here, there = _complete(first), _complete(second)
    codes, n_clusters = dense_codes("cluster", cluster, len(here))
    if not len(here):
        return _without_numbers(np.nan, np.nan, 0, 0, NO_ITEM)
    found = _mean(here - there, codes, n_clusters)
    means = float(here.mean()), float(there.mean())
    noise = _of_rounding(here, there)
    return _difference(means, found.variance, found.freedom, len(here), n_clusters, confidence, noise)


def unpaired_mean_difference(
    first: tuple[ArrayLike, ArrayLike], second: tuple[ArrayLike, ArrayLike], *, confidence: float = 0.95
) -> MeanDifference:
    """Compare two systems on items of their own; contributions of a cluster on both sides are subtracted.

    Degrees of freedom are Welch's, with those of either side.

    Args:
        first, second: values and clusters of either side, shape [n] each.
        confidence: nominal coverage.

    Raises:
        ValueError: if shapes differ, or a value is missing.
    """
    values = [_complete(first[0]), _complete(second[0])]
    codes, n_clusters = dense_codes("cluster", np.concatenate([np.asarray(first[1]), np.asarray(second[1])]))
    n = len(values[0]) + len(values[1])
    if not len(values[0]) or not len(values[1]):
        one_mean, other_mean = (float(value.mean()) if len(value) else np.nan for value in values)
        return _without_numbers(one_mean, other_mean, n, n_clusters, NO_ITEM)
    sides = (codes[: len(values[0])], codes[len(values[0]) :])
    one, other = (_mean(value, side, n_clusters) for value, side in zip(values, sides, strict=True))
    if min(len(np.unique(side)) for side in sides) < 2:
        return _without_numbers(one.estimate, other.estimate, n, n_clusters, ONE_CLUSTER)
    variance = float(((one.psi - other.psi) ** 2).sum())
    parts = [(mean.variance, mean.freedom) for mean in (one, other)]
    total = one.variance + other.variance
    freedom = 1.0 / sum((part / total) ** 2 / freedom for part, freedom in parts) if total > 0.0 else 1.0
    means = one.estimate, other.estimate
    return _difference(means, variance, freedom, n, n_clusters, confidence, _of_rounding(*values))


def _difference(
    means: tuple[float, float],
    variance: float,
    freedom: float,
    n: int,
    n_clusters: int,
    confidence: float,
    noise: float,
) -> MeanDifference:
    if n_clusters < 2:
        return _without_numbers(*means, n, n_clusters, ONE_CLUSTER)
    if variance <= noise:
        return _without_numbers(*means, n, n_clusters, NO_SPREAD)
    difference = means[0] - means[1]
    low, high, p = (float(end) for end in contrast_interval(difference, np.sqrt(variance), freedom, confidence))
    return MeanDifference(*means, difference, low, high, p, n, n_clusters, "")


def _without_numbers(first: float, second: float, n: int, n_clusters: int, note: str) -> MeanDifference:
    return MeanDifference(first, second, first - second, np.nan, np.nan, np.nan, n, n_clusters, note)


def _mean(value: FloatArray, cluster: np.ndarray, n_clusters: int) -> _Mean:
    """The mean and what its variance is made of; a cluster without a row contributes nothing.

    Under independence the contributions have the variances h / n and the covariances -(g_c g_d) / n for clusters with
    the leverage h and g^2 = h^2 / (1 - h), from which Satterthwaite's degrees of freedom follow.
    """
    n = len(value)
    estimate = float(value.mean())
    leverage = np.bincount(cluster, minlength=n_clusters) / n
    room = np.where(leverage < 1.0, 1.0 - leverage, 1.0)
    residual = np.bincount(cluster, value - estimate, minlength=n_clusters)
    square = leverage**2 / room
    below = float((leverage**2).sum() + square.sum() ** 2 - (square**2).sum())
    return _Mean(
        estimate=estimate,
        psi=residual / n / np.sqrt(room),
        freedom=1.0 / below,
        independent=float(value.var(ddof=1) / n) if n > 1 else 0.0,
    )


def _of_rounding(*values: FloatArray) -> float:
    """The variance that rounding may leave of values that are all the same."""
    return (_ROUNDING * max(float(np.abs(part).max()) for part in values)) ** 2


def _complete(value: ArrayLike) -> FloatArray:
    values = as_floats("value", value)
    if not np.isfinite(values).all():
        raise ValueError("values must be numbers, without missing ones")
    return values
