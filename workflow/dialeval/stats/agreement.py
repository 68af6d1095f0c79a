"""Agreement of judges and of annotators: kappa, AC1, Krippendorff's alpha, and order inconsistency on retest.

Retest inconsistency is a proportion (see `clustered`). The other coefficients are functions of counts that add up over
items; their intervals resample clusters of items.

Kappa and alpha depend on the verdicts that differ from the most frequent one. If these are few, bias-corrected
percentile intervals cover the true value in 0 to 85% of samples, so there is no interval (`too_few_others`). AC1 (Gwet
2008) hardly depends on the frequency of a verdict.

In `krippendorffs_alpha` and `mean_pairwise_pearson`, a round is a row of ratings. Different items of a row can have
different raters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
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
    ratio,
    refuse,
)
from dialeval.stats.clustered import clustered_proportion
from dialeval.stats.correlation import correlate
from dialeval.stats.estimates import SINGLE_CLUSTER, Estimate
from dialeval.stats.resampling import bias_corrected_interval, cluster_counts, interval, percentile_interval

Level = Literal["nominal", "ordinal", "interval"]
FEWEST_OTHERS, FEWEST_CLUSTERS = 10, 5
"""Fewest verdicts besides the most frequent one, and fewest clusters with one of them, for an interval."""
NO_VARIATION = "every resample gives the same agreement, so there is no interval"
_ROUNDING = 1e-12


def retest_inconsistency(
    item: ArrayLike,
    verdict: ArrayLike,
    cluster: ArrayLike,
    *,
    confidence: float = 0.95,
) -> RetestInconsistency:
    """Return the share of pairs of repeats on one item whose verdicts differ.

    Args:
        item, verdict, cluster: as in `judge_agreement`, with a row for each repeat.
        confidence: nominal coverage.

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
    return RetestInconsistency(
        n_items=int(np.count_nonzero(pairs)),
        n_pairs=int(pairs.sum()),
        inconsistency=clustered_proportion(
            pairs - alike,
            place,
            trials=pairs,
            confidence=confidence,
            note="no item has two parsed repeats",
        ),
    )


@dataclass(frozen=True)
class RetestInconsistency:
    """Share of pairs of repeats on which a judge contradicts itself.

    Attributes:
        n_items: items with two parsed repeats or more.
        n_pairs: pairs of repeats.
        inconsistency: share of the pairs that differ, with its clustered interval.
    """

    n_items: int
    n_pairs: int
    inconsistency: Estimate


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
    """Return Cohen's kappa and Gwet's AC1 of every two judges (nominal) and Krippendorff's alpha of all of them.

    The categories are the verdicts that any judge gives; if all are the same, AC1 assumes two categories.

    Args:
        judge: judge of each answer, numbers in 0..n_judges-1, shape [n].
        item: judged item, shape [n]; one answer per judge and item.
        verdict: the answer as a number, NaN if unparsed (left out), shape [n].
        cluster: cluster (seed) of each row, shape [n].
        n_judges: number of judges.
        level: level of measurement for alpha: "nominal", "ordinal" or "interval".
        resamples, confidence, random_seed: as in `krippendorffs_alpha`.

    Raises:
        ValueError: if shapes differ, a verdict is infinite, a judge is out of range or answers an item twice, or the
            level is unknown.
    """
    verdict = as_floats("verdict", verdict)
    judge = as_codes("judge", judge, length=len(verdict), below=n_judges)
    items, n_items = dense_codes("item", item, len(verdict))
    clusters, n_clusters = dense_codes("cluster", cluster, len(verdict))
    check_confidence(confidence)
    refuse("verdict", verdict, np.isinf(verdict), "leave it NaN if unread")
    if level not in ("nominal", "ordinal", "interval"):
        raise ValueError(f"level is {level!r}; it must be 'nominal', 'ordinal' or 'interval'")
    if len(np.unique(items * n_judges + judge)) < len(judge):
        raise ValueError("a judge has two verdicts on an item; compute each repeat separately")
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
    observed, kappa, low, high, ac1, ac1_ci_low, ac1_ci_high = (np.full((n_judges, n_judges), np.nan) for _ in range(7))
    reason = [[""] * n_judges for _ in range(n_judges)]
    for one in range(n_judges):
        for other in range(one + 1, n_judges):
            both = (answer[:, one] >= 0) & (answer[:, other] >= 0)
            pair, of = answer[both][:, [one, other]], place[both]
            table = _confusion(pair[:, 0], pair[:, 1], of, weights, len(values))
            total = float(table[0].sum())
            found = _interval(_cohens_kappa(table), pair, of, confidence, "")
            interval = _of_ac1(table, pair[:, 0] == pair[:, 1], of, confidence)
            for cell in ((one, other), (other, one)):
                n_common[cell] = int(total)
                observed[cell] = np.trace(table[0]) / total if total else math.nan
                kappa[cell], low[cell], high[cell] = found.estimate, found.ci_low, found.ci_high
                ac1[cell], ac1_ci_low[cell], ac1_ci_high[cell] = interval
                clusters_of[cell] = found.n_clusters
                reason[cell[0]][cell[1]] = found.note if total else ""
    alphas = _krippendorffs_alpha(_coincidences(answer, place, weights, len(values)), values, level)
    answered_twice = (answer >= 0).sum(axis=1) > 1
    undefined = "verdicts do not vary" if answered_twice.any() else "no item has the verdicts of two judges"
    return JudgeAgreement(
        n_common=n_common,
        observed=observed,
        kappa=kappa,
        kappa_ci_low=low,
        kappa_ci_high=high,
        kappa_reason=tuple(tuple(row) for row in reason),
        ac1=ac1,
        ac1_ci_low=ac1_ci_low,
        ac1_ci_high=ac1_ci_high,
        n_clusters=clusters_of,
        alpha=_interval(alphas, answer[answered_twice], place[answered_twice], confidence, undefined),
        resamples=resamples,
        confidence=confidence,
    )


