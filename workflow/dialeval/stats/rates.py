"""Rates of outcomes: wins, ties and losses, passes, choices by place, and drops of scores under perturbations.

Outcomes are 1 (win), 0.5 (tie), 0 (loss) and NaN for an unparsed verdict. Both orders of a comparison count equally,
and both belong to the same seed. Intervals are those of `clustered.clustered_proportions`, clustered by seed.

A perturbation is noticed if the judge's score of the original, scaled to [0, 1], is above that of the perturbed item
by more than theta (comp-analysis, section "Robustness of the LLM Evaluators"). The rate is over all pairs: a pair with
a missing score counts in n and is not noticed. The number of these pairs is reported too. One dialogue is perturbed
several times, so intervals are clustered by dialogue.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc

from dialeval.stats.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    as_codes,
    as_floats,
    as_outcomes,
    check_confidence,
    dense_codes,
    ratio,
    refuse,
    refuse_itself,
)
from dialeval.stats.clustered import NO_ROW, clustered_proportions
from dialeval.stats.estimates import Estimates

_WIN, _TIE, _LOSE, _UNPARSED = range(4)
ROUNDING = 1e-9
"""Drops within this distance of theta count as equal to theta: 0.95 - 0.75 is not above 0.2, despite rounding."""
NOTHING_SCORED = "no pair has both scores"


@dataclass(frozen=True)
class WinMatrices:
    """Win, tie and lose rates of every model against every other, or of all against one.

    Rows are the models whose wins are counted, columns their opponents; pairs without a comparison and the diagonal are
    NaN.

    Attributes:
        n: verdicts of each pair, read or not, both orders together, shape [n_players, n_players].
        win_rate, tie_rate, lose_rate, unparsed_rate: shares of n, shape [n_players, n_players]; they sum to 1.
        win: the win rates with their clustered intervals, row by row, shape [n_players * n_players].
        win_or_tie: the shares of wins and ties together, likewise.
        score: wins plus half the ties, as a share of all of a model's verdicts, with its interval, shape [n_players].
    """

    n: IntArray
    win_rate: FloatArray
    tie_rate: FloatArray
    lose_rate: FloatArray
    unparsed_rate: FloatArray
    win: Estimates
    win_or_tie: Estimates
    score: Estimates


def win_matrices(
    left: ArrayLike,
    right: ArrayLike,
    outcome: ArrayLike,
    n_players: int,
    *,
    cluster: ArrayLike,
    confidence: float = 0.95,
) -> WinMatrices:
    """Return the win, tie and lose rates of every pair of models, both orders together.

    Args:
        left, right: models of each verdict, numbers in 0..n_players-1, shape [n].
        outcome: 1 where left wins, 0.5 for a tie, 0 where right wins, NaN if unparsed, shape [n].
        n_players: number of models.
        cluster: seed of each verdict, shape [n].
        confidence: nominal coverage.

    Raises:
        ValueError: if shapes differ, a model is out of range or meets itself, an outcome is none of the four, or a
            setting is out of range.
    """
    left = as_codes("left", left, below=n_players)
    right = as_codes("right", right, length=len(left), below=n_players)
    outcome = as_outcomes(outcome, len(left))
    refuse_itself(left, right, "model")
    result = _results(outcome)
    mirrored = np.array([_LOSE, _TIE, _WIN, _UNPARSED])[result]
    codes, _ = dense_codes("cluster", cluster, len(left))

    cells = n_players * n_players
    cell = np.concatenate([left * n_players + right, right * n_players + left])
    results = np.concatenate([result, mirrored])
    both = np.concatenate([codes, codes])
    table = np.bincount(cell * 4 + results, minlength=4 * cells).reshape(n_players, n_players, 4)
    n = table.sum(axis=2)
    rates = ratio(table, n[:, :, np.newaxis])
    worth = np.array([1.0, 0.5, 0.0, 0.0])[results]
    return WinMatrices(
        n=n,
        win_rate=rates[:, :, _WIN],
        tie_rate=rates[:, :, _TIE],
        lose_rate=rates[:, :, _LOSE],
        unparsed_rate=rates[:, :, _UNPARSED],
        win=clustered_proportions(results == _WIN, both, cell, cells, confidence=confidence),
        win_or_tie=clustered_proportions(results <= _TIE, both, cell, cells, confidence=confidence),
        score=clustered_proportions(worth, both, cell // max(n_players, 1), n_players, confidence=confidence),
    )


def _results(outcome: FloatArray) -> IntArray:
    """Turn outcomes into win, tie, lose, unparsed, shape [n]."""
    result = np.full(len(outcome), _UNPARSED, dtype=np.int64)
    result[outcome == 1.0] = _WIN
    result[outcome == 0.5] = _TIE
    result[outcome == 0.0] = _LOSE
    return result


def pass_rates(
    passed: ArrayLike, group: ArrayLike, n_groups: int, *, cluster: ArrayLike, confidence: float = 0.95
) -> PassRates:
    """Return the share of dialogues that pass, in each group (model).

    Args:
        passed: 1 where a dialogue passes, 0 where not, NaN if the verdict is unparsed, shape [n].
        group: group of each dialogue, numbers in 0..n_groups-1, shape [n].
        n_groups: number of groups.
        cluster: seed of each dialogue, shape [n]; repeats on one seed are one cluster.
        confidence: nominal coverage.

    Raises:
        ValueError: if shapes differ, a group is out of range, or `passed` holds something else.
    """
    passed = as_floats("passed", passed)
    group = as_codes("group", group, length=len(passed), below=n_groups)
    refuse("passed", passed, ~(np.isnan(passed) | np.isin(passed, (0.0, 1.0))), "it must be 1, 0 or NaN")
    return PassRates(
        passes=np.bincount(group[passed == 1.0], minlength=n_groups),
        unparsed=np.bincount(group[np.isnan(passed)], minlength=n_groups),
        n=np.bincount(group, minlength=n_groups),
        rate=clustered_proportions(passed == 1.0, cluster, group, n_groups, confidence=confidence),
    )


@dataclass(frozen=True)
class PassRates:
    """Pass rates (UniEval); arrays have shape [n_groups].

    Attributes:
        passes, unparsed, n: dialogues that passed, unparsed ones, and all.
        rate: passes / n with its clustered interval; NaN where n is 0.
    """

    passes: IntArray
    unparsed: IntArray
    n: IntArray
    rate: Estimates


def position_test(chosen: ArrayLike) -> PositionTest:
    """Test whether positions are chosen evenly, beyond the effect of the options themselves.

    Under the null hypothesis, options are chosen by content alone, so each cyclic shift of a question's row of counts
    is equally likely. With d the excess of each place's count over the mean and V the covariance of the counts over
    these shifts, summed over questions, d' V^+ d is chi-square distributed for many questions. With one order per
    question it is Pearson's statistic. With all orders, a question that is answered by content adds 1 to every place
    and nothing to V.

    Args:
        chosen: how often each place was chosen over the orders of each question, shape [n_questions, n_places].

    Raises:
        ValueError: not a table, fewer than two places, or a count below 0.
    """
    counts = np.asarray(chosen, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[1] < 2:
        raise ValueError(f"chosen has the shape {counts.shape}; it must be [questions, two places or more]")
    if (counts < 0).any():
        raise ValueError(f"chosen holds {counts.min():g}, and a count cannot be negative")
    if not counts.sum():
        return PositionTest(np.nan, 0, np.nan)
    total = counts.sum(axis=0)
    excess = total - total.mean()
    spectrum, vectors = np.linalg.eigh(_covariance(counts))
    moves = spectrum > 1e-9 * max(spectrum[-1], 1.0)
    along = vectors[:, moves].T @ excess
    statistic = float((along**2 / spectrum[moves]).sum())
    freedom = int(moves.sum())
    return PositionTest(statistic, freedom, float(chdtrc(freedom, statistic)) if freedom else 1.0)


class PositionTest(NamedTuple):
    """A test of equal chances for all places.

    Attributes:
        statistic: chi-square; NaN where nothing was chosen.
        freedom: its degrees of freedom; 0 where no order of the options could have changed what was chosen.
        p: probability of choices at least as uneven; NaN where nothing was chosen.
    """

    statistic: float
    freedom: int
    p: float


def _covariance(counts: FloatArray) -> FloatArray:
    """Return the covariance of the summed counts over all cyclic shifts of every row, shape [n_places, n_places]."""
    n_places = counts.shape[1]
    centred = counts - counts.mean(axis=1, keepdims=True)
    # the mean product of two places depends on their distance only
    apart = [float((centred * np.roll(centred, -shift, axis=1)).sum()) / n_places for shift in range(n_places)]
    return np.array([[apart[(column - row) % n_places] for column in range(n_places)] for row in range(n_places)])


def robustness_ratios(
    original: ArrayLike,
    perturbed: ArrayLike,
    theta: ArrayLike,
    group: ArrayLike,
    n_groups: int,
    *,
    cluster: ArrayLike,
    confidence: float = 0.95,
) -> RobustnessRatios:
    """Return the share of pairs in each group (judge, strategy and dimension) whose perturbation was noticed.

    Args:
        original, perturbed: scores of each pair in [0, 1], NaN where missing, shape [n].
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
    noticed, missing, codes = _noticed(original, perturbed, theta, group, n_groups)
    n = np.bincount(codes, minlength=n_groups)
    n_missing = np.bincount(codes[missing], minlength=n_groups)
    ratio = _shares(noticed, codes, n > n_missing, cluster, confidence)
    return RobustnessRatios(np.bincount(codes[noticed], minlength=n_groups), n, n_missing, ratio)


