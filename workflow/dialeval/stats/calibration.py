"""Calibration of a judge, and its agreement with annotators on the items of which it is certain.

Reliability curve and calibration error compare a judge's scores with annotators' labels in bins with equal numbers of
items. With few labels, the usual estimate of the expected calibration error is too high, because bin means vary by
chance; `calibration_error` corrects it.

Selective judging passes items on to annotators (or to another judge) if a judge is not certain. `certain_agreement`
chooses the threshold by fixed-sequence testing (Jung, Brahman and Choi 2024, "Trust or Escalate"; Angelopoulos and
others 2021, "Learn then Test"), with the exact binomial limit on the effective number of items (Korn and Graubard
1998).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, ndtr, stdtrit

from dialeval.stats.arrays import FloatArray, IntArray, as_floats, as_shares, check_confidence, dense_codes
from dialeval.stats.clustered import clustered_proportion, clustered_proportions
from dialeval.stats.estimates import Estimate, Estimates
from dialeval.stats.resampling import cluster_counts

MOST_BINS = 10
FEWEST_IN_BIN = 5
"""Clusters for each bin."""
FEWEST_CLUSTERS = 10
"""Clusters below which the calibration error has no estimate."""
FEW_CLUSTERS = f"labels of fewer than {FEWEST_CLUSTERS} clusters"
SAME_GAP = "scores and labels differ by the same amount in every resample, so the interval is not known"
MOST_THRESHOLDS = 20

STARTS = 4
"""Sequences of thresholds that are tested."""

NOT_KEPT = "not shown at any threshold: at best, on {} items, the agreement is at least {:.0%} ({:.0%} confidence)"
FEW_CERTAIN = "not shown: it needs labels of {} clusters, and {} have labels"
_NOTHING = Estimate.missing(math.nan, "")

_ROUNDING = 1e-12
_LEAST_SHAPE = 0.1  # of the noise
_STEPS = 30


class Calibration(NamedTuple):
    """Reliability curve and calibration error of a judge.

    Attributes:
        error: corrected expected calibration error, with its interval.
        plug_in: uncorrected error, too high with few labels.
        score: mean score in each bin, shape [n_bins].
        low, high: smallest and largest score of each bin, shape [n_bins].
        label: mean label in each bin, with its interval.
    """

    error: Estimate
    plug_in: float
    score: FloatArray
    low: FloatArray
    high: FloatArray
    label: Estimates


def calibration_error(
    score: ArrayLike,
    label: ArrayLike,
    cluster: ArrayLike,
    *,
    weight: ArrayLike | None = None,
    resamples: int = 1000,
    confidence: float = 0.95,
    random_seed: int = 0,
) -> Calibration:
    """Return the reliability curve and the expected calibration error of scores as predictions of labels.

    With D_b the weighted sum of score minus label in bin b and W the sum of weights, the usual error is
    ECE = sum |D_b| / W. Bootstrap resamples of clusters give the noise Z_b of D_b. G_b is D_b, shrunk towards the
    weight of bin b times the mean difference of all items. The corrected error is sum |c G_b| / W. The factor c solves
    mean(sum |c G_b + Z_b| / W) = ECE, with the mean over the resamples. Quantiles in place of the mean give the limits.

    Args:
        score: score of each item, from 0 to 1, shape [n].
        label: label of each item, or the mean of several, from 0 to 1, shape [n].
        cluster: cluster of each item, numbers or text, shape [n].
        weight: weight of each item, such as its inverse inclusion probability, shape [n]; None for 1 each.
        resamples: bootstrap resamples of the clusters.
        confidence: nominal coverage.
        random_seed: seed of the resampling.

    Raises:
        ValueError: if shapes differ, or a score or label is missing or outside 0 to 1.
    """
    check_confidence(confidence)
    scores = as_shares("score", score)
    n = len(scores)
    labels = as_shares("label", label, n)
    weights = np.ones(n) if weight is None else as_floats("weight", weight, n)
    clusters, n_clusters = dense_codes("cluster", cluster, n)
    place, n_bins = _bins(scores, max(1, min(MOST_BINS, n_clusters // FEWEST_IN_BIN)))
    total = np.bincount(place, weights, minlength=n_bins)
    means = np.bincount(place, weights * scores, minlength=n_bins) / np.maximum(total, _ROUNDING)
    low, high = (np.array([one(scores[place == number]) for number in range(n_bins)]) for one in (np.min, np.max))
    curve = clustered_proportions(
        weights * labels, clusters, place, n_bins, trials=weights, confidence=confidence
    )  # fmt: skip
    sums = np.zeros((n_clusters, n_bins))
    np.add.at(sums, (clusters, place), weights * (scores - labels))
    gap, whole = sums.sum(axis=0), float(weights.sum())
    plug_in = float(np.abs(gap).sum() / whole) if n else math.nan
    if n_clusters < FEWEST_CLUSTERS:
        error = replace(Estimate.missing(confidence, FEW_CLUSTERS, n_clusters), n_items=n)
        return Calibration(error, plug_in, means, low, high, curve)
    counts = cluster_counts(n_clusters, resamples, np.random.default_rng(random_seed))
    of_clusters = np.bincount(clusters, weights, minlength=n_clusters)
    drawn = counts @ sums * (whole / (counts @ of_clusters))[:, np.newaxis]
    noise = (drawn - gap) * math.sqrt(n_clusters / (n_clusters - 1.0))
    if np.abs(noise).max(initial=0.0) <= _ROUNDING * whole:
        error = Estimate(plug_in, math.nan, math.nan, confidence, resamples, SAME_GAP, n_clusters, n_items=n)
    else:
        error = _corrected(
            plug_in, _shrunk(gap, noise, total.astype(np.float64)) / whole, noise / whole, confidence, n_clusters, n
        )
    return Calibration(error, plug_in, means, low, high, curve)


def _shrunk(gap: FloatArray, noise: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the gaps of bins, shrunk towards the common gap by the share of their variance that is noise."""
    share = weight / weight.sum()
    common = share * gap.sum()
    own, of_noise = gap - common, noise - np.outer(noise.sum(axis=1), share)
    spread = float((own**2).sum())
    kept = max(0.0, 1.0 - float((of_noise**2).sum(axis=1).mean()) / spread) if spread > 0.0 else 0.0
    found = common + kept * own
    if np.abs(found).sum() <= _LEAST_SHAPE * np.abs(noise).sum(axis=1).mean():  # no shape to enlarge
        found = np.sqrt((noise**2).mean(axis=0))
    return np.asarray(found, dtype=np.float64)


