"""Win, tie and lose rates and pass rates; what could not be read stays in the denominator.

Outcomes are 1 (win), 0.5 (tie), 0 (loss) and NaN for a verdict that could not be read. Both orders of a comparison
count alike, and both belong to their seed, which is what intervals resample.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dialeval.stats.arrays import FloatArray, IntArray, as_codes, as_floats, as_outcomes, check_confidence, dense_codes
from dialeval.stats.resampling import (
    Interval,
    cluster_counts,
    interval,
    percentile_interval,
    ratio_replicates,
    wilson_interval,
)

_WIN, _TIE, _LOSE, _UNPARSED = range(4)


@dataclass(frozen=True)
class WinTieLose:
    """Rates of one model against a fixed opponent (GTEval), with the settings that gave them.

    Attributes:
        n: verdicts, read or not.
        wins, ties, losses, unparsed: how they divide.
        win_rate, tie_rate, lose_rate, unparsed_rate: shares of n; NaN where n is 0.
        win_or_tie: wins and ties as a share of n, with its percentile interval over resampled clusters.
        replicates: win-or-tie rate of each resample, shape [resamples].
    """

    n: int
    wins: int
    ties: int
    losses: int
    unparsed: int
    win_rate: float
    tie_rate: float
    lose_rate: float
    unparsed_rate: float
    win_or_tie: Interval
    replicates: FloatArray
    n_clusters: int
    resamples: int
    confidence: float
    random_seed: int


@dataclass(frozen=True)
class WinMatrices:
    """Win, tie and lose rates of every model against every other (arena), with the settings that gave them.

    Row is the model whose wins are counted, column its opponent; a pair that never met has NaN, as has the diagonal.

    Attributes:
        n: verdicts of each pair, read or not, both orders together, shape [n_players, n_players].
        win_rate, tie_rate, lose_rate, unparsed_rate: shares of n, shape [n_players, n_players]; they sum to 1.
        win_low, win_high: percentile interval of the win rate, shape [n_players, n_players].
        score_rate: wins plus half the ties, as a share of all of a model's verdicts, shape [n_players].
        score_low, score_high: its percentile interval, shape [n_players].
    """

    n: IntArray
    win_rate: FloatArray
    tie_rate: FloatArray
    lose_rate: FloatArray
    unparsed_rate: FloatArray
    win_low: FloatArray
    win_high: FloatArray
    score_rate: FloatArray
    score_low: FloatArray
    score_high: FloatArray
    n_clusters: int
    resamples: int
    confidence: float
    random_seed: int


@dataclass(frozen=True)
class PassRates:
    """Pass rates (UniEval) with Wilson intervals; arrays have shape [n_groups].

    Attributes:
        passes, unparsed, n: dialogues that passed, could not be read, and all of them.
        rate: passes / n; NaN where n is 0.
        low, high: ends of the Wilson interval.
    """

    passes: IntArray
    unparsed: IntArray
    n: IntArray
    rate: FloatArray
    low: FloatArray
    high: FloatArray
    confidence: float


def win_tie_lose(
    outcome: ArrayLike,
    cluster: ArrayLike,
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    random_seed: int = 0,
) -> WinTieLose:
    """Rates of one model against a fixed opponent, such as the human dialogue of GTEval.

    Args:
        outcome: 1 where the model wins, 0.5 for a tie, 0 where it loses, NaN where unread, shape [n].
        cluster: seed of each verdict, shape [n]; both orders on one seed are one cluster.
        resamples: bootstrap resamples of the clusters.
        confidence: nominal coverage of the interval.
        random_seed: seed of the resampling; with the same one, models judged on the same seeds are paired.

    Raises:
        ValueError: if shapes differ, an outcome is none of the four, or a setting is out of range.
    """
    outcome = as_outcomes("outcome", outcome)
    kind = _kinds(outcome)
    codes, n_clusters = dense_codes("cluster", cluster, len(outcome))
    check_confidence(confidence)
    counts = np.bincount(kind, minlength=4)
    n = len(kind)
    share = counts / n if n else np.full(4, math.nan)
    weights = cluster_counts(n_clusters, resamples, np.random.default_rng(random_seed))
    held = ((kind == _WIN) | (kind == _TIE)).astype(np.float64)
    replicates = ratio_replicates(held, np.ones(n), codes, weights)
    return WinTieLose(
        n=n,
        wins=int(counts[_WIN]),
        ties=int(counts[_TIE]),
        losses=int(counts[_LOSE]),
        unparsed=int(counts[_UNPARSED]),
        win_rate=float(share[_WIN]),
        tie_rate=float(share[_TIE]),
        lose_rate=float(share[_LOSE]),
        unparsed_rate=float(share[_UNPARSED]),
        win_or_tie=interval(float(share[_WIN] + share[_TIE]), replicates, confidence, reason="" if n else "no verdict"),
        replicates=replicates,
        n_clusters=n_clusters,
        resamples=resamples,
        confidence=confidence,
        random_seed=random_seed,
    )


def win_matrices(
    left: ArrayLike,
    right: ArrayLike,
    outcome: ArrayLike,
    n_players: int,
    *,
    cluster: ArrayLike,
    resamples: int = 1000,
    confidence: float = 0.95,
    random_seed: int = 0,
) -> WinMatrices:
    """Win, tie and lose rates of every pair of models, both orders together.

    Args:
        left, right: models of each verdict, numbers in 0..n_players-1, shape [n].
        outcome: 1 where left wins, 0.5 for a tie, 0 where right wins, NaN where unread, shape [n].
        n_players: number of models.
        cluster: seed of each verdict, shape [n].
        resamples: bootstrap resamples of the clusters; 0 for no intervals.
        confidence: nominal coverage of the intervals.
        random_seed: seed of the resampling.

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
    codes, n_clusters = dense_codes("cluster", cluster, len(left))
    check_confidence(confidence)

    cells = n_players * n_players
    cell = np.concatenate([left * n_players + right, right * n_players + left])
    kinds = np.concatenate([kind, mirrored])
    table = np.bincount(cell * 4 + kinds, minlength=4 * cells).reshape(n_players, n_players, 4)
    n = table.sum(axis=2)
    rates = np.divide(table, n[:, :, np.newaxis], out=np.full(table.shape, np.nan), where=n[:, :, np.newaxis] > 0)
    points = table @ np.array([1.0, 0.5, 0.0, 0.0])
    total = n.sum(axis=1)
    score = np.divide(points.sum(axis=1), total, out=np.full(n_players, np.nan), where=total > 0)

    both = np.concatenate([codes, codes])
    rng = np.random.default_rng(random_seed)
    win_ends, score_ends = _win_intervals(cell, kinds, both, n_players, n_clusters, resamples, confidence, rng)
    return WinMatrices(
        n=n,
        win_rate=rates[:, :, _WIN],
        tie_rate=rates[:, :, _TIE],
        lose_rate=rates[:, :, _LOSE],
        unparsed_rate=rates[:, :, _UNPARSED],
        win_low=win_ends[0],
        win_high=win_ends[1],
        score_rate=score,
        score_low=score_ends[0],
        score_high=score_ends[1],
        n_clusters=n_clusters,
        resamples=resamples,
        confidence=confidence,
        random_seed=random_seed,
    )


