"""Biases of a judge of pairs: position bias and length bias.

Outcomes are 1 (left, shown first, wins), 0.5 (tie), 0 (right wins) and NaN for an unparsed verdict.
Intervals are clustered by seed; those of shares are the intervals of `clustered.clustered_proportions`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from dialeval.stats.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    as_codes,
    as_floats,
    as_outcomes,
    check_confidence,
    dense_codes,
    refuse,
)
from dialeval.stats.clustered import clustered_proportion
from dialeval.stats.estimates import Estimate, t_interval

_MOST_STEPS = 35
_STEP = 1e-8
"""Newton's method stops if no coefficient changes by more than this."""
_RIDGE = 1e-10
"""Ridge on the mean information of a coefficient, so that it can be inverted."""
_IDENTIFIED = 1e-8
"""Smallest share of the information, in its weakest direction, that must remain without any one cluster."""
ONE_CLUSTER_TELLS = "the slope depends on one seed or case only"


def position_bias(
    left: ArrayLike,
    right: ArrayLike,
    outcome: ArrayLike,
    cluster: ArrayLike,
    *,
    repeat: ArrayLike | None = None,
    confidence: float = 0.95,
) -> PositionBias:
    """Return the position bias and the order inconsistency of a judge's verdicts.

    Args:
        left, right: models shown first and second, numbers from 0, shape [n].
        outcome: 1 where left wins, 0.5 for a tie, 0 where right wins, NaN if unparsed, shape [n].
        cluster: seed of each verdict, shape [n]. Two verdicts are one comparison in both orders if they share
            cluster, models and repeat.
        repeat: number of the repeat, where a judge has several repeats, shape [n].
        confidence: nominal coverage.

    Raises:
        ValueError: if shapes differ, an outcome is none of the four, or one order of a comparison occurs twice.
    """
    left = as_codes("left", left)
    n = len(left)
    right = as_codes("right", right, length=n)
    outcome = as_outcomes(outcome, n)
    codes, _ = dense_codes("cluster", cluster, n)
    repeats, n_repeats = (np.zeros(n, dtype=np.int64), 1) if repeat is None else dense_codes("repeat", repeat, n)
    check_confidence(confidence)

    n_models = 1 + int(max(left.max(initial=0), right.max(initial=0)))
    low, high = np.minimum(left, right), np.maximum(left, right)
    key = ((codes * n_repeats + repeats) * n_models + low) * n_models + high
    forward, backward = _matched(key, left == low)
    both_read = ~np.isnan(outcome[forward]) & ~np.isnan(outcome[backward])
    forward, backward = forward[both_read], backward[both_read]
    there, back, of_pair = outcome[forward], outcome[backward], codes[forward]
    why = "no comparison has verdicts in both orders"
    decided = ~np.isnan(outcome) & (outcome != 0.5)
    return PositionBias(
        unparsed=int(np.count_nonzero(np.isnan(outcome))),
        n_swapped=len(forward),
        order_inconsistency=clustered_proportion(there != 1.0 - back, of_pair, confidence=confidence, note=why),
        biased_toward_first=clustered_proportion((there == 1) & (back == 1), of_pair, confidence=confidence, note=why),
        biased_toward_second=clustered_proportion((there == 0) & (back == 0), of_pair, confidence=confidence, note=why),
        first_position_win_rate=clustered_proportion(
            outcome[decided] == 1, codes[decided], confidence=confidence, note="no decided verdict"
        ),
    )


@dataclass(frozen=True)
class PositionBias:
    """Position bias: how a judge's verdicts depend on the order of presentation.

    Attributes:
        unparsed: verdicts that are unparsed.
        n_swapped: comparisons with parsed verdicts in both orders.
        order_inconsistency: share of these in which the winner (or that there is one) changes with the order.
        biased_toward_first, biased_toward_second: shares of these in which the same position wins both times.
        first_position_win_rate: share of the decided verdicts for the first position; 0.5 without position bias.
    """

    unparsed: int
    n_swapped: int
    order_inconsistency: Estimate
    biased_toward_first: Estimate
    biased_toward_second: Estimate
    first_position_win_rate: Estimate


def _matched(key: IntArray, is_forward: BoolArray) -> tuple[IntArray, IntArray]:
    """Return the rows of the comparisons that exist in both orders: those shown forward, and their counterparts."""
    forward, backward = np.flatnonzero(is_forward), np.flatnonzero(~is_forward)
    for rows in (forward, backward):
        distinct, count = np.unique(key[rows], return_counts=True)
        if len(distinct) < len(rows):
            row = int(rows[key[rows] == distinct[count > 1][0]][1])
            raise ValueError(f"row {row} repeats a comparison in the same order; distinguish repeats by `repeat`")
    _, at_forward, at_backward = np.intersect1d(key[forward], key[backward], return_indices=True)
    return forward[at_forward], backward[at_backward]


