"""Differences of means and proportions between systems: paired on common items, or between two samples.

Variances and degrees of freedom are those of `clustered`. For a difference of proportions, pseudo-items are added, as
in Bonett and Price (2012) and Agresti and Caffo (2000), so that the interval has a width with few clusters and at 0 or
1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dialeval.stats.arrays import (
    FloatArray,
    IntArray,
    as_codes,
    as_floats,
    as_shares,
    check_confidence,
    dense_codes,
    first_notes,
)
from dialeval.stats.clustered import NO_SPREAD, ONE_CLUSTER, cluster_influence, largest_of, scores_of
from dialeval.stats.estimates import Estimates, t_interval

MAX_PSEUDO_ITEMS = 2.0
"""Maximum number of pseudo-items of a difference of proportions, half of them in favour of each side."""
_PSEUDO_ITEMS_TIMES_CLUSTERS = 3.0

NO_ITEM = "no item in common"
ALL_THE_SAME = "every difference is the same: the interval follows from the number of clusters only"
ONE_CLUSTER_IN_STRATUM = "one stratum has items of a single cluster"
FEWEST_JUDGES = 3
"""Smallest number of judges for an interval about a population of judges. With two judges, Student's quantile is 12.7,
so the interval is useless."""
FEW_JUDGES = "not identifiable: an interval over a population of judges needs {1} judges, and {0} answered"

_ROUNDING = 1e-12  # of the largest value


@dataclass(frozen=True)
class Differences(Estimates):
    """Differences of pairs of systems, first minus second; the arrays have shape [n_pairs].

    The other fields, such as `estimate` and `ci_low`, are those of `Estimates`.

    Attributes:
        first, second: indices of the systems.
        first_mean, second_mean: their means on the compared items; with strata, means over strata.
        p_value: two-sided p-value of no difference.
    """

    first: IntArray
    second: IntArray
    first_mean: FloatArray
    second_mean: FloatArray
    p_value: FloatArray

    def columns(self, group: int) -> dict[str, Any]:
        """Return the columns of a pair in the tables `differences`."""
        return {
            "system_value": float(self.first_mean[group]),
            "opponent_value": float(self.second_mean[group]),
            "difference": float(self.estimate[group]),
            "ci_low": float(self.ci_low[group]),
            "ci_high": float(self.ci_high[group]),
            "p": float(self.p_value[group]),
            "n": int(self.n_items[group]),
            "n_clusters": int(self.n_clusters[group]),
            "note": self.note[group] or None,
        }


class Sample(NamedTuple):
    """Items of one side of `two_sample_difference`: values, clusters, and strata or None, each of shape [n]."""

    value: ArrayLike
    cluster: ArrayLike
    stratum: ArrayLike | None = None


def paired_differences(
    values: ArrayLike,
    cluster: ArrayLike,
    *,
    stratum: ArrayLike | None = None,
    confidence: float = 0.95,
    scores: bool = False,
) -> Differences:
    """Return the paired differences of every two systems, each on the items that both have.

    Args:
        values: value of each system on each item, NaN if it has no such item, shape [n_systems, n].
        cluster: cluster of each item, numbers or text, shape [n].
        stratum, confidence, scores: as in `item_differences`.

    Returns:
        All pairs: the first system with all later ones, and so on.

    Raises:
        ValueError: as in `item_differences`.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"values must have shape [systems, items], they have {table.shape}")
    if not scores and ((table < 0.0) | (table > 1.0)).any():
        raise ValueError("values must lie between 0 and 1, or be NaN where a system has no such item")
    n_systems, n = table.shape
    clusters, _ = dense_codes("cluster", cluster, n)
    strata = None if stratum is None else dense_codes("stratum", stratum, n)[0]
    known = ~np.isnan(table)
    parts = [item_differences([], [], [], first=[], second=[], confidence=confidence)]
    for first in range(n_systems - 1):  # one system at a time, for memory
        pair, item = np.nonzero(known[first] & known[first + 1 :])
        parts.append(
            item_differences(
                table[first, item],
                table[first + 1 + pair, item],
                clusters[item],
                pair=pair,
                first=np.full(n_systems - 1 - first, first),
                second=np.arange(first + 1, n_systems),
                stratum=None if strata is None else strata[item],
                confidence=confidence,
                scores=scores,
            )
        )
    arrays = (field.name for field in fields(Differences) if field.name not in ("note", "confidence"))
    joined: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in arrays}
    return Differences(**joined, note=tuple(text for part in parts for text in part.note), confidence=confidence)


