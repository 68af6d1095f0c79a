"""Is one better than the other? Mean differences with clustered intervals, honest at few clusters and at 0 or 1.

Differences are paired: what both systems did on the same items (seeds, dialogues, questions, damaged pairs) is
subtracted item by item, and items of one cluster (seed, dialogue) may depend on each other in any way. Three things
keep an interval honest where there are few clusters or nearly all differences are the same:

1. Every cluster's contribution is divided by the root of one less its leverage, as in CR2 (Bell and McCaffrey 2002).
2. Student's t has the effective number of clusters less what the means take (Carter, Schnepel and Steigerwald 2017).
3. Made-up items, half of them won by either side, are added: two where at most one and a half clusters vary, as
   Bonett and Price (2012) add for independent pairs, and otherwise three divided by the effective number of clusters
   that vary, (sum psi^2)^2 / sum psi^4 of their contributions psi. Student's t holds by itself where many do. They are
   added to as many effective items as the geometric mean of the clusters and of what the design effect leaves, since
   that effect is badly known where few items differ; where nothing varies, to as many as clusters. An interval is
   therefore never of zero width.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from dialeval.stats.arrays import (
    FloatArray,
    IntArray,
    as_codes,
    as_floats,
    check_confidence,
    dense_codes,
    distinct_codes,
)

NO_ITEM = "no item in common"
ONE_CLUSTER = "all items are of one cluster, which tells nothing of others"
ONE_CLUSTER_IN_STRATUM = "a part of the mean has items of one cluster only, which tells nothing of others"
ALL_THE_SAME = "every difference is the same: the interval rests on the number of clusters alone"
MADE_UP_ITEMS = 2.0
"""Most items that are added to a difference of shares, half of them won by either side."""
_MADE_UP_BY_CLUSTERS = 3.0
"""The same times the effective number of clusters that vary."""
_ROUNDING = 1e-12


@dataclass(frozen=True)
class MeanDifferences:
    """Mean differences of many pairs of systems, first minus second; arrays have shape [n_pairs].

    Attributes:
        first, second: numbers of the systems.
        first_value, second_value: their means over the items that count; of strata, the unweighted mean of the means.
        difference: first_value - second_value; NaN without an item.
        low, high: ends of the interval, NaN with a reason; about a centre that is slightly nearer to 0.
        p: two-sided, of no difference; NaN with a reason.
        n: items in common.
        n_clusters: clusters that these are of.
        degrees_of_freedom: of Student's t.
        note: why numbers are missing, or what to know of them; mostly empty.
    """

    first: IntArray
    second: IntArray
    first_value: FloatArray
    second_value: FloatArray
    difference: FloatArray
    low: FloatArray
    high: FloatArray
    p: FloatArray
    n: IntArray
    n_clusters: IntArray
    degrees_of_freedom: FloatArray
    note: tuple[str, ...]
    confidence: float


def paired_differences(
    values: ArrayLike,
    cluster: ArrayLike,
    *,
    stratum: ArrayLike | None = None,
    confidence: float = 0.95,
) -> MeanDifferences:
    """Compare every two systems on the items that both have.

    Args:
        values: what each system got on each item, from 0 to 1, NaN where it has no such item, shape [n_systems, n].
        cluster: cluster of each item, numbers or text, shape [n].
        stratum: part (task, strategy) of each item where the unweighted mean over parts is compared, shape [n].
        confidence: nominal coverage of the intervals.

    Returns:
        All pairs, the first system's with all later ones first.

    Raises:
        ValueError: if shapes do not fit or a value is outside 0..1.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"values must have shape [systems, items], they have {table.shape}")
    if ((table < 0.0) | (table > 1.0)).any():
        raise ValueError("values must lie between 0 and 1, or be NaN where a system has no such item")
    n_systems, n = table.shape
    clusters, _ = dense_codes("cluster", cluster, n)
    strata = np.zeros(n, dtype=np.int64) if stratum is None else dense_codes("stratum", stratum, n)[0]
    known = ~np.isnan(table)
    parts = []
    for first in range(n_systems - 1):
        pair, item = np.nonzero(known[first] & known[first + 1 :])
        parts.append(
            mean_differences(
                table[first, item],
                table[first + 1 + pair, item],
                pair,
                np.full(n_systems - 1 - first, first),
                np.arange(first + 1, n_systems),
                clusters[item],
                stratum=strata[item],
                confidence=confidence,
            )
        )
    return _joined(parts, confidence)