def _corrected(
    observed: float, gap: FloatArray, noise: FloatArray, confidence: float, n_clusters: int, n: int
) -> Estimate:
    """Return the corrected error c sum |gap|; replicates of the observed one are sum |c gap + noise|."""
    size = float(np.abs(gap).sum())
    tail = float(ndtr(-stdtrit(n_clusters - 1.0, 0.5 + 0.5 * confidence)))  # expanded for few clusters

    def at(times: float) -> tuple[float, float, float]:
        replicates = np.abs(times * gap + noise).sum(axis=1)
        low, high = np.quantile(replicates, (tail, 1.0 - tail))
        return float(replicates.mean()), float(high), float(low)

    found = []
    by_chance = max(observed, at(0.0)[0])  # an error below its expectation by chance does not narrow the interval
    # the mean gives the estimate, the upper quantile the lower limit, and the lower quantile the upper limit
    for statistic, wanted in enumerate((observed, observed, by_chance)):
        below, above = 0.0, 1.0
        while at(above)[statistic] < wanted and above < 1024.0:
            above *= 2.0
        if at(below)[statistic] >= wanted:
            found.append(0.0)
            continue
        for _ in range(_STEPS):
            middle = 0.5 * (below + above)
            below, above = (middle, above) if at(middle)[statistic] < wanted else (below, middle)
        found.append(0.5 * (below + above))
    estimate, low, high = (min(times * size, 1.0) for times in found)
    return Estimate(
        estimate, min(low, estimate), max(high, estimate), confidence, len(noise), "", n_clusters, n_items=n
    )  # fmt: skip


def _bins(score: FloatArray, most: int) -> tuple[IntArray, int]:
    """Return the bin of each score, by quantiles; equal scores have one bin."""
    if not len(score):
        return np.zeros(0, np.int64), 0
    edges = np.unique(np.quantile(score, np.arange(1, most) / most, method="inverted_cdf"))
    place, code = np.unique(np.searchsorted(edges, score, side="left"), return_inverse=True)
    return code.astype(np.int64), len(place)


class Certain(NamedTuple):
    """The items with a judge's certain answers.

    Attributes:
        target: the required agreement.
        threshold: least certainty of these items; NaN if no threshold reaches the agreement.
        agreement: agreement with annotators on these items, with its interval.
        at_least: lower limit of the agreement, one-sided.
        note: why there is no threshold.
    """

    target: float
    threshold: float
    agreement: Estimate
    at_least: float
    note: str


