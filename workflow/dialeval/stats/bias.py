"""Biases of a judge of pairs: for a place, for length, for models of its own family.

Outcomes are 1 (left, shown first, wins), 0.5 (tie), 0 (right wins) and NaN for a verdict that could not be read.
Intervals of shares are those of `shares.share_intervals`; all are clustered by seed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from dialeval.stats.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    as_codes,
    as_floats,
    as_outcomes,
    check_confidence,
    dense_codes,
)
from dialeval.stats.logistic import robust_slope
from dialeval.stats.resampling import Interval, cluster_counts, interval, ratio_replicates
from dialeval.stats.shares import share_interval


@dataclass(frozen=True)
class PositionBias:
    """What the order of presentation does to a judge's verdicts.

    Attributes:
        n_verdicts, unparsed: verdicts, and how many of them could not be read.
        n_swapped: comparisons that were read in both orders.
        flips: share of these in which the winner (or that there is one) changes with the order.
        first_both, second_both: shares of these in which the same place wins both times.
        first_wins: share of the decided verdicts that the first place wins; 0.5 without a bias.
    """

    n_verdicts: int
    unparsed: int
    n_swapped: int
    flips: Interval
    first_both: Interval
    second_both: Interval
    first_wins: Interval
    n_clusters: int
    confidence: float


@dataclass(frozen=True)
class LengthBias:
    """What length has to do with winning.

    A better model may also write more, so this is an association; `style_control` holds the models fixed.

    Attributes:
        n_decided: verdicts that were read and are no tie.
        longer_wins: share of the decided verdicts on unequal lengths that the longer side wins.
        slope: change of the log-odds that left wins per unit of log(left length / right length), from a logistic
            regression with an intercept (the place) whose covariance is robust to clusters.
        odds_ratio_of_double: exp(slope * ln 2), the factor on the odds of a side twice as long as the other.
    """

    n_decided: int
    longer_wins: Interval
    slope: Interval
    odds_ratio_of_double: float
    n_clusters: int
    confidence: float


@dataclass(frozen=True)
class SelfPreference:
    """How a judge treats models of its own family, beside judges of other families on the same comparisons.

    Attributes:
        judge: number of the judge.
        n: comparisons of its family with another one that both it and a judge of another family read.
        own: score (wins and half the ties) of the family in the judge's own verdicts.
        others: the same in the others' verdicts, averaged over judges of each comparison.
        difference: own - others; above 0 where the judge favours its family.
    """

    judge: int
    n: int
    own: Interval
    others: Interval
    difference: Interval
    resamples: int
    confidence: float
    random_seed: int


def position_bias(
    left: ArrayLike,
    right: ArrayLike,
    outcome: ArrayLike,
    cluster: ArrayLike,
    *,
    repeat: ArrayLike | None = None,
    confidence: float = 0.95,
) -> PositionBias:
    """Measure how often a judge's verdict changes with the order, and which place it favours.

    Args:
        left, right: models shown first and second, numbers from 0, shape [n].
        outcome: 1 where left wins, 0.5 for a tie, 0 where right wins, NaN where unread, shape [n].
        cluster: seed of each verdict, shape [n]. Two verdicts are one comparison in both orders if they share
            cluster, models and repeat.
        repeat: number of the repeat, where a judge was asked the same several times, shape [n].
        confidence: nominal coverage of the intervals.

    Raises:
        ValueError: if shapes differ, an outcome is none of the four, or one order of a comparison occurs twice.
    """
    left = as_codes("left", left)
    n = len(left)
    right = as_codes("right", right, length=n)
    outcome = as_outcomes("outcome", outcome, n)
    codes, n_clusters = dense_codes("cluster", cluster, n)
    repeats, n_repeats = (np.zeros(n, dtype=np.int64), 1) if repeat is None else dense_codes("repeat", repeat, n)
    check_confidence(confidence)

    n_models = 1 + int(max(left.max(initial=0), right.max(initial=0)))
    low, high = np.minimum(left, right), np.maximum(left, right)
    key = ((codes * n_repeats + repeats) * n_models + low) * n_models + high
    forward, backward = _matched(key, left == low)
    both_read = ~np.isnan(outcome[forward]) & ~np.isnan(outcome[backward])
    forward, backward = forward[both_read], backward[both_read]
    there, back, of_pair = outcome[forward], outcome[backward], codes[forward]
    why = "no comparison was read in both orders"
    decided = ~np.isnan(outcome) & (outcome != 0.5)
    return PositionBias(
        n_verdicts=n,
        unparsed=int(np.count_nonzero(np.isnan(outcome))),
        n_swapped=len(forward),
        flips=share_interval(there != 1.0 - back, of_pair, confidence=confidence, reason=why),
        first_both=share_interval((there == 1) & (back == 1), of_pair, confidence=confidence, reason=why),
        second_both=share_interval((there == 0) & (back == 0), of_pair, confidence=confidence, reason=why),
        first_wins=share_interval(
            outcome[decided] == 1, codes[decided], confidence=confidence, reason="no decided verdict"
        ),
        n_clusters=n_clusters,
        confidence=confidence,
    )


def length_bias(
    left_length: ArrayLike,
    right_length: ArrayLike,
    outcome: ArrayLike,
    cluster: ArrayLike,
    *,
    confidence: float = 0.95,
) -> LengthBias:
    """Measure how winning goes with length.

    Args:
        left_length, right_length: lengths of the two dialogues in any unit, above 0, shape [n].
        outcome: 1 where left wins, 0.5 for a tie, 0 where right wins, NaN where unread, shape [n].
        cluster: seed of each verdict, shape [n].
        confidence: nominal coverage of the intervals.

    Raises:
        ValueError: if shapes differ, an outcome is none of the four, or a length is not above 0.
    """
    outcome = as_outcomes("outcome", outcome)
    n = len(outcome)
    lengths = [
        as_floats(name, values, n) for name, values in (("left_length", left_length), ("right_length", right_length))
    ]
    for name, values in zip(("left_length", "right_length"), lengths, strict=True):
        if not (values > 0).all():
            row = int(np.flatnonzero(~(values > 0))[0])
            raise ValueError(f"{name}[{row}] is {values[row]}; lengths must be above 0")
    codes, n_clusters = dense_codes("cluster", cluster, n)
    check_confidence(confidence)
    log_ratio = np.log(lengths[0] / lengths[1])
    decided = ~np.isnan(outcome) & (outcome != 0.5)
    unequal = decided & (log_ratio != 0.0)
    slope = robust_slope(outcome[decided], log_ratio[decided][:, np.newaxis], codes[decided], confidence)
    return LengthBias(
        n_decided=int(np.count_nonzero(decided)),
        longer_wins=share_interval(
            (outcome[unequal] == 1.0) == (log_ratio[unequal] > 0.0),
            codes[unequal],
            confidence=confidence,
            reason="no decided verdict on unequal lengths",
        ),
        slope=slope,
        odds_ratio_of_double=math.exp(slope.estimate * math.log(2.0)),
        n_clusters=n_clusters,
        confidence=confidence,
    )


def self_preference(
    judge: ArrayLike,
    left: ArrayLike,
    right: ArrayLike,
    outcome: ArrayLike,
    cluster: ArrayLike,
    judge_family: ArrayLike,
    player_family: ArrayLike,
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    random_seed: int = 0,
) -> tuple[SelfPreference, ...]:
    """Compare each judge's verdicts on its own family with those of judges of other families.

    Args:
        judge: judge of each verdict, shape [n].
        left, right: models shown first and second, shape [n].
        outcome: 1 where left wins, 0.5 for a tie, 0 where right wins, NaN where unread, shape [n].
        cluster: seed of each verdict, shape [n].
        judge_family: family of each judge, names or numbers, shape [n_judges].
        player_family: family of each model, names or numbers, shape [n_players].
        resamples: bootstrap resamples of the clusters.
        confidence: nominal coverage of the intervals.
        random_seed: seed of the resampling.

    Returns:
        One entry per judge whose family has a model; where nothing can be compared its numbers are missing, with
        the reason.

    Raises:
        ValueError: if shapes differ, a judge or model has no family, or an outcome is none of the four.
    """
    judge_families, player_families = np.asarray(judge_family), np.asarray(player_family)
    judge = as_codes("judge", judge, below=len(judge_families))
    n = len(judge)
    left = as_codes("left", left, length=n, below=len(player_families))
    right = as_codes("right", right, length=n, below=len(player_families))
    outcome = as_outcomes("outcome", outcome, n)
    codes, n_clusters = dense_codes("cluster", cluster, n)
    weights = _weights(n_clusters, resamples, confidence, random_seed)
    n_models = len(player_families)
    _, comparison = np.unique((codes * n_models + left) * n_models + right, return_inverse=True)
    read = ~np.isnan(outcome)

    results = []
    for number, family in enumerate(judge_families):
        if not (player_families == family).any():
            continue
        left_is_own, right_is_own = player_families[left] == family, player_families[right] == family
        usable = read & (left_is_own != right_is_own)
        score = np.where(left_is_own, outcome, 1.0 - outcome)
        own_mean, own_cluster = _mean_by(comparison, score, usable & (judge == number), codes)
        other_mean, _ = _mean_by(comparison, score, usable & (judge_families[judge] != family), codes)
        shared = ~np.isnan(own_mean) & ~np.isnan(other_mean)
        own, other, place = own_mean[shared], other_mean[shared], own_cluster[shared]
        reason = "" if len(own) else "no comparison was also read by a judge of another family"
        results.append(
            SelfPreference(
                judge=number,
                n=len(own),
                own=share_interval(own, place, confidence=confidence, reason=reason),
                others=share_interval(other, place, confidence=confidence, reason=reason),
                difference=_mean_difference(own - other, place, weights, confidence, reason),
                resamples=resamples,
                confidence=confidence,
                random_seed=random_seed,
            )
        )
    return tuple(results)


def _weights(n_clusters: int, resamples: int, confidence: float, random_seed: int) -> FloatArray:
    check_confidence(confidence)
    return cluster_counts(n_clusters, resamples, np.random.default_rng(random_seed))


def _mean_difference(
    difference: FloatArray, cluster: IntArray, weights: FloatArray, confidence: float, reason: str
) -> Interval:
    """Mean of differences between -1 and 1; where all are the same, its interval is that of the share (1 + d) / 2."""
    if len(difference) and np.ptp(difference) == 0.0:
        share = share_interval(0.5 * (1.0 + difference), cluster, confidence=confidence)
        ends = [2.0 * end - 1.0 for end in (share.low, share.high)]
        return replace(share, estimate=float(difference[0]), low=ends[0], high=ends[1])
    return interval(
        float(difference.mean()) if len(difference) else math.nan,
        ratio_replicates(difference, np.ones(len(difference)), cluster, weights),
        confidence,
        reason,
        n_clusters=len(np.unique(cluster)),
    )


def _matched(key: IntArray, is_forward: BoolArray) -> tuple[IntArray, IntArray]:
    """Rows of the comparisons that exist in both orders: those shown forward, and their counterparts."""
    forward, backward = np.flatnonzero(is_forward), np.flatnonzero(~is_forward)
    for rows in (forward, backward):
        distinct, count = np.unique(key[rows], return_counts=True)
        if len(distinct) < len(rows):
            row = int(rows[key[rows] == distinct[count > 1][0]][1])
            raise ValueError(f"row {row} repeats a comparison in the same order; tell repeats apart by `repeat`")
    _, at_forward, at_backward = np.intersect1d(key[forward], key[backward], return_indices=True)
    return forward[at_forward], backward[at_backward]


def _mean_by(
    comparison: IntArray, score: FloatArray, rows: BoolArray, cluster: IntArray
) -> tuple[FloatArray, IntArray]:
    """Mean score of the chosen rows of each comparison, NaN where there are none, and each comparison's cluster."""
    size = int(comparison.max(initial=-1)) + 1
    count = np.bincount(comparison[rows], minlength=size)
    total = np.bincount(comparison[rows], score[rows], minlength=size)
    of_comparison = np.zeros(size, dtype=np.int64)
    of_comparison[comparison] = cluster
    return np.divide(total, count, out=np.full(size, np.nan), where=count > 0), of_comparison
