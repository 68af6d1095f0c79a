"""AUC of scores of positive and negative examples with clustered intervals, and pairwise accuracy.

The AUC is the share of pairs of a positive and a negative example in which the positive one scores higher; a tie counts
half. Examples are clustered by dialogue. The variance is the variance between the dialogues' contributions (Obuchowski
1997, after DeLong et al. 1988), shrunk towards the variance for dialogues of one independent pair each. With few
dialogues it is shrunk more. Limits are those of a proportion (`proportion_interval`), so an AUC of 1 has an interval.
`benchmarks/coverage_auc.py` measures the coverage.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dialeval.stats.arrays import BoolArray, FloatArray, IntArray, as_floats, check_confidence, dense_codes
from dialeval.stats.estimates import proportion_interval

FEWEST_CLUSTERS = 5
"""Smallest number of dialogues for an interval; fewer do not determine the variance between dialogues."""
NO_PAIR = "no pair of an original and a perturbed example"
FEW_CLUSTERS = f"fewer than {FEWEST_CLUSTERS} dialogues give no interval"
ALL_THE_SAME = "every example has the same score"
_ASSUMED = 0.5
"""Weight, in clusters, of the variance to which the observed variance is shrunk."""


@dataclass(frozen=True)
class ClusteredAuc:
    """An AUC, or a mean of AUCs over strata, with its interval.

    Attributes:
        auc: the AUC, between 0 and 1; NaN without a pair.
        ci_low, ci_high: limits of the interval; NaN if there is none.
        n: number of compared examples.
        n_clusters: number of their clusters.
        reason: why a number is missing, or empty.
        contributions: centred contribution of each cluster to the AUC, shape [clusters of all examples].
        confidence: nominal coverage.
    """

    auc: float
    ci_low: float
    ci_high: float
    n: int
    n_clusters: int
    reason: str
    contributions: FloatArray
    confidence: float


def clustered_auc(
    score: ArrayLike,
    good: ArrayLike,
    cluster: ArrayLike,
    *,
    stratum: ArrayLike | None = None,
    confidence: float = 0.95,
) -> ClusteredAuc:
    """Return the AUC of positive against negative examples, with a clustered interval.

    With strata (perturbations, criteria, languages), positive and negative examples are compared within a stratum, and
    the AUCs of the strata are averaged, weighted by their examples. A stratum without positive or without negative
    examples is left out.

    Args:
        score: score of each example, shape [n].
        good: whether the example is positive, shape [n].
        cluster: dialogue of each example, numbers or text, shape [n].
        stratum: stratum of each example, numbers or text, shape [n]; None for one stratum.
        confidence: nominal coverage.

    Raises:
        ValueError: if shapes differ or a score is not finite.
    """
    check_confidence(confidence)
    scores = as_floats("score", score)
    if not np.isfinite(scores).all():
        raise ValueError(f"score[{int(np.argmin(np.isfinite(scores)))}] is not a finite number")
    is_good = as_floats("good", good, len(scores)) > 0.0
    clusters, n_clusters = dense_codes("cluster", cluster, len(scores))
    strata, n_strata = (np.zeros(len(scores), dtype=np.int64), 1)
    if stratum is not None:
        strata, n_strata = dense_codes("stratum", stratum, len(scores))
    parts = list(_usable(strata, n_strata, is_good))
    counted = np.concatenate([np.zeros(0, dtype=np.int64), *parts])
    contributions = np.zeros(n_clusters)
    if not parts:
        return ClusteredAuc(math.nan, math.nan, math.nan, 0, 0, NO_PAIR, contributions, confidence)
    auc = 0.0
    weight = np.zeros((2, n_clusters))  # of a cluster's negative and positive examples
    for rows in parts:
        share = len(rows) / len(counted)
        placement = _placements(scores[rows], is_good[rows])
        value = float(placement[is_good[rows]].mean())
        auc += share * value
        for side in (False, True):
            mine = rows[is_good[rows] == side]
            each = share / len(mine)
            deviation = each * (placement[is_good[rows] == side] - value)
            contributions += np.bincount(clusters[mine], deviation, minlength=n_clusters)
            weight[int(side)] += each * np.bincount(clusters[mine], minlength=n_clusters)
    k = len(np.unique(clusters[counted]))
    reason = ALL_THE_SAME if all(np.ptp(scores[rows]) == 0.0 for rows in parts) else FEW_CLUSTERS
    if reason == FEW_CLUSTERS and k >= FEWEST_CLUSTERS:
        reason = ""
    low, high = (math.nan, math.nan) if reason else _interval(auc, contributions, weight, k, confidence)
    return ClusteredAuc(auc, low, high, len(counted), k, reason, contributions, confidence)


def _usable(strata: IntArray, n_strata: int, is_good: BoolArray) -> Iterator[IntArray]:
    """Yield the rows of each stratum that has both kinds of examples."""
    order = np.argsort(strata, kind="stable")
    for rows in np.split(order, np.searchsorted(strata[order], np.arange(1, n_strata))):
        if 0 < np.count_nonzero(is_good[rows]) < len(rows):
            yield rows


def _placements(score: FloatArray, is_good: BoolArray) -> FloatArray:
    """Return each example's share of correctly ranked examples of the other class, ties half, shape [n]."""
    among_all = midranks(score)
    placement = np.empty(len(score))
    for side in (False, True):
        mine = is_good == side
        beaten = (among_all[mine] - midranks(score[mine])) / np.count_nonzero(~mine)
        placement[mine] = beaten if side else 1.0 - beaten
    return placement


