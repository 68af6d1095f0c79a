"""Kernel of `correlation`: Pearson's coefficient of weighted items, for many sets of weights at once.

Weights are counts of resampled clusters: repeating the items of a cluster w times and giving them the weight w come to
the same. A coefficient takes six weighted sums: of 1, y and y^2, which are people's, and of x, x^2 and x y. People's
are the same for all judges but for the items that a judge left out. Where these are few, people's sums less those over
what is left out save three of six matrix products, nearly the whole cost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialeval.stats.arrays import BoolArray, FloatArray, IntArray
from dialeval.stats.design_effect import sums_by_cluster

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_RESAMPLES_PER_BLOCK = 200  # larger products are memory that the allocator hands back and asks for anew
_VALUES_AT_ONCE = 15_000  # what follows a product stays in the processor's cache
_FEW = 0.15  # of people's ratings: an entry of a sparse matrix costs as much as six or seven of a full one
_LEAST_SPREAD = 0.01  # of people's over all items, so that a difference of sums loses two digits of sixteen at most
_ROUNDING = 1e-13


class _LeftOut(NamedTuple):
    """Items that people rated and a judge did not: how many of each cluster, and what their y and y^2 sum to.

    Attributes:
        items: shape [J D, n_clusters]; in the type of the counts, as narrow numbers take a fraction of the time.
        ratings: shape [2 J D, n_clusters].
    """

    items: csr_array
    ratings: csr_array

    def taken_off(self, sums_y: FloatArray, counts: NDArray[Any], weights: FloatArray) -> tuple[FloatArray, ...]:
        """What is left of sums of 1, y and y^2, shape [3, 1, D, R], without these items.

        Args:
            sums_y: the sums over all items.
            counts: of clusters, shape [n_clusters, R].
            weights: the same in double precision.

        Returns:
            Three arrays of shape [J, D, R].
        """
        shape = -1, *sums_y.shape[2:]
        total = sums_y[0] - (self.items @ counts).reshape(shape)
        of_these = (self.ratings @ weights).reshape(2, *shape)
        return total, *np.subtract(sums_y[1:], of_these, out=of_these)


def weighted_pearson(drawn: NDArray[Any], cluster: IntArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Pearson correlations of the judges' scores with people, dimension by dimension.

    Args:
        drawn: how often each cluster counts, shape [R, n_clusters], in a type that holds the weight of all items.
        cluster: of each item, numbers in ascending order, each from 0 on being there, shape [n].
        x: scores, NaN where missing, shape [J, D, n].
        y: ratings, NaN where missing, shape [D, n].

    Returns:
        Shape [R, J, D]; NaN where a variable does not vary, or where all weights are 0.
    """
    n_judges, n_dimensions, n = x.shape
    out = np.full((n_judges, n_dimensions, len(drawn)), np.nan)  # a cell's resamples in a row: quick to sort
    if not x.size:
        return np.moveaxis(out, -1, 0)
    rated = ~np.isnan(y)
    known = ~np.isnan(x) & rated
    x, y = _centred(x, known), _centred(y, rated)
    left_out = _left_out(y, rated, known, cluster, drawn)
    if left_out is None:  # each judge has sums of its own of people's ratings
        rated, y = known, _centred(np.broadcast_to(y, known.shape), known)
    sizes = np.bincount(cluster, minlength=drawn.shape[1])
    summed = (part.reshape(-1, n) for part in (x, x**2, x * y, rated, y, y**2))
    terms = sums_by_cluster(np.concatenate(list(summed)), sizes)
    for begin in range(0, len(drawn), _RESAMPLES_PER_BLOCK):
        block = slice(begin, begin + _RESAMPLES_PER_BLOCK)
        counts = np.ascontiguousarray(drawn[block].T)
        weights = counts.astype(np.float64)
        sums_x, sums_y = np.split(terms @ weights, [3 * n_judges * n_dimensions])
        sums_x = sums_x.reshape(3, n_judges, n_dimensions, -1)
        sums_y = sums_y.reshape(3, -1, n_dimensions, weights.shape[1])
        of_people, squares = tuple(sums_y), sums_y[2]
        if left_out is not None and left_out.items.nnz:
            of_people = left_out.taken_off(sums_y, counts, weights)
        step = max(1, _VALUES_AT_ONCE // max(n_dimensions * weights.shape[1], 1))
        for judges in (slice(first, first + step) for first in range(0, n_judges, step)):
            of_these = [each if len(each) == 1 else each[judges] for each in (*of_people, squares)]
            out[judges, :, block] = _of_sums(sums_x[:, judges], *of_these)
    return np.moveaxis(out, -1, 0)


def _left_out(
    y: FloatArray, rated: BoolArray, known: BoolArray, cluster: IntArray, drawn: NDArray[Any]
) -> _LeftOut | None:
    """The items that people rated and a judge did not.

    Returns:
        None where these are too many to save anything, or hold so much of what varies that too few digits would be left
        of people's sums.
    """
    from scipy.sparse import csr_array  # takes long to load, and only resampling needs it

    absent = rated & ~known
    n_absent = np.count_nonzero(absent)
    if n_absent > _FEW * len(known) * np.count_nonzero(rated):
        return None
    cell, item = np.divmod(np.flatnonzero(absent), y.shape[1])
    values = y[cell % len(y), item]
    ends = np.append(0, np.cumsum(np.count_nonzero(absent, axis=2)))
    n_cells, n_clusters = len(ends) - 1, drawn.shape[1]
    items = csr_array((np.ones(n_absent, dtype=drawn.dtype), cluster[item], ends), shape=(n_cells, n_clusters))
    of_terms = np.concatenate([values, values**2]), np.tile(cluster[item], 2), np.append(ends, n_absent + ends[1:])
    left_out = _LeftOut(items, csr_array(of_terms, shape=(2 * n_cells, n_clusters)))
    of_all = np.stack([rated, y, y**2]).sum(axis=2)
    once = np.ones((n_clusters, 1), dtype=drawn.dtype)
    total, sum_y, sum_yy = left_out.taken_off(of_all[:, np.newaxis, :, np.newaxis], once, once)
    spread = sum_yy - sum_y**2 / np.maximum(total, 1.0)
    return left_out if ((spread >= _LEAST_SPREAD * of_all[2, :, np.newaxis]) | (total == 0.0)).all() else None


def _of_sums(
    sums_x: FloatArray, total: FloatArray, sum_y: FloatArray, sum_yy: FloatArray, squares: FloatArray
) -> FloatArray:
    """Pearson correlations from weighted sums.

    Args:
        sums_x: of x, x^2 and x y, shape [3, J, D, R].
        total, sum_y, sum_yy: of 1, y and y^2, shape [J or 1, D, R].
        squares: the sum of squares that the last was rounded as a part of, shape [J or 1, D, R].

    Returns:
        Shape [J, D, R].
    """
    sum_x, sum_xx, sum_xy = sums_x
    squares_x = total * sum_xx
    spread_x = squares_x - sum_x * sum_x
    spread_y = total * sum_yy - sum_y * sum_y
    constant = (spread_x <= _ROUNDING * squares_x) | (spread_y <= _ROUNDING * total * squares)
    value = total * sum_xy - sum_x * sum_y
    with np.errstate(divide="ignore", invalid="ignore"):  # what is constant, or a resample with none of these items
        value /= np.sqrt(spread_x * spread_y)
    np.clip(value, -1.0, 1.0, out=value)
    value[constant] = np.nan
    return np.asarray(value, dtype=np.float64)


def _centred(values: FloatArray, known: BoolArray) -> FloatArray:
    """Values less the mean of the known ones, and 0 where they are not known; both of shape [..., n]."""
    there = np.where(known, values, 0.0)
    there -= there.sum(axis=-1, keepdims=True) / np.maximum(known.sum(axis=-1, keepdims=True), 1)
    there *= known
    return there
