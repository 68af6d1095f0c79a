"""Pairwise comparisons in a canonical form: which pairs met, how each comparison ended, who is connected to whom.

Names and sides carry no meaning. Players are therefore renumbered by when they first appear, and every comparison
is turned so that the lower number stands first; relabelling the players or swapping the sides then changes nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dialeval.stats.arrays import BoolArray, FloatArray, IntArray, as_codes, as_floats, distinct_codes
from dialeval.stats.linked import groups, rings

FIRST_WINS, TIE, SECOND_WINS = 0, 1, 2
N_RESULTS = 3

NO_COMPARISON = "no comparison: there is nothing to rate"
WINS_ALL = "wins every comparison: the data set no upper limit, the value shown depends on the settings"
LOSES_ALL = "loses every comparison: the data set no lower limit, the value shown depends on the settings"
SEPARATED = "the data set no limit on its distance to the main group, the value shown depends on the settings"

UNDEFEATED = "wins every comparison: not identifiable (undefeated), the data set no upper limit"
WINLESS = "loses every comparison: not identifiable (never scores), the data set no lower limit"
NOT_CONNECTED = "not identifiable (not connected): no chain of comparisons leads to the systems that are rated"
NOT_LIMITED = "not identifiable (separated): the data set no limit on its distance to the systems that are rated"
NO_MAIN_GROUP = "not identifiable (separated): the data place no single largest group of systems at finite distances"


def not_identifiable(note: str | None) -> str:
    """Returns the words of a note that stand in place of a number, such as `not identifiable (undefeated)`."""
    found = re.search(r"not identifiable \([a-z ]+\)", note or "")
    return found.group() if found else ""


@dataclass(frozen=True)
class Comparisons:
    """Comparisons among the players that have any, in canonical form.

    A comparison's *type* is `3 * pair + result`: two comparisons of one type are the same to every rating method.

    Attributes:
        n_players: how many players the caller numbers, with or without comparisons.
        players: the caller's number of each rated player, shape [n_rated].
        first, second: rated players of each pair, first < second, shape [n_pairs].
        type_of_row: type of each comparison, shape [n].
    """

    n_players: int
    players: IntArray
    first: IntArray
    second: IntArray
    type_of_row: IntArray

    @property
    def n_rated(self) -> int:
        """How many players have at least one comparison."""
        return len(self.players)

    @property
    def n_pairs(self) -> int:
        """How many pairs of players met."""
        return len(self.first)

    @property
    def n_types(self) -> int:
        """How many types there are, seen or not."""
        return N_RESULTS * self.n_pairs

    def table(self) -> FloatArray:
        """Counts of first wins, ties and second wins of each pair, shape [n_pairs, 3]."""
        counts = np.bincount(self.type_of_row, minlength=self.n_types)
        return counts.reshape(-1, N_RESULTS).astype(np.float64)

    def spread(self, values: FloatArray, missing: float = np.nan) -> FloatArray:
        """Put values of rated players, shape [..., n_rated], in the caller's order, shape [..., n_players]."""
        out = np.full((*values.shape[:-1], self.n_players), missing)
        out[..., self.players] = values
        return out

    def groups(self) -> IntArray:
        """Number of the group of connected players that each rated player belongs to, shape [n_rated]."""
        return groups(self.first, self.second, self.n_rated)

    def group_of_player(self) -> IntArray:
        """Group of each of the caller's players, -1 without a comparison, shape [n_players]."""
        return self.spread(self.groups().astype(np.float64), missing=-1.0).astype(np.int64)

    def rings(self) -> IntArray:
        """Number of the ring that each rated player belongs to, shape [n_rated].

        The data place the players of a ring at finite distances from each other, and say nothing finite of two players
        of different rings (Ford 1957).
        """
        table = self.table()
        scored = np.concatenate([table[:, FIRST_WINS] + table[:, TIE], table[:, SECOND_WINS] + table[:, TIE]])
        winner = np.concatenate([self.first, self.second])[scored > 0]
        loser = np.concatenate([self.second, self.first])[scored > 0]
        return rings(winner, loser, self.n_rated)

    def identified(self) -> BoolArray:
        """Which rated players have a rating that the data determine: the only largest ring, shape [n_rated].

        None where two rings are equally large, or where no two players are in one.
        """
        ring = self.rings()
        size = np.bincount(ring, minlength=1)
        largest = np.flatnonzero((size == size.max()) & (size > 1))
        return ring == largest[0] if len(largest) == 1 else np.zeros(self.n_rated, dtype=np.bool_)

    def reasons(self) -> tuple[str, ...]:
        """For each of the caller's players, why the data determine no rating; empty where they do."""
        score, games = self._scores()
        identified, group = self.identified(), self.groups()
        reasons = [NO_COMPARISON] * self.n_players
        for index, player in enumerate(self.players):
            if identified[index]:
                reasons[player] = ""
            elif score[index] == games[index]:
                reasons[player] = UNDEFEATED
            elif score[index] == 0:
                reasons[player] = WINLESS
            elif not identified.any():
                reasons[player] = NO_MAIN_GROUP
            else:
                reasons[player] = NOT_LIMITED if (group[identified] == group[index]).any() else NOT_CONNECTED
        return tuple(reasons)

    def scores(self) -> FloatArray:
        """Share that each of the caller's players won, a tie being half a win, shape [n_players]; NaN without any."""
        score, games = self._scores()
        return self.spread(score / games)

    def _scores(self) -> tuple[FloatArray, FloatArray]:
        """Wins and half the ties, and comparisons, of each rated player, shape [n_rated]."""
        table = self.table()
        score, games = np.zeros(self.n_rated), np.zeros(self.n_rated)
        np.add.at(score, self.first, table @ np.array([1.0, 0.5, 0.0]))
        np.add.at(score, self.second, table @ np.array([0.0, 0.5, 1.0]))
        np.add.at(games, self.first, table.sum(axis=1))
        np.add.at(games, self.second, table.sum(axis=1))
        return score, games

    def anchored(self) -> BoolArray:
        """Which rated players the data place at a finite distance from each other, shape [n_rated].

        Within each group these are the largest set in which everyone can be reached from everyone by going from a
        player to one that it did not always beat (Ford 1957). All players, in ordinary data.
        """
        ring = self.rings()
        size = np.bincount(ring)[ring] if len(ring) else np.zeros(0, dtype=np.int64)
        group = self.groups()
        anchored = np.zeros(self.n_rated, dtype=np.bool_)
        for number in range(int(group.max()) + 1 if len(group) else 0):
            members = np.flatnonzero(group == number)
            largest = ring[members[np.argmax(size[members])]]
            anchored |= ring == largest
        return anchored

    def notes(self) -> tuple[str, ...]:
        """For each of the caller's players, why its rating needs care; empty where it needs none."""
        score, games = self._scores()
        anchored = self.anchored()
        notes = [NO_COMPARISON] * self.n_players
        for index, player in enumerate(self.players):
            if score[index] == games[index]:
                notes[player] = WINS_ALL
            elif score[index] == 0:
                notes[player] = LOSES_ALL
            else:
                notes[player] = "" if anchored[index] else SEPARATED
        return tuple(notes)

    def games(self) -> IntArray:
        """Number of comparisons of each of the caller's players, shape [n_players]."""
        met = self.table().sum(axis=1)
        count = np.zeros(self.n_rated)
        np.add.at(count, self.first, met)
        np.add.at(count, self.second, met)
        return self.spread(count, missing=0.0).astype(np.int64)


