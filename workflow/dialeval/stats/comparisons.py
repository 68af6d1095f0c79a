"""Pairwise comparisons in a canonical form: connected groups of players, weights of pairs, tables of resamples.

Results do not depend on the numbering of the players or on the sides. Players are renumbered by their first appearance,
and every comparison is turned so that the lower number is on the left.

Adaptive designs compare close pairs more often. With equal weights for all compared pairs, ratings estimate those of a
design that compares all pairs equally often.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dialeval.stats.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    as_codes,
    as_floats,
    dense_codes,
    distinct_codes,
    refuse,
    refuse_itself,
)
from dialeval.stats.resampling import cluster_counts

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FIRST_WINS, TIE, SECOND_WINS = 0, 1, 2
N_RESULTS = 3
NO_COMPARISON = "no comparison"
WINS_ALL = (
    "wins every comparison: the data do not bound the rating from above, and the value shown depends on the settings"
)
LOSES_ALL = (
    "loses every comparison: the data do not bound the rating from below, and the value shown depends on the settings"
)
_START_LEFT = re.compile(
    r"[\d,]+ comparisons are too few, so Elo depends on the initial rating"
    r"(?: \(about [\d,]+ suffice\))?: see Bradley-Terry(?:; )?"
)
SEPARATED = "the data do not bound its distance from the main group, and the value shown depends on the settings"
UNDEFEATED = "wins every comparison: not identifiable (undefeated): the data do not bound the rating from above"
WINLESS = "loses every comparison: not identifiable (never scores): the data do not bound the rating from below"
NOT_CONNECTED = "not identifiable (not connected): no chain of comparisons connects it to the rated systems"
NOT_LIMITED = "not identifiable (separated): the data do not bound its distance from the rated systems"
NO_MAIN_GROUP = "not identifiable (separated): no single largest group of systems has finite differences"
_NUMBERS_PER_BLOCK = 4_000_000


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
        """Return how many players have at least one comparison."""
        return len(self.players)

    @property
    def n_pairs(self) -> int:
        """Return the number of compared pairs of players."""
        return len(self.first)

    @property
    def n_types(self) -> int:
        """Return how many types there are, seen or not."""
        return N_RESULTS * self.n_pairs

    def table(self) -> FloatArray:
        """Count of first wins, ties and second wins of each pair, shape [n_pairs, 3]."""
        counts = np.bincount(self.type_of_row, minlength=self.n_types)
        return counts.reshape(-1, N_RESULTS).astype(np.float64)

    def to_all_players(self, values: NDArray[Any], missing: Any = np.nan) -> NDArray[Any]:
        """Put values of rated players, shape [..., n_rated], in the caller's order, shape [..., n_players]."""
        out = np.full((*values.shape[:-1], self.n_players), missing, dtype=values.dtype)
        out[..., self.players] = values
        return out

    def groups(self) -> IntArray:
        """Return the number of the group of connected players that each rated player belongs to, shape [n_rated]."""
        return groups(self.first, self.second, self.n_rated)

    def group_of_player(self) -> IntArray:
        """Return the group of each of the caller's players, -1 without a comparison, shape [n_players]."""
        return self.to_all_players(self.groups(), missing=-1)

    def strong_components(self) -> IntArray:
        """Return the number of the strongly connected component of each rated player, shape [n_rated].

        Within a component, differences of ratings are finite; between components they are not (Ford 1957).
        """
        table = self.table()
        scored = np.concatenate([table[:, FIRST_WINS] + table[:, TIE], table[:, SECOND_WINS] + table[:, TIE]])
        winner = np.concatenate([self.first, self.second])[scored > 0]
        loser = np.concatenate([self.second, self.first])[scored > 0]
        return strong_components(winner, loser, self.n_rated)

    def identified(self) -> BoolArray:
        """Return which rated players have a determined rating, those of the largest strong component, shape [n_rated].

        No player has one if two components are equally large, or if no component has two players.
        """
        return only_largest(self.strong_components())

    def reasons(self) -> tuple[str, ...]:
        """Return why the data do not determine the rating of each of the caller's players; empty if they do."""
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
        """Return the share of each player's games won, a tie as half a win, shape [n_players]; NaN without games."""
        score, games = self._scores()
        return self.to_all_players(score / games)

    def _scores(self) -> tuple[FloatArray, FloatArray]:
        """Return the wins and half the ties, and comparisons, of each rated player, shape [n_rated]."""
        table = self.table()
        score, games = np.zeros(self.n_rated), np.zeros(self.n_rated)
        np.add.at(score, self.first, table @ np.array([1.0, 0.5, 0.0]))
        np.add.at(score, self.second, table @ np.array([0.0, 0.5, 1.0]))
        np.add.at(games, self.first, table.sum(axis=1))
        np.add.at(games, self.second, table.sum(axis=1))
        return score, games

    def anchored(self) -> BoolArray:
        """Return which rated players the data place at a finite distance from each other, shape [n_rated].

        Within each group these are the largest set of players who all score against each other, directly or through a
        chain of players (Ford 1957). In most data, these are all players.
        """
        ring = self.strong_components()
        size = np.bincount(ring)[ring] if len(ring) else np.zeros(0, dtype=np.int64)
        group = self.groups()
        anchored = np.zeros(self.n_rated, dtype=np.bool_)
        for number in range(int(group.max()) + 1 if len(group) else 0):
            members = np.flatnonzero(group == number)
            largest = ring[members[np.argmax(size[members])]]
            anchored |= ring == largest
        return anchored

    def notes(self) -> tuple[str, ...]:
        """Return the caveats on the rating of each of the caller's players; empty without any."""
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
        """Return the number of comparisons of each of the caller's players, shape [n_players]."""
        return self.to_all_players(self._scores()[1].astype(np.int64), missing=0)


