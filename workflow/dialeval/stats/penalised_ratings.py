"""Bradley-Terry ratings with Firth's penalty: finite for a player that wins or loses every comparison.

The penalty is half the logarithm of the determinant of the information, Jeffreys' prior (Firth 1993). It removes the
first-order bias of maximum likelihood, and its maximum is finite for separated data. Intervals are those of the profile
penalised likelihood (Heinze and Schemper 2002), with the likelihood ratio divided by the design effect of the clusters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from dialeval.stats.arrays import FloatArray, IntArray, check_confidence
from dialeval.stats.comparisons import Comparisons, cluster_table, compare, pair_weights
from dialeval.stats.likelihood import strength_design_effects

NOT_CONNECTED = "no chain of comparisons connects it to the largest group"
NO_LARGEST_GROUP = "not identifiable (not connected): the largest groups of connected systems are equally large"
FEW_COMPARISONS = "penalised Bradley-Terry: the comparisons are too few for a limit"
NO_CLUSTERS = "all comparisons are in one cluster, so there is no interval"
_TOLERANCE = 1e-7
_STEPS = 200
_LONGEST_STEP = 2.0
_FARTHEST = 12.0  # natural-log strength; a limit beyond it is not reported
_LARGEST_LEAD = 30.0
_ROUNDS = 60


class PenalisedRatings(NamedTuple):
    """Penalised ratings; arrays have shape [n_players], NaN for players without a rating.

    Attributes:
        rating: rating on the Elo scale; `initial` is the mean over the largest connected group.
        ci_low, ci_high: limits of the confidence interval.
        notes: why a rating or an interval is missing, or empty.
    """

    rating: FloatArray
    ci_low: FloatArray
    ci_high: FloatArray
    notes: tuple[str, ...]


def penalised_bradley_terry(
    left: ArrayLike,
    right: ArrayLike,
    outcome: ArrayLike,
    n_players: int,
    *,
    cluster: ArrayLike | None = None,
    confidence: float = 0.95,
    scale: float = 400.0,
    initial: float = 1000.0,
    equal_pairs: bool = False,
) -> PenalisedRatings:
    """Rate players by the Bradley-Terry model with Firth's penalty. A tie is half a win for each player.

    Only the largest group of connected players gets ratings. Of equally large groups, it is the one with
    maximum-likelihood ratings; if there is none, no player gets a rating. A player without a maximum-likelihood rating
    gets the median design effect of the other players. A limit is NaN if it is more than 12 logits from the mean
    rating.

    Args:
        left, right, outcome, n_players, cluster, confidence, scale, initial, equal_pairs: as in `bradley_terry`.

    Raises:
        ValueError: as in `bradley_terry`.
    """
    check_confidence(confidence)
    comparisons = compare(left, right, outcome, n_players)
    rating, low, high = (np.full(n_players, np.nan) for _ in range(3))
    notes = [NOT_CONNECTED if games else "" for games in comparisons.games()]
    if not comparisons.n_pairs:
        return PenalisedRatings(rating, low, high, tuple(notes))
    table = comparisons.table()
    weight = pair_weights(table[np.newaxis])[0] if equal_pairs else np.ones(comparisons.n_pairs)
    groups = comparisons.groups()
    size = np.bincount(groups)
    largest = np.flatnonzero(size == size.max())
    if len(largest) > 1:  # of groups of the same size, the one that maximum likelihood rates
        largest = np.unique(groups[comparisons.identified()])
        if not len(largest) or size[largest[0]] < size.max():
            notes = [NO_LARGEST_GROUP if note else "" for note in notes]
            return PenalisedRatings(rating, low, high, tuple(notes))
    members = np.flatnonzero(groups == largest[0])
    model = _Model.of(comparisons, table * np.asarray(weight).reshape(-1, 1), members)
    strength = model.maximum()
    points = scale / math.log(10.0)
    players = comparisons.players[members]
    rating[players] = initial + points * strength
    counts = cluster_table(comparisons, cluster)
    for player in players:
        notes[int(player)] = "" if counts.n_clusters > 1 else NO_CLUSTERS
    if counts.n_clusters > 1:
        every = np.zeros(comparisons.n_rated)
        every[members] = strength
        effect = strength_design_effects(counts, every, pair_weights(table) if equal_pairs else None)[members]
        effect = np.maximum(np.nan_to_num(effect, nan=1.0), 1.0)
        determined = np.array([not reason for reason in comparisons.reasons()])[players]
        if determined.any():  # residuals of one sign do not determine the correlation within clusters
            effect = np.where(determined, effect, np.median(effect[determined]))
        clusters = counts.clusters_of_player()[members]
        reach = stdtrit(np.maximum(clusters - 1.0, 1.0), 0.5 + 0.5 * confidence) * np.sqrt(effect)
        for place, player in enumerate(players):
            if clusters[place] < 2:
                notes[int(player)] = NO_CLUSTERS
                continue
            below, above = (model.limit(strength, place, float(reach[place]), sign) for sign in (-1.0, 1.0))
            low[player], high[player] = initial + points * below, initial + points * above
            if math.isnan(below + above):
                notes[int(player)] = FEW_COMPARISONS
    return PenalisedRatings(rating, low, high, tuple(notes))


@dataclass(frozen=True)
class _Model:
    """Penalised likelihood of strengths that sum to 0.

    Attributes:
        n: number of players.
        first, second: players of each pair, shape [n_pairs].
        wins, games: wins of the first, with half of the ties, and comparisons of each pair, shape [n_pairs].
    """

    n: int
    first: IntArray
    second: IntArray
    wins: FloatArray
    games: FloatArray

    @classmethod
    def of(cls, comparisons: Comparisons, table: FloatArray, members: IntArray) -> _Model:
        """Return the model of a connected group."""
        place = np.full(comparisons.n_rated, -1)
        place[members] = np.arange(len(members))
        inside = (place[comparisons.first] >= 0) & (table.sum(axis=1) > 0.0)
        chosen = table[inside]
        first, second = place[comparisons.first[inside]], place[comparisons.second[inside]]
        return cls(len(members), first, second, chosen[:, 0] + 0.5 * chosen[:, 1], chosen.sum(axis=1))

    def maximum(self) -> FloatArray:
        """Return the strengths that maximise the penalised likelihood, shape [n]."""
        return self._climb(np.zeros(self.n), _across(np.ones((self.n, 1))))

    def limit(self, strength: FloatArray, player: int, reach: float, sign: float) -> float:
        """Return the strength of a player at which the signed root of the penalised likelihood ratio is `reach`."""
        own = np.full(self.n, -1.0 / (self.n - 1.0))
        own[player] = 1.0
        basis = _across(np.column_stack([np.ones(self.n), own]))
        best = self._value(strength)

        def loss(value: float, start: FloatArray) -> tuple[float, FloatArray]:
            at = start + (value - start[player]) * own
            at = self._climb(at, basis) if basis.shape[1] else at
            return math.sqrt(max(2.0 * (best - self._value(at)), 0.0)) - reach, at

        _, inverse, _ = self._information(strength)
        error = math.sqrt(float(inverse[player, player]))
        inner = float(strength[player])
        step = sign * min(max(reach * error, 1e-3), _LONGEST_STEP)
        outer, at_outer, above = inner, strength, -reach
        while above < 0.0:
            inner, at_inner, below = outer, at_outer, above
            outer += step
            if abs(outer) > _FARTHEST:
                return math.nan
            above, at_outer = loss(outer, at_outer)
        kept = 0
        for _ in range(_ROUNDS):  # regula falsi, in the Illinois form
            middle = inner + (outer - inner) * (-below / (above - below))
            value, at = loss(middle, at_inner)
            if abs(value) < 1e-6 or abs(outer - inner) < 1e-7:
                return middle
            if value < 0.0:
                inner, at_inner, below = middle, at, value
                above, kept = (above / 2.0 if kept == -1 else above), -1
            else:
                outer, above = middle, value
                below, kept = (below / 2.0 if kept == 1 else below), 1
        return middle

    def _climb(self, start: FloatArray, basis: FloatArray) -> FloatArray:
        """Return the strengths that maximise the penalised likelihood in the span of a basis, from a start.

        The penalty acts as `hat` additional games of each pair, half of them won (Firth 1993). The information of a
        step includes them; otherwise steps with few comparisons do not converge.
        """
        strength, value = start, self._value(start)
        for _ in range(_STEPS):
            _, inverse, share = self._information(strength)
            own = np.diagonal(inverse)
            leverage = own[self.first] + own[self.second] - 2.0 * inverse[self.first, self.second]
            hat = self.games * share * (1.0 - share) * leverage
            of_pair = self.wins - self.games * share + hat * (0.5 - share)
            score = np.bincount(self.first, of_pair, minlength=self.n)
            score = score - np.bincount(self.second, of_pair, minlength=self.n)
            information = self._weighted((self.games + hat) * share * (1.0 - share))
            step = basis @ np.linalg.solve(basis.T @ information @ basis, basis.T @ score)
            longest = float(np.abs(step).max(initial=0.0))
            if longest < _TOLERANCE:
                break
            step = step * min(1.0, _LONGEST_STEP / longest)
            following = self._value(strength + step)
            while following < value - _TOLERANCE and np.abs(step).max() > _TOLERANCE:
                step = 0.5 * step
                following = self._value(strength + step)
            strength, value = strength + step, following
        return strength

    def _information(self, strength: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the information, its inverse for sums of 0, and the expected share of wins of each pair."""
        share = 1.0 / (1.0 + np.exp(-self._lead(strength)))
        information = self._weighted(self.games * share * (1.0 - share))
        inverse = np.linalg.inv(information + 1.0 / self.n) - 1.0 / self.n
        return information, np.asarray(inverse, dtype=np.float64), share

    def _weighted(self, weight: FloatArray) -> FloatArray:
        """Return the information of pairs with these weights, shape [n, n]."""
        information = np.zeros((self.n, self.n))
        information[self.first, self.second] = information[self.second, self.first] = -weight
        np.fill_diagonal(information, -information.sum(axis=1))
        return information

    def _value(self, strength: FloatArray) -> float:
        lead = self._lead(strength)
        likelihood = float((self.wins * lead - self.games * np.logaddexp(0.0, lead)).sum())
        information, _, _ = self._information(strength)
        return likelihood + 0.5 * float(np.linalg.slogdet(information + 1.0 / self.n)[1])

    def _lead(self, strength: FloatArray) -> FloatArray:
        return np.clip(strength[self.first] - strength[self.second], -_LARGEST_LEAD, _LARGEST_LEAD)


def _across(columns: FloatArray) -> FloatArray:
    """Return an orthonormal basis of the orthogonal complement of some columns."""
    n, k = columns.shape
    return np.asarray(np.linalg.svd(columns, full_matrices=True)[0][:, k:].reshape(n, n - k), dtype=np.float64)
