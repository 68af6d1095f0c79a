"""Multiple and sequential tests: adjusted p-values, rank confidence sets, and boundaries for tests in rounds.

Holm's method bounds the probability of any false claim in the family, whatever the dependence of the tests. Benjamini
and Hochberg's method bounds the expected share of false claims among all claims.

A system's rank is below all systems shown to be better and above all systems shown to be worse. The p-values of all
pairs are adjusted by Holm's method, so the confidence sets of all ranks are simultaneous (Mogstad, Romano, Shaikh and
Wilhelm 2024). By transitivity, if A is better than B and B than C, A is better than C; this adds no error.

A test after every block of cases that stops at the first |z| > 1.96 finds a difference between two equal systems in far
more than 5% of comparisons. Two methods keep the error over all looks. O'Brien and Fleming's boundaries (1979), solved
by Armitage, McPherson and Rowe's recursive integration (1969), are for planned looks. A confidence sequence (Robbins
1970) is valid for looks at any time.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri, stdtrit

from dialeval.stats.arrays import FloatArray, IntArray, as_codes, as_floats, check_confidence

MOST_LOOKS = 100
"""Largest number of looks for the integration; more looks have the slightly wider boundary of continuous looking."""
FEWEST_CASES = 20
"""Smallest number of cases for using the variance about the mean."""
TUNED_AT = 50
"""Number of cases at which the confidence sequence is narrowest; it is valid at any number."""
_ROUNDING = 1e-12
"""Differences of estimates below this share of the largest one come from the order of sums, not from the data."""
_NODES_PER_STEP = 4.0
_FEWEST_NODES = 48
_TERMS = 20


def holm(p_values: ArrayLike) -> FloatArray:
    """Adjust p-values by Holm's step-down method (1979).

    Args:
        p_values: shape [n]; NaN where there is no test (not counted).

    Returns:
        Adjusted p-values, shape [n]; rejecting at `adjusted <= alpha` controls the family-wise error at alpha.

    Raises:
        ValueError: if `p_values` is not a vector, or a p-value is not between 0 and 1.
    """
    p, tested = _checked(p_values)
    order = tested[np.argsort(p[tested], kind="stable")]
    adjusted = np.full(len(p), np.nan)
    steps = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * steps), 1.0)
    return adjusted


def benjamini_hochberg(p_values: ArrayLike) -> FloatArray:
    """Turn p-values into q-values by Benjamini and Hochberg's step-up method (1995).

    Arguments and errors are those of `holm`.

    Returns:
        q-values, shape [n]; rejecting at `q <= alpha` controls the false discovery rate at alpha if the tests are
        independent or positively dependent.
    """
    return _step_up(p_values, lambda n: 1.0)


def benjamini_yekutieli(p_values: ArrayLike) -> FloatArray:
    """Turn p-values into q-values by Benjamini and Yekutieli's step-up method (2001).

    Arguments and errors are those of `holm`.

    Returns:
        q-values, shape [n]; rejecting at `q <= alpha` controls the false discovery rate at alpha, under any dependence
        of the tests.
    """
    return _step_up(p_values, lambda n: float((1.0 / np.arange(1, n + 1)).sum()))


def _step_up(p_values: ArrayLike, penalty: Callable[[int], float]) -> FloatArray:
    p, tested = _checked(p_values)
    order = tested[np.argsort(p[tested], kind="stable")]
    adjusted = np.full(len(p), np.nan)
    stretched = p[order] * len(order) * penalty(len(order)) / np.arange(1, len(order) + 1)
    adjusted[order] = np.minimum(np.minimum.accumulate(stretched[::-1])[::-1], 1.0)
    return adjusted


@dataclass(frozen=True)
class Places:
    """Ranks of systems with simultaneous confidence sets, 1 being the best; arrays have shape [n_systems].

    Attributes:
        rank: rank by the estimate; estimates that are equal up to rounding share the better rank.
        ci_low, ci_high: best and worst rank of the confidence set.
        n_better, n_worse: number of systems shown to be better, and of systems shown to be worse.
    """

    rank: IntArray
    ci_low: IntArray
    ci_high: IntArray
    n_better: IntArray
    n_worse: IntArray


def order_claims(
    n_systems: int,
    first: ArrayLike,
    second: ArrayLike,
    difference: ArrayLike,
    p: ArrayLike,
    *,
    confidence: float = 0.95,
) -> OrderClaims:
    """Test all pairs of systems by Holm's method, at a family-wise error of 1 - confidence.

    Args:
        n_systems: number of systems.
        first, second: systems of each pair, numbers in 0..n_systems-1, shape [n_pairs].
        difference: difference of each pair, above 0 if the first is better; NaN if unknown, shape [n_pairs].
        p: two-sided p-values, NaN without a test, shape [n_pairs].
        confidence: 1 - the family-wise error.

    Raises:
        ValueError: if shapes do not fit, a system is out of range, or a p-value is not between 0 and 1.
    """
    check_confidence(confidence)
    ahead = as_floats("difference", difference)
    n_pairs = len(ahead)
    one = as_codes("first", first, length=n_pairs, below=n_systems)
    other = as_codes("second", second, length=n_pairs, below=n_systems)
    claimed = (holm(as_floats("p", p, n_pairs)) <= 1.0 - confidence) & (ahead != 0.0) & ~np.isnan(ahead)
    winner, loser = np.where(ahead > 0.0, one, other)[claimed], np.where(ahead > 0.0, other, one)[claimed]
    better = np.zeros((n_systems, n_systems), dtype=np.bool_)
    better[winner, loser] = True
    closed = better
    for middle in range(n_systems):
        closed = closed | (closed[:, middle, np.newaxis] & closed[middle])
    cyclic = bool(closed.diagonal().any())
    return OrderClaims(better if cyclic else closed, cyclic)


@dataclass(frozen=True)
class OrderClaims:
    """The significant differences of all pairs of systems.

    Attributes:
        better: whether a system (row) is shown to be better than another (column), by the pair's own test or by
            transitivity, shape [n_systems, n_systems].
        cyclic: whether the significant differences are cyclic (A above B above C above A), which is possible if pairs
            have different items. Transitivity is then not used.
    """

    better: NDArray[np.bool_]
    cyclic: bool


def places(estimate: ArrayLike, better: ArrayLike) -> Places:
    """Return the simultaneous confidence set of each system's rank.

    Args:
        estimate: estimate of each system, higher is better, shape [n_systems].
        better: whether a system (row) is shown to be better than another (column), shape [n_systems, n_systems].

    Returns:
        The ranks that are consistent with the significant differences. The set always includes the rank by the
        estimate.

    Raises:
        ValueError: if shapes do not fit, an estimate is missing, or two systems are each better than the other.
    """
    value: FloatArray = as_floats("estimate", estimate)
    claims = np.asarray(better, dtype=np.bool_)
    n = len(value)
    if claims.shape != (n, n):
        raise ValueError(f"better has shape {claims.shape}; {n} estimates need {(n, n)}")
    if np.isnan(value).any():
        raise ValueError("a system without an estimate has no rank; remove it")
    if (claims & claims.T).any():
        raise ValueError("two systems are each claimed to be better than the other")
    rounding = _ROUNDING * np.abs(value).max(initial=0.0)
    rank = 1 + (value > value[:, np.newaxis] + rounding).sum(axis=1)
    n_better, n_worse = claims.sum(axis=0), claims.sum(axis=1)
    return Places(
        rank=rank,
        ci_low=np.minimum(1 + n_better, rank),
        ci_high=np.maximum(n - n_worse, rank),
        n_better=n_better,
        n_worse=n_worse,
    )


def tie_statistic(score: FloatArray, error: ArrayLike = 0.05) -> TieStatistic:
    """Return the statistic of a tie from the cases' scores.

    The variance about the mean finds clear differences earliest, but finds too many with few cases. It is used from
    `FEWEST_CASES` cases, and only if a single test with the standard error under a tie is significant too. Sums of
    scores have steps of twice the smallest distance of a case from a tie, and half a step is subtracted as a continuity
    correction. Without it, equal systems would pass a boundary of 5% in up to 8% of comparisons with few cases.

    Args:
        score: mean score of each case, 1 where the first won and 0.5 for a tie; NaN for a case that says nothing,
            shape [..., n_cases].
        error: of the single test, shape [...].
    """
    known = ~np.isnan(score)
    apart = np.where(known, score - 0.5, 0.0)
    n = known.sum(axis=-1)
    total, squares = apart.sum(axis=-1), (apart**2).sum(axis=-1)
    half_step = np.where(apart != 0.0, np.abs(apart), 0.5).min(axis=-1, initial=0.5)
    beyond = np.where(np.abs(total) > half_step, total - np.sign(total) * half_step, 0.0)
    filled = np.maximum(n, 1)
    about_mean = np.maximum(squares - total**2 / filled, 0.0) * filled / np.maximum(n - 1, 1)
    spread = np.maximum(np.sqrt(about_mean), 0.5)  # one side may have won all of a handful
    cautious = np.divide(beyond, np.maximum(spread, np.sqrt(squares)))
    unknown = np.full(n.shape, np.nan)
    return TieStatistic(
        estimate=0.5 + np.divide(total, n, out=unknown.copy(), where=n > 0),
        se=np.divide(spread, n, out=unknown.copy(), where=n > 0),
        statistic=np.where(
            (n >= FEWEST_CASES) & (np.abs(cautious) > -ndtri(0.5 * np.asarray(error))), beyond / spread, cautious
        ),
        cautious=cautious,
    )


class TieStatistic(NamedTuple):
    """Distance of comparisons from a tie.

    Attributes:
        estimate: mean score over cases, NaN without any, shape [...].
        se: its standard error, at least that of half a case, shape [...].
        statistic: what is held against a boundary: (estimate - 1/2) / se, corrected for continuity, or `cautious` where
            cases are few, shape [...].
        cautious: the same by `se`, or by the standard error that there is if the two are equal, whichever is nearer to
            a tie; 0 where every case is a tie, shape [...].
    """

    estimate: FloatArray
    se: FloatArray
    statistic: FloatArray
    cautious: FloatArray


def decisions(score: FloatArray, boundary: ArrayLike, error: ArrayLike = 0.05) -> IntArray:
    """Return the decision of a sequential test: 1 if the first is better, -1 if the second is, 0 if still open.

    Args:
        score: as for `tie_statistic`, shape [..., n_cases].
        boundary: of |z| at this look, shape [...].
        error: chance that the boundary gives to equals, shape [...].
    """
    statistic = tie_statistic(score, error).statistic
    return np.where(np.abs(statistic) > boundary, np.sign(statistic), 0.0).astype(np.int64)


def obrien_fleming(counts: Sequence[int], error: float) -> FloatArray:
    """Return the boundary of |z| at each look: c / sqrt(t), with t the share of the cases known at the look.

    Args:
        counts: cases at each look, increasing; the last is the whole design's.
        error: chance that a tied comparison passes the boundary at any of the looks.

    Returns:
        Shape [n_looks].

    Raises:
        ValueError: if the counts do not increase from 1, or the error is not between 0 and 0.5.
    """
    _check(counts, error)
    share = np.asarray(counts, dtype=np.float64) / counts[-1]
    return np.asarray(_obrien_fleming_constant(tuple(counts), error) / np.sqrt(share), dtype=np.float64)


@cache
def _obrien_fleming_constant(counts: tuple[int, ...], error: float) -> float:
    from scipy.optimize import brentq  # takes long to load, and few jobs look more than once

    longest = _continuous_constant(error)
    if len(counts) > MOST_LOOKS:
        return longest
    share = np.asarray(counts, dtype=np.float64) / counts[-1]

    def excess(constant: float) -> float:
        return float(crossing_probabilities(counts, constant / np.sqrt(share)).sum()) - error

    if len(counts) == 1:
        return float(-ndtri(0.5 * error))
    # an early look may add less than rounding does, so the bracket is a little wider than it need be
    return float(brentq(excess, -0.999 * ndtri(0.5 * error), 1.001 * longest, xtol=1e-8))


def _continuous_constant(error: float) -> float:
    """Return the c that a Brownian motion's absolute value exceeds by time 1 with probability `error`."""
    from scipy.optimize import brentq

    def excess(constant: float) -> float:
        odd = 2.0 * np.arange(_TERMS) + 1.0
        sign = np.where(np.arange(_TERMS) % 2, -1.0, 1.0)
        passed = 2.0 * sign * ndtr(-odd * constant)
        return float(2.0 * passed.sum()) - error

    return float(brentq(excess, float(-ndtri(0.5 * error)), float(-ndtri(0.125 * error)), xtol=1e-10))