def compare(left: ArrayLike, right: ArrayLike, outcome: ArrayLike, n_players: int) -> Comparisons:
    """Check comparisons and bring them into canonical form.

    Args:
        left, right: players of each comparison, numbers in 0..n_players-1, shape [n].
        outcome: 1 where left wins, 0.5 for a tie, 0 where right wins, shape [n].
        n_players: number of players; some may have no comparison.

    Raises:
        ValueError: if shapes differ, a player is out of range or meets itself, or an outcome is none of the three.
    """
    if n_players < 0:
        raise ValueError(f"n_players is {n_players}; it must be 0 or more")
    left = as_codes("left", left, below=n_players)
    right = as_codes("right", right, length=len(left), below=n_players)
    outcome = as_floats("outcome", outcome, length=len(left))
    refused = ~np.isin(outcome, (0.0, 0.5, 1.0))
    refuse("outcome", outcome, refused, "it must be 1, 0.5 or 0 (leave unparsed verdicts out of ratings)")
    refuse_itself(left, right, "player")

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

    If two players first appear in the same row, the order is decided by the winner of the row, the total score, the
    number of comparisons, and the earlier comparisons. Players equal in all of these keep the caller's order.
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


def start_note(n: float, needed: float) -> str:
    """Return the note of a player whose n comparisons are too few for Elo; `needed` is infinite if none suffices."""
    enough = f" (about {needed:,.0f} suffice)" if np.isfinite(needed) else ""
    return f"{n:,} comparisons are too few, so Elo depends on the initial rating{enough}: see Bradley-Terry"


def without_start_note(note: str) -> str:
    """Return a note of a table of ratings without the part about Elo."""
    return _START_LEFT.sub("", note).removesuffix("; ")


def not_identifiable(note: str | None) -> str:
    """Return a note for a missing number, such as `not identifiable (undefeated)`."""
    found = re.search(r"not identifiable \([a-z ]+\)", note or "")
    return found.group() if found else ""


def pair_laplacian(comparisons: Comparisons, weight: FloatArray) -> FloatArray:
    """Return the Laplacian of the graph that has `weight`, shape [n_pairs], on its pairs; shape [n_rated, n_rated]."""
    laplacian = np.zeros((comparisons.n_rated, comparisons.n_rated))
    laplacian[comparisons.first, comparisons.second] = -weight
    laplacian += laplacian.T
    np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
    return laplacian


def sparse_table(values: FloatArray, rows: IntArray, columns: IntArray, shape: tuple[int, int]) -> csr_array:
    """Return a sparse table of values by row and column, each of shape [n]; those of one place add up."""
    from scipy.sparse import coo_array

    return coo_array((values, (rows, columns)), shape=shape).tocsr()


