"""Kernel of `correlation`: Spearman's coefficients of weighted items, for many sets of weights at once.

What a resample needs lies in a column; the work is done in buffers that all judges share, row by row: fresh memory of
that size costs the system more than the sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialeval.stats.arrays import FloatArray, IntArray
from dialeval.stats.rated_pairs import MOST_WIDTH, Order, Pairs, blocks, bounded_ratio, rated_cells

_NUMBERS_PER_BUFFER = 2_000_000
_LEAST_WIDTH = 128  # of a row, against NumPy's cost per call


def weighted_spearman(drawn: NDArray[Any], cluster: IntArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Spearman correlations, Pearson's of mid-ranks; arguments and result as in `weighted_pearson`."""
    n = x.shape[2]
    cells = list(rated_cells(drawn, cluster, x, y))
    out = np.full((len(drawn), *x.shape[:2]), np.nan)
    for block in blocks(len(drawn), min(max(_NUMBERS_PER_BUFFER // max(n, 1), _LEAST_WIDTH), MOST_WIDTH)):
        weights = np.ascontiguousarray(drawn[block].T)
        buffers = np.empty((3, n, weights.shape[1]))
        work = _RankWork(weights, buffers, [list(buffer) for buffer in buffers[:2]])
        for cell in cells:
            if not cell.same_people:
                work.take_people(cell.pairs)
            out[block, cell.judge, cell.dimension] = work.spearman(cell.pairs)
    return out


class _RankWork:
    """What Spearman's correlations of one block of resamples are made in.

    Ranks are doubled, less one: they average N, the weight of all items, and are whole numbers.

    Args:
        weights: of the clusters, shape [n_clusters, R].
        buffers: room for the weights, ranks, and weighted ranks of people's ratings, shape [3, n_pairs or more, R].
        rows: the rows of the first two.
    """

    def __init__(self, weights: NDArray[Any], buffers: FloatArray, rows: Sequence[Sequence[FloatArray]]) -> None:
        self._weights = weights
        self._buffers = buffers
        self._rows = rows
        self._cubed = self._untied = self._own = self._y_spread = np.empty(0)

    def take_people(self, pairs: Pairs) -> None:
        """Ranks people's ratings of these pairs, for every judge that has the same until the next call."""
        count = pairs.weigh(self._weights, self._buffers[0])
        ranks, weighted = self._buffers[1:, : len(count)]
        self._cubed = count.sum(axis=0) ** 3
        self._untied = self._cubed - np.einsum("kr,kr,kr->r", count, count, count)
        self._write_ranks(count, ranks, pairs.by_y)
        np.multiply(count, ranks, out=weighted)
        self._own = np.einsum("kr,kr->r", count, weighted)
        self._y_spread = self._spread(np.einsum("kr,kr->r", weighted, ranks))

    def spearman(self, pairs: Pairs) -> FloatArray:
        """Spearman correlation on each resample, with the ratings that were taken; shape [R]."""
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
        """Writes doubled ranks, the weight before a value and up to it, of pairs with weights `count`."""
        self._write_running_sums(order)
        ranks *= 2.0
        ranks -= count
        for level in order.tied:
            first, last = level[0], level[-1]
            ranks[level] = 0.5 * ((ranks[first] - count[first]) + (ranks[last] + count[last]))

    def _write_running_sums(self, order: Order) -> None:
        """Writes the weight up to each pair where ranks belong."""
        count, ranks = self._rows
        reached = np.zeros_like(count[0])
        for place in order.places:  # on wide rows several times faster than NumPy's running sum
            reached = np.add(reached, count[place], out=ranks[place])
