"""Differences between means over different items, such as test items written by two procedures.

Items may stem from the same dialogues, and some may be in both sets: then contributions are subtracted dialogue by
dialogue. The corrections are those of `differences`; the made-up items are Agresti and Caffo's (2000), one right and
one wrong on either side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dialeval.stats.arrays import FloatArray, IntArray, as_floats, check_confidence, dense_codes
from dialeval.stats.differences import NO_ITEM, ONE_CLUSTER, ONE_CLUSTER_IN_STRATUM, contrast_interval
from dialeval.stats.means import MeanDifference


class Side(NamedTuple):
    """The items of one side: values from 0 to 1, clusters and strata (tasks), shape [n] each."""

    value: ArrayLike
    cluster: ArrayLike
    stratum: ArrayLike


class _Mean(NamedTuple):
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
    one, other = (_mean(*part, n_clusters, n_strata) for part in parts)
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


def _mean(value: FloatArray, cluster: IntArray, stratum: IntArray, n_clusters: int, n_strata: int) -> _Mean:
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
    return _Mean(
        estimate=weight * float(mean[count > 0].sum()),
        psi=psi,
        freedom=max(freedom, 1.0),
        effective_items=float(np.sqrt(fewest * left)),
        alone=bool((leverage >= 1.0).any()),
    )
