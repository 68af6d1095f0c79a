"""Agreement of raters, or of repeated rounds of one rater, on the same items.

Intervals resample clusters of items. A round is a row; which rater is behind a number may differ from item to item, as
it does where each item was given to other people.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from dialeval.stats.agreement import NO_VARIATION, too_few_others
from dialeval.stats.arrays import FloatArray, IntArray, check_confidence, dense_codes
from dialeval.stats.correlation import correlate
from dialeval.stats.resampling import ONE_CLUSTER, Interval, bias_corrected_interval, cluster_counts, interval

_ROUNDING = 1e-12


def mean_pairwise_pearson(
    rounds: ArrayLike,
    cluster: ArrayLike | None = None,
    *,
    resamples: int = 0,
    confidence: float = 0.95,
    random_seed: int = 0,
) -> Interval:
    """Mean of the Pearson correlations between every two rounds (comp-analysis, "Fill up missing annotations").

    Args:
        rounds: ratings, NaN where missing, shape [k, n].
        cluster: cluster of each item, shape [n]; None if items are independent.
        resamples: bootstrap resamples of the clusters; 0 for no interval.
        confidence: nominal coverage of the interval.
        random_seed: seed of the resampling.

    Returns:
        The mean over the pairs that have a correlation; the reason says if some have none.

    Raises:
        ValueError: if shapes do not fit, a rating is infinite, or a setting is out of range.
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
        return _interval(math.nan, np.zeros(0), confidence, "agreement needs two rounds")
    pairs, drawn = np.concatenate(estimates), np.concatenate(replicates, axis=1)
    defined = ~np.isnan(pairs)
    if not defined.any():
        return _interval(math.nan, np.zeros(0), confidence, "no two rounds have a correlation")
    n_undefined = int(np.count_nonzero(~defined))
    n_clusters = len(np.unique(clusters[(~np.isnan(ratings)).sum(axis=0) > 1]))
    reason = f"{n_undefined} of {len(pairs)} pairs of rounds have no correlation" if n_undefined else ""
    return _interval(float(pairs[defined].mean()), drawn[:, defined].mean(axis=1), confidence, reason, n_clusters)


def krippendorffs_alpha(
    rounds: ArrayLike,
    cluster: ArrayLike | None = None,
    *,
    resamples: int = 0,
    confidence: float = 0.95,
    random_seed: int = 0,
) -> Interval:
    """Krippendorff's alpha with squared distances (interval level), linear in the number of ratings.

    `agreement.judge_agreement` has the other levels; it counts every pair of values, so it suits few distinct ones.
    There is no interval where few ratings differ from the most frequent one (`agreement.too_few_others`).

    Args:
        rounds: ratings, NaN where missing, shape [k, n].
        cluster: cluster of each item, shape [n]; None if items are independent.
        resamples: bootstrap resamples of the clusters; 0 for no interval.
        confidence: nominal coverage of the interval.
        random_seed: seed of the resampling.

    Raises:
        ValueError: if shapes do not fit, a rating is infinite, or a setting is out of range.
    """
    ratings, clusters = _checked(rounds, cluster)
    check_confidence(confidence)
    codes, n_clusters = dense_codes("cluster", clusters)
    known = ~np.isnan(ratings)
    given = known.sum(axis=0)
    paired = given > 1  # an item that was rated once says nothing of agreement
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
    alphas = np.full(len(weights), np.nan)
    np.divide((n - 1.0) * observed, expected, out=alphas, where=expected > _ROUNDING * n * sums_of_squares)
    alphas = 1.0 - alphas
    reason = "" if not math.isnan(alphas[0]) else ("ratings do not vary" if paired.any() else "no item has two ratings")
    estimate, n_known = float(alphas[0]), len(np.unique(codes))
    if resamples == 0 or math.isnan(estimate):
        return _interval(estimate, alphas[1:], confidence, reason, n_known)
    low, high = bias_corrected_interval(estimate, alphas[1:], confidence, n_known)
    same = NO_VARIATION if not low < high else ""
    of_values = np.unique(ratings[known], return_inverse=True)[1].astype(np.int64)
    reason = ONE_CLUSTER if n_known < 2 else same or too_few_others(of_values, codes[np.nonzero(known)[1]])
    if reason:
        low = high = math.nan
    n_replicates = int(np.count_nonzero(~np.isnan(alphas[1:])))
    return Interval(estimate, low, high, confidence, n_replicates, reason, n_known)


def _interval(estimate: float, replicates: FloatArray, confidence: float, reason: str, n_clusters: int = 0) -> Interval:
    """Returns the statistic with its interval; one that was not asked for is no fault."""
    if len(replicates) == 0:
        return Interval(estimate, math.nan, math.nan, confidence, 0, reason, n_clusters)
    return interval(estimate, replicates, confidence, reason, n_clusters)


def _checked(rounds: ArrayLike, cluster: ArrayLike | None) -> tuple[FloatArray, IntArray]:
    """Returns the ratings as a matrix, and a cluster for every item."""
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
