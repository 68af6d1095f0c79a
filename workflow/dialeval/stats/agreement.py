"""Agreement of a judge with itself and with others: retest flips, Cohen's kappa, Krippendorff's alpha.

Flips are a share (`shares.share_intervals`); the others are functions of counts that add up over items, so their
intervals resample clusters of items as weights. The libraries that compute the coefficients give no such intervals; in
the tests they are the yardstick.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from dialeval.stats.arrays import FloatArray, IntArray, as_codes, as_floats, check_confidence, dense_codes
from dialeval.stats.resampling import Interval, cluster_counts, interval, percentile_interval
from dialeval.stats.shares import share_interval

Level = Literal["nominal", "ordinal", "interval"]


@dataclass(frozen=True)
class RetestFlips:
    """How often a judge contradicts itself on the same item.

    Attributes:
        n_items: items with two readable repeats or more.
        n_pairs: pairs of repeats.
        flips: share of the pairs that differ, with its clustered interval.
    """

    n_items: int
    n_pairs: int
    flips: Interval


@dataclass(frozen=True)
class JudgeAgreement:
    """Agreement between judges on the same items, with the settings that gave the intervals.

    Attributes:
        n_common: items that both judges of a pair answered, shape [n_judges, n_judges].
        observed: share of these on which they agree, shape [n_judges, n_judges]; NaN where there are none.
        kappa: Cohen's kappa, shape [n_judges, n_judges]; NaN where both gave one and the same value throughout.
        kappa_low, kappa_high: ends of its cluster interval, shape [n_judges, n_judges].
        n_clusters: clusters of the common items, shape [n_judges, n_judges].
        alpha: Krippendorff's alpha over all judges, with its cluster interval.
    """

    n_common: IntArray
    observed: FloatArray
    kappa: FloatArray
    kappa_low: FloatArray
    kappa_high: FloatArray
    n_clusters: IntArray
    alpha: Interval
    level: Level
    resamples: int
    confidence: float
    random_seed: int


def retest_flips(
    item: ArrayLike,
    verdict: ArrayLike,
    cluster: ArrayLike,
    *,
    confidence: float = 0.95,
) -> RetestFlips:
    """Share of pairs of repeats on one item whose verdicts differ.

    Args:
        item: what was asked, the same for every repeat of it, shape [n].
        verdict: the answer as a number, NaN where it could not be read (left out), shape [n].
        cluster: cluster (seed) of each row, shape [n].
        confidence: nominal coverage of the interval.

    Raises:
        ValueError: if shapes differ or `confidence` is not between 0 and 1.
    """
    verdict = as_floats("verdict", verdict)
    items, n_items = dense_codes("item", item, len(verdict))
    clusters, _ = dense_codes("cluster", cluster, len(verdict))
    read = ~np.isnan(verdict)
    values, value = np.unique(verdict[read], return_inverse=True)
    counts = np.bincount(items[read] * len(values) + value, minlength=n_items * len(values))
    counts = counts.reshape(n_items, len(values)).astype(np.float64)
    repeats = counts.sum(axis=1)
    pairs = 0.5 * repeats * (repeats - 1.0)
    alike = (0.5 * counts * (counts - 1.0)).sum(axis=1)
    place = np.zeros(n_items, dtype=np.int64)
    place[items] = clusters
    return RetestFlips(
        n_items=int(np.count_nonzero(pairs)),
        n_pairs=int(pairs.sum()),
        flips=share_interval(
            pairs - alike,
            place,
            denominator=pairs,
            confidence=confidence,
            reason="no item has two readable repeats",
        ),
    )


def judge_agreement(
    judge: ArrayLike,
    item: ArrayLike,
    verdict: ArrayLike,
    cluster: ArrayLike,
    n_judges: int,
    *,
    level: Level = "nominal",
    resamples: int = 1000,
    confidence: float = 0.95,
    random_seed: int = 0,
) -> JudgeAgreement:
    """Cohen's kappa of every two judges (nominal) and Krippendorff's alpha of all of them.

    Args:
        judge: judge of each answer, numbers in 0..n_judges-1, shape [n].
        item: what was judged, shape [n]; a judge answers an item once.
        verdict: the answer as a number, NaN where it could not be read (left out), shape [n].
        cluster: cluster (seed) of each row, shape [n].
        n_judges: number of judges.
        level: what distances between verdicts mean to alpha: "nominal", "ordinal" or "interval".
        resamples: bootstrap resamples of the clusters.
        confidence: nominal coverage of the intervals.
        random_seed: seed of the resampling.

    Raises:
        ValueError: if shapes differ, a verdict is infinite, a judge is out of range or answers an item twice, or the
            level is unknown.
    """
    verdict = as_floats("verdict", verdict)
    judge = as_codes("judge", judge, length=len(verdict), below=n_judges)
    items, n_items = dense_codes("item", item, len(verdict))
    clusters, n_clusters = dense_codes("cluster", cluster, len(verdict))
    check_confidence(confidence)
    if np.isinf(verdict).any():
        raise ValueError(f"verdict[{int(np.flatnonzero(np.isinf(verdict))[0])}] is infinite; leave it NaN if unread")
    if level not in ("nominal", "ordinal", "interval"):
        raise ValueError(f"level is {level!r}; it must be 'nominal', 'ordinal' or 'interval'")
    if len(np.unique(items * n_judges + judge)) < len(judge):
        raise ValueError("a judge answers an item twice; take its repeats one at a time")
    read = ~np.isnan(verdict)
    values, value = np.unique(verdict[read], return_inverse=True)
    answer = np.full((n_items, n_judges), -1, dtype=np.int64)
    answer[items[read], judge[read]] = value
    place = np.zeros(n_items, dtype=np.int64)
    place[items] = clusters
    # The first row of weights is the data themselves.
    drawn = cluster_counts(n_clusters, resamples, np.random.default_rng(random_seed))
    weights = np.concatenate([np.ones((1, n_clusters)), drawn])

    n_common, clusters_of = (np.zeros((n_judges, n_judges), dtype=np.int64) for _ in range(2))
    observed, kappa, low, high = (np.full((n_judges, n_judges), np.nan) for _ in range(4))
    for one in range(n_judges):
        for other in range(one + 1, n_judges):
            both = (answer[:, one] >= 0) & (answer[:, other] >= 0)
            table = _confusion(answer[both, one], answer[both, other], place[both], weights, len(values))
            total = float(table[0].sum())
            replicates = _cohens_kappa(table)
            n_both = len(np.unique(place[both]))
            ends = percentile_interval(replicates[1:], confidence, n_both)
            for cell in ((one, other), (other, one)):
                n_common[cell] = int(total)
                observed[cell] = np.trace(table[0]) / total if total else math.nan
                kappa[cell] = replicates[0]
                low[cell], high[cell] = ends
                clusters_of[cell] = n_both
    alphas = _krippendorffs_alpha(_coincidences(answer, place, weights, len(values)), values, level)
    answered_twice = (answer >= 0).sum(axis=1) > 1
    undefined = "verdicts do not vary" if answered_twice.any() else "no item has the verdicts of two judges"
    return JudgeAgreement(
        n_common=n_common,
        observed=observed,
        kappa=kappa,
        kappa_low=low,
        kappa_high=high,
        n_clusters=clusters_of,
        alpha=interval(
            float(alphas[0]),
            alphas[1:],
            confidence,
            undefined if math.isnan(alphas[0]) else "",
            n_clusters=len(np.unique(place[answered_twice])),
        ),
        level=level,
        resamples=resamples,
        confidence=confidence,
        random_seed=random_seed,
    )


def _confusion(one: IntArray, other: IntArray, place: IntArray, weights: FloatArray, n_values: int) -> FloatArray:
    """Weighted confusion matrices of two judges, shape [R, n_values, n_values]."""
    cells = n_values * n_values
    n_clusters = weights.shape[1]
    counts = np.bincount(place * cells + one * n_values + other, minlength=n_clusters * cells)
    return (weights @ counts.reshape(n_clusters, cells)).reshape(len(weights), n_values, n_values)


def _cohens_kappa(table: FloatArray) -> FloatArray:
    """(observed - chance) / (1 - chance) of confusion matrices, shape [R]; NaN where it is undefined."""
    total = table.sum(axis=(1, 2))
    agreed = np.trace(table, axis1=1, axis2=2) * total
    chance = (table.sum(axis=1) * table.sum(axis=2)).sum(axis=1)
    room = total**2 - chance
    kappa = np.full(len(table), np.nan)
    np.divide(agreed - chance, room, out=kappa, where=room > 0)
    return kappa


def _coincidences(answer: IntArray, place: IntArray, weights: FloatArray, n_values: int) -> FloatArray:
    """Krippendorff's coincidence matrices of weighted items, shape [R, n_values, n_values].

    An item with m answers adds each ordered pair of them with weight 1 / (m - 1).
    """
    n_clusters = weights.shape[1]
    present = np.eye(n_values + 1)[answer][:, :, :n_values]  # -1 picks the last row, which is cut off
    counts = present.sum(axis=1)
    m = counts.sum(axis=1)
    pairs = counts[:, :, np.newaxis] * counts[:, np.newaxis, :]
    pairs -= counts[:, :, np.newaxis] * np.eye(n_values)
    pairs *= np.where(m > 1, 1.0 / np.maximum(m - 1.0, 1.0), 0.0)[:, np.newaxis, np.newaxis]
    by_cluster = np.zeros((n_clusters, n_values, n_values))
    np.add.at(by_cluster, place, pairs)
    return np.asarray(np.tensordot(weights, by_cluster, axes=1), dtype=np.float64)


def _krippendorffs_alpha(coincidences: FloatArray, values: FloatArray, level: Level) -> FloatArray:
    """1 - observed / expected disagreement of coincidence matrices, shape [R]; NaN where nothing varies."""
    marginal = coincidences.sum(axis=2)
    if level == "nominal":
        distance = np.broadcast_to(1.0 - np.eye(len(values)), coincidences.shape)
    elif level == "interval":
        distance = np.broadcast_to((values[:, np.newaxis] - values) ** 2, coincidences.shape)
    else:
        middle = np.cumsum(marginal, axis=1) - 0.5 * marginal
        distance = (middle[:, :, np.newaxis] - middle[:, np.newaxis, :]) ** 2
    observed = (coincidences * distance).sum(axis=(1, 2))
    expected = np.einsum("rc,rk,rck->r", marginal, marginal, distance)
    n = marginal.sum(axis=1)
    ratio = np.divide((n - 1.0) * observed, expected, out=np.full(len(n), np.nan), where=expected > 0)
    return np.asarray(1.0 - ratio, dtype=np.float64)