def confidence_sequence(counts: Sequence[int], error: float) -> FloatArray:
    """Return the boundary of |z| after each number of cases, for looks at any time (Robbins's normal mixture).

    With r^2 the mixture's variance, n z^2 / (n + 1 / r^2) stays under log((n r^2 + 1) / error^2) for all n together
    with probability 1 - error. r does not depend on the design, nor the boundary on what is looked at later.

    Args, errors: as for `obrien_fleming`; the last look is like any other.

    Returns:
        Shape [n_looks].
    """
    _check(counts, error)
    n = np.asarray(counts, dtype=np.float64)
    evidence = -2.0 * math.log(error)
    mixed = n * (evidence + math.log(evidence + 1.0)) / TUNED_AT
    return np.asarray(np.sqrt((mixed + 1.0) / mixed * np.log((mixed + 1.0) / error**2)), dtype=np.float64)


def anytime_limits(estimate: float, ci_low: float, ci_high: float, n: int, confidence: float) -> tuple[float, float]:
    """Return the limits of a confidence sequence, whose nominal coverage is simultaneous over all looks.

    The distances to the limits of a fixed-n interval are multiplied by t_b / t. Here t is the quantile of Student's
    distribution with n - 1 degrees of freedom, and t_b its quantile with the tail probability that the boundary of
    `confidence_sequence` has in the normal distribution.

    Args:
        estimate, ci_low, ci_high: an estimate with its interval for one look; NaN if undefined.
        n: independent observations, such as labelled cases.
        confidence: nominal coverage.
    """
    error = 1.0 - confidence
    tails = [ndtr(-confidence_sequence([max(n, 1)], error)[0]), 0.5 * error]
    boundary, quantile = stdtrit(max(n - 1.0, 1.0), tails)
    wider = float(boundary / quantile)
    return estimate - wider * (estimate - ci_low), estimate + wider * (ci_high - estimate)