def mean_differences(
    first_value: ArrayLike,
    second_value: ArrayLike,
    pair: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    cluster: ArrayLike,
    *,
    stratum: ArrayLike | None = None,
    confidence: float = 0.95,
) -> MeanDifferences:
    """Compare pairs of systems, each on its own items, such as two chatbots on the verdicts on them both.

    Args:
        first_value, second_value: what the two got on each item of each pair, from 0 to 1, shape [n].
        pair: pair that each row belongs to, numbers in 0..n_pairs-1, shape [n].
        first, second: systems of each pair, shape [n_pairs].
        cluster: cluster of each row, shape [n].
        stratum: part of each row where the unweighted mean over parts is compared, shape [n].
        confidence: nominal coverage of the intervals.

    Raises:
        ValueError: if shapes do not fit, a pair is out of range, or a value is missing or outside 0..1.
    """
    check_confidence(confidence)
    here = as_floats("first_value", first_value)
    n = len(here)
    there = as_floats("second_value", second_value, n)
    for name, given in (("first_value", here), ("second_value", there)):
        if not ((given >= 0.0) & (given <= 1.0)).all():
            raise ValueError(f"{name} must lie between 0 and 1")
    firsts = as_codes("first", first)
    n_pairs = len(firsts)
    seconds = as_codes("second", second, length=n_pairs)
    pairs = as_codes("pair", pair, length=n, below=n_pairs)
    clusters, n_clusters = dense_codes("cluster", cluster, n)
    strata, n_strata = dense_codes("stratum", np.zeros(n, np.int64) if stratum is None else stratum, n)
    n_strata = max(n_strata, 1)

    # A stratum of a pair has a mean of its own; a cell is what of it is in one cluster.
    part = pairs * n_strata + strata
    size = n_pairs * n_strata
    count = np.bincount(part, minlength=size).astype(np.float64)
    filled = np.maximum(count, 1.0)
    difference = here - there
    mean = np.bincount(part, difference, minlength=size) / filled
    pair_of_part = np.arange(size) // n_strata
    present = count > 0
    weight = 1.0 / np.maximum(np.bincount(pair_of_part[present], minlength=n_pairs), 1)

    def over_parts(rows: FloatArray) -> FloatArray:
        """Unweighted mean over the strata that a pair has."""
        total = np.bincount(part, rows, minlength=size) / filled
        return np.asarray(np.bincount(pair_of_part, total, minlength=n_pairs) * weight, dtype=np.float64)

    cell, of_row = distinct_codes(part * max(n_clusters, 1) + clusters, size * max(n_clusters, 1))
    part_of_cell, cluster_of_cell = cell // max(n_clusters, 1), cell % max(n_clusters, 1)
    in_cell = np.bincount(of_row, minlength=len(cell)).astype(np.float64)
    residual = np.bincount(of_row, difference - mean[part], minlength=len(cell))
    leverage = in_cell / filled[part_of_cell]
    alone = leverage >= 1.0
    pair_of_cell = pair_of_part[part_of_cell]
    share = weight[pair_of_cell]
    adjusted = share * residual / filled[part_of_cell] / np.sqrt(np.where(alone, 1.0, 1.0 - leverage))
    group, of_cell = distinct_codes(pair_of_cell * max(n_clusters, 1) + cluster_of_cell, n_pairs * max(n_clusters, 1))
    pair_of_group = group // max(n_clusters, 1)
    psi = np.bincount(of_cell, adjusted, minlength=len(group))
    mass = np.bincount(of_cell, share * leverage, minlength=len(group))

    def by_pair(of: IntArray, rows: ArrayLike) -> FloatArray:
        return np.bincount(of, rows, minlength=n_pairs).astype(np.float64)

    variance = by_pair(pair_of_group, psi**2)
    with np.errstate(divide="ignore"):
        effective_clusters = 1.0 / by_pair(pair_of_group, mass**2)
    freedom = effective_clusters * (1.0 - by_pair(pair_of_cell, share * leverage**2))
    spread = np.bincount(part, (difference - mean[part]) ** 2, minlength=size) / np.maximum(count - 1.0, 1.0) / filled
    independent = by_pair(pair_of_part, spread) * weight**2
    with np.errstate(divide="ignore", invalid="ignore"):
        items = 1.0 / (by_pair(pair_of_part, np.where(present, 1.0 / filled, 0.0)) * weight**2)
        fewest = np.minimum(effective_clusters, items)
        effective_items = np.sqrt(fewest * np.clip(items * independent / variance, fewest, items))
    still = variance <= _ROUNDING
    effective_items = np.where(still, fewest, effective_items)

    estimate = over_parts(difference)
    n_of_pair = np.bincount(pairs, minlength=n_pairs)
    clusters_of_pair = np.bincount(pair_of_group, minlength=n_pairs)
    lone_part = by_pair(pair_of_cell, alone.astype(np.float64)) > 0
    note = [
        NO_ITEM
        if not n_of_pair[number]
        else ONE_CLUSTER
        if clusters_of_pair[number] < 2
        else ONE_CLUSTER_IN_STRATUM
        if lone_part[number]
        else ALL_THE_SAME
        if still[number]
        else ""
        for number in range(n_pairs)
    ]
    known = np.array([words in ("", ALL_THE_SAME) for words in note], dtype=np.bool_)
    empty = n_of_pair == 0
    made_up = made_up_items(variance, by_pair(pair_of_group, psi**4))
    low, high, p = _guarded(
        estimate, variance, effective_items, freedom, np.where(still, MADE_UP_ITEMS, made_up), confidence
    )
    return MeanDifferences(
        first=firsts,
        second=seconds,
        first_value=np.where(empty, np.nan, over_parts(here)),
        second_value=np.where(empty, np.nan, over_parts(there)),
        difference=np.where(empty, np.nan, estimate),
        low=np.where(known, low, np.nan),
        high=np.where(known, high, np.nan),
        p=np.where(known, p, np.nan),
        n=n_of_pair,
        n_clusters=clusters_of_pair,
        degrees_of_freedom=np.where(known, freedom, np.nan),
        note=tuple(note),
        confidence=confidence,
    )