@dataclass(frozen=True)
class JudgeAgreement:
    """Agreement between judges on the same items, with the settings that gave the intervals.

    Attributes:
        n_common: items that both judges of a pair answered, shape [n_judges, n_judges].
        observed: share of the common items on which they agree, shape [n_judges, n_judges]; NaN without common items.
        kappa: Cohen's kappa, shape [n_judges, n_judges]; NaN if both judges give the same single verdict throughout.
        kappa_ci_low, kappa_ci_high: limits of its clustered interval, shape [n_judges, n_judges].
        kappa_reason: why kappa has no interval; empty if it has one or is undefined, [n_judges][n_judges].
        ac1: Gwet's AC1, shape [n_judges, n_judges]; NaN without common items.
        ac1_ci_low, ac1_ci_high: outer limits of two intervals, shape [n_judges, n_judges]: AC1's percentile interval,
            and that of the observed agreement, turned into AC1 with the estimated chance agreement.
        n_clusters: clusters of the common items, shape [n_judges, n_judges].
        alpha: Krippendorff's alpha over all judges, with its clustered interval.
    """

    n_common: IntArray
    observed: FloatArray
    kappa: FloatArray
    kappa_ci_low: FloatArray
    kappa_ci_high: FloatArray
    kappa_reason: tuple[tuple[str, ...], ...]
    ac1: FloatArray
    ac1_ci_low: FloatArray
    ac1_ci_high: FloatArray
    n_clusters: IntArray
    alpha: Estimate
    resamples: int
    confidence: float

    def kappa_interval(self, one: int, other: int) -> Estimate:
        """Return the kappa of two judges as an `Estimate`."""
        return self._of_pair(
            (self.kappa, self.kappa_ci_low, self.kappa_ci_high), one, other, self.kappa_reason[one][other]
        )

    def ac1_interval(self, one: int, other: int) -> Estimate:
        """Return the AC1 of two judges as an `Estimate`."""
        reason = SINGLE_CLUSTER if self.n_clusters[one, other] == 1 else ""
        return self._of_pair((self.ac1, self.ac1_ci_low, self.ac1_ci_high), one, other, reason)

    def _of_pair(self, numbers: tuple[FloatArray, FloatArray, FloatArray], one: int, other: int, why: str) -> Estimate:
        estimate, low, high = (float(values[one, other]) for values in numbers)
        n_clusters = int(self.n_clusters[one, other])
        return Estimate(estimate, low, high, self.confidence, self.resamples, why, n_clusters)


def _confusion(one: IntArray, other: IntArray, place: IntArray, weights: FloatArray, n_values: int) -> FloatArray:
    """Return the weighted confusion matrices of two judges, shape [R, n_values, n_values]."""
    cells = n_values * n_values
    n_clusters = weights.shape[1]
    counts = np.bincount(place * cells + one * n_values + other, minlength=n_clusters * cells)
    return (weights @ counts.reshape(n_clusters, cells)).reshape(len(weights), n_values, n_values)


