"""Kernel of `correlation`: Kendall's coefficients of weighted items, for many sets of weights at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialeval.stats.arrays import FloatArray, IntArray
from dialeval.stats.rated_pairs import MOST_WIDTH, Order, Pairs, blocks, bounded_ratio, rated_cells

_SIGNS_PER_BLOCK = 1_000_000
_EXACT_IN_SINGLE = 2**24


def weighted_kendall(drawn: NDArray[Any], cluster: IntArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Kendall's tau-b; arguments and result as in `weighted_pearson`."""
    cells = list(rated_cells(drawn, cluster, x, y))
    out = np.full((len(drawn), *x.shape[:2]), np.nan)
    for block in blocks(len(drawn), MOST_WIDTH):
        weights = np.ascontiguousarray(drawn[block].T)
        buffer = np.empty((x.shape[2], weights.shape[1]))
        for cell in cells:
            if not cell.same_people:
                counted = _count(cell.pairs, weights, buffer)
            out[block, cell.judge, cell.dimension] = _kendall(cell.pairs, weights, counted)
    return out


class _Counted(NamedTuple):
    """What Kendall's tau of one block of resamples takes of pairs beside S, the same for judges with the same people.

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


def _count(pairs: Pairs, weights: NDArray[Any], buffer: FloatArray) -> _Counted:
    """Counts pairs, from weights of shape [n_clusters, R]."""
    count = pairs.weigh(weights, buffer)
    total, alone = count.sum(axis=0), np.einsum("kr,kr->r", count, count)
    return _Counted(count, total, alone, total**2 - _squares(count, alone, pairs.by_y))


def _kendall(pairs: Pairs, weights: NDArray[Any], counted: _Counted) -> FloatArray:
    """Kendall's tau-b on each resample, from weights of shape [n_clusters, R]; shape [R].

    Concordant less discordant pairs, each counted twice, are w' S w, S the product of both variables' matrices of
    signs: between pairs of values or, where they are fewer, summed over what their clusters hold.
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


def _squares(count: FloatArray, alone: FloatArray, order: Order) -> FloatArray:
    """Sum of the squared weights of the distinct values, shape [R], from those of the pairs alone."""
    squares = alone.copy()
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


def _upper_signs(pairs: Pairs) -> Iterator[tuple[int, NDArray[np.int8]]]:
    """Yields blocks of rows of S with their first row, each without the columns before that row."""
    n = len(pairs.x)
    x, y = _ranks(pairs.x), _ranks(pairs.y)
    step = max(min(n // 6, _SIGNS_PER_BLOCK // n), 32)
    for begin in range(0, n, step):
        rows = slice(begin, begin + step)
        signs = _signs(x[rows, np.newaxis], x[begin:])
        signs *= _signs(y[rows, np.newaxis], y[begin:])
        yield begin, signs


def _between_clusters(pairs: Pairs, most: int) -> FloatArray:
    """S summed over the pairs of every two clusters, none of which holds more than `most` items."""
    by_cluster = pairs.of_clusters.T.tocsr().astype(np.min_scalar_type(-most - 1))  # sums of signs in narrow numbers
    n = len(pairs.x)
    x, y = _ranks(pairs.x), _ranks(pairs.y)
    by_column = np.empty((n, by_cluster.shape[0]))
    for rows in blocks(n, max(_SIGNS_PER_BLOCK // n, 32)):
        signs = _signs(x[:, np.newaxis], x[rows])
        signs *= _signs(y[:, np.newaxis], y[rows])
        by_column[rows] = (by_cluster @ signs).T
    return np.asarray(by_cluster @ by_column, dtype=np.float64)


def _ranks(values: FloatArray) -> NDArray[Any]:
    """Places of values among the distinct ones, in narrow numbers, which are compared in a fraction of the time."""
    places = np.unique(values, return_inverse=True)[1]
    return places.astype(np.min_scalar_type(len(values)))


def _signs(first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.int8]:
    """Signs of all differences."""
    signs: NDArray[np.int8] = np.greater(first, second).view(np.int8)
    signs -= np.less(first, second).view(np.int8)
    return signs
