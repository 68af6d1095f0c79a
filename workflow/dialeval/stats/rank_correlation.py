"""Kernels of `correlation`: Spearman's and Kendall's coefficients of weighted items, for many sets of weights at once.

Each judge and dimension is on its own, with the items that have both values, so that a judge's gaps cost nothing.
Where few pairs of values recur, items with the same pair count as one that weighs as much as all of them. Weights are
whole numbers, and so is every sum here: nothing is rounded before the last ratio.

What a resample needs lies in a column; the work is done in buffers that all judges share, row by row: fresh memory of
that size costs the system more than the sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from dialeval.stats.arrays import FloatArray, IntArray

_NUMBERS_PER_BUFFER = 2_000_000
_LEAST_WIDTH, _MOST_WIDTH = 128, 1024  # of a row, against NumPy's cost per call
_SIGNS_PER_BLOCK = 1_000_000
_EXACT_IN_SINGLE = 2**24


class _Order(NamedTuple):
    """Places in ascending order of their values, and the places of each value that stands at several."""

    places: list[int]
    tied: list[IntArray]


@dataclass(frozen=True)
class _Pairs:
    """The pairs of values that a judge and people gave, in ascending order of the judge's.

    Attributes:
        of_clusters: how many items of each cluster have the pair, shape [n_pairs, n_clusters].
        x, y: the values, shape [n_pairs].
        by_x, by_y: the pairs' order by either value.
    """

    of_clusters: csr_array
    x: FloatArray
    y: FloatArray
    by_x: _Order
    by_y: _Order

    def weigh(self, weights: FloatArray, out: FloatArray) -> FloatArray:
        """Writes the weight of each pair, from clusters' of shape [n_clusters, R]; shape [n_pairs, R]."""
        count = out[: len(self.x)]
        if self.of_clusters.nnz == len(count):
            weights.take(self.of_clusters.indices, axis=0, out=count, mode="clip")
        else:
            count[:] = self.of_clusters @ weights
        return count