def pass_rates(passed: ArrayLike, group: ArrayLike, n_groups: int, *, confidence: float = 0.95) -> PassRates:
    """Share of dialogues that pass, in each group (model), with Wilson intervals.

    Args:
        passed: 1 where a dialogue passes, 0 where not, NaN where the verdict could not be read, shape [n].
        group: group of each dialogue, numbers in 0..n_groups-1, shape [n].
        n_groups: number of groups.
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
    passes = np.bincount(group[passed == 1.0], minlength=n_groups)
    unparsed = np.bincount(group[np.isnan(passed)], minlength=n_groups)
    n = np.bincount(group, minlength=n_groups)
    low, high = wilson_interval(passes, n, confidence)
    rate = np.divide(passes, n, out=np.full(n_groups, np.nan), where=n > 0)
    return PassRates(passes, unparsed, n, rate, low, high, confidence)


def _kinds(outcome: FloatArray) -> IntArray:
    """Turn outcomes into win, tie, lose, unparsed, shape [n]."""
    kind = np.full(len(outcome), _UNPARSED, dtype=np.int64)
    kind[outcome == 1.0] = _WIN
    kind[outcome == 0.5] = _TIE
    kind[outcome == 0.0] = _LOSE
    return kind


def _win_intervals(
    cell: IntArray,
    kinds: IntArray,
    cluster: IntArray,
    n_players: int,
    n_clusters: int,
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
    """Percentile intervals of pair win rates and of score rates, from one set of resamples.

    Opponents are taken one model at a time, so that a table of clusters by opponents stays small.
    """
    weights = cluster_counts(n_clusters, resamples, rng)
    win_low, win_high = (np.full((n_players, n_players), np.nan) for _ in range(2))
    score_low, score_high = (np.full(n_players, np.nan) for _ in range(2))
    row, column = cell // max(n_players, 1), cell % max(n_players, 1)
    worth = np.array([1.0, 0.5, 0.0, 0.0])[kinds]
    for player in np.unique(row):
        mine = row == player
        place = cluster[mine] * n_players + column[mine]
        shape, size = (n_clusters, n_players), n_clusters * n_players
        drawn = weights @ np.bincount(place, minlength=size).reshape(shape)
        wins = weights @ np.bincount(place, kinds[mine] == _WIN, minlength=size).reshape(shape)
        rate = np.divide(wins, drawn, out=np.full(drawn.shape, np.nan), where=drawn > 0)
        win_low[player], win_high[player] = percentile_interval(rate, confidence)
        points = weights @ np.bincount(cluster[mine], worth[mine], minlength=n_clusters)
        total = drawn.sum(axis=1)
        score = np.divide(points, total, out=np.full(resamples, np.nan), where=total > 0)
        low, high = percentile_interval(score, confidence)
        score_low[player], score_high[player] = float(low), float(high)
    return (win_low, win_high), (score_low, score_high)
