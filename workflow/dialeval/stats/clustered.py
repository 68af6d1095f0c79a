"""Means, proportions and their differences from items in clusters, with standard errors and confidence intervals.

Items of one cluster (seed, dialogue) may depend on each other in any way; clusters are independent. Every estimate is
a mean over strata of weighted means of items, so every function takes the same three steps:

1. `cluster_influence` returns each cluster's influence on the estimate, adjusted for leverage.
2. The squared influences add up to the variance; the leverages determine the degrees of freedom.
3. An interval method of `estimates` turns both into a confidence interval:

| estimate | variance | degrees of freedom | interval |
|---|---|---|---|
| mean of scores, difference of means (`differences`) | CR2 | Satterthwaite | Student's t |
| proportion, mean on a scale | CR1, shrunk | clusters less strata | Wilson or Jeffreys, whichever is wider |
| difference of proportions (`differences`) | CR2 | effective clusters | Student's t with pseudo-items |

Statistics without influence values (Elo, correlations) are resampled: see `resampling`. Human-corrected means are in
`prediction_powered`. `benchmarks/stats_coverage.py` measures the coverage.

Sources: Bell and McCaffrey (2002) for CR2; Carter, Schnepel and Steigerwald (2017) for effective clusters; Wilson
(1927) and Korn and Graubard (1998) for proportions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from dialeval.stats.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    as_codes,
    as_floats,
    check_confidence,
    dense_codes,
    distinct_codes,
    ratio,
    refuse,
)
from dialeval.stats.estimates import SINGLE_CLUSTER, Estimate, Estimates, proportion_interval, t_interval

NO_VALUE = "no value to average"
NO_SPREAD = "all values are equal, so their variance is not known"
NO_ROW = "no item"
ONE_CLUSTER = "all items are in one cluster"
ONE_CLUSTER_IN_CELL = "a cell with a single cluster gives the mean no interval"

_ROUNDING = 1e-12  # of the largest value
_OF_REPEATS = 1e-9  # of the scale: how far the mean of equal repeats may lie beyond its end
_PRIOR_WEIGHT = 1.0  # of the assumption that a cluster is worth one item, beside the squared informative clusters


def clustered_mean(
    value: ArrayLike, cluster: ArrayLike, *, scale: tuple[float, float] | None = None, confidence: float = 0.95
) -> Estimate:
    """Return the mean of scores with a t interval on clustered standard errors (CR2).

    Args:
        value: score of each item, shape [n].
        cluster: cluster of each item, numbers or text, shape [n].
        scale: lowest and highest possible score. With a scale, the interval is that of the proportion
            (value - lowest) / (highest - lowest), see `clustered_proportions`.
        confidence: nominal coverage.

    Raises:
        ValueError: if shapes differ, a value is missing or outside its scale, or the scale has no width.
    """
    values = scores_of("value", value)
    if not len(values):
        return Estimate.missing(confidence, NO_VALUE)
    if scale is not None:
        return _mean_on_scale(values, cluster, *scale, confidence)
    found = cluster_influence(values, np.ones(len(values)), np.zeros(len(values), np.int64), 1, cluster)
    note = ONE_CLUSTER if found.n_clusters[0] < 2 else NO_SPREAD if found.is_constant(largest_of(values))[0] else ""
    low, high, _ = t_interval(found.estimate, np.sqrt(found.variance), found.df_satterthwaite, confidence)
    return found.estimates(found.variance, found.df_satterthwaite, (low, high), [note], confidence).one()


def clustered_proportions(
    successes: ArrayLike,
    cluster: ArrayLike,
    group: ArrayLike | None = None,
    n_groups: int = 1,
    *,
    trials: ArrayLike | None = None,
    stratum: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Estimates:
    """Return the proportion of successes in each group with an interval that is valid at 0 and 1.

    The estimate p of a group is the proportion of successes in each stratum, averaged over its strata. With psi_k the
    influence of cluster k (CR1), u_k its weight and v_ind the variance of independent items, the variance of p is

        v = (f^2 max(sum psi_k^2, v_ind) + p (1 - p) sum u_k^2) / (f^2 + 1),

    where f, the number of informative clusters, is the smallest of three numbers: the clusters with a success, the
    clusters with a failure, and (sum psi^2)^2 / sum psi^4. The interval has the outer limits of Wilson's and Jeffreys'
    intervals for p (1 - p) / v independent items, or for 1 / sum u_k^2 items if p is 0 or 1.

    Args:
        successes: successes of each item, from 0 to its trials, shape [n].
        cluster: cluster of each item, numbers or text, shape [n].
        group: group of each item, numbers in 0..n_groups-1, shape [n]; None for one group.
        n_groups: number of groups.
        trials: trials (or weight) of each item, shape [n]; items with 0 are left out. None for 1 each.
        stratum: stratum of each item, each within one group, shape [n]; None for one stratum per group.
        confidence: nominal coverage.

    Raises:
        ValueError: if shapes differ, a group is out of range, a stratum is in two groups, or successes are below 0
            or above the trials.
    """
    check_confidence(confidence)
    above = as_floats("numerator", successes)
    n = len(above)
    below = np.ones(n) if trials is None else as_floats("denominator", trials, n)
    wrong = ~((above >= 0.0) & (above <= below))
    refuse("numerator", above, wrong, f"it must lie between 0 and its denominator, {below[wrong.argmax()] if n else 0}")
    groups = np.zeros(n, dtype=np.int64) if group is None else as_codes("group", group, length=n, below=n_groups)
    clusters, _ = dense_codes("cluster", cluster, n)
    strata = None
    if stratum is not None:
        strata, n_strata = dense_codes("cell", stratum, n)
        owner = np.zeros(n_strata, np.int64)
        owner[strata] = groups
        if (owner[strata] != groups).any():
            raise ValueError("a cell lies in two groups")
    if not below.all():
        used = below > 0.0
        above, below, groups, clusters = above[used], below[used], groups[used], clusters[used]
        strata = None if strata is None else strata[used]
    found = cluster_influence(above, below, groups, n_groups, clusters, strata, small_sample="CR1")
    p, informative = found.estimate, found.informative() ** 2
    pooled = _PRIOR_WEIGHT * p * (1.0 - p) * found.cluster_weight
    variance = (informative * np.maximum(found.variance, found.independent) + pooled) / (informative + _PRIOR_WEIGHT)
    with np.errstate(divide="ignore", invalid="ignore"):
        items = np.where(variance > 0.0, p * (1.0 - p) / variance, 1.0 / found.cluster_weight)
    df = np.maximum(found.n_clusters - found.n_strata, found.most_clusters - 1)
    why = np.where(found.n_clusters < 2, SINGLE_CLUSTER, ONE_CLUSTER_IN_CELL)
    note = np.where(found.n_strata == 0, NO_ROW, np.where(found.fewest_clusters < 2, why, ""))
    return found.estimates(variance, df, proportion_interval(p, items, df, confidence), note.tolist(), confidence)


def clustered_proportion(
    successes: ArrayLike,
    cluster: ArrayLike,
    *,
    trials: ArrayLike | None = None,
    stratum: ArrayLike | None = None,
    confidence: float = 0.95,
    note: str = NO_ROW,
) -> Estimate:
    """Return `clustered_proportions` of a single group; `note` says why the proportion is undefined without items."""
    found = clustered_proportions(successes, cluster, trials=trials, stratum=stratum, confidence=confidence).one()
    return found if found.note != NO_ROW else Estimate.missing(confidence, note)


def _mean_on_scale(
    values: FloatArray, cluster: ArrayLike, lowest: float, highest: float, confidence: float
) -> Estimate:
    if not lowest < highest:
        raise ValueError(f"scale is from {lowest} to {highest}; its lowest value must be below its highest")
    width = highest - lowest
    beyond = np.maximum(lowest - values, values - highest) > _OF_REPEATS * width
    refuse("value", values, beyond, f"it must lie on the scale from {lowest} to {highest}")
    found = clustered_proportion(np.clip((values - lowest) / width, 0.0, 1.0), cluster, confidence=confidence)
    mean = float(values.mean())
    low, high = min(lowest + width * found.ci_low, mean), max(lowest + width * found.ci_high, mean)
    return replace(found, estimate=mean, ci_low=low, ci_high=high, std_error=width * found.std_error)


def satterthwaite_df(leverage: FloatArray, group: IntArray, n_groups: int) -> FloatArray:
    """Return Satterthwaite's degrees of freedom of the CR2 variance of each group's mean, shape [n_groups].

    Independent items give the adjusted influence values the variances h / n and the covariances -(g_c g_d) / n, with
    h the leverages and g^2 = h^2 / (1 - h). The result is n_clusters - 1 if clusters have equal weight.

    Args:
        leverage: share of the group's weight in each cluster, shape [n_pairs].
        group: group of each cluster, shape [n_pairs].
        n_groups: number of groups.
    """
    square = leverage**2 / np.where(leverage < 1.0, 1.0 - leverage, 1.0)
    plain, first, second = (_sum(group, part, n_groups) for part in (leverage**2, square, square**2))
    with np.errstate(divide="ignore"):
        return np.asarray(1.0 / (plain + first**2 - second), dtype=np.float64)


@dataclass(frozen=True)
class ClusterInfluence:
    """Estimates of groups with the influence of each cluster on them.

    Attributes, shape [n_groups]:
        estimate: mean over strata of the weighted means of items; NaN without items.
        variance: sum of the squared influence values of the clusters.
        independent: variance if items were independent.
        item_weight, cluster_weight: sums of the squared weights of items, and of clusters.
        n_items, n_clusters, n_strata: of the group.
        fewest_clusters, most_clusters: in one stratum of the group.
        df_satterthwaite: for one stratum; df_effective: effective clusters less the degrees of freedom of the means.
    Attributes, shape [n_pairs] of group and cluster:
        group, cluster, psi, weight, success: influence, share of the group's weight, and of it the successes.
    Attributes for `mean_of`: part_of_item, shape [n]; part_total, group_of_part, shape [n_parts].
    """

    estimate: FloatArray
    variance: FloatArray
    independent: FloatArray
    item_weight: FloatArray
    cluster_weight: FloatArray
    n_items: IntArray
    n_clusters: IntArray
    n_strata: IntArray
    fewest_clusters: IntArray
    most_clusters: IntArray
    df_satterthwaite: FloatArray
    df_effective: FloatArray
    group: IntArray
    cluster: IntArray
    psi: FloatArray
    weight: FloatArray
    success: FloatArray
    part_of_item: IntArray
    part_total: FloatArray
    group_of_part: IntArray

    def is_constant(self, largest: float | None = None) -> BoolArray:
        """Return which groups have no variance beyond rounding, given the largest value (None for proportions)."""
        is_constant: BoolArray = self.variance <= (_ROUNDING if largest is None else (_ROUNDING * largest) ** 2)
        return is_constant

    def mean_of(self, value: FloatArray) -> FloatArray:
        """Return the mean over strata of other values of the same items, all of weight 1, shape [n_groups]."""
        of_parts = _sum(self.part_of_item, value, len(self.part_total)) / self.part_total
        return ratio(_sum(self.group_of_part, of_parts, len(self.n_strata)), self.n_strata)

    def informative(self) -> FloatArray:
        """Return the number of clusters with a success, with a failure, or (sum psi^2)^2 / sum psi^4: the smallest."""
        n_groups = len(self.estimate)
        parts = self.success > _ROUNDING * self.weight, self.weight - self.success > 1e-9 * self.weight
        counts = [np.bincount(self.group[part], minlength=n_groups) for part in parts]
        fourth = self.fourth_powers()
        effective = np.divide(self.variance**2, fourth, out=np.zeros(n_groups), where=fourth > 0.0)
        return np.minimum(np.minimum(*counts), effective)

    def fourth_powers(self) -> FloatArray:
        """Return the sum of the fourth powers of the influence values, shape [n_groups]."""
        return _sum(self.group, self.psi**4, len(self.estimate))

    def effective_items(self) -> FloatArray:
        """Return the items that pseudo-items are added to: sqrt(effective clusters * n / design effect)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            items = 1.0 / self.item_weight
            fewest = np.minimum(1.0 / self.cluster_weight, items)
            left = np.clip(items * self.independent / self.variance, fewest, items)
            found: FloatArray = np.where(self.is_constant(), fewest, np.sqrt(fewest * left))
        return found

    def estimates(
        self,
        variance: FloatArray,
        df: FloatArray,
        interval: tuple[FloatArray, FloatArray],
        note: Sequence[str],
        confidence: float,
    ) -> Estimates:
        """Return the estimates with a variance and an interval, which are NaN where a note says why."""
        known = np.array([not text for text in note], dtype=np.bool_)
        with np.errstate(divide="ignore", invalid="ignore"):
            effect = np.where(
                self.independent > 0.0, variance / self.independent, self.cluster_weight / self.item_weight
            )
            numbers = (np.sqrt(variance), df, *interval, effect, 1.0 / (self.item_weight * effect))
        error, freedom, low, high, design_effect, n_effective = (np.where(known, part, np.nan) for part in numbers)
        return Estimates(
            estimate=self.estimate,
            std_error=error,
            df=freedom,
            ci_low=low,
            ci_high=high,
            n_items=self.n_items,
            n_clusters=self.n_clusters,
            design_effect=design_effect,
            n_effective=n_effective,
            note=tuple(note),
            confidence=confidence,
        )