def weighted_spearman(drawn: FloatArray, cluster: IntArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Spearman correlations, Pearson's of mid-ranks; arguments and result as in `weighted_pearson`."""
    n = x.shape[2]
    cells = list(_cells(drawn.shape[1], cluster, x, y))
    out = np.full((len(drawn), *x.shape[:2]), np.nan)
    for block in _blocks(len(drawn), min(max(_NUMBERS_PER_BUFFER // max(n, 1), _LEAST_WIDTH), _MOST_WIDTH)):
        weights = np.ascontiguousarray(drawn[block].T)
        buffers = np.empty((3, n, weights.shape[1]))
        rows = [list(buffer) for buffer in buffers]
        for judge, dimension, pairs in cells:
            out[block, judge, dimension] = _spearman(pairs, weights, buffers, rows)
    return out


def weighted_kendall(drawn: FloatArray, cluster: IntArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Kendall's tau-b; arguments and result as in `weighted_pearson`."""
    cells = list(_cells(drawn.shape[1], cluster, x, y))
    out = np.full((len(drawn), *x.shape[:2]), np.nan)
    for block in _blocks(len(drawn), _MOST_WIDTH):
        weights = np.ascontiguousarray(drawn[block].T)
        buffer = np.empty((x.shape[2], weights.shape[1]))
        for judge, dimension, pairs in cells:
            out[block, judge, dimension] = _kendall(pairs, weights, buffer)
    return out


def _blocks(n: int, width: int) -> Iterator[slice]:
    return (slice(begin, begin + width) for begin in range(0, n, width))


def _cells(
    n_clusters: int, cluster: IntArray, x: FloatArray, y: FloatArray
) -> Iterator[tuple[np.intp, np.intp, _Pairs]]:
    """Yields each judge and dimension that have an item with both values."""
    known = ~np.isnan(x) & ~np.isnan(y)
    for judge, dimension in zip(*np.nonzero(known.any(axis=2)), strict=True):
        items = np.flatnonzero(known[judge, dimension])
        yield judge, dimension, _pairs(x[judge, dimension, items], y[dimension, items], cluster[items], n_clusters)


def _pairs(x: FloatArray, y: FloatArray, cluster: IntArray, n_clusters: int) -> _Pairs:
    """Pairs of x and y, both of shape [n]; the distinct ones where these are half as many as items, or fewer."""
    order = np.lexsort((y, x))
    x, y, cluster = x[order], y[order], cluster[order]
    starts = np.flatnonzero(_changes(x) | _changes(y))
    if 2 * len(starts) > len(x):
        starts = np.arange(len(x))
    shape = (len(starts), n_clusters)
    of_clusters = csr_array((np.ones(len(x)), cluster, np.append(starts, len(x))), shape=shape)
    x, y = x[starts], y[starts]
    return _Pairs(of_clusters, x, y, _order(x, np.arange(len(x))), _order(y, np.argsort(y, kind="stable")))


def _order(values: FloatArray, places: IntArray) -> _Order:
    """The order of values, from their places in it."""
    bounds = np.append(np.flatnonzero(_changes(values[places])), len(places))
    several = np.flatnonzero(np.diff(bounds) > 1)
    return _Order(places.tolist(), [places[bounds[level] : bounds[level + 1]] for level in several.tolist()])


def _changes(ordered: FloatArray) -> NDArray[np.bool_]:
    """Whether a value differs from the one before it; the first does."""
    changed = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=changed[1:])
    return changed


def _spearman(
    pairs: _Pairs, weights: FloatArray, buffers: FloatArray, rows: Sequence[Sequence[FloatArray]]
) -> FloatArray:
    """Spearman correlation on each resample, from weights of shape [n_clusters, R]; shape [R].

    Ranks are doubled, less one: they average N, and are whole numbers.

    Args:
        pairs: the values.
        weights: of the clusters, shape [n_clusters, R].
        buffers: room for three numbers of each pair and resample, shape [3, n_pairs or more, R].
        rows: the rows of each of them.
    """
    count = pairs.weigh(weights, buffers[0])
    ranks, weighted = buffers[1:, : len(count)]
    cubed = count.sum(axis=0) ** 3
    _write_ranks(count, ranks, pairs.by_y, rows)
    np.multiply(count, ranks, out=weighted)
    y_spread = 3.0 * (np.einsum("kr,kr->r", weighted, ranks) - cubed)
    _write_ranks(count, ranks, pairs.by_x, rows)
    x_spread = 3.0 * (np.einsum("kr,kr,kr->r", count, ranks, ranks) - cubed)
    cross = 3.0 * (np.einsum("kr,kr->r", weighted, ranks) - cubed)
    return _ratio(cross, x_spread, y_spread, np.sqrt(x_spread * y_spread))


def _write_ranks(count: FloatArray, ranks: FloatArray, order: _Order, rows: Sequence[Sequence[FloatArray]]) -> None:
    """Writes doubled ranks, the weight before a value and up to it, of pairs with weights `count`."""
    of_count, of_ranks, _ = rows
    reached = np.zeros_like(count[0])
    for place in order.places:  # on wide rows several times faster than NumPy's running sum
        reached = np.add(reached, of_count[place], out=of_ranks[place])
    ranks *= 2.0
    ranks -= count
    for level in order.tied:
        first, last = level[0], level[-1]
        ranks[level] = 0.5 * ((ranks[first] - count[first]) + (ranks[last] + count[last]))


def _kendall(pairs: _Pairs, weights: FloatArray, buffer: FloatArray) -> FloatArray:
    """Kendall's tau-b on each resample, from weights of shape [n_clusters, R]; shape [R].

    Concordant less discordant pairs, each counted twice, are w' S w, S the product of both variables' matrices of
    signs: between pairs of values or, where they are fewer, summed over what their clusters hold.
    """
    count = pairs.weigh(weights, buffer)
    total = count.sum(axis=0)
    x_untied, y_untied = (total**2 - _squares(count, order) for order in (pairs.by_x, pairs.by_y))
    n_pairs, n_clusters = pairs.of_clusters.shape
    if n_pairs <= n_clusters:
        balance = _quadratic_form(_upper_signs(pairs), count, 2.0 * total.max())
    else:
        most_at_once = pairs.of_clusters.sum(axis=0).max()
        balance = _quadratic_form(_between_clusters(pairs), weights, 2.0 * total.max() * most_at_once)
    return _ratio(balance, x_untied, y_untied, np.sqrt(x_untied) * np.sqrt(y_untied))


def _squares(count: FloatArray, order: _Order) -> FloatArray:
    """Sum of the squared weights of the distinct values, shape [R]."""
    squares: FloatArray = np.einsum("kr,kr->r", count, count)
    for level in order.tied:
        members = count[level]
        squares += members.sum(axis=0) ** 2 - np.einsum("kr,kr->r", members, members)
    return squares


def _quadratic_form(upper: Iterator[tuple[int, NDArray[Any]]], weights: FloatArray, largest: float) -> FloatArray:
    """w' S w of a symmetric S, for each column of weights.

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


def _upper_signs(pairs: _Pairs) -> Iterator[tuple[int, NDArray[np.int8]]]:
    """Yields blocks of rows of S with their first row, each without the columns before that row."""
    n = len(pairs.x)
    step = max(min(n // 6, _SIGNS_PER_BLOCK // n), 32)
    for begin in range(0, n, step):
        rows = slice(begin, begin + step)
        signs = _signs(pairs.x[rows, np.newaxis], pairs.x[begin:])
        signs *= _signs(pairs.y[rows, np.newaxis], pairs.y[begin:])
        yield begin, signs


def _between_clusters(pairs: _Pairs) -> Iterator[tuple[int, FloatArray]]:
    """Yields S summed over the pairs of every two clusters, as one block."""
    by_column = np.empty(pairs.of_clusters.shape)
    for begin, signs in _upper_signs(pairs):
        block = signs.astype(np.float64)
        block[:, len(block) :] *= 2.0
        by_column[begin : begin + len(block)] = (pairs.of_clusters[begin:].T @ block.T).T
    yield 0, pairs.of_clusters.T @ by_column


def _signs(first: FloatArray, second: FloatArray) -> NDArray[np.int8]:
    """Signs of all differences."""
    signs = np.greater(first, second).view(np.int8)
    signs -= np.less(first, second).view(np.int8)
    return signs


def _ratio(value: FloatArray, x_spread: FloatArray, y_spread: FloatArray, divisor: FloatArray) -> FloatArray:
    """A correlation within -1 and 1, NaN where a variable does not vary."""
    out = np.full_like(value, np.nan)
    np.divide(value, divisor, out=out, where=(x_spread > 0.0) & (y_spread > 0.0))
    return np.clip(out, -1.0, 1.0)
