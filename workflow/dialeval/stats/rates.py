"""Win, tie and lose rates and pass rates; what could not be read stays in the denominator.

Outcomes are 1 (win), 0.5 (tie), 0 (loss) and NaN for a verdict that could not be read. Both orders of a comparison
count alike, and both belong to their seed. Intervals are those of `shares.share_intervals`, clustered by seed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dialeval.stats.arrays import FloatArray, IntArray, as_codes, as_floats, as_outcomes, dense_codes
from dialeval.stats.shares import ShareIntervals, share_intervals

_WIN, _TIE, _LOSE, _UNPARSED = range(4)


@dataclass(frozen=True)
class WinMatrices:
    """Win, tie and lose rates of every model against every other, or of all against one.

    Row is the model whose wins are counted, column its opponent; a pair that never met has NaN, as has the diagonal.

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
    win: ShareIntervals
    win_or_tie: ShareIntervals
    score: ShareIntervals


@dataclass(frozen=True)
class PassRates:
    """Pass rates (UniEval); arrays have shape [n_groups].

    Attributes:
        passes, unparsed, n: dialogues that passed, could not be read, and all of them.
        rate: passes / n with its clustered interval; NaN where n is 0.
    """

    passes: IntArray
    unparsed: IntArray
    n: IntArray
    rate: ShareIntervals


def win_matrices(
    left: ArrayLike,
    right: ArrayLike,
    outcome: ArrayLike,
    n_players: int,
    *,
    cluster: ArrayLike,
    confidence: float = 0.95,
) -> WinMatrices:
    """Win, tie and lose rates of every pair of models, both orders together.

    Args:
        left, right: models of each verdict, numbers in 0..n_players-1, shape [n].
        outcome: 1 where left wins, 0.5 for a tie, 0 where right wins, NaN where unread, shape [n].
        n_players: number of models.
        cluster: seed of each verdict, shape [n].
        confidence: nominal coverage of the intervals.

    Raises:
        ValueError: if shapes differ, a model is out of range or meets itself, an outcome is none of the four, or a
            setting is out of range.
    """
    left = as_codes("left", left, below=n_players)
    right = as_codes("right", right, length=len(left), below=n_players)
    outcome = as_outcomes("outcome", outcome, length=len(left))
    if (left == right).any():
        row = int(np.flatnonzero(left == right)[0])
        raise ValueError(f"row {row} compares model {left[row]} with itself")
    kind = _kinds(outcome)
    mirrored = np.array([_LOSE, _TIE, _WIN, _UNPARSED])[kind]
    codes, _ = dense_codes("cluster", cluster, len(left))

    cells = n_players * n_players
    cell = np.concatenate([left * n_players + right, right * n_players + left])
    kinds = np.concatenate([kind, mirrored])
    both = np.concatenate([codes, codes])
    table = np.bincount(cell * 4 + kinds, minlength=4 * cells).reshape(n_players, n_players, 4)
    n = table.sum(axis=2)
    rates = np.divide(table, n[:, :, np.newaxis], out=np.full(table.shape, np.nan), where=n[:, :, np.newaxis] > 0)
    worth = np.array([1.0, 0.5, 0.0, 0.0])[kinds]
    return WinMatrices(
        n=n,
        win_rate=rates[:, :, _WIN],
        tie_rate=rates[:, :, _TIE],
        lose_rate=rates[:, :, _LOSE],
        unparsed_rate=rates[:, :, _UNPARSED],
        win=share_intervals(kinds == _WIN, both, cell, cells, confidence=confidence),
        win_or_tie=share_intervals(kinds <= _TIE, both, cell, cells, confidence=confidence),
        score=share_intervals(worth, both, cell // max(n_players, 1), n_players, confidence=confidence),
    )


def pass_rates(
    passed: ArrayLike, group: ArrayLike, n_groups: int, *, cluster: ArrayLike, confidence: float = 0.95
) -> PassRates:
    """Share of dialogues that pass, in each group (model).

    Args:
        passed: 1 where a dialogue passes, 0 where not, NaN where the verdict could not be read, shape [n].
        group: group of each dialogue, numbers in 0..n_groups-1, shape [n].
        n_groups: number of groups.
        cluster: seed of each dialogue, shape [n]; repeats on one seed are one cluster.
        confidence: nominal coverage.

    Raises:
        ValueError: if shapes differ, a group is out of range, or `passed` holds something else.
    """
    passed = as_floats("passed", passed)
    group = as_codes("group", group, length=len(passed), below=n_groups)
    refused = ~(np.isnan(passed) | np.isin(passed, (0.0, 1.0)))
    if refused.any():
        row = int(np.flatnonzero(refused)[0])
        raise ValueError(f"passed[{row}] is {passed[row]}; it must be 1, 0 or NaN")
    return PassRates(
        passes=np.bincount(group[passed == 1.0], minlength=n_groups),
        unparsed=np.bincount(group[np.isnan(passed)], minlength=n_groups),
        n=np.bincount(group, minlength=n_groups),
        rate=share_intervals(passed == 1.0, cluster, group, n_groups, confidence=confidence),
    )


def _kinds(outcome: FloatArray) -> IntArray:
    """Turn outcomes into win, tie, lose, unparsed, shape [n]."""
    kind = np.full(len(outcome), _UNPARSED, dtype=np.int64)
    kind[outcome == 1.0] = _WIN
    kind[outcome == 0.5] = _TIE
    kind[outcome == 0.0] = _LOSE
    return kind