def groups(first: IntArray, second: IntArray, n: int) -> IntArray:
    """Return the number of the group of linked players that each of `n` belongs to, shape [n].

    Args:
        first, second: players of each link, shape [n_links].
        n: number of players.
    """
    from scipy.sparse.csgraph import connected_components

    _, group = connected_components(sparse_table(np.ones(len(first)), first, second, (n, n)), directed=False)
    return np.asarray(group, dtype=np.int64)


def strong_components(winner: IntArray, loser: IntArray, n: int) -> IntArray:
    """Return the number of the strongly connected component of each of `n` players, shape [n].

    An edge leads from a player to each player against whom it scored.

    Args:
        winner, loser: players of each score, shape [n_scores].
        n: number of players.
    """
    from scipy.sparse.csgraph import connected_components

    scores = sparse_table(np.ones(len(winner)), winner, loser, (n, n))
    _, ring = connected_components(scores, directed=True, connection="strong")
    return np.asarray(ring, dtype=np.int64)


def only_largest(part: IntArray) -> BoolArray:
    """Return which players are in the only largest part, of two or more; none where two parts are equally large."""
    size = np.bincount(part, minlength=1)
    largest = np.flatnonzero((size == size.max()) & (size > 1))
    return part == largest[0] if len(largest) == 1 else np.zeros(len(part), dtype=np.bool_)


def pair_weights(tables: FloatArray) -> FloatArray:
    """Return the weight of a comparison of each pair, so that all compared pairs weigh the same; they sum to n.

    Args:
        tables: counts of first wins, ties and second wins, shape [..., n_pairs, 3].

    Returns:
        Shape [..., n_pairs]; 0 for a pair that did not meet.
    """
    met = tables.sum(axis=-1)
    share = met.sum(axis=-1, keepdims=True) / np.maximum((met > 0).sum(axis=-1, keepdims=True), 1)
    return np.asarray(np.divide(share, met, out=np.zeros(met.shape), where=met > 0), dtype=np.float64)


def equally_weighted(tables: FloatArray) -> FloatArray:
    """Return tables, shape [..., n_pairs, 3], in which every compared pair has the same weight."""
    return np.asarray(tables * pair_weights(tables)[..., np.newaxis], dtype=np.float64)


def integer_counts(table: FloatArray, total: int) -> IntArray:
    """Return whole numbers of comparisons with the shares of a table, `total` for each compared pair.

    Shares are kept to within one comparison, by the largest remainders.

    Args:
        table: counts of first wins, ties and second wins, shape [n_pairs, 3].
        total: comparisons of each pair.
    """
    met = table.sum(axis=1, keepdims=True)
    wanted = np.divide(table * total, met, out=np.zeros(table.shape), where=met > 0)
    counts = np.floor(wanted + 1e-9).astype(np.int64)
    left = np.where(met[:, 0] > 0, total - counts.sum(axis=1), 0)
    rank = np.argsort(np.argsort(counts - wanted, axis=1, kind="stable"), axis=1, kind="stable")
    return np.asarray(counts + (rank < left[:, np.newaxis]), dtype=np.int64)


def largest_pair_count(comparisons: Comparisons) -> int:
    """Return the number of comparisons of the most compared pair."""
    return int(comparisons.table().sum(axis=1).max(initial=0))


def equalised(comparisons: Comparisons) -> Comparisons:
    """Return comparisons in which every pair has as many as the most compared pair."""
    counts = integer_counts(comparisons.table(), largest_pair_count(comparisons)).ravel()
    return replace(comparisons, type_of_row=np.repeat(np.arange(N_RESULTS * comparisons.n_pairs), counts))