def average_ratios(
    original: ArrayLike,
    perturbed: ArrayLike,
    theta: ArrayLike,
    group: ArrayLike,
    n_groups: int,
    owner: ArrayLike,
    n_owners: int,
    *,
    cluster: ArrayLike,
    confidence: float = 0.95,
) -> CellAverages:
    """Return the unweighted mean of the ratios of each owner's groups (a judge's at one level).

    Args:
        original, perturbed, theta, group, n_groups, cluster, confidence: as for `robustness_ratios`.
        owner: owner of each group, numbers in 0..n_owners-1, shape [n_groups].
        n_owners: number of owners.

    Raises:
        ValueError: as for `robustness_ratios`, and if an owner is out of range.
    """
    noticed, missing, codes = _noticed(original, perturbed, theta, group, n_groups)
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
        _as_ratios(average),
        np.bincount(owners[has_value], minlength=n_owners),
        np.bincount(owners[~has_value], minlength=n_owners),
    )


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
    """Return the share of dialogues whose scores fall with severity, in each group (judge, perturbation, dimension).

    Args:
        score: score of each step, NaN where missing, shape [n].
        ladder: ladder of each step, any whole numbers from 0, shape [n]; a ladder belongs to one group.
        severity: how many times the perturbation was applied, shape [n]; each once in a ladder.
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
    missing = _any_by_owner(np.isnan(change), of_step, n_ladders)
    rises = _any_by_owner(change > ROUNDING, of_step, n_ladders)
    stays_or_rises = _any_by_owner(change >= -ROUNDING, of_step, n_ladders)
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


def _any_by_owner(flag: BoolArray, owner: IntArray, n_owners: int) -> BoolArray:
    return np.bincount(owner[flag], minlength=n_owners) > 0


@dataclass(frozen=True)
class RobustnessRatios:
    """Share of perturbations noticed in each group; arrays have shape [n_groups].

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


def _noticed(
    original: ArrayLike, perturbed: ArrayLike, theta: ArrayLike, group: ArrayLike, n_groups: int
) -> tuple[BoolArray, BoolArray, IntArray]:
    """Return whether each pair was noticed, whether it lacks a score, and its group."""
    before = as_floats("original", original)
    drop = before - as_floats("perturbed", perturbed, length=len(before))
    codes = as_codes("group", group, length=len(before), below=n_groups)
    thetas = np.broadcast_to(np.asarray(theta, np.float64), (n_groups,))
    if np.isnan(thetas).any():
        raise ValueError("theta must be a number for every group")
    return drop > thetas[codes] + ROUNDING, np.isnan(drop), codes


def _shares(counted: BoolArray, group: IntArray, scored: BoolArray, cluster: ArrayLike, confidence: float) -> Estimates:
    """Return the shares of the groups that have scores."""
    used = scored[group]
    found = clustered_proportions(
        counted[used], np.asarray(cluster)[used], group[used], len(scored), confidence=confidence
    )
    return _as_ratios(found)


def _as_ratios(found: Estimates) -> Estimates:
    return replace(found, note=tuple(NOTHING_SCORED if why == NO_ROW else why for why in found.note))