def cluster_influence(
    numerator: FloatArray,
    weight: FloatArray,
    group: IntArray,
    n_groups: int,
    cluster: ArrayLike,
    stratum: ArrayLike | None = None,
    *,
    small_sample: Literal["CR1", "CR2"] = "CR2",
) -> ClusterInfluence:
    """Return means over strata of numerator / weight in each group, with the influence of each cluster.

    An item's influence is its residual over the weight of its stratum and the number of strata. The sum over a cluster
    is divided by sqrt(1 - leverage) in each stratum (CR2), or multiplied by sqrt(K / (K - 1) (n - 1) / n) (CR1).
    """
    n = len(numerator)
    clusters, n_clusters = dense_codes("cluster", cluster, n)
    strata, n_strata = (np.zeros(n, np.int64), 1) if stratum is None else dense_codes("stratum", stratum, n)
    n_clusters, n_strata = max(n_clusters, 1), max(n_strata, 1)

    part, part_of_item = distinct_codes(group * n_strata + strata, n_groups * n_strata)  # a stratum of a group
    group_of_part, n_parts = part // n_strata, len(part)
    total, squares = _sum(part_of_item, weight, n_parts), _sum(part_of_item, weight**2, n_parts)
    mean = _sum(part_of_item, numerator, n_parts) / total
    strata_of_group = np.bincount(group_of_part, minlength=n_groups)
    unit = 1.0 / (total * strata_of_group[group_of_part])
    n_effective = total**2 / squares
    largest = largest_of(numerator / weight)
    if small_sample == "CR1":  # sums of counts are exact, whatever the order of items
        spread = _sum(part_of_item, numerator**2 / weight, n_parts) - mean**2 * total
        spread = _cleaned(spread, _ROUNDING * largest**2 * total)
    else:
        spread = _sum(part_of_item, weight * (numerator / weight - mean[part_of_item]) ** 2, n_parts)
        spread *= n_effective / np.maximum(n_effective - 1.0, 1.0)
    independent = unit**2 * squares / total * spread

    block, block_of_item = distinct_codes(part_of_item * n_clusters + clusters, n_parts * n_clusters)
    part_of_block = block // n_clusters  # a block is what a cluster has in one part
    block_weight = _sum(block_of_item, weight, len(block))
    leverage = block_weight / total[part_of_block]
    clusters_of_part = np.bincount(part_of_block, minlength=n_parts)
    success = _sum(block_of_item, numerator, len(block))
    psi = success - mean[part_of_block] * block_weight
    if small_sample == "CR1":
        psi = _cleaned(psi, _ROUNDING * largest * block_weight)  # `informative` counts what is not 0
        of_part = clusters_of_part / np.maximum(clusters_of_part - 1.0, 1.0) * (n_effective - 1.0) / n_effective
        psi = psi * np.sqrt(of_part)[part_of_block]
    else:
        psi = psi / np.sqrt(np.where(leverage < 1.0, 1.0 - leverage, 1.0))

    group_of_block, unit_of_block = group_of_part[part_of_block], unit[part_of_block]
    # A cluster may be in several strata of a group: their influence values add up.
    pair, pair_of_block = distinct_codes(group_of_block * n_clusters + block % n_clusters, n_groups * n_clusters)
    group_of_pair, n_pairs = pair // n_clusters, len(pair)
    psi, pair_weight, success = (
        _sum(pair_of_block, unit_of_block * sums, n_pairs) for sums in (psi, block_weight, success)
    )
    cluster_weight = _sum(group_of_pair, pair_weight**2, n_groups)
    fewest, most = np.full(n_groups, np.iinfo(np.int64).max), np.zeros(n_groups, dtype=np.int64)
    np.minimum.at(fewest, group_of_part, clusters_of_part)
    np.maximum.at(most, group_of_part, clusters_of_part)
    squared_leverage = _sum(group_of_block, unit_of_block * block_weight * leverage, n_groups)
    with np.errstate(divide="ignore", invalid="ignore"):
        df_effective = (1.0 - squared_leverage) / cluster_weight
    estimate = _sum(group_of_part, mean, n_groups)
    return ClusterInfluence(
        estimate=ratio(estimate, strata_of_group),
        variance=_sum(group_of_pair, psi**2, n_groups),
        independent=_sum(group_of_part, independent, n_groups),
        item_weight=_sum(group_of_part, unit**2 * squares, n_groups),
        cluster_weight=cluster_weight,
        n_items=np.bincount(group, minlength=n_groups),
        n_clusters=np.bincount(group_of_pair, minlength=n_groups),
        n_strata=strata_of_group,
        fewest_clusters=fewest,
        most_clusters=most,
        df_satterthwaite=satterthwaite_df(leverage, group_of_block, n_groups),
        df_effective=df_effective,
        group=group_of_pair,
        cluster=pair % n_clusters,
        psi=psi,
        weight=pair_weight,
        success=success,
        part_of_item=part_of_item,
        part_total=total,
        group_of_part=group_of_part,
    )


def _sum(place: IntArray, values: FloatArray, size: int) -> FloatArray:
    return np.bincount(place, values, minlength=size).astype(np.float64, copy=False)


def _cleaned(values: FloatArray, rounding: FloatArray) -> FloatArray:
    return np.where(np.abs(values) > rounding, values, 0.0)


def largest_of(values: FloatArray) -> float:
    """Return the largest absolute value, 0 without values."""
    return float(np.abs(values).max(initial=0.0))


def scores_of(name: str, value: ArrayLike) -> FloatArray:
    """Return values as a float64 vector; raise ValueError if it is not a vector, or a value is missing or infinite."""
    values = as_floats(name, value)
    if not np.isfinite(values).all():
        raise ValueError("values must be numbers, without missing ones")
    return values