def length_bias(
    left_length: ArrayLike,
    right_length: ArrayLike,
    outcome: ArrayLike,
    cluster: ArrayLike,
    *,
    confidence: float = 0.95,
) -> LengthBias:
    """Return the association of winning with length.

    Args:
        left_length, right_length: lengths of the two dialogues in any unit, above 0, shape [n].
        outcome: 1 where left wins, 0.5 for a tie, 0 where right wins, NaN if unparsed, shape [n].
        cluster: seed of each verdict, shape [n].
        confidence: nominal coverage.

    Raises:
        ValueError: if shapes differ, an outcome is none of the four, or a length is not above 0.
    """
    outcome = as_outcomes(outcome)
    n = len(outcome)
    lengths = [
        as_floats(name, values, n) for name, values in (("left_length", left_length), ("right_length", right_length))
    ]
    for name, values in zip(("left_length", "right_length"), lengths, strict=True):
        refuse(name, values, ~(values > 0), "lengths must be above 0")
    codes, _ = dense_codes("cluster", cluster, n)
    check_confidence(confidence)
    log_ratio = np.log(lengths[0] / lengths[1])
    decided = ~np.isnan(outcome) & (outcome != 0.5)
    unequal = decided & (log_ratio != 0.0)
    slope = robust_slope(outcome[decided], log_ratio[decided][:, np.newaxis], codes[decided], confidence)
    return LengthBias(
        n_decided=int(np.count_nonzero(decided)),
        longer_win_rate=clustered_proportion(
            (outcome[unequal] == 1.0) == (log_ratio[unequal] > 0.0),
            codes[unequal],
            confidence=confidence,
            note="no decided verdict on unequal lengths",
        ),
        slope=slope,
        odds_ratio_of_double=math.exp(slope.estimate * math.log(2.0)),
    )


@dataclass(frozen=True)
class LengthBias:
    """Length bias: how winning is associated with length.

    A better model may also write more, so this is an association; `style_control` holds the models fixed.

    Attributes:
        n_decided: verdicts that were read and are no tie.
        longer_win_rate: share of the decided verdicts on unequal lengths that the longer side wins.
        slope: change of the log-odds that left wins per unit of log(left length / right length), from a logistic
            regression with an intercept (the place) whose covariance is robust to clusters.
        odds_ratio_of_double: exp(slope * ln 2), the factor on the odds of a side twice as long as the other.
    """

    n_decided: int
    longer_win_rate: Estimate
    slope: Estimate
    odds_ratio_of_double: float


def robust_slope(won: FloatArray, covariates: FloatArray, cluster: IntArray, confidence: float) -> Estimate:
    """Fit a logistic regression with an intercept and return the coefficient of the first covariate.

    Args:
        won: 1 or 0, shape [n].
        covariates: shape [n, k].
        cluster: cluster of each row, shape [n]; the covariance is robust to dependence within one.
        confidence: nominal coverage of the interval, which is Student's with the effective number of clusters less one.

    Returns:
        The coefficient with its interval; missing, with the reason, where the maximum is not finite or unknown, and
        without ends where it hangs on one cluster.
    """

    missing = partial(Estimate.missing, confidence)

    if len(won) <= covariates.shape[1] + 1:
        return missing("too few decided verdicts")
    if np.ptp(covariates[:, 0]) == 0.0:
        return missing("every length ratio is the same")
    if np.ptp(won) == 0.0:
        return missing("the same position wins every decided verdict")
    clusters, n_clusters = dense_codes("cluster", cluster, len(won))
    if n_clusters < 2:
        return missing("a robust interval needs two clusters or more")
    design = np.column_stack([np.ones(len(won)), covariates])
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # on the way to no finite solution
            coefficients, converged = _maximise(design, won)
    except np.linalg.LinAlgError:
        return missing("the regression has no finite solution")
    separated = bool((np.abs(expit(design @ coefficients) - won) < 1e-6).all())
    if not converged or separated:
        return missing("the regression has no finite solution: length decides every verdict")
    estimate, error = float(coefficients[1]), _error(design, won, coefficients, clusters, n_clusters)
    if not math.isfinite(error):
        return Estimate(estimate, math.nan, math.nan, confidence, 0, ONE_CLUSTER_TELLS, n_clusters)
    sizes = np.bincount(clusters)
    low, high, _ = t_interval(estimate, error, sizes.sum() ** 2 / (sizes**2).sum() - 1.0, confidence)
    return Estimate(estimate, float(low), float(high), confidence, 0, n_clusters=n_clusters)


def _maximise(design: FloatArray, won: FloatArray) -> tuple[FloatArray, bool]:
    """Return the maximum-likelihood coefficients by Newton's method, shape [k], and whether it converged.

    Raises:
        numpy.linalg.LinAlgError: if the information cannot be inverted.
    """
    coefficients = np.zeros(design.shape[1])
    for _ in range(_MOST_STEPS):
        win = expit(design @ coefficients)
        information = (design.T * (win * (1.0 - win))) @ design / len(won)
        np.einsum("ii->i", information)[:] += _RIDGE
        step = np.linalg.solve(information, design.T @ (won - win) / len(won))
        coefficients = coefficients + step
        if (np.abs(step) <= _STEP).all():
            return coefficients, True
    return coefficients, False


def _error(design: FloatArray, won: FloatArray, coefficients: FloatArray, cluster: IntArray, n_clusters: int) -> float:
    """Return the standard error of the first covariate's coefficient that is robust to clusters.

    The sandwich of Liang and Zeger (1986) is too small with few clusters. Each cluster's score is therefore multiplied
    by the inverse information without this cluster (CR3, nearly the jackknife). The error is infinite if the
    information without some cluster is singular.
    """
    win = expit(design @ coefficients)
    k = design.shape[1]
    curved = design * (win * (1.0 - win))[:, np.newaxis]
    scores = np.column_stack([np.bincount(cluster, column) for column in (design * (won - win)[:, np.newaxis]).T])
    own = np.stack([np.bincount(cluster, curved[:, i] * design[:, j]) for i in range(k) for j in range(k)], axis=1)
    information = curved.T @ design
    without, size = information - own.reshape(n_clusters, k, k), np.sqrt(np.diag(information))
    if np.linalg.eigvalsh(without / np.outer(size, size)).min() < _IDENTIFIED:
        return math.inf
    moved = np.linalg.solve(without, scores[:, :, np.newaxis])[:, 1, 0]
    return float(np.sqrt((moved**2).sum() * (n_clusters - 1.0) / n_clusters))
