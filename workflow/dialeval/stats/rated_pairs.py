"""Pairs of values that judges and people gave to the same items, as rank correlations count them.

Each judge and dimension is on its own, with the items that have both values, so that a judge's gaps cost little; what
judges with the same items have in common is done once. Where few pairs of values recur, items with the same pair count
as one that weighs as much as all of them. Weights are whole numbers, and so is every sum of ranks or signs: nothing is
rounded before the last ratio.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialeval.stats.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_WIDTH = 1024
"""Resamples that are counted together: wide rows, against NumPy's cost per call."""


class Order(NamedTuple):
    """Places in ascending order of their values, and the places of each value that stands at several."""

    places: list[int]
    tied: list[IntArray]


@dataclass(frozen=True)
class Pairs:
    """The pairs of values that a judge and people gave.

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
        """Whether each item is a pair of its own; they are then in the items' order."""
        return bool(self.of_clusters.nnz == len(self.x))

    def weigh(self, weights: NDArray[Any], out: FloatArray) -> FloatArray:
        """Writes the weight of each pair, from clusters' of shape [n_clusters, R]; shape [n_pairs, R]."""
        count = out[: len(self.x)]
        count[:] = weights[self.of_clusters.indices] if self.apart else self.of_clusters @ weights
        return count


class Cell(NamedTuple):
    """A judge's pairs on a dimension, and whether items and people's ratings are those of the cell before, in order."""

    judge: int
    dimension: int
    pairs: Pairs
    same_people: bool


def rated_cells(drawn: NDArray[Any], cluster: IntArray, x: FloatArray, y: FloatArray) -> Iterator[Cell]:
    """Yields each judge and dimension that have an item with both values, those with the same items in a row."""
    known = ~np.isnan(x) & ~np.isnan(y)
    for dimension in range(len(y)):
        before = b""
        with_items = np.flatnonzero(known[:, dimension].any(axis=1)).tolist()
        for pattern, judge in sorted((known[judge, dimension].tobytes(), judge) for judge in with_items):
            items = np.flatnonzero(known[judge, dimension])
            pairs = _pairs(x[judge, dimension, items], y[dimension, items], cluster[items], drawn)
            yield Cell(judge, dimension, pairs, pairs.apart and pattern == before)
            before = pattern if pairs.apart else b""


def blocks(n: int, width: int) -> Iterator[slice]:
    """Returns the parts of `n` numbers, each of `width` but for the last."""
    return (slice(begin, begin + width) for begin in range(0, n, width))


def bounded_ratio(value: FloatArray, x_spread: FloatArray, y_spread: FloatArray, divisor: FloatArray) -> FloatArray:
    """A correlation within -1 and 1, NaN where a variable does not vary."""
    out = np.full_like(value, np.nan)
    np.divide(value, divisor, out=out, where=(x_spread > 0.0) & (y_spread > 0.0))
    return np.clip(out, -1.0, 1.0)


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


def _order(values: FloatArray) -> Order:
    """The order of values."""
    places = np.argsort(values, kind="stable")
    bounds = np.append(np.flatnonzero(_changes(values[places])), len(places))
    several = np.flatnonzero(np.diff(bounds) > 1)
    return Order(places.tolist(), [places[bounds[level] : bounds[level + 1]] for level in several.tolist()])


def _changes(ordered: FloatArray) -> NDArray[np.bool_]:
    """Whether a value differs from the one before it; the first does."""
    changed = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=changed[1:])
    return changed
