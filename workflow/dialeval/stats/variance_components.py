"""Variances of raters, of item by rater and of repeats, for any pattern of ratings, on many resamples at once.

Ratings are x = item + rater + (item by rater) + repeat, all random. The components are Henderson's first method
(Henderson 1953): sums of squares are set to what they are expected to be. On a resample the expectations count an item
that was drawn twice as the same item, so that they are right on every resample.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dialeval.stats.arrays import FloatArray, IntArray

ROUNDING = 1e-12


class RatingSums:
    """Sums over the clusters of items, from which every resample follows by weighing clusters.

    Weights have shape [R, n_clusters] throughout, and what is returned [R]. Items are drawn with their clusters, so a
    sum over items is linear in the weights; a square of such a sum, such as that of all ratings of a rater, holds the
    square of an item's weight.
    """

    def __init__(
        self, value: FloatArray, item: IntArray, rater: IntArray, cluster: IntArray, n_clusters: int, crossed: bool
    ) -> None:
        self.crossed = crossed
        pairs = item * (int(rater.max()) + 1) + rater
        _, first, cell, counts = np.unique(pairs, return_index=True, return_inverse=True, return_counts=True)
        in_cell = counts.astype(np.float64)
        of_item, of_rater = item[first], rater[first]  # of each cell: of one item and one rater
        n_items, n_raters = len(cluster), int(rater.max()) + 1
        sum_of_cell = _count(cell, value)
        n = _count(item, minlength=n_items)
        total = _count(item, value, minlength=n_items)
        cells = _count(of_item, minlength=n_items)
        squared_cells = _count(of_item, in_cell**2, minlength=n_items)  # of an item: sum of n_ir^2
        self.rated = n > 0
        rated = np.maximum(n, 1.0)
        # Of an item's mean, in which each rater counts once however often.
        mean = _count(of_item, sum_of_cell / in_cell, minlength=n_items) / np.maximum(cells, 1.0)
        share = 1.0 / np.maximum(cells, 1.0)

        def by_cluster(numbers: FloatArray) -> FloatArray:
            return _count(cluster, np.where(self.rated, numbers, 0.0), minlength=n_clusters)

        self.squares = by_cluster(_count(item, value**2, minlength=n_items))
        self.squares_of_cells = by_cluster(_count(of_item, sum_of_cell**2 / in_cell, minlength=n_items))
        self.squares_of_items = by_cluster(total**2 / rated)
        self.n, self.total = by_cluster(n), by_cluster(total)
        self.n_cells, self.n_items = by_cluster(cells), by_cluster(np.ones(n_items))
        self.rater_in_item = by_cluster(squared_cells / rated)
        self.n_squared, self.cells_squared = by_cluster(n**2), by_cluster(squared_cells)
        self.mean, self.mean_squared = by_cluster(mean), by_cluster(mean**2)
        self.share = by_cluster(share)
        self.repeated_share = by_cluster(_count(of_item, 1.0 / in_cell, minlength=n_items) * share**2)
        self.has_repeats = bool((in_cell > 1).any())
        self.has_raters = bool((cells > 1).any())
        if crossed:
            at = cluster[of_item] * n_raters + of_rater

            def by_rater(numbers: FloatArray) -> FloatArray:
                return _count(at, numbers, minlength=n_clusters * n_raters).reshape(n_clusters, n_raters)

            self.n_of_rater, self.sum_of_rater = by_rater(in_cell), by_rater(sum_of_cell)
            self.squares_of_rater = by_rater(in_cell**2)
            self.share_of_rater = by_rater(share[of_item])

    def raters_mean(self, weights: FloatArray) -> FloatArray:
        """Mean over items of one over their number of raters."""
        return _ratio(weights @ self.share, weights @ self.n_items)

    def spread(self, weights: FloatArray, n_clusters: int) -> FloatArray:
        """Variance of the items' means; that of resamples, which is too small by 1 - 1/K, brought to its level."""
        n = weights @ self.n_items
        with np.errstate(invalid="ignore", divide="ignore"):
            plain = weights @ self.mean_squared / n - (weights @ self.mean / n) ** 2
        items = n[0] / (n[0] - 1.0)
        scale = np.full(len(weights), items * n_clusters / max(n_clusters - 1.0, 1.0))
        scale[0] = items
        spread = scale * plain
        return np.asarray(np.where(spread > ROUNDING * max(float(self.squares.sum()), 1e-300), spread, 0.0))

    def noise(self, weights: FloatArray, errors: FloatArray) -> FloatArray:
        """Variance of the items' means that is not the items'."""
        n = np.maximum(weights @ self.n_items, 1.0)
        shared = np.zeros(len(weights))
        if self.crossed:
            # As far as items have the same raters, their harshness moves all means alike.
            common = ((weights @ self.share_of_rater / n[:, np.newaxis]) ** 2).sum(axis=1)
            shared = (self.raters_mean(weights) - common) * n / np.maximum(n - 1.0, 1.0)
        rater, pair, repeat = errors
        return np.asarray(
            rater * shared + pair * self.raters_mean(weights) + repeat * (weights @ self.repeated_share) / n
        )

    def errors(self, weights: FloatArray) -> FloatArray:
        """Variances of rater, item by rater, and repeat, shape [3, R]; NaN where a resample cannot tell them."""
        n, n_cells, n_items = np.maximum(weights @ self.n, 1.0), weights @ self.n_cells, weights @ self.n_items
        in_item = weights @ self.rater_in_item
        nothing = np.zeros(len(weights))
        within = weights @ (self.squares - self.squares_of_cells)
        repeat = _ratio(within, n - n_cells) if self.has_repeats else nothing
        between_cells = weights @ (self.squares_of_cells - self.squares_of_items) - repeat * (n_cells - n_items)
        if not self.has_raters:
            return np.array([nothing, nothing, repeat])
        if not self.crossed:
            return np.array([nothing, _ratio(between_cells, n - in_item), repeat])
        rater, pair = self._of_raters_told_apart(weights, between_cells, repeat)
        return np.array([rater, pair, repeat])

    def _of_raters_told_apart(
        self, weights: FloatArray, between_cells: FloatArray, repeat: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Variances of rater and of item by rater, from the squares of cells, items and raters about what holds them.

        Unknown are item, rater, and item by rater; `repeat` is known, and taken out on the right side.
        """
        n, n_items, in_item = np.maximum(weights @ self.n, 1.0), weights @ self.n_items, weights @ self.rater_in_item
        nothing, twice = np.zeros(len(weights)), weights**2
        n_of_rater = weights @ self.n_of_rater
        per_rater = 1.0 / np.where(n_of_rater > 0.0, n_of_rater, np.inf)
        of_raters = ((weights @ self.sum_of_rater) ** 2 * per_rater).sum(axis=1)
        item_in_rater = (twice @ self.squares_of_rater * per_rater).sum(axis=1)
        repeat_in_rater = (twice @ self.n_of_rater * per_rater).sum(axis=1)
        of_all = (weights @ self.total) ** 2 / n
        item_in_all, pair_in_all = twice @ self.n_squared / n, twice @ self.cells_squared / n
        rater_in_all, repeat_in_all = (n_of_rater**2).sum(axis=1) / n, twice @ self.n / n
        system = np.array(
            [
                [nothing, n - in_item, n - in_item],
                [n - item_in_all, in_item - rater_in_all, in_item - pair_in_all],
                [item_in_rater - item_in_all, n - rater_in_all, item_in_rater - pair_in_all],
            ]
        )
        squares = np.array(
            [
                between_cells,
                weights @ self.squares_of_items - of_all - repeat * (n_items - repeat_in_all),
                of_raters - of_all - repeat * (repeat_in_rater - repeat_in_all),
            ]
        )
        found = _solve(np.moveaxis(system, 2, 0), squares.T)
        return found[:, 1], found[:, 2]


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    return np.asarray(np.divide(above, below, out=np.full(len(above), np.nan), where=below > ROUNDING))


def _solve(system: FloatArray, right: FloatArray) -> FloatArray:
    """Solves small systems, shapes [R, 3, 3] and [R, 3]; NaN where one has no single solution."""
    size = np.linalg.norm(system, axis=2).prod(axis=1)
    sound = np.abs(np.linalg.det(system)) > 1e-9 * size
    found = np.full(right.shape, np.nan)
    if sound.any():
        found[sound] = np.linalg.solve(system[sound], right[sound, :, np.newaxis])[:, :, 0]
    return found


def _count(codes: IntArray, weights: ArrayLike | None = None, minlength: int = 0) -> FloatArray:
    """Sum of the weights (or the number) of the entries with each code."""
    return np.asarray(np.bincount(codes, weights, minlength=minlength), dtype=np.float64)