def made_up_items(squares: FloatArray, fourth_powers: FloatArray) -> FloatArray:
    """Items that are added to a difference of shares, from the sums of its clusters' squared and fourth powers."""
    varying = np.divide(squares**2, fourth_powers, out=np.ones_like(squares), where=fourth_powers > 0.0)
    return np.asarray(np.minimum(MADE_UP_ITEMS, _MADE_UP_BY_CLUSTERS / varying), dtype=np.float64)


def contrast_interval(
    estimate: ArrayLike, standard_error: ArrayLike, degrees_of_freedom: ArrayLike, confidence: float = 0.95
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Student's interval and two-sided p-value of an estimate that may be any number, such as a rating difference.

    Args:
        estimate, standard_error, degrees_of_freedom: shapes that fit; NaN where unknown.
        confidence: nominal coverage.

    Returns:
        Lower end, upper end, p-value; NaN where something is unknown or the standard error is not above 0.
    """
    check_confidence(confidence)
    value, error, freedom = np.broadcast_arrays(
        np.asarray(estimate, np.float64), np.asarray(standard_error, np.float64), np.asarray(degrees_of_freedom, float)
    )
    known = (error > 0.0) & (freedom > 0.0) & np.isfinite(value) & np.isfinite(error)
    error, freedom = np.where(known, error, 1.0), np.where(known, np.maximum(freedom, 1.0), 1.0)
    reach = stdtrit(freedom, 0.5 + 0.5 * confidence) * error
    p = 2.0 * stdtr(freedom, -np.abs(np.where(known, value, 0.0)) / error)
    return (
        np.where(known, value - reach, np.nan),
        np.where(known, value + reach, np.nan),
        np.where(known, p, np.nan),
    )


def contrast_variance(covariance: FloatArray) -> FloatArray:
    """Variances of all differences of estimates with a covariance, shape [n, n]; 0 where rounding leaves less."""
    own = np.diag(covariance)
    return np.asarray(np.maximum(own[:, np.newaxis] + own - 2.0 * covariance, 0.0), dtype=np.float64)


def difference_variance(replicates: FloatArray, n_clusters: int) -> FloatArray:
    """Variances of all differences of estimates that were taken on the same resamples of clusters.

    Args:
        replicates: shape [resamples, n]; a resample without both of two estimates says nothing of their difference.
        n_clusters: how many clusters were resampled, of which a bootstrap's variance is too small by (n - 1) / n.

    Returns:
        Shape [n, n]; NaN where fewer than half the resamples have both, or there are fewer than two clusters.
    """
    resamples, n = replicates.shape
    variance = np.full((n, n), np.nan)
    if n_clusters < 2 or resamples < 2:
        return variance
    for first in range(n):
        difference = replicates[:, first : first + 1] - replicates
        known = np.count_nonzero(~np.isnan(difference), axis=0) > max(1, resamples // 2)
        variance[first, known] = np.nanvar(difference[:, known], axis=0, ddof=1)
    return variance * n_clusters / (n_clusters - 1.0)


def _guarded(
    estimate: FloatArray,
    variance: FloatArray,
    items: FloatArray,
    freedom: FloatArray,
    made_up: FloatArray,
    confidence: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Interval and p-value after the made-up items, the estimate's mean square about the new centre included."""
    items = np.where(np.isfinite(items), items, 1.0)
    total = items + made_up
    centre = estimate * items / total
    added = 0.5 * made_up * ((1.0 - centre) ** 2 + (1.0 + centre) ** 2)
    inflated = (items**2 * variance + items * (estimate - centre) ** 2 + added) / total**2
    low, high, p = contrast_interval(
        centre, np.sqrt(inflated), np.where(np.isfinite(freedom), freedom, 1.0), confidence
    )
    return np.maximum(low, -1.0), np.minimum(high, 1.0), p


def _joined(parts: list[MeanDifferences], confidence: float) -> MeanDifferences:
    def stacked(name: str, dtype: type) -> np.ndarray:
        return np.concatenate([getattr(part, name) for part in parts] or [np.zeros(0, dtype)])

    numbers = {name: stacked(name, np.int64) for name in ("first", "second", "n", "n_clusters")}
    values = ("first_value", "second_value", "difference", "low", "high", "p", "degrees_of_freedom")
    return MeanDifferences(
        **numbers,
        **{name: stacked(name, np.float64) for name in values},
        note=tuple(words for part in parts for words in part.note),
        confidence=confidence,
    )
