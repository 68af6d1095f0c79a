"""Kendall's and Spearman's rank correlation for many sets of weights at once.

A resample is a column of an array. Buffers are shared by all judges, since allocating fresh memory of this size takes
longer than the sums.

Each judge and dimension uses the items that have both values. Judges with the same items share what depends only on
the human ratings. If few distinct pairs of values occur, items with the same pair are merged and their weights added.
Weights are whole numbers, and so are all sums of ranks or signs: only the last ratio is rounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialeval.stats.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_SIGNS_PER_BLOCK = 1_000_000
_EXACT_IN_SINGLE = 2**24
_NUMBERS_PER_BUFFER = 2_000_000
_LEAST_WIDTH = 128  # of a row, against NumPy's cost per call
MOST_WIDTH = 1024
"""Number of resamples that are counted together; wide rows reduce the overhead of NumPy's calls."""


def weighted_kendall(drawn: NDArray[Any], cluster: IntArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return Kendall's tau-b; arguments and result as in `weighted_pearson`."""
    cells = list(rated_cells(drawn, cluster, x, y))
    out = np.full((len(drawn), *x.shape[:2]), np.nan)
    for block in blocks(len(drawn), MOST_WIDTH):
        weights = np.ascontiguousarray(drawn[block].T)
        buffer = np.empty((x.shape[2], weights.shape[1]))
        for cell in cells:
            if not cell.same_ratings:
                counted = _count(cell.pairs, weights, buffer)
            out[block, cell.judge, cell.dimension] = _kendall(cell.pairs, weights, counted)
    return out


def _count(pairs: Pairs, weights: NDArray[Any], buffer: FloatArray) -> _Counted:
    """Count pairs, from weights of shape [n_clusters, R]."""
    count = pairs.weigh(weights, buffer)
    total, alone = count.sum(axis=0), np.einsum("kr,kr->r", count, count)
    return _Counted(count, total, alone, total**2 - _squares(count, alone, pairs.by_y))


class _Counted(NamedTuple):
    """Terms of Kendall's tau besides S for one block of resamples, shared by judges with the same ratings.

    Attributes:
        weight: of each pair, shape [n_pairs, R].
        total: weight of all pairs, shape [R].
        alone: sum of the squared weights, shape [R].
        y_untied: twice the weight of two items that people rated apart, shape [R].
    """

    weight: FloatArray
    total: FloatArray
    alone: FloatArray
    y_untied: FloatArray


def _squares(count: FloatArray, alone: FloatArray, order: Order) -> FloatArray:
    """Return the sum of the squared weights of the distinct values, shape [R], from those of the pairs alone."""
    squares = alone.copy()
    for level in order.tied:
        members = count[level]
        squares += members.sum(axis=0) ** 2 - np.einsum("kr,kr->r", members, members)
    return squares


def _kendall(pairs: Pairs, weights: NDArray[Any], counted: _Counted) -> FloatArray:
    """Return Kendall's tau-b on each resample, from weights of shape [n_clusters, R]; shape [R].

    Concordant minus discordant pairs, each counted twice, are w' S w, with S the elementwise product of both variables'
    matrices of signs. The rows of S are pairs of values, or clusters if these are fewer.
    """
    count, total, alone, y_untied = counted
    x_untied = total**2 - _squares(count, alone, pairs.by_x)
    n_pairs, n_clusters = pairs.of_clusters.shape
    if n_pairs <= n_clusters:
        balance = _quadratic_form(_upper_signs(pairs), count, 2.0 * total.max())
    else:
        most = int(pairs.of_clusters.sum(axis=0).max())
        between = iter([(0, _between_clusters(pairs, most))])
        balance = _quadratic_form(between, weights.astype(np.float64), 2.0 * total.max() * most)
    return bounded_ratio(balance, x_untied, y_untied, np.sqrt(x_untied) * np.sqrt(y_untied))


def _quadratic_form(upper: Iterator[tuple[int, NDArray[Any]]], weights: FloatArray, largest: float) -> FloatArray:
    """Return w' S w of a symmetric S, for each column of weights.

    Args:
        upper: blocks of rows of S with their first row, as `_upper_signs` gives them.
        weights: shape [n, R].
        largest: what no entry of 2 S w exceeds; single precision is exact, and twice as fast, while that is small.
    """
    precision = np.float32 if largest < _EXACT_IN_SINGLE else np.float64
    form = np.zeros(weights.shape[1])
    exact: NDArray[Any] = weights.astype(precision)
    for begin, block in upper:
        scaled: NDArray[Any] = block.astype(precision)
        scaled[:, len(block) :] *= 2.0
        form += np.einsum("kr,kr->r", scaled @ exact[begin:], weights[begin : begin + len(block)])
    return form


def _upper_signs(pairs: Pairs) -> Iterator[tuple[int, NDArray[np.int8]]]:
    """Yield blocks of rows of S with their first row, each without the columns before that row."""
    n = len(pairs.x)
    x, y = _ranks(pairs.x), _ranks(pairs.y)
    step = max(min(n // 6, _SIGNS_PER_BLOCK // n), 32)
    for begin in range(0, n, step):
        rows = slice(begin, begin + step)
        signs = _signs(x[rows, np.newaxis], x[begin:])
        signs *= _signs(y[rows, np.newaxis], y[begin:])
        yield begin, signs


def _ranks(values: FloatArray) -> NDArray[Any]:
    """Places of values among the distinct ones, in narrow numbers, which are compared in a fraction of the time."""
    places = np.unique(values, return_inverse=True)[1]
    return places.astype(np.min_scalar_type(len(values)))


def _signs(first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.int8]:
    """Return the signs of all differences."""
    signs: NDArray[np.int8] = np.greater(first, second).view(np.int8)
    signs -= np.less(first, second).view(np.int8)
    return signs


def _between_clusters(pairs: Pairs, most: int) -> FloatArray:
    """Return S summed over the pairs of every two clusters, each with at most `most` items."""
    by_cluster = pairs.of_clusters.T.tocsr().astype(np.min_scalar_type(-most - 1))  # sums of signs in narrow numbers
    n = len(pairs.x)
    x, y = _ranks(pairs.x), _ranks(pairs.y)
    by_column = np.empty((n, by_cluster.shape[0]))
    for rows in blocks(n, max(_SIGNS_PER_BLOCK // n, 32)):
        signs = _signs(x[:, np.newaxis], x[rows])
        signs *= _signs(y[:, np.newaxis], y[rows])
        by_column[rows] = (by_cluster @ signs).T
    return np.asarray(by_cluster @ by_column, dtype=np.float64)


def weighted_spearman(drawn: NDArray[Any], cluster: IntArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the Spearman correlations, Pearson's of mid-ranks; arguments and result as in `weighted_pearson`."""
    n = x.shape[2]
    cells = list(rated_cells(drawn, cluster, x, y))
    out = np.full((len(drawn), *x.shape[:2]), np.nan)
    for block in blocks(len(drawn), min(max(_NUMBERS_PER_BUFFER // max(n, 1), _LEAST_WIDTH), MOST_WIDTH)):
        weights = np.ascontiguousarray(drawn[block].T)
        buffers = np.empty((3, n, weights.shape[1]))
        work = _RankBuffers(weights, buffers, [list(buffer) for buffer in buffers[:2]])
        for cell in cells:
            if not cell.same_ratings:
                work.set_ratings(cell.pairs)
            out[block, cell.judge, cell.dimension] = work.spearman(cell.pairs)
    return out


class _RankBuffers:
    """Buffers for Spearman's correlations of one block of resamples.

    Ranks are stored as 2 rank - 1: these are whole numbers with the mean N, the weight of all items.

    Args:
        weights: of the clusters, shape [n_clusters, R].
        buffers: room for the weights, ranks, and weighted ranks of human ratings, shape [3, n_pairs or more, R].
        rows: the rows of the first two.
    """

    def __init__(self, weights: NDArray[Any], buffers: FloatArray, rows: Sequence[Sequence[FloatArray]]) -> None:
        self._weights = weights
        self._buffers = buffers
        self._rows = rows
        self._cubed = self._untied = self._own = self._y_spread = np.empty(0)

    def set_ratings(self, pairs: Pairs) -> None:
        """Rank the human ratings of these pairs, for every judge with the same pairs until the next call."""
        count = pairs.weigh(self._weights, self._buffers[0])
        ranks, weighted = self._buffers[1:, : len(count)]
        self._cubed = count.sum(axis=0) ** 3
        self._untied = self._cubed - np.einsum("kr,kr,kr->r", count, count, count)
        self._write_ranks(count, ranks, pairs.by_y)
        np.multiply(count, ranks, out=weighted)
        self._own = np.einsum("kr,kr->r", count, weighted)
        self._y_spread = self._spread(np.einsum("kr,kr->r", weighted, ranks))

    def spearman(self, pairs: Pairs) -> FloatArray:
        """Return the Spearman correlation on each resample with the ratings of `set_ratings`, shape [R]."""
        count, ranks, weighted = self._buffers[:, : len(pairs.x)]
        if pairs.by_x.tied:
            self._write_ranks(count, ranks, pairs.by_x)
            x_spread = self._spread(np.einsum("kr,kr,kr->r", count, ranks, ranks))
            cross = self._spread(np.einsum("kr,kr->r", weighted, ranks))
        else:  # the same of running sums, without a look at each rank
            self._write_running_sums(pairs.by_x)
            x_spread = self._untied
            cross = self._spread(2.0 * np.einsum("kr,kr->r", weighted, ranks) - self._own)
        return bounded_ratio(cross, x_spread, self._y_spread, np.sqrt(x_spread * self._y_spread))

    def _spread(self, sum_of_products: FloatArray) -> FloatArray:
        """Three times the weighted products of doubled ranks' deviations; N^3 less the cubed weights of the levels."""
        return 3.0 * (sum_of_products - self._cubed)

    def _write_ranks(self, count: FloatArray, ranks: FloatArray, order: Order) -> None:
        """Write doubled ranks, the weight before a value and up to it, of pairs with weights `count`."""
        self._write_running_sums(order)
        ranks *= 2.0
        ranks -= count
        for level in order.tied:
            first, last = level[0], level[-1]
            ranks[level] = 0.5 * ((ranks[first] - count[first]) + (ranks[last] + count[last]))

    def _write_running_sums(self, order: Order) -> None:
        """Write the weight up to each pair where ranks belong."""
        count, ranks = self._rows
        reached = np.zeros_like(count[0])
        for place in order.places:  # on wide rows several times faster than NumPy's running sum
            reached = np.add(reached, count[place], out=ranks[place])


def rated_cells(drawn: NDArray[Any], cluster: IntArray, x: FloatArray, y: FloatArray) -> Iterator[Cell]:
    """Yield each judge and dimension with an item that has both values; those with the same items are consecutive."""
    known = ~np.isnan(x) & ~np.isnan(y)
    for dimension in range(len(y)):
        before = b""
        with_items = np.flatnonzero(known[:, dimension].any(axis=1)).tolist()
        for pattern, judge in sorted((known[judge, dimension].tobytes(), judge) for judge in with_items):
            items = np.flatnonzero(known[judge, dimension])
            pairs = _pairs(x[judge, dimension, items], y[dimension, items], cluster[items], drawn)
            yield Cell(judge, dimension, pairs, pairs.apart and pattern == before)
            before = pattern if pairs.apart else b""


class Cell(NamedTuple):
    """A judge's pairs on a dimension, and whether items and human ratings are those of the cell before, in order."""

    judge: int
    dimension: int
    pairs: Pairs
    same_ratings: bool


@dataclass(frozen=True)
class Pairs:
    """Pairs of a judge's score and a human rating.

    Attributes:
        of_clusters: how many items of each cluster have the pair, in the type of the weights, shape
            [n_pairs, n_clusters].
        x, y: the values, shape [n_pairs].
        by_x, by_y: the pairs' order by either value.
    """

    of_clusters: csr_array
    x: FloatArray
    y: FloatArray
    by_x: Order
    by_y: Order

    @property
    def apart(self) -> bool:
        """Return whether each item is a pair of its own; they are then in the items' order."""
        return bool(self.of_clusters.nnz == len(self.x))

    def weigh(self, weights: NDArray[Any], out: FloatArray) -> FloatArray:
        """Write the weight of each pair, from clusters' of shape [n_clusters, R]; shape [n_pairs, R]."""
        count = out[: len(self.x)]
        count[:] = weights[self.of_clusters.indices] if self.apart else self.of_clusters @ weights
        return count


class Order(NamedTuple):
    """Positions in ascending order of their values, and the positions of tied values."""

    places: list[int]
    tied: list[IntArray]


def _pairs(x: FloatArray, y: FloatArray, cluster: IntArray, drawn: NDArray[Any]) -> Pairs:
    """Pairs of x and y, both of shape [n]; the distinct ones where these are half as many as items, or fewer."""
    order = np.lexsort((y, x))
    starts = np.flatnonzero(_changes(x[order]) | _changes(y[order]))
    if 2 * len(starts) > len(x):
        order = starts = np.arange(len(x))
    x, y, cluster = x[order], y[order], cluster[order]
    from scipy.sparse import csr_array  # takes long to load, and only ranks need it

    shape = (len(starts), drawn.shape[1])
    of_clusters = csr_array((np.ones(len(x), dtype=drawn.dtype), cluster, np.append(starts, len(x))), shape=shape)
    x, y = x[starts], y[starts]
    return Pairs(of_clusters, x, y, *(_order(values) for values in (x, y)))


def _changes(ordered: FloatArray) -> NDArray[np.bool_]:
    """Return whether a value differs from the one before it; the first does."""
    changed = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=changed[1:])
    return changed


def _order(values: FloatArray) -> Order:
    """Return the order of values."""
    places = np.argsort(values, kind="stable")
    bounds = np.append(np.flatnonzero(_changes(values[places])), len(places))
    several = np.flatnonzero(np.diff(bounds) > 1)
    return Order(places.tolist(), [places[bounds[level] : bounds[level + 1]] for level in several.tolist()])


def blocks(n: int, width: int) -> Iterator[slice]:
    """Return the parts of `n` numbers, each of `width` but for the last."""
    return (slice(begin, begin + width) for begin in range(0, n, width))


def bounded_ratio(value: FloatArray, x_spread: FloatArray, y_spread: FloatArray, divisor: FloatArray) -> FloatArray:
    """Return a correlation within -1 and 1, NaN where a variable does not vary."""
    out = np.full_like(value, np.nan)
    np.divide(value, divisor, out=out, where=(x_spread > 0.0) & (y_spread > 0.0))
    return np.clip(out, -1.0, 1.0)