@dataclass(frozen=True)
class ClusterTable:
    """Counts of every comparison type within every cluster.

    Attributes:
        comparisons: what is counted.
        cluster: cluster of each comparison, shape [n].
        n_clusters: number of clusters.
        counts: comparisons by cluster and type, shape [n_clusters, n_types], dense where that is small.
    """

    comparisons: Comparisons
    cluster: IntArray
    n_clusters: int
    counts: FloatArray | csr_array

    def resample(self, cluster_weights: FloatArray) -> FloatArray:
        """Return the table of each resample, shape [R, n_pairs, 3], from cluster counts of shape [R, n_clusters]."""
        tables = cast("FloatArray", np.asarray(cluster_weights @ self.counts))
        return tables.reshape(len(cluster_weights), self.comparisons.n_pairs, N_RESULTS)

    @property
    def is_unclustered(self) -> bool:
        """Return whether every comparison is its own cluster, so that the tables of resamples are multinomial."""
        return self.n_clusters == len(self.cluster)

    def clusters_of_player(self) -> IntArray:
        """Return how many clusters each rated player has a comparison in, shape [n_rated]."""
        n = self.comparisons.n_rated
        pair = self.comparisons.type_of_row // N_RESULTS
        players = np.concatenate([self.comparisons.first[pair], self.comparisons.second[pair]])
        if self.is_unclustered:
            return np.bincount(players, minlength=n)
        met = np.sort(players * self.n_clusters + np.tile(self.cluster, 2))
        return np.bincount(met[np.diff(met, prepend=-1) > 0] // self.n_clusters, minlength=n)

    def multinomial(self, n_tables: int, rng: np.random.Generator) -> FloatArray:
        """Draw tables of resamples of single comparisons, shape [n_tables, n_pairs, 3]."""
        drawn = rng.multinomial(len(self.cluster), self._shares, size=n_tables)
        return drawn.astype(np.float64).reshape(n_tables, self.comparisons.n_pairs, N_RESULTS)

    @cached_property
    def _shares(self) -> FloatArray:
        """Return the share of each comparison type, shape [n_types]."""
        return np.asarray(self.comparisons.table().ravel() / max(len(self.cluster), 1), dtype=np.float64)

    def blocks(self, resamples: int, rng: np.random.Generator) -> Iterator[tuple[slice, FloatArray]]:
        """Draw resamples of the clusters and yield their tables, with their places, in blocks that fit in memory.

        Where every comparison is its own cluster the tables are multinomial, and are drawn as such.
        """
        widest = self.comparisons.n_types if self.is_unclustered else max(self.comparisons.n_types, self.n_clusters)
        for rows in blocks_of(resamples, widest):
            n_tables = rows.stop - rows.start
            if self.is_unclustered:
                yield rows, self.multinomial(n_tables, rng)
            else:
                yield rows, self.resample(cluster_counts(self.n_clusters, n_tables, rng))


def blocks_of(resamples: int, numbers: int) -> Iterator[slice]:
    """Yield the indices of resamples in blocks that fit in memory, given the numbers in each resample."""
    step = max(1, _NUMBERS_PER_BLOCK // max(numbers, 1))
    for begin in range(0, resamples, step):
        yield slice(begin, min(begin + step, resamples))


def cluster_table(comparisons: Comparisons, cluster: ArrayLike | None) -> ClusterTable:
    """Count comparison types by cluster; without clusters, each comparison is a cluster.

    Raises:
        ValueError: if `cluster` is not a vector with one entry per comparison.
    """
    n_rows = len(comparisons.type_of_row)
    if cluster is None:
        codes, n_clusters = np.arange(n_rows), n_rows
    else:
        codes, n_clusters = dense_codes("cluster", cluster, n_rows)
    sparse = sparse_table(np.ones(n_rows), codes, comparisons.type_of_row, (n_clusters, comparisons.n_types))
    small = n_clusters * comparisons.n_types <= _NUMBERS_PER_BLOCK
    return ClusterTable(comparisons, codes, n_clusters, sparse.toarray() if small else sparse)


def rated_in(comparisons: Comparisons, tables: FloatArray) -> BoolArray:
    """Return which players each table can rate, shape [R, n_rated].

    A resample cannot rate a player without a comparison, or one that is disconnected from the rest of its group. If a
    group falls apart, the largest part is rated.
    """
    met = tables.sum(axis=2) > 0
    rated = np.ones((len(tables), comparisons.n_rated), dtype=np.bool_)
    group = comparisons.groups()
    for row in np.flatnonzero(~met.all(axis=1)):
        part = groups(comparisons.first[met[row]], comparisons.second[met[row]], comparisons.n_rated)
        if part.max() == group.max():
            continue
        size = np.bincount(part)
        for number in range(int(group.max()) + 1):
            members = np.flatnonzero(group == number)
            largest = part[members[np.argmax(size[part[members]])]]
            rated[row, members] = (part[members] == largest) & (size[largest] > 1)
    return rated