def _interval(
    auc: float, contributions: FloatArray, weight: FloatArray, k: int, confidence: float
) -> tuple[float, float]:
    between = k / (k - 1.0) * float((contributions**2).sum())
    fourth = float((contributions**4).sum())
    effective = float((contributions**2).sum()) ** 2 / fourth if fourth > 0.0 else 0.0
    concentration = (weight**2).sum(axis=1)
    variance = effective * between + _ASSUMED * _variance_of_single_pairs(auc, concentration)
    variance /= effective + _ASSUMED
    rows = auc * (1.0 - auc) / variance if variance > 0.0 else 1.0 / float(concentration.max())
    low, high = proportion_interval(np.array([auc]), np.array([rows]), np.array([k - 1.0]), confidence)
    return float(low[0]), float(high[0])


def _variance_of_single_pairs(auc: float, concentration: FloatArray) -> float:
    """Return the variance if each cluster is one independent pair, by Hanley and McNeil's (1982) two terms.

    Args:
        auc: between 0 and 1.
        concentration: sum of the squared weights of clusters, over spoiled and over true examples, shape [2].
    """
    a = max(auc, 1.0 - auc)
    of_spoiled, of_true = 2.0 * a**2 / (1.0 + a) - a**2, a / (2.0 - a) - a**2
    return of_spoiled * float(concentration[0]) + of_true * float(concentration[1])


def auc_gain(after: ClusteredAuc, before: ClusteredAuc) -> tuple[float, float, float]:
    """Return the difference of two AUCs on the same examples, with an interval (MOVER, Zou 2008, section 3).

    The distance of a limit from the difference is sqrt(a^2 + b^2 - 2 r a b), with a and b the distances of the two
    AUCs' limits from the AUCs, and r the correlation of the clusters' contributions (0 if an AUC is 0 or 1).

    Args:
        after, before: AUCs of the same examples, clusters and strata.

    Returns:
        The difference and the limits of its interval; the limits are NaN if one AUC has no interval.
    """
    difference = after.auc - before.auc
    if after.reason or before.reason:
        return difference, math.nan, math.nan
    size = math.sqrt(float((after.contributions**2).sum() * (before.contributions**2).sum()))
    r = float((after.contributions * before.contributions).sum()) / size if size > 0.0 else 0.0

    def reach(one: float, other: float) -> float:
        return math.sqrt(max(one**2 + other**2 - 2.0 * r * one * other, 0.0))

    low = difference - reach(after.auc - after.ci_low, before.ci_high - before.auc)
    high = difference + reach(after.ci_high - after.auc, before.auc - before.ci_low)
    return difference, max(low, -1.0), min(high, 1.0)


def midranks(values: FloatArray) -> FloatArray:
    """Return the rank of each value, 1 for the smallest; equal values have the mean of their ranks.

    Args:
        values: without NaN, shape [n].

    Returns:
        Shape [n].
    """
    _, level, count = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - 0.5 * (count - 1))[level], dtype=np.float64)


def pairwise_accuracy(scores: ArrayLike, good: ArrayLike, strata: ArrayLike | None = None) -> float | None:
    """Return the share of pairs of a positive and a negative example of one stratum with the positive scored higher.

    Ties count half; None where there is no such pair.

    Args:
        scores: one per example, shape [n].
        good: whether the example is a true one, shape [n].
        strata: its stratum, shape [n]; None for one of all.
    """
    values, is_true = np.asarray(scores, np.float64), np.asarray(good) > 0
    of = np.zeros(len(values)) if strata is None else np.asarray(strata)
    higher = pairs = 0.0
    for stratum in np.unique(of):
        of_one = of == stratum
        true = is_true[of_one]
        n_true, n_spoiled = int(true.sum()), int((~true).sum())
        higher += float(midranks(values[of_one])[true].sum()) - n_true * (n_true + 1) / 2
        pairs += n_true * n_spoiled
    return higher / pairs if pairs else None
