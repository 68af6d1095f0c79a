"""Does a judge notice damage? Robustness ratios with Wilson intervals, averages, theta sweeps, severity ladders.

A pair is noticed if the judge's score of the original is above that of the damaged item by more than theta (strictly),
scores scaled to [0, 1] (comp-analysis, section "Robustness of the LLM Evaluators"). The ratio is over all pairs: a pair
with a missing score counts in n and is not noticed, and their number stands beside the ratio.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dialeval.stats.arrays import BoolArray, FloatArray, IntArray, as_codes, as_floats, check_confidence
from dialeval.stats.resampling import wilson_interval

ROUNDING = 1e-9
"""Drops within this of theta count as equal to it: 0.95 - 0.75 is not above 0.2, whatever the last bit says."""


@dataclass(frozen=True)
class RobustnessRatios:
    """Share of damage noticed in each group; arrays have shape [n_groups], or [n_thetas, n_groups] for a sweep.

    Attributes:
        noticed: pairs whose score fell by more than theta.
        n: pairs, with or without scores.
        n_missing: pairs of which a score is missing.
        ratio: noticed / n; NaN where n is 0 or no pair has both scores.
        low, high: ends of the Wilson interval; NaN with the ratio.
    """

    noticed: IntArray
    n: IntArray
    n_missing: IntArray
    ratio: FloatArray
    low: FloatArray
    high: FloatArray
    confidence: float


@dataclass(frozen=True)
class CellAverages:
    """Unweighted means over cells, as the averages of the paper's Table 12; arrays have shape [n_groups].

    Attributes:
        average: mean of the group's cells that have a value; NaN where none has.
        n_cells: how many cells that are.
        n_missing: cells of the group without a value.
    """

    average: FloatArray
    n_cells: IntArray
    n_missing: IntArray


@dataclass(frozen=True)
class LadderShares:
    """Share of severity ladders down which a judge's scores fall, in each group; arrays have shape [n_groups].

    Attributes:
        n: ladders of two steps or more.
        n_missing: those of them with a missing score; they count in n and fall in neither way.
        falling: ladders on which every step scores below the one before.
        not_rising: ladders on which no step scores above the one before.
        falling_share, not_rising_share: as shares of n; NaN where n is 0 or every ladder lacks a score.
        falling_low, falling_high, not_rising_low, not_rising_high: ends of their Wilson intervals.
    """

    n: IntArray
    n_missing: IntArray
    falling: IntArray
    not_rising: IntArray
    falling_share: FloatArray
    falling_low: FloatArray
    falling_high: FloatArray
    not_rising_share: FloatArray
    not_rising_low: FloatArray
    not_rising_high: FloatArray
    confidence: float


def robustness_ratios(
    original: ArrayLike,
    damaged: ArrayLike,
    theta: ArrayLike,
    group: ArrayLike,
    n_groups: int,
    *,
    confidence: float = 0.95,
) -> RobustnessRatios:
    """Share of pairs in each group (judge, strategy and dimension) whose damage was noticed.

    Args:
        original, damaged: scores of each pair in [0, 1], NaN where missing, shape [n].
        theta: threshold of each group, shape [n_groups], or one number for all.
        group: group of each pair, numbers in 0..n_groups-1, shape [n].
        n_groups: number of groups.
        confidence: nominal coverage.

    Returns:
        Arrays of shape [n_groups].

    Raises:
        ValueError: if shapes differ, a group is out of range, or a theta is missing.
    """
    thetas = np.broadcast_to(np.asarray(theta, np.float64), (n_groups,))
    if np.isnan(thetas).any():
        raise ValueError("theta must be a number for every group")
    drop, codes = _drops(original, damaged, group, n_groups)
    noticed = np.bincount(codes[drop > thetas[codes] + ROUNDING], minlength=n_groups)
    return _ratios(noticed, drop, codes, n_groups, confidence)


def theta_sweep(
    original: ArrayLike,
    damaged: ArrayLike,
    thetas: ArrayLike,
    group: ArrayLike,
    n_groups: int,
    *,
    confidence: float = 0.95,
) -> RobustnessRatios:
    """Robustness ratios of each group at many thresholds.

    Args:
        original, damaged, group, n_groups, confidence: as for `robustness_ratios`.
        thetas: thresholds, shape [n_thetas].

    Returns:
        Arrays of shape [n_thetas, n_groups].

    Raises:
        ValueError: as for `robustness_ratios`.
    """
    thresholds = as_floats("thetas", thetas)
    if np.isnan(thresholds).any():
        raise ValueError("every theta must be a number")
    drop, codes = _drops(original, damaged, group, n_groups)
    order = np.argsort(thresholds)
    scored = ~np.isnan(drop)
    # how many of the thresholds, taken in order, a drop is above
    above = np.searchsorted(thresholds[order] + ROUNDING, drop[scored], side="left")
    n_levels = len(thresholds) + 1
    table = np.bincount(codes[scored] * n_levels + above, minlength=n_groups * n_levels).reshape(n_groups, n_levels)
    at_least = table[:, ::-1].cumsum(axis=1)[:, ::-1]  # pairs above at least so many thresholds
    noticed = np.empty((len(thresholds), n_groups), dtype=np.int64)
    noticed[order] = at_least[:, 1:].T
    return _ratios(noticed, drop, codes, n_groups, confidence)


def cell_averages(ratio: ArrayLike, group: ArrayLike, n_groups: int) -> CellAverages:
    """Unweighted mean of the ratios in each group (judge and level), each cell counting once.

    Args:
        ratio: robustness ratio of each cell, NaN where missing, shape [n].
        group: group of each cell, numbers in 0..n_groups-1, shape [n].
        n_groups: number of groups.

    Raises:
        ValueError: if shapes differ or a group is out of range.
    """
    ratios = as_floats("ratio", ratio)
    codes = as_codes("group", group, length=len(ratios), below=n_groups)
    known = ~np.isnan(ratios)
    n_cells = np.bincount(codes[known], minlength=n_groups)
    total = np.bincount(codes[known], ratios[known], minlength=n_groups)
    average = np.divide(total, n_cells, out=np.full(n_groups, np.nan), where=n_cells > 0)
    return CellAverages(average, n_cells, np.bincount(codes[~known], minlength=n_groups))


def ladder_shares(
    score: ArrayLike,
    ladder: ArrayLike,
    severity: ArrayLike,
    group: ArrayLike,
    n_groups: int,
    *,
    confidence: float = 0.95,
) -> LadderShares:
    """Share of severity ladders down which the scores fall, in each group (judge, strategy and dimension).

    Args:
        score: score of each step, NaN where missing, shape [n].
        ladder: ladder of each step, any whole numbers from 0, shape [n]; a ladder belongs to one group.
        severity: how many times the damage was applied, shape [n]; each once in a ladder.
        group: group of each step, numbers in 0..n_groups-1, shape [n].
        n_groups: number of groups.
        confidence: nominal coverage.

    Raises:
        ValueError: if shapes differ, a number is out of range, a ladder lies in two groups or has a severity twice.
    """
    check_confidence(confidence)
    scores = as_floats("score", score)
    ladders = as_codes("ladder", ladder, length=len(scores))
    severities = as_codes("severity", severity, length=len(scores))
    codes = as_codes("group", group, length=len(scores), below=n_groups)
    order = np.lexsort((severities, ladders))
    scores, ladders, severities, codes = scores[order], ladders[order], severities[order], codes[order]
    same = ladders[1:] == ladders[:-1]
    if (same & (codes[1:] != codes[:-1])).any():
        raise ValueError(f"ladder {ladders[1:][same & (codes[1:] != codes[:-1])][0]} lies in two groups")
    if (same & (severities[1:] == severities[:-1])).any():
        raise ValueError(f"ladder {ladders[1:][same & (severities[1:] == severities[:-1])][0]} has a severity twice")

    change = np.diff(scores)[same]
    upper = np.unique(ladders[1:][same], return_index=True)[1]  # first step of each ladder that has two or more
    of_step = np.cumsum(np.isin(np.arange(len(change)), upper)) - 1
    n_ladders = len(upper)
    group_of = codes[1:][same][upper]
    missing = _any_of(np.isnan(change), of_step, n_ladders)
    rises = _any_of(change > ROUNDING, of_step, n_ladders)
    stays_or_rises = _any_of(change >= -ROUNDING, of_step, n_ladders)
    n = np.bincount(group_of, minlength=n_groups)
    n_missing = np.bincount(group_of[missing], minlength=n_groups)
    falling = np.bincount(group_of[~missing & ~stays_or_rises], minlength=n_groups)
    not_rising = np.bincount(group_of[~missing & ~rises], minlength=n_groups)
    falling_ends = _share(falling, n, n_missing, confidence)
    not_rising_ends = _share(not_rising, n, n_missing, confidence)
    return LadderShares(n, n_missing, falling, not_rising, *falling_ends, *not_rising_ends, confidence)


def _drops(original: ArrayLike, damaged: ArrayLike, group: ArrayLike, n_groups: int) -> tuple[FloatArray, IntArray]:
    before = as_floats("original", original)
    after = as_floats("damaged", damaged, length=len(before))
    return before - after, as_codes("group", group, length=len(before), below=n_groups)


def _ratios(noticed: IntArray, drop: FloatArray, codes: IntArray, n_groups: int, confidence: float) -> RobustnessRatios:
    check_confidence(confidence)
    n = np.broadcast_to(np.bincount(codes, minlength=n_groups), noticed.shape)
    n_missing = np.broadcast_to(np.bincount(codes[np.isnan(drop)], minlength=n_groups), noticed.shape)
    ratio, low, high = _share(noticed, n, n_missing, confidence)
    return RobustnessRatios(noticed, n.copy(), n_missing.copy(), ratio, low, high, confidence)


def _share(
    count: IntArray, n: IntArray, n_missing: IntArray, confidence: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Returns counts as shares of n with their intervals; NaN where nothing was scored."""
    scored = n > n_missing
    low, high = wilson_interval(count, n, confidence)
    share = np.divide(count, n, out=np.full(count.shape, np.nan), where=scored)
    return share, np.where(scored, low, np.nan), np.where(scored, high, np.nan)


def _any_of(flag: BoolArray, owner: IntArray, n_owners: int) -> BoolArray:
    return np.bincount(owner[flag], minlength=n_owners) > 0