def certain_agreement(
    certainty: ArrayLike,
    agreement: ArrayLike,
    cluster: ArrayLike,
    targets: Sequence[float],
    *,
    weight: ArrayLike | None = None,
    confidence: float = 0.95,
) -> list[Certain]:
    """Return, for each required agreement, the lowest threshold of certainty that is shown to reach it.

    Thresholds are tested in descending order until the one-sided lower limit of the agreement is below the target. Four
    such sequences, with different first thresholds, each have a quarter of the error probability.

    Args:
        certainty: the judge's certainty of each item, shape [n].
        agreement: share of an item's annotators that agree with the judge, shape [n].
        cluster: cluster of each item, numbers or text, shape [n].
        targets: required agreements, each above 0 and below 1.
        weight: weight of each item, shape [n]; None for 1 each.
        confidence: confidence of the lower limits, for each target separately.

    Raises:
        ValueError: if shapes differ, a number is missing, or an agreement is outside 0 to 1.
    """
    check_confidence(confidence)
    sure = as_floats("certainty", certainty)
    agreed = as_shares("agreement", agreement, len(sure))
    if np.isnan(sure).any():
        raise ValueError("certainty must not be missing")
    weights = np.ones(len(sure)) if weight is None else as_floats("weight", weight, len(sure))
    clusters, n_clusters = dense_codes("cluster", cluster, len(sure))
    error = (1.0 - confidence) / STARTS
    tried = [_from(threshold, sure, agreed, clusters, weights, confidence) for threshold in _thresholds(sure)]
    found = []
    for target in targets:
        needed = max(math.ceil(math.log(error) / math.log(target)), 2)  # a single cluster has no limit
        able = [one for one in tried if one.agreement.n_clusters >= needed]
        shown = [_at_least(one.agreement, error) >= target for one in able]
        kept = None
        for start in np.unique(np.linspace(0, len(able) - 1, STARTS).round().astype(int)) if able else ():
            stop = int(start) + next((step for step, held in enumerate(shown[start:]) if not held), len(able) - start)
            kept = able[stop - 1] if stop > start else kept
        if kept is not None:
            found.append(kept._replace(target=target))
            continue
        note = FEW_CERTAIN.format(needed, n_clusters)
        if able:
            best = max(able, key=lambda one: one.at_least)
            note = NOT_KEPT.format(best.agreement.n_items, max(best.at_least, 0.0), confidence)
        found.append(Certain(target, math.nan, _NOTHING, math.nan, note))
    return found


def agreement_from(
    threshold: float,
    certainty: ArrayLike,
    agreement: ArrayLike,
    cluster: ArrayLike,
    *,
    weight: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Certain:
    """Return the agreement on items at or above a certainty threshold; arguments as in `certain_agreement`."""
    sure, agreed = as_floats("certainty", certainty), as_shares("agreement", agreement)
    weights = np.ones(len(sure)) if weight is None else as_floats("weight", weight, len(sure))
    return _from(threshold, sure, agreed, dense_codes("cluster", cluster, len(sure))[0], weights, confidence)


def _thresholds(sure: FloatArray) -> FloatArray:
    """Return the thresholds to test, the highest first: at most `MOST_THRESHOLDS`, by quantiles of the certainty."""
    levels = np.unique(sure)
    if len(levels) > MOST_THRESHOLDS:
        levels = np.unique(np.quantile(sure, np.arange(MOST_THRESHOLDS) / MOST_THRESHOLDS, method="inverted_cdf"))
    return np.asarray(levels[::-1], dtype=np.float64)


def _from(
    threshold: float, sure: FloatArray, agreed: FloatArray, clusters: IntArray, weights: FloatArray, confidence: float
) -> Certain:
    there = sure >= threshold
    w = weights[there]
    found = clustered_proportion(w * agreed[there], clusters[there], trials=w, confidence=confidence)
    return Certain(math.nan, float(threshold), found, _at_least(found, 1.0 - confidence), found.note)


def _at_least(found: Estimate, error: float) -> float:
    """Return the one-sided exact binomial lower limit on the effective number of items; NaN if it is not known."""
    if not found.n_effective > 0.0:
        return math.nan
    success = found.estimate * found.n_effective
    return float(betaincinv(success, found.n_effective - success + 1.0, error)) if success > 0.0 else 0.0