def _interval(replicates: FloatArray, answer: IntArray, place: IntArray, confidence: float, undefined: str) -> Estimate:
    """Return a coefficient, the first replicate, with its interval.

    Args:
        replicates: of the data themselves and of each resample, shape [1 + resamples].
        answer: codes of the verdicts, -1 for none, shape [n_items, n_judges].
        place: cluster of each item, shape [n_items].
        confidence: nominal coverage.
        undefined: why there is no coefficient.
    """
    estimate, drawn = float(replicates[0]), replicates[1:]
    n_clusters, known = len(np.unique(place)), int(np.count_nonzero(~np.isnan(drawn)))
    if math.isnan(estimate):
        return Estimate.missing(confidence, undefined, n_clusters, known)
    given = answer >= 0
    low, high = bias_corrected_interval(estimate, drawn, confidence, n_clusters)
    reason = SINGLE_CLUSTER if n_clusters < 2 else NO_VARIATION if not low < high else ""
    reason = reason or too_few_others(answer[given], np.broadcast_to(place[:, np.newaxis], answer.shape)[given])
    if reason:
        low = high = math.nan
    return Estimate(estimate, low, high, confidence, known, reason, n_clusters)


def _cohens_kappa(table: FloatArray) -> FloatArray:
    """Return (observed - chance) / (1 - chance) of confusion matrices, shape [R]; NaN where it is undefined."""
    total = table.sum(axis=(1, 2))
    agreed = np.trace(table, axis1=1, axis2=2) * total
    chance = (table.sum(axis=1) * table.sum(axis=2)).sum(axis=1)
    room = total**2 - chance
    return ratio(agreed - chance, room)


def _of_ac1(table: FloatArray, agreed: BoolArray, place: IntArray, confidence: float) -> tuple[float, float, float]:
    """Return Gwet's AC1 of two judges with the limits of its interval."""
    if not len(agreed):
        return math.nan, math.nan, math.nan
    replicates, chance = _gwets_ac1(table)
    share = clustered_proportion(agreed.astype(np.float64), place, confidence=confidence)
    low, high = percentile_interval(replicates[1:], confidence, share.n_clusters)
    of_share = ((end - chance[0]) / (1.0 - chance[0]) for end in (share.ci_low, share.ci_high))
    outer = min(float(low), next(of_share)), max(float(high), next(of_share))
    return float(replicates[0]), *outer


