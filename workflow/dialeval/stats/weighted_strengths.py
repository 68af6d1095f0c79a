"""Bradley-Terry strengths from outcomes and weights that are any numbers, and what each cluster contributes to them.

Corrections need both: a label that stands for twenty comparisons has a weight of twenty, and a label less a part of the
judge's score is no longer an outcome between 0 and 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dialeval.stats.arrays import BoolArray, FloatArray, IntArray
from dialeval.stats.linked import rings

_STEPS = 60
_LONGEST_STEP = 2.0
_FARTHEST = 20.0
_TOLERANCE = 1e-9
_NUMBERS_AT_ONCE = 4_000_000


class Games(NamedTuple):
    """Who met whom: players of each row, numbers below `n_players`, and the row's cluster; shape [n]."""

    left: IntArray
    right: IntArray
    cluster: IntArray
    n_players: int
    n_clusters: int

    def of_players(self, of_left: FloatArray, of_right: FloatArray) -> FloatArray:
        """Sum over a player's rows of what its side has, shape [n_players]."""
        n = self.n_players
        total = np.bincount(self.left, of_left, minlength=n) + np.bincount(self.right, of_right, minlength=n)
        return total.astype(np.float64)

    def sums(self, value: FloatArray) -> FloatArray:
        """Sum over a player's rows, of those where it stands right with the other sign, shape [n_players]."""
        return self.of_players(value, -value)

    def totals(self, value: FloatArray) -> FloatArray:
        """Sum over all rows of a player, shape [n_players]."""
        return self.of_players(value, value)

    def cluster_sums(self, value: FloatArray) -> FloatArray:
        """`sums` of each cluster, shape [n_clusters, n_players]."""
        return self._by_cluster(value, -1.0)

    def cluster_totals(self, value: FloatArray) -> FloatArray:
        """`totals` of each cluster, shape [n_clusters, n_players]."""
        return self._by_cluster(value, 1.0)

    def _by_cluster(self, value: FloatArray, sign: float) -> FloatArray:
        size = self.n_clusters * self.n_players
        start = self.cluster * self.n_players
        total: FloatArray = np.bincount(start + self.left, value, minlength=size) + sign * np.bincount(
            start + self.right, value, minlength=size
        )
        return total.reshape(self.n_clusters, self.n_players)


class Strengths(NamedTuple):
    """A fit; natural-log strengths that average 0.

    Attributes:
        strength: shape [n_players].
        expected: expected outcome of each row, shape [n].
        information: matrix of second derivatives, shape [n_players, n_players].
        finite: whether there is a finite solution and it was found.
    """

    strength: FloatArray
    expected: FloatArray
    information: FloatArray
    finite: bool


def fit_weighted(games: Games, outcome: FloatArray, weight: FloatArray, made_up: FloatArray) -> Strengths:
    """Solve sum x (outcome - weight sigmoid(x'strength)) = 0, where x is 1 for left and -1 for right.

    Args:
        games: who met whom.
        outcome: weighted outcome of each row, shape [n].
        weight: of each row, not below 0, shape [n].
        made_up: weight of made-up games, half of them won by either, between every two players, shape [n_pairs] in
            the order of `np.triu_indices`.
    """
    n = games.n_players
    one, other = np.triu_indices(n, 1)
    strength = np.zeros(n)
    finite = False
    for _ in range(_STEPS):
        expected = _sigmoid(strength[games.left] - strength[games.right])
        beside = _sigmoid(strength[one] - strength[other])
        drawn = made_up * (0.5 - beside)
        gradient = games.sums(outcome - weight * expected)
        gradient += np.bincount(one, drawn, minlength=n) - np.bincount(other, drawn, minlength=n)
        information = _information(games.left, games.right, weight * expected * (1.0 - expected), n)
        information += _information(one, other, made_up * beside * (1.0 - beside), n)
        step = np.linalg.solve(anchored_information(information), gradient)
        longest = float(np.abs(step).max(initial=0.0))
        strength = strength + step * min(1.0, _LONGEST_STEP / max(longest, _TOLERANCE))
        if np.abs(strength).max(initial=0.0) > _FARTHEST:
            break
        if longest < _TOLERANCE:
            finite = True
            break
    expected = _sigmoid(strength[games.left] - strength[games.right])
    return Strengths(strength - strength.mean() if n else strength, expected, information, finite)