def item_differences(
    first_value: ArrayLike,
    second_value: ArrayLike,
    cluster: ArrayLike,
    *,
    pair: ArrayLike | None = None,
    first: ArrayLike = (0,),
    second: ArrayLike = (1,),
    stratum: ArrayLike | None = None,
    confidence: float = 0.95,
    scores: bool = False,
) -> Differences:
    """Return the mean difference, first minus second, over the items of each pair of systems.

    A difference of proportions has a t interval with up to two pseudo-items, so that its width is never 0. For this
    step, the data count as m independent items, with m = sqrt(effective clusters * n / design effect).

    Args:
        first_value, second_value: values of the two systems on each item of each pair, shape [n].
        cluster: cluster of each item, numbers or text, shape [n].
        pair: pair of each item, numbers in 0..n_pairs-1, shape [n]; None for one pair.
        first, second: indices of the systems of each pair, shape [n_pairs].
        stratum: stratum (task, perturbation) of each item, if means over strata are compared, shape [n].
        confidence: nominal coverage.
        scores: whether values are scores on any scale, without strata. Otherwise they are proportions, from 0 to 1.

    Raises:
        ValueError: if shapes differ, a pair is out of range, a value is missing, a proportion is outside 0..1, or
            scores have strata.
    """
    check_confidence(confidence)
    if scores and stratum is not None:
        raise ValueError("scores have no strata: their degrees of freedom are known for one stratum only")
    check = scores_of if scores else as_shares
    here, there = check("first_value", first_value), check("second_value", second_value)
    n = len(here)
    as_floats("second_value", there, n)
    firsts = as_codes("first", first)
    seconds = as_codes("second", second, length=len(firsts))
    pairs = np.zeros(n, np.int64) if pair is None else as_codes("pair", pair, length=n, below=len(firsts))
    found = cluster_influence(here - there, np.ones(n), pairs, len(firsts), cluster, stratum)
    still = found.is_constant(max(largest_of(here), largest_of(there)) if scores else None)
    notes = (
        (found.n_items == 0, NO_ITEM),
        (found.n_clusters < 2, ONE_CLUSTER),
        (found.fewest_clusters < 2, ONE_CLUSTER_IN_STRATUM),
        (still, NO_SPREAD if scores else ALL_THE_SAME),
    )
    note = first_notes(notes)
    centre, variance, df = found.estimate, found.variance, found.df_satterthwaite
    if not scores:
        df = found.df_effective
        pseudo = np.where(still, MAX_PSEUDO_ITEMS, pseudo_items(variance, found.fourth_powers()))
        centre, variance = _with_pseudo_items(centre, variance, found.effective_items(), pseudo)
    error = np.sqrt(variance)
    low, high, p_value = t_interval(centre, error, df, confidence)
    if not scores:
        low, high = np.maximum(low, -1.0), np.minimum(high, 1.0)
    why = ["" if text == ALL_THE_SAME else text for text in note]
    base = found.estimates(found.variance, df, (low, high), why, confidence)
    known = np.array([not text for text in why], dtype=np.bool_)
    return Differences(
        **(vars(base) | {"std_error": np.where(known, error, np.nan), "note": note}),
        first=firsts,
        second=seconds,
        first_mean=found.mean_of(here),
        second_mean=found.mean_of(there),
        p_value=np.where(known, p_value, np.nan),
    )