def compare(left: ArrayLike, right: ArrayLike, outcome: ArrayLike, n_players: int) -> Comparisons:
    """Check comparisons and bring them into canonical form.

    Args:
        left, right: players of each comparison, numbers in 0..n_players-1, shape [n].
        outcome: 1 where left wins, 0.5 for a tie, 0 where right wins, shape [n].
        n_players: number of players, of whom some may have no comparison.

    Raises:
        ValueError: if shapes differ, a player is out of range or meets itself, or an outcome is none of the three.
    """
    if n_players < 0:
        raise ValueError(f"n_players is {n_players}; it must be 0 or more")
    left = as_codes("left", left, below=n_players)
    right = as_codes("right", right, length=len(left), below=n_players)
    outcome = as_floats("outcome", outcome, length=len(left))
    refused = ~np.isin(outcome, (0.0, 0.5, 1.0))
    if refused.any():
        row = int(np.flatnonzero(refused)[0])
        raise ValueError(
            f"outcome[{row}] is {outcome[row]}; it must be 1, 0.5 or 0 (leave unparsed verdicts out of ratings)"
        )
    if (left == right).any():
        row = int(np.flatnonzero(left == right)[0])
        raise ValueError(f"row {row} compares player {left[row]} with itself")

    players = _order_of_appearance(left, right, outcome, n_players)
    rank = np.full(n_players, -1, dtype=np.int64)
    rank[players] = np.arange(len(players))
    a, b = rank[left], rank[right]
    first, second = np.minimum(a, b), np.maximum(a, b)
    of_first = np.where(a < b, outcome, 1.0 - outcome)
    result = (2.0 * (1.0 - of_first)).astype(np.int64)
    pairs, pair_of_row = distinct_codes(first * max(len(players), 1) + second, max(len(players), 1) ** 2)
    return Comparisons(
        n_players=n_players,
        players=players,
        first=pairs // max(len(players), 1),
        second=pairs % max(len(players), 1),
        type_of_row=N_RESULTS * pair_of_row + result,
    )


def _order_of_appearance(left: IntArray, right: IntArray, outcome: FloatArray, n_players: int) -> IntArray:
    """Order players by the row they first appear in, whatever their names and sides, shape [n_rated].

    Two players can first appear in the same row; the winner there, the higher total score, the more comparisons
    and the earlier ones then decide. Only players that are alike in all of this are left in the caller's order.
    """
    n = len(left)
    first_row = np.full(n_players, n, dtype=np.int64)
    np.minimum.at(first_row, left, np.arange(n))
    np.minimum.at(first_row, right, np.arange(n))
    score = np.zeros(n_players)
    games = np.zeros(n_players)
    rows = np.zeros(n_players)
    opening = np.zeros(n_players)
    for side, points in ((left, outcome), (right, 1.0 - outcome)):
        score += np.bincount(side, points, minlength=n_players)
        games += np.bincount(side, minlength=n_players)
        rows += np.bincount(side, points * np.arange(n), minlength=n_players)
        here = first_row[side] == np.arange(n)
        opening[side[here]] = points[here]
    seen = np.flatnonzero(first_row < n)
    keys = (rows, -games, -score, -opening, first_row)
    return seen[np.lexsort([key[seen] for key in keys])]


def pair_laplacian(comparisons: Comparisons, weight: FloatArray) -> FloatArray:
    """Laplacian of the graph that has `weight`, shape [n_pairs], on its pairs; shape [n_rated, n_rated]."""
    laplacian = np.zeros((comparisons.n_rated, comparisons.n_rated))
    laplacian[comparisons.first, comparisons.second] = -weight
    laplacian += laplacian.T
    np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
    return laplacian
