"""Does a judge notice damage? Robustness ratios, averages, theta sweeps and severity ladders, with their intervals.

A pair is noticed if the judge's score of the original is above that of the damaged item by more than theta (strictly),
scores scaled to [0, 1] (comp-analysis, section "Robustness of the LLM Evaluators"). The ratio is over all pairs: a pair
with a missing score counts in n and is not noticed, and their number stands beside the ratio. One dialogue is damaged
several times, so intervals are clustered by dialogue (`clustered.clustered_proportions`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from dialeval.stats.arrays import BoolArray, IntArray, as_codes, as_floats, check_confidence
from dialeval.stats.clustered import NO_ROW, clustered_proportions
from dialeval.stats.estimates import Estimates

ROUNDING = 1e-9
"""Drops within this of theta count as equal to it: 0.95 - 0.75 is not above 0.2, whatever the last bit says."""

NOTHING_SCORED = "no pair has both scores"


@dataclass(frozen=True)
class RobustnessRatios:
    """Share of damage noticed in each group; arrays have shape [n_groups].

    Attributes:
        noticed: pairs whose score fell by more than theta.
        n: pairs, with or without scores.
        n_missing: pairs of which a score is missing.
        ratio: noticed / n with its interval; missing where n is 0 or no pair has both scores.
    """

    noticed: IntArray
    n: IntArray
    n_missing: IntArray
    ratio: Estimates


@dataclass(frozen=True)
class CellAverages:
    """Unweighted means over cells, as the averages of the paper's Table 12; arrays have shape [n_owners].

    Attributes:
        average: mean of the owner's groups that have a ratio, with its interval; missing where none has.
        n_cells: how many groups that are.
        n_missing: groups of the owner without a ratio.
    """

    average: Estimates
    n_cells: IntArray
    n_missing: IntArray


@dataclass(frozen=True)
class LadderShares:
    """Share of severity ladders down which a judge's scores fall, in each group; arrays have shape [n_groups].

    Attributes:
        n: ladders of two steps or more.
        n_missing: those of them with a missing score; they count in n and fall in neither way.
        falling: share of n on which every step scores below the one before, with its interval; missing where n is 0
            or every ladder lacks a score.
        not_rising: the same for ladders on which no step scores above the one before.
    """

    n: IntArray
    n_missing: IntArray
    falling: Estimates
    not_rising: Estimates


def robustness_ratios(
    original: ArrayLike,
    damaged: ArrayLike,
    theta: ArrayLike,
    group: ArrayLike,
    n_groups: int,
    *,
    cluster: ArrayLike,
    confidence: float = 0.95,
) -> RobustnessRatios:
    """Share of pairs in each group (judge, strategy and dimension) whose damage was noticed.

    Args:
        original, damaged: scores of each pair in [0, 1], NaN where missing, shape [n].
        theta: threshold of each group, shape [n_groups], or one number for all.
        group: group of each pair, numbers in 0..n_groups-1, shape [n].
        n_groups: number of groups.
        cluster: dialogue of each pair, shape [n].
        confidence: nominal coverage.

    Returns:
        Arrays of shape [n_groups].

    Raises:
        ValueError: if shapes differ, a group is out of range, or a theta is missing.
    """
    noticed, missing, codes = _noticed(original, damaged, theta, group, n_groups)
    n = np.bincount(codes, minlength=n_groups)
    n_missing = np.bincount(codes[missing], minlength=n_groups)
    ratio = _shares(noticed, codes, n > n_missing, cluster, confidence)
    return RobustnessRatios(np.bincount(codes[noticed], minlength=n_groups), n, n_missing, ratio)


def theta_sweep(
    original: ArrayLike,
    damaged: ArrayLike,
    thetas: ArrayLike,
    group: ArrayLike,
    n_groups: int,
    *,
    cluster: ArrayLike,
    confidence: float = 0.95,
) -> tuple[RobustnessRatios, ...]:
    """Robustness ratios of each group at many thresholds, in their order.

    Args:
        original, damaged, group, n_groups, cluster, confidence: as for `robustness_ratios`.
        thetas: thresholds, shape [n_thetas].

    Raises:
        ValueError: as for `robustness_ratios`.
    """
    return tuple(
        robustness_ratios(original, damaged, theta, group, n_groups, cluster=cluster, confidence=confidence)
        for theta in as_floats("thetas", thetas)
    )


def average_ratios(
    original: ArrayLike,
    damaged: ArrayLike,
    theta: ArrayLike,
    group: ArrayLike,
    n_groups: int,
    owner: ArrayLike,
    n_owners: int,
    *,
    cluster: ArrayLike,
    confidence: float = 0.95,
) -> CellAverages:
    """Unweighted mean of the ratios of each owner's groups (a judge's at one level), each group counting once.

    Args:
        original, damaged, theta, group, n_groups, cluster, confidence: as for `robustness_ratios`.
        owner: owner of each group, numbers in 0..n_owners-1, shape [n_groups].
        n_owners: number of owners.

    Raises:
        ValueError: as for `robustness_ratios`, and if an owner is out of range.
    """
    noticed, missing, codes = _noticed(original, damaged, theta, group, n_groups)
    owners = as_codes("owner", owner, length=n_groups, below=n_owners)
    has_value = np.bincount(codes[~missing], minlength=n_groups) > 0
    used = has_value[codes]
    average = clustered_proportions(
        noticed[used],
        np.asarray(cluster)[used],
        owners[codes[used]],
        n_owners,
        stratum=codes[used],
        confidence=confidence,
    )
    return CellAverages(
        _renamed(average),
        np.bincount(owners[has_value], minlength=n_owners),
        np.bincount(owners[~has_value], minlength=n_owners),
    )


def ladder_shares(
    score: ArrayLike,
    ladder: ArrayLike,
    severity: ArrayLike,
    group: ArrayLike,
    n_groups: int,
    *,
    cluster: ArrayLike,
    confidence: float = 0.95,
) -> LadderShares:
    """Share of severity ladders down which the scores fall, in each group (judge, strategy and dimension).

    Args:
        score: score of each step, NaN where missing, shape [n].
        ladder: ladder of each step, any whole numbers from 0, shape [n]; a ladder belongs to one group.
        severity: how many times the damage was applied, shape [n]; each once in a ladder.
        group: group of each step, numbers in 0..n_groups-1, shape [n].
        n_groups: number of groups.
        cluster: dialogue of each step, shape [n]; that of its first step is the ladder's.
        confidence: nominal coverage.

    Raises:
        ValueError: if shapes differ, a number is out of range, a ladder lies in two groups or has a severity twice.
    """
    check_confidence(confidence)
    scores = as_floats("score", score)
    ladders = as_codes("ladder", ladder, length=len(scores))
    severities = as_codes("severity", severity, length=len(scores))
    codes = as_codes("group", group, length=len(scores), below=n_groups)
    clusters = np.asarray(cluster)
    if clusters.shape != scores.shape:
        raise ValueError(f"cluster has shape {clusters.shape}; it must have {scores.shape}, one per step")
    order = np.lexsort((severities, ladders))
    scores, ladders, severities, codes = scores[order], ladders[order], severities[order], codes[order]
    clusters = clusters[order]
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
    scored = n > n_missing
    of_ladder = clusters[1:][same][upper]
    return LadderShares(
        n,
        n_missing,
        _shares(~missing & ~stays_or_rises, group_of, scored, of_ladder, confidence),
        _shares(~missing & ~rises, group_of, scored, of_ladder, confidence),
    )


def _noticed(
    original: ArrayLike, damaged: ArrayLike, theta: ArrayLike, group: ArrayLike, n_groups: int
) -> tuple[BoolArray, BoolArray, IntArray]:
    """Returns whether each pair was noticed, whether it lacks a score, and its group."""
    before = as_floats("original", original)
    drop = before - as_floats("damaged", damaged, length=len(before))
    codes = as_codes("group", group, length=len(before), below=n_groups)
    thetas = np.broadcast_to(np.asarray(theta, np.float64), (n_groups,))
    if np.isnan(thetas).any():
        raise ValueError("theta must be a number for every group")
    return drop > thetas[codes] + ROUNDING, np.isnan(drop), codes


def _shares(counted: BoolArray, group: IntArray, scored: BoolArray, cluster: ArrayLike, confidence: float) -> Estimates:
    """Returns the shares of the groups in which something was scored."""
    used = scored[group]
    found = clustered_proportions(
        counted[used], np.asarray(cluster)[used], group[used], len(scored), confidence=confidence
    )
    return _renamed(found)


def _renamed(found: Estimates) -> Estimates:
    return replace(found, note=tuple(NOTHING_SCORED if why == NO_ROW else why for why in found.note))


def _any_of(flag: BoolArray, owner: IntArray, n_owners: int) -> BoolArray:
    return np.bincount(owner[flag], minlength=n_owners) > 0