def two_sample_difference(
    first: Sample, second: Sample, *, confidence: float = 0.95, scores: bool = False
) -> Differences:
    """Return the difference of the means of two samples of items, in arrays of shape [1].

    Clusters with items in both samples are paired. Degrees of freedom are Welch's. Strata of only one sample are left
    out. For proportions, each sample gets one pseudo-success and one pseudo-failure.

    Args:
        first, second: items of the two samples, with common names of clusters and strata.
        confidence, scores: as in `item_differences`.

    Raises:
        ValueError: as in `item_differences`.
    """
    check_confidence(confidence)
    if scores and (first.stratum is not None or second.stratum is not None):
        raise ValueError("scores have no strata: their degrees of freedom are known for one stratum only")
    check = scores_of if scores else as_shares
    sides = [check("value", sample.value) for sample in (first, second)]
    values, side = np.concatenate(sides), np.repeat([0, 1], [len(part) for part in sides])
    cluster = np.concatenate([np.asarray(sample.cluster) for sample in (first, second)])
    clusters, n_clusters = dense_codes("cluster", cluster, len(values))
    strata = None
    if first.stratum is not None and second.stratum is not None:
        labels = np.concatenate([np.asarray(sample.stratum) for sample in (first, second)])
        strata, n_strata = dense_codes("stratum", labels, len(values))
        in_both = np.bincount(np.unique(2 * strata + side) // 2, minlength=n_strata) == 2
        used = in_both[strata]
        values, side, clusters, strata = values[used], side[used], clusters[used], strata[used]
    found = cluster_influence(values, np.ones(len(values)), side, 2, clusters, strata)
    psi = np.bincount(found.group * n_clusters + found.cluster, found.psi, minlength=2 * n_clusters).reshape(2, -1)
    variance, parts = float(((psi[0] - psi[1]) ** 2).sum()), found.variance
    n_used = len(np.unique(clusters))
    note = ""
    if not found.n_items.all():
        note = NO_ITEM
    elif n_used < 2 or (scores and found.fewest_clusters.min() < 2):
        note = ONE_CLUSTER
    elif found.fewest_clusters.min() < 2:
        note = ONE_CLUSTER_IN_STRATUM
    elif scores and variance <= (_ROUNDING * largest_of(values)) ** 2:
        note = NO_SPREAD
    difference = centre = found.estimate[0] - found.estimate[1]
    df = found.df_satterthwaite
    if not scores:
        items, df = found.effective_items(), np.maximum(found.df_effective, 1.0)
        shrunk = (items * found.estimate + 1.0) / (items + 2.0)
        pseudo = items * (found.estimate - shrunk) ** 2 + (1.0 - shrunk) ** 2 + shrunk**2
        added = pseudo / (items + 2.0) ** 2
        variance, parts, centre = variance + float(added.sum()), parts + added, shrunk[0] - shrunk[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        welch = 1.0 / float(((parts / parts.sum()) ** 2 / df).sum()) if parts.sum() > 0.0 else 1.0
    error = math.nan if note else math.sqrt(variance)
    low, high, p_value = (float(number) for number in t_interval(centre, error, welch, confidence))
    if not scores and not note:
        low, high = min(max(low, -1.0), difference), max(min(high, 1.0), difference)
    missing = np.array([np.nan])
    return Differences(
        estimate=np.array([difference]),
        std_error=np.array([error]),
        df=missing if note else np.array([welch]),
        ci_low=np.array([low]),
        ci_high=np.array([high]),
        n_items=np.array([len(values)]),
        n_clusters=np.array([n_used]),
        design_effect=missing,
        n_effective=missing,
        note=(note,),
        confidence=confidence,
        first=np.array([0]),
        second=np.array([1]),
        first_mean=found.estimate[:1],
        second_mean=found.estimate[1:],
        p_value=np.array([p_value]),
    )


def pseudo_items(squares: FloatArray, fourth_powers: FloatArray) -> FloatArray:
    """Return how many items are added to a difference of proportions, shape [n_pairs].

    Two for at most one and a half effective clusters, as in Bonett and Price (2012) for independent pairs; otherwise
    three divided by the effective clusters, (sum psi^2)^2 / sum psi^4. With many clusters, Student's t needs none.

    Args:
        squares, fourth_powers: sums of the second and fourth powers of the clusters' influence values psi.
    """
    varying = np.divide(squares**2, fourth_powers, out=np.ones_like(squares), where=fourth_powers > 0.0)
    return np.asarray(np.minimum(MAX_PSEUDO_ITEMS, _PSEUDO_ITEMS_TIMES_CLUSTERS / varying), dtype=np.float64)


class JudgeSample(NamedTuple):
    """A difference of two systems over a population of judges; a number that is not identifiable is NaN.

    Attributes:
        estimate: mean over judges of each judge's mean difference.
        n_judges, n_items, n_clusters: numbers of judges, of items with a difference by any judge, and of their
            clusters.
        note: why a number is missing, or empty.
        ci_low, ci_high, p_value: limits and p-value with judges as a random sample; NaN with fewer than three judges.
        fixed_ci_low, fixed_ci_high: interval of the mean over these judges only.
        judge_sd: standard deviation of the judges' true differences; 0 if they vary no more than by chance.
        df: degrees of freedom, with judges as a random sample.
    """

    estimate: float
    n_judges: int
    n_items: int
    n_clusters: int
    note: str = ""
    ci_low: float = math.nan
    ci_high: float = math.nan
    p_value: float = math.nan
    fixed_ci_low: float = math.nan
    fixed_ci_high: float = math.nan
    judge_sd: float = math.nan
    df: float = math.nan


def differences_over_judges(
    first_value: ArrayLike,
    second_value: ArrayLike,
    cluster: ArrayLike,
    *,
    confidence: float = 0.95,
    scores: bool = True,
) -> JudgeSample:
    """Return the mean difference of two systems with clusters and judges as crossed random samples.

    With psi_c the influence of cluster c on the mean m over J judges, and m_j the difference by judge j, the variance
    is V = max(A + B - E, A, B), with

        A = sum psi_c^2 C / (C - 1),    B = sum (m_j - m)^2 / (J (J - 1)),

    and E the variance of the interaction, which A and B both contain (Brennan 2001). Degrees of freedom are
    Satterthwaite's:
    V^2 / (A^2 / df_A + B^2 / (J - 1) + E^2 / (df_A (J - 1))), with df_A the effective number of clusters minus 1. If
    judges have different clusters, the interval is conservative.

    Args:
        first_value, second_value: values by judge and item, NaN if missing, shape [n_judges, n_items]; an item counts
            if a judge has both values.
        cluster: cluster of each item, numbers or text, shape [n_items].
        confidence: nominal coverage.
        scores: as in `item_differences`.

    Raises:
        ValueError: if shapes differ.
    """
    check_confidence(confidence)
    difference = np.asarray(first_value, dtype=np.float64) - np.asarray(second_value, dtype=np.float64)
    if difference.ndim != 2:
        raise ValueError(f"values must have shape [judges, items], they have {difference.shape}")
    clusters, _ = dense_codes("cluster", cluster, difference.shape[1])
    known = ~np.isnan(difference)
    judging, used = known.any(axis=1), known.any(axis=0)
    difference, known = difference[judging][:, used], known[judging][:, used]
    clusters = np.unique(clusters[used], return_inverse=True)[1]
    n_judges, n_items, n_clusters = len(difference), len(clusters), int(clusters.max(initial=-1)) + 1
    if not n_items:
        return JudgeSample(math.nan, 0, 0, 0, NO_ITEM)
    filled = np.where(known, difference, 0.0)
    unit = 1.0 / (n_judges * known.sum(axis=1, keepdims=True))
    of_judge = (filled * unit).sum(axis=1) * n_judges
    mean = float(of_judge.mean())
    few = FEW_JUDGES.format(f"{n_judges} judge{'s' if n_judges > 1 else ''}", FEWEST_JUDGES)
    found = JudgeSample(mean, n_judges, n_items, n_clusters, few if n_judges < FEWEST_JUDGES else "")
    if n_clusters < 2:
        return found._replace(note=ONE_CLUSTER)
    parts = np.where(known, filled - of_judge[:, np.newaxis], 0.0) * unit, known * unit
    influence, share = (np.array([np.bincount(clusters, row, minlength=n_clusters) for row in part]) for part in parts)
    psi, weight = influence.sum(axis=0), share.sum(axis=0)
    correction = n_clusters / (n_clusters - 1.0)
    cases = float((psi**2).sum()) * correction
    between = float(of_judge.var(ddof=1)) / n_judges if n_judges > 1 else 0.0
    df_cases = max(1.0 / float((weight**2).sum()) - 1.0, 1.0)
    still = max(cases, between) <= (_ROUNDING * largest_of(filled.ravel())) ** 2
    if scores and still:
        return found._replace(note=found.note or NO_SPREAD)
    centre, added = mean, 0.0
    if not scores:
        pseudo = pseudo_items(np.array([(psi**2).sum()]), np.array([(psi**4).sum()]))
        pseudo = np.where(still, MAX_PSEUDO_ITEMS, pseudo)
        moved = _with_pseudo_items(np.array([mean]), np.array([cases]), np.array([1.0 / (weight**2).sum()]), pseudo)
        centre, added = float(moved[0][0]), max(float(moved[1][0]) - cases, 0.0)

    def interval(variance: float, df: float) -> tuple[float, float, float]:
        low, high, p_value = (float(one) for one in t_interval(centre, math.sqrt(variance + added), df, confidence))
        return (low, high, p_value) if scores else (max(low, -1.0), min(high, 1.0), p_value)

    fixed_low, fixed_high, _ = interval(cases, df_cases)
    found = found._replace(fixed_ci_low=fixed_low, fixed_ci_high=fixed_high)
    if n_judges < FEWEST_JUDGES:
        return found
    left = influence - share / weight * psi
    n_of_cluster = (share > 0.0).sum(axis=0)
    several = n_of_cluster > 1
    of_cluster = (left**2).sum(axis=0)[several] * n_of_cluster[several] / (n_of_cluster[several] - 1.0)
    interaction = float(of_cluster.sum()) * correction
    variance = max(cases + between - interaction, cases, between)
    of_parts = (cases, df_cases), (between, n_judges - 1.0), (interaction, df_cases * (n_judges - 1.0))
    fourth = sum(part**2 / df for part, df in of_parts)
    df = variance**2 / fourth if fourth > 0.0 else df_cases
    low, high, p_value = interval(variance, df)
    judge_sd = math.sqrt(max(between - interaction, 0.0) * n_judges)
    return found._replace(ci_low=low, ci_high=high, p_value=p_value, judge_sd=judge_sd, df=df)


def pairwise_variance(covariance: FloatArray) -> FloatArray:
    """Return the variances of all pairwise differences of estimates, from their covariance, shape [n, n]."""
    own = np.diag(covariance)
    return np.asarray(np.maximum(own[:, np.newaxis] + own - 2.0 * covariance, 0.0), dtype=np.float64)


def resampled_pairwise_variance(replicates: FloatArray, n_clusters: int) -> FloatArray:
    """Return the variances of all pairwise differences of estimates, from resamples of clusters, shape [n, n].

    Args:
        replicates: shape [resamples, n]; NaN for an estimate that a resample does not have.
        n_clusters: clusters that were resampled; the variance is multiplied by n_clusters / (n_clusters - 1).

    Returns:
        NaN where fewer than half the resamples have both estimates, or there are fewer than two clusters.
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


def _with_pseudo_items(
    estimate: FloatArray, variance: FloatArray, items: FloatArray, pseudo: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return differences of proportions and their variances with pseudo-items added, half in favour of either side."""
    items = np.where(np.isfinite(items), items, 1.0)
    total = items + pseudo
    centre = estimate * items / total
    added = 0.5 * pseudo * ((1.0 - centre) ** 2 + (1.0 + centre) ** 2)
    return centre, (items**2 * variance + items * (estimate - centre) ** 2 + added) / total**2
