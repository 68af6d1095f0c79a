"""Means of graded scores and their differences, paired and unpaired.

The variance is CR2's: every cluster's contribution is divided by the root of one less its leverage (Bell and McCaffrey
2002), which makes it unbiased where items are independent and honest where they are not. Student's t has
Satterthwaite's degrees of freedom, n_clusters - 1 where clusters are of one size. The mean of a scale with two ends has
the interval of a share (`shares`), as that must not close at an end; so has the difference of shares (`differences`).

Items may stem from the same dialogues, and some may be in both sets: then contributions are subtracted dialogue by
dialogue. The corrections are those of `differences`; the made-up items are Agresti and Caffo's (2000), one right and
one wrong on either side.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dialeval.stats.arrays import FloatArray, IntArray, as_floats, check_confidence, dense_codes
from dialeval.stats.differences import NO_ITEM, ONE_CLUSTER, ONE_CLUSTER_IN_STRATUM, contrast_interval
from dialeval.stats.resampling import Interval
from dialeval.stats.shares import share_interval

# Means of graded scores, and their differences, where items of one case (seed, dialogue) depend on each other.

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


# Differences between means over different items, such as test items written by two procedures.


class Side(NamedTuple):
    """The items of one side: values from 0 to 1, clusters and strata (tasks), shape [n] each."""

    value: ArrayLike
    cluster: ArrayLike
    stratum: ArrayLike


class _MeanUnpaired(NamedTuple):
    """A mean, each cluster's contribution to it, and what its variance would be with independent items."""

    estimate: float
    psi: FloatArray
    freedom: float
    effective_items: float
    alone: bool


def unpaired_difference(first: Side, second: Side, *, confidence: float = 0.95) -> MeanDifference:
    """Compare two sets of items.

    Args:
        first, second: the items; clusters and strata have the same names on both sides.
        confidence: nominal coverage of the interval.

    Raises:
        ValueError: if shapes differ, or a value is missing or outside 0..1.
    """
    check_confidence(confidence)
    values = [as_floats("value", side.value) for side in (first, second)]
    for value in values:
        if not ((value >= 0.0) & (value <= 1.0)).all():
            raise ValueError("values must lie between 0 and 1")
    n_first = len(values[0])
    clusters, n_clusters = dense_codes(
        "cluster", np.concatenate([np.asarray(side.cluster) for side in (first, second)])
    )
    strata, n_strata = dense_codes("stratum", np.concatenate([np.asarray(side.stratum) for side in (first, second)]))
    present = [np.bincount(part, minlength=n_strata) > 0 for part in (strata[:n_first], strata[n_first:])]
    used = (present[0] & present[1])[strata]
    parts = []
    for value, place in zip(values, (slice(0, n_first), slice(n_first, None)), strict=True):
        kept = used[place]
        parts.append((value[kept], clusters[place][kept], strata[place][kept]))
    n = int(used.sum())
    n_used = len(np.unique(clusters[used]))
    missing = float("nan")
    if not n:
        return MeanDifference(missing, missing, missing, missing, missing, missing, 0, 0, NO_ITEM)
    one, other = (_mean_unpaired(*part, n_clusters, n_strata) for part in parts)
    difference = one.estimate - other.estimate
    variance = float(((one.psi - other.psi) ** 2).sum())
    note = ONE_CLUSTER if n_used < 2 else ONE_CLUSTER_IN_STRATUM if one.alone or other.alone else ""
    if note:
        return MeanDifference(one.estimate, other.estimate, difference, missing, missing, missing, n, n_used, note)
    centre, guarded = 0.0, []
    for sign, mean in ((1.0, one), (-1.0, other)):
        items = mean.effective_items
        shrunk = (items * mean.estimate + 1.0) / (items + 2.0)
        made_up = items * (mean.estimate - shrunk) ** 2 + (1.0 - shrunk) ** 2 + shrunk**2
        added = made_up / (items + 2.0) ** 2
        variance += added
        guarded.append(float((mean.psi**2).sum()) + added)
        centre += sign * shrunk
    freedom = sum(guarded) ** 2 / (guarded[0] ** 2 / one.freedom + guarded[1] ** 2 / other.freedom)
    ends = [float(end) for end in contrast_interval(centre, np.sqrt(variance), freedom, confidence)]
    low, high = min(max(ends[0], -1.0), difference), max(min(ends[1], 1.0), difference)
    return MeanDifference(one.estimate, other.estimate, difference, low, high, ends[2], n, n_used, "")


def _mean_unpaired(
    value: FloatArray, cluster: IntArray, stratum: IntArray, n_clusters: int, n_strata: int
) -> _MeanUnpaired:
    """Unweighted mean over strata, with every cluster's contribution, as in `differences.mean_differences`."""
    count = np.bincount(stratum, minlength=n_strata).astype(np.float64)
    filled = np.maximum(count, 1.0)
    mean = np.bincount(stratum, value, minlength=n_strata) / filled
    weight = 1.0 / np.count_nonzero(count)
    cell = stratum * n_clusters + cluster
    shape = (n_strata, n_clusters)
    leverage = np.bincount(cell, minlength=n_strata * n_clusters).reshape(shape) / filled[:, np.newaxis]
    residual = np.bincount(cell, value - mean[stratum], minlength=n_strata * n_clusters).reshape(shape)
    room = np.sqrt(np.where(leverage < 1.0, 1.0 - leverage, 1.0))
    psi = (weight * residual / filled[:, np.newaxis] / room).sum(axis=0)
    mass = weight * leverage.sum(axis=0)
    effective_clusters = 1.0 / float((mass**2).sum())
    freedom = effective_clusters * (1.0 - weight * float((leverage**2).sum()))
    items = 1.0 / float((weight**2 / filled[count > 0]).sum())
    spread = np.bincount(stratum, (value - mean[stratum]) ** 2, minlength=n_strata) / np.maximum(count - 1.0, 1.0)
    independent, variance = weight**2 * float((spread / filled).sum()), float((psi**2).sum())
    fewest = min(effective_clusters, items)
    left = float(np.clip(items * independent / variance, fewest, items)) if variance > 1e-12 else fewest
    return _MeanUnpaired(
        estimate=weight * float(mean[count > 0].sum()),
        psi=psi,
        freedom=max(freedom, 1.0),
        effective_items=float(np.sqrt(fewest * left)),
        alone=bool((leverage >= 1.0).any()),
    )