def _gwets_ac1(table: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return Gwet's AC1 and its chance agreement from confusion matrices, shape [R]; NaN where one is empty."""
    total = table.sum(axis=(1, 2))
    share = ratio(table.sum(axis=1) + table.sum(axis=2), 2.0 * total[:, np.newaxis])
    chance = (share * (1.0 - share)).sum(axis=1) / max(table.shape[1] - 1, 1)
    observed = np.trace(table, axis1=1, axis2=2) / np.where(total > 0, total, np.nan)
    return (observed - chance) / (1.0 - chance), chance


def _krippendorffs_alpha(coincidences: FloatArray, values: FloatArray, level: Level) -> FloatArray:
    """Return 1 - observed / expected disagreement of coincidence matrices, shape [R]; NaN where nothing varies."""
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
    return 1.0 - ratio((n - 1.0) * observed, expected)


def _coincidences(answer: IntArray, place: IntArray, weights: FloatArray, n_values: int) -> FloatArray:
    """Return Krippendorff's coincidence matrices of weighted items, shape [R, n_values, n_values].

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


def mean_pairwise_pearson(
    rounds: ArrayLike,
    cluster: ArrayLike | None = None,
    *,
    resamples: int = 0,
    confidence: float = 0.95,
    random_seed: int = 0,
) -> Estimate:
    """Return the mean Pearson correlation of every two rounds (comp-analysis, "Fill up missing annotations").

    Args:
        rounds, cluster, resamples, confidence, random_seed: as in `krippendorffs_alpha`.

    Returns:
        The mean over pairs with a correlation; `note` says if some have none.

    Raises:
        ValueError: as in `krippendorffs_alpha`.
    """
    ratings, clusters = _checked(rounds, cluster)
    k = len(ratings)
    estimates: list[FloatArray] = []
    replicates: list[FloatArray] = []
    for one in range(k - 1):
        result = correlate(
            ratings[one + 1 :, np.newaxis],
            ratings[one : one + 1],
            clusters,
            resamples=resamples,
            confidence=confidence,
            random_seed=random_seed,
        )
        estimates.append(result.estimate[:, 0])
        replicates.append(result.replicates[:, :, 0])
    if not estimates:
        return interval(math.nan, np.zeros(0), confidence, "agreement needs two rounds")
    pairs, drawn = np.concatenate(estimates), np.concatenate(replicates, axis=1)
    defined = ~np.isnan(pairs)
    if not defined.any():
        return interval(math.nan, np.zeros(0), confidence, "no two rounds have a correlation")
    n_undefined = int(np.count_nonzero(~defined))
    n_clusters = len(np.unique(clusters[(~np.isnan(ratings)).sum(axis=0) > 1]))
    reason = f"{n_undefined} of {len(pairs)} pairs of rounds have no correlation" if n_undefined else ""
    return interval(float(pairs[defined].mean()), drawn[:, defined].mean(axis=1), confidence, reason, n_clusters)


def krippendorffs_alpha(
    rounds: ArrayLike,
    cluster: ArrayLike | None = None,
    *,
    resamples: int = 0,
    confidence: float = 0.95,
    random_seed: int = 0,
) -> Estimate:
    """Return Krippendorff's alpha with squared distances (interval level).

    `judge_agreement` has the other levels of measurement. There is no interval if few ratings differ from the most
    frequent rating.

    Args:
        rounds: ratings of n items by k raters (or in k rounds of annotation), NaN where missing, shape [k, n].
        cluster: cluster of each item, shape [n]; None if items are independent.
        resamples: bootstrap resamples of the clusters; 0 for no interval.
        confidence: nominal coverage.
        random_seed: seed of the resampling.

    Raises:
        ValueError: if shapes do not fit, a rating is infinite, or a setting is out of range.
    """
    ratings, clusters = _checked(rounds, cluster)
    check_confidence(confidence)
    codes, n_clusters = dense_codes("cluster", clusters)
    known = ~np.isnan(ratings)
    given = known.sum(axis=0)
    paired = given > 1  # an item with one rating has no agreement
    known, ratings, given, codes = known[:, paired], ratings[:, paired], given[paired], codes[paired]
    centre = float(ratings[known].mean()) if known.any() else 0.0
    values = np.where(known, ratings - centre, 0.0)
    total, squares = values.sum(axis=0), (values**2).sum(axis=0)
    within = (given * squares - total**2) / np.maximum(given - 1, 1)

    drawn = cluster_counts(n_clusters, resamples, np.random.default_rng(random_seed))
    weights = np.concatenate([np.ones((1, n_clusters)), drawn])
    n, observed, sums, sums_of_squares = (
        weights @ np.bincount(codes, part, minlength=n_clusters) for part in (given, within, total, squares)
    )
    expected = n * sums_of_squares - sums**2
    alphas = 1.0 - ratio((n - 1.0) * observed, expected, _ROUNDING * n * sums_of_squares)
    reason = "" if not math.isnan(alphas[0]) else ("ratings do not vary" if paired.any() else "no item has two ratings")
    estimate, n_known = float(alphas[0]), len(np.unique(codes))
    if resamples == 0 or math.isnan(estimate):
        return interval(estimate, alphas[1:], confidence, reason, n_known)
    low, high = bias_corrected_interval(estimate, alphas[1:], confidence, n_known)
    same = NO_VARIATION if not low < high else ""
    of_values = np.unique(ratings[known], return_inverse=True)[1].astype(np.int64)
    reason = SINGLE_CLUSTER if n_known < 2 else same or too_few_others(of_values, codes[np.nonzero(known)[1]])
    if reason:
        low = high = math.nan
    n_replicates = int(np.count_nonzero(~np.isnan(alphas[1:])))
    return Estimate(estimate, low, high, confidence, n_replicates, reason, n_known)


def too_few_others(value: IntArray, cluster: IntArray) -> str:
    """Return why values have no interval of agreement beyond chance; empty where enough of them vary.

    Args:
        value: codes of values, shape [n].
        cluster: cluster of each, shape [n].
    """
    others = value != np.bincount(value).argmax() if len(value) else np.zeros(0, dtype=np.bool_)
    n, n_clusters = int(others.sum()), len(np.unique(cluster[others]))
    if n >= FEWEST_OTHERS and n_clusters >= FEWEST_CLUSTERS:
        return ""
    return (
        f"no interval: {n} answers of {n_clusters} clusters differ from the most frequent answer, and "
        f"{FEWEST_OTHERS} of {FEWEST_CLUSTERS} are needed"
    )


def _checked(rounds: ArrayLike, cluster: ArrayLike | None) -> tuple[FloatArray, IntArray]:
    """Return the ratings as a matrix, and a cluster for every item."""
    ratings = np.asarray(rounds, dtype=np.float64)
    if ratings.ndim != 2:
        raise ValueError(f"rounds must have shape [rounds, items]; it has {ratings.shape}")
    if np.isinf(ratings).any():
        raise ValueError("ratings must be finite, or NaN where missing")
    n_items = ratings.shape[1]
    if cluster is None:
        return ratings, np.arange(n_items, dtype=np.int64)
    codes, _ = dense_codes("cluster", cluster, n_items)
    return ratings, codes