def sequential_p_value(counts: Sequence[int], boundary: FloatArray, statistic: float) -> float:
    """Return the p-value of a comparison that was tested at several looks (stagewise ordering).

    It is the probability that two equal systems pass the boundary at an earlier look, or differ as much at this look.
    For a settled comparison, it is at most the boundaries' error.

    Args:
        counts: cases at each look so far, increasing.
        boundary: of |z| at each look so far.
        statistic: z at the last look.

    Returns:
        NaN after more than `MOST_LOOKS` looks.
    """
    if len(counts) > MOST_LOOKS:
        return math.nan
    reached = np.append(boundary[: len(counts) - 1], abs(statistic))
    return min(1.0, float(crossing_probabilities(counts, reached).sum()))


def rounds_of(n_cases: int, block: int) -> IntArray:
    """Return the round, from 0, of each case in its order; the last takes a remainder of less than half a block.

    Args:
        n_cases: cases of the design.
        block: cases that each round adds.

    Returns:
        Shape [n_cases].
    """
    rounds = max(1, (2 * n_cases + block) // (2 * block))
    return np.asarray(np.minimum(np.arange(n_cases) // block, rounds - 1), dtype=np.int64)


def _checked(p_values: ArrayLike) -> tuple[FloatArray, np.ndarray]:
    p = as_floats("p_values", p_values)
    tested = np.flatnonzero(~np.isnan(p))
    if ((p[tested] < 0.0) | (p[tested] > 1.0)).any():
        row = int(tested[(p[tested] < 0.0) | (p[tested] > 1.0)][0])
        raise ValueError(f"p_values[{row}] is {p[row]}; a p-value lies between 0 and 1")
    return p, tested


def _check(counts: Sequence[int], error: float) -> None:
    if not len(counts) or counts[0] < 1 or any(after <= before for before, after in itertools.pairwise(counts)):
        raise ValueError(f"counts are {list(counts)}; they must increase from 1 or more")
    if not 0.0 < error < 0.5:
        raise ValueError(f"error is {error}; it must be between 0 and 0.5")


def crossing_probabilities(counts: Sequence[int], boundary: FloatArray) -> FloatArray:
    """Return the chance that a tied comparison first passes a boundary at each look.

    The sum over the looks so far, sqrt(t) z, is a Brownian motion at times t. Its density among the comparisons that
    are still open is carried from look to look on Gauss-Legendre nodes.

    Args:
        counts: cases at each look, increasing.
        boundary: of |z| at each look, shape [n_looks].

    Returns:
        Shape [n_looks].
    """
    time = np.asarray(counts, dtype=np.float64) / counts[-1]
    step = np.sqrt(np.diff(time, prepend=0.0))
    found = np.empty(len(time))
    place, mass = np.zeros(1), np.ones(1)
    for stage, (sd, edge) in enumerate(zip(step, boundary * np.sqrt(time), strict=True)):
        found[stage] = mass @ (ndtr((place - edge) / sd) + ndtr((-place - edge) / sd))
        if stage + 1 < len(time):
            narrowest = min(float(sd), float(step[stage + 1]))
            node, weight = _nodes(max(_FEWEST_NODES, math.ceil(_NODES_PER_STEP * 2.0 * edge / narrowest)))
            ahead = edge * node
            density = np.exp(-0.5 * ((ahead[:, np.newaxis] - place) / sd) ** 2) / (sd * math.sqrt(2.0 * math.pi))
            place, mass = ahead, edge * weight * (density @ mass)
    return found


@cache
def _nodes(n: int) -> tuple[FloatArray, FloatArray]:
    node, weight = np.polynomial.legendre.leggauss(n)
    return np.asarray(node, dtype=np.float64), np.asarray(weight, dtype=np.float64)
