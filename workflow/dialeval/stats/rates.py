"""Win, tie and lose rates, pass rates, and whether one place of the options is chosen more often.

Outcomes are 1 (win), 0.5 (tie), 0 (loss) and NaN for a verdict that could not be read. Both orders of a comparison
count alike, and both belong to their seed. Intervals are those of `shares.share_intervals`, clustered by seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc

from dialeval.stats.arrays import FloatArray, IntArray, as_codes, as_floats, as_outcomes, dense_codes
from dialeval.stats.shares import ShareIntervals, share_intervals

# Win, tie and lose rates and pass rates; what could not be read stays in the denominator.

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


# Is one place chosen more often than another, where each question was asked in one order of its options or in all?


class EvenPlaces(NamedTuple):
    """A test of equal chances for all places.

    Attributes:
        statistic: chi-square; NaN where nothing was chosen.
        freedom: its degrees of freedom; 0 where no order of the options could have changed what was chosen.
        p: probability of choices at least as uneven; NaN where nothing was chosen.
    """

    statistic: float
    freedom: int
    p: float


def even_places(chosen: ArrayLike) -> EvenPlaces:
    """Tests whether places are chosen evenly, beyond what the options themselves bring about.

    Who chooses by content alone would have chosen the same options had a question's orders begun elsewhere: its row
    of counts is then as likely in each of its cyclic shifts. With d the excess of each place's count over the mean and
    V the covariance of the counts over these shifts, summed over questions, d' V^+ d follows a chi-square law for many
    questions. With one order each it is Pearson's statistic. With all orders it is not misled by answers that hang
    together: a question that is answered by content alone adds 1 to every place, and nothing to V.

    Args:
        chosen: how often each place was chosen over the orders of each question, shape [n_questions, n_places].

    Raises:
        ValueError: not a table, fewer than two places, or a count below 0.
    """
    counts = np.asarray(chosen, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[1] < 2:
        raise ValueError(f"chosen has the shape {counts.shape}; it must be [questions, two places or more]")
    if (counts < 0).any():
        raise ValueError(f"chosen holds {counts.min():g}, and no place can be chosen so often")
    if not counts.sum():
        return EvenPlaces(np.nan, 0, np.nan)
    total = counts.sum(axis=0)
    excess = total - total.mean()
    spectrum, vectors = np.linalg.eigh(_covariance(counts))
    moves = spectrum > 1e-9 * max(spectrum[-1], 1.0)
    along = vectors[:, moves].T @ excess
    statistic = float((along**2 / spectrum[moves]).sum())
    freedom = int(moves.sum())
    return EvenPlaces(statistic, freedom, float(chdtrc(freedom, statistic)) if freedom else 1.0)


def _covariance(counts: FloatArray) -> FloatArray:
    """Returns the covariance of the summed counts over all cyclic shifts of every row, shape [n_places, n_places]."""
    n_places = counts.shape[1]
    centred = counts - counts.mean(axis=1, keepdims=True)
    # of two places so many apart the mean product is the same wherever the two are
    apart = [float((centred * np.roll(centred, -shift, axis=1)).sum()) / n_places for shift in range(n_places)]
    return np.array([[apart[(column - row) % n_places] for column in range(n_places)] for row in range(n_places)])