def anchored_information(information: FloatArray) -> FloatArray:
    """The same made invertible, which fixes the sum of strengths and changes nothing else."""
    n = len(information)
    size = float(np.trace(information)) / max(n, 1) ** 2
    whole: FloatArray = information + (size if size > 0.0 else 1.0)
    return whole


def left_out(games: Games, fit: Strengths, weight: FloatArray, score: FloatArray) -> FloatArray:
    """How far each cluster moves the strengths: those without it, to first order (CR3, the jackknife).

    Args:
        games: who met whom.
        fit: strengths of all rows.
        weight: of each row in `fit`, shape [n].
        score: of each row, its weighted outcome less what was expected, shape [n].

    Returns:
        Shape [n_clusters, n_players]; of sums 0 over the players.
    """
    n = games.n_players
    sums = games.cluster_sums(score)
    whole = anchored_information(fit.information)
    curvature = weight * fit.expected * (1.0 - fit.expected)
    moved = np.zeros_like(sums)
    order = np.argsort(games.cluster, kind="stable")
    at_once = max(1, _NUMBERS_AT_ONCE // max(n * n, 1))
    starts = np.searchsorted(games.cluster[order], np.arange(0, games.n_clusters, at_once))
    for number, rows in enumerate(np.split(order, starts[1:])):
        first = number * at_once
        last = min(first + at_once, games.n_clusters)
        place = (games.cluster[rows] - first) * n * n
        left, right, value = games.left[rows], games.right[rows], curvature[rows]
        own = np.zeros((last - first) * n * n)
        for row, column, sign in ((left, left, 1.0), (right, right, 1.0), (left, right, -1.0), (right, left, -1.0)):
            own += sign * np.bincount(place + row * n + column, value, minlength=len(own))
        remaining = whole - own.reshape(last - first, n, n)
        moved[first:last] = np.linalg.solve(remaining, sums[first:last, :, np.newaxis])[:, :, 0]
    centred: FloatArray = moved - moved.sum(axis=1, keepdims=True) / max(n, 1)
    return centred


def placed(games: Games, outcome: FloatArray, known: BoolArray) -> BoolArray:
    """Which players the known outcomes place at a finite distance from each other (Ford 1957), shape [n_players].

    These are the largest set in which everyone can be reached from everyone by going from a player to one against whom
    it scored; none where nobody is in such a set with another.
    """
    left, right, scored = games.left[known], games.right[known], outcome[known]
    winner = np.concatenate([left[scored > 0.0], right[scored < 1.0]])
    loser = np.concatenate([right[scored > 0.0], left[scored < 1.0]])
    n = games.n_players
    if not len(left):
        return np.zeros(n, dtype=np.bool_)
    ring = rings(winner, loser, n)
    played = np.zeros(n, dtype=np.bool_)
    played[left] = played[right] = True
    size = np.bincount(ring[played])
    largest: BoolArray = played & (ring == int(np.argmax(size))) & (size.max() > 1)
    return largest


def _information(left: IntArray, right: IntArray, curvature: FloatArray, n: int) -> FloatArray:
    out = np.zeros(n * n)
    for row, column, sign in ((left, left, 1.0), (right, right, 1.0), (left, right, -1.0), (right, left, -1.0)):
        out += sign * np.bincount(row * n + column, curvature, minlength=n * n)
    return out.reshape(n, n)


def _sigmoid(lead: FloatArray) -> FloatArray:
    share: FloatArray = 1.0 / (1.0 + np.exp(-np.clip(lead, -2 * _FARTHEST, 2 * _FARTHEST)))
    return share
