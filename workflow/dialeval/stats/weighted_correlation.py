"""Kernels of `correlation`: correlations of weighted items, for many sets of weights at once.

Weights are counts of resampled items, shape [n_items, R]: column r is one resample. Repeating an item w times and
giving it the weight w come to the same for all three coefficients, ties included.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dialeval.stats.arrays import BoolArray, FloatArray, IntArray

# An item's rank needs a running sum over all of them; a variable with few levels needs one sum per level, which a
# matrix product gives for all judges at once.
_FEW_LEVELS = 24
_RESAMPLES_PER_BLOCK = 1024  # wide rows, for NumPy's cost per call
_SUMS_PER_BLOCK = 128
_NUMBERS_PER_BLOCK = 2_000_000
_ROUNDING = 1e-13


def weighted_pearson(weights: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Pearson correlations of the judges' scores with people, dimension by dimension.

    Args:
        weights: shape [n, R].
        x: scores, NaN where missing, shape [J, D, n].
        y: ratings, NaN where missing, shape [D, n].

    Returns:
        Shape [R, J, D]; NaN where a variable does not vary, or where all weights are 0.
    """
    n_judges, n_dimensions, n = x.shape
    known = ~np.isnan(x) & ~np.isnan(y)
    if known.all():
        x = (x - x.mean(axis=2, keepdims=True)).reshape(-1, n)
        y = y - y.mean(axis=1, keepdims=True)
        # Every sum that is needed in one matrix product, the whole cost of it.
        columns = [np.ones((1, n)), y, y * y, x, x * x, x * np.tile(y, (n_judges, 1))]
        shapes = [(1, 1), *[(1, n_dimensions)] * 2, *[(n_judges, n_dimensions)] * 3]
    else:
        # What is missing weighs nothing, so that each judge has sums of its own of people's ratings.
        x, y = (_centred(np.where(known, part, 0.0), known).reshape(-1, n) for part in (x, y))
        columns = [known.reshape(-1, n).astype(np.float64), y, y * y, x, x * x, x * y]
        shapes = [(n_judges, n_dimensions)] * 6
    matrix = np.concatenate(columns).T
    ends = np.cumsum([len(part) for part in columns])[:-1]
    out = np.empty((weights.shape[1], n_judges, n_dimensions))
    for begin in range(0, len(out), _SUMS_PER_BLOCK):  # what follows the product stays in the processor's cache
        block = slice(begin, begin + _SUMS_PER_BLOCK)
        parts = np.split(weights[:, block].T @ matrix, ends, axis=1)
        out[block] = _of_sums(*(part.reshape(-1, *shape) for part, shape in zip(parts, shapes, strict=True)))
    return out


def _of_sums(
    total: FloatArray, sum_y: FloatArray, sum_yy: FloatArray, sum_x: FloatArray, sum_xx: FloatArray, sum_xy: FloatArray
) -> FloatArray:
    """Pearson correlations from weighted sums, all of a shape that goes with [R, J, D]."""
    with np.errstate(divide="ignore", invalid="ignore"):  # a resample may have drawn none of these items
        mean_y = sum_y / total
        spread_y = sum_yy - sum_y * mean_y
        spread_x = sum_xx - sum_x**2 / total
        value = sum_xy - sum_x * mean_y
        value /= np.sqrt(spread_x * spread_y)
    constant = (spread_x <= _ROUNDING * sum_xx) | (spread_y <= _ROUNDING * sum_yy)
    np.clip(value, -1.0, 1.0, out=value)
    value[constant] = np.nan
    return value


def _centred(values: FloatArray, known: BoolArray) -> FloatArray:
    """Values less the mean of the known ones, and 0 where they are not known; both of shape [J, D, n]."""
    mean = values.sum(axis=2, keepdims=True) / np.maximum(known.sum(axis=2, keepdims=True), 1)
    return np.where(known, values - mean, 0.0)


def weighted_spearman(weights: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Spearman correlations, Pearson's of mid-ranks; as `weighted_pearson`, but nothing may be missing."""
    return np.stack([_spearman(weights, x[:, d], y[d]) for d in range(len(y))], axis=2)


def weighted_kendall(weights: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Kendall's tau-b; as `weighted_pearson`, but nothing may be missing."""
    return np.stack([_kendall(weights, x[:, d], y[d]) for d in range(len(y))], axis=2)


def _spearman(weights: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Spearman correlation of each row of x, shape [J, n], with y, shape [n]; returns shape [R, J].

    With ranks less one half, so that a level reaching from a to b has rank (a + b) / 2: ranks average N / 2, and
    their squared deviations sum to (N^3 - sum of cubed level counts) / 12.
    """
    n = x.shape[1]
    levels = [_levels(row) for row in x]
    y_level, n_y_levels = _levels(y)
    out = np.empty((weights.shape[1], len(x)))
    few = [j for j, (_, n_levels) in enumerate(levels) if n_levels <= _FEW_LEVELS]
    many = [j for j, (_, n_levels) in enumerate(levels) if n_levels > _FEW_LEVELS]
    orders = {j: np.argsort(x[j], kind="stable") for j in many}
    indicators = _indicators([levels[j] for j in few], n)
    width = min(weights.shape[1], _RESAMPLES_PER_BLOCK)
    buffers = [np.empty((n if many else 0, width)) for _ in range(3)]  # filled anew for every variable
    for begin in range(0, weights.shape[1], width):
        block = np.ascontiguousarray(weights[:, begin : begin + width])
        total = block.sum(axis=0)
        y_counts = _sum_by_level(block, y_level, n_y_levels)
        y_rank = _running_sum(y_counts, np.empty_like(y_counts))
        y_rank -= 0.5 * (y_counts + total)
        weighted_rank = block * y_rank[y_level]
        y_spread = total**3 - _cubes(y_counts)
        cross, x_spread = np.empty((len(x), len(total))), np.empty((len(x), len(total)))
        if few:
            counts, rank_sums = indicators @ block, indicators @ weighted_rank
            end = 0
            for j in few:
                start, end = end, end + levels[j][1]
                cross[j], x_spread[j] = _of_levels(counts[start:end], rank_sums[start:end], total)
        if many:
            # Where every value is a level of its own, these two do not depend on the order.
            own_half, spread_untied = 0.5 * (block * weighted_rank).sum(axis=0), total**3 - _cubes(block)
        for j in many:
            sorted_counts, sorted_sums, reached = (buffer[:, : len(total)] for buffer in buffers)
            np.take(block, orders[j], axis=0, out=sorted_counts, mode="clip")
            np.take(weighted_rank, orders[j], axis=0, out=sorted_sums, mode="clip")
            level, n_levels = levels[j]
            if n_levels == n:
                cross[j] = np.einsum("kr,kr->r", _running_sum(sorted_counts, reached), sorted_sums) - own_half
                x_spread[j] = spread_untied
            else:
                starts = np.searchsorted(level[orders[j]], np.arange(n_levels))
                level_counts, level_sums = (np.add.reduceat(part, starts) for part in (sorted_counts, sorted_sums))
                cross[j], x_spread[j] = _of_levels(level_counts, level_sums, total)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = 12.0 * cross / np.sqrt(x_spread * y_spread)
        defined = (x_spread > 0.0) & (y_spread > 0.0)
        out[begin : begin + len(total)] = np.where(defined, np.clip(value, -1.0, 1.0), np.nan).T
    return out


def _kendall(weights: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Kendall's tau-b of each row of x, shape [J, n], with y, shape [n]; returns shape [R, J].

    Concordant less discordant pairs are w' S w / 2, S the elementwise product of both variables' sign matrices. Items
    next to each other with the same weights, as those of one cluster have, count as one: S is first summed over them.
    """
    n = len(weights)
    starts = np.flatnonzero(np.append(np.ones(min(n, 1), bool), (weights[1:] != weights[:-1]).any(axis=1)))
    of_cluster = weights[starts]
    total = weights.sum(axis=0)
    y_level = _levels(y)[0].astype(np.int32)
    y_untied = total**2 - (_sum_by_level(weights, *_levels(y)) ** 2).sum(axis=0)
    out = np.empty((weights.shape[1], len(x)))
    for j, row in enumerate(x):
        level = _levels(row)[0].astype(np.int32)
        balance = _balance_of_clusters(level, y_level, starts) @ of_cluster
        balance *= of_cluster
        x_untied = total**2 - (_sum_by_level(weights, *_levels(row)) ** 2).sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = balance.sum(axis=0) / (np.sqrt(x_untied) * np.sqrt(y_untied))
        out[:, j] = np.where((x_untied > 0.0) & (y_untied > 0.0), np.clip(value, -1.0, 1.0), np.nan)
    return out


def _balance_of_clusters(x: NDArray[np.int32], y: NDArray[np.int32], starts: IntArray) -> FloatArray:
    """Concordant less discordant pairs between every two clusters, shape [n_clusters, n_clusters].

    Args:
        x, y: levels of the items, those of one cluster together, shape [n].
        starts: where each cluster begins, shape [n_clusters].
    """
    n = len(x)
    by_column = np.empty((n, len(starts)), dtype=np.int32)
    width = max(1, _NUMBERS_PER_BLOCK // max(n, 1))
    for begin in range(0, n, width):
        part = slice(begin, begin + width)
        signs = _signs(x[part, np.newaxis], x)
        signs *= _signs(y[part, np.newaxis], y)
        np.add.reduceat(signs, starts, axis=1, dtype=np.int32, out=by_column[part])
    balance: FloatArray = np.add.reduceat(by_column, starts, axis=0).astype(np.float64)
    return balance


def _signs(first: NDArray[np.int32], second: NDArray[np.int32]) -> NDArray[np.int8]:
    """Signs of all differences."""
    signs = np.greater(first, second).view(np.int8)
    signs -= np.less(first, second).view(np.int8)
    return signs


def _levels(values: FloatArray) -> tuple[IntArray, int]:
    """Number of each value among the distinct ones in ascending order, and how many there are."""
    distinct, level = np.unique(values, return_inverse=True)
    return level.astype(np.int64), len(distinct)


def _indicators(levels: list[tuple[IntArray, int]], n: int) -> FloatArray:
    """Membership of items in the levels of several variables, stacked, shape [sum of levels, n]."""
    rows = np.zeros((sum(n_levels for _, n_levels in levels), n))
    offset = 0
    for level, n_levels in levels:
        rows[offset + level, np.arange(n)] = 1.0
        offset += n_levels
    return rows


def _sum_by_level(weights: FloatArray, level: IntArray, n_levels: int) -> FloatArray:
    """Sum of the weights in each level, shape [n_levels, R]."""
    order = np.argsort(level, kind="stable")
    if n_levels == len(level):
        return weights[order]
    starts = np.searchsorted(level[order], np.arange(n_levels))
    sums: FloatArray = np.add.reduceat(weights[order], starts)
    return sums


def _running_sum(rows: FloatArray, out: FloatArray) -> FloatArray:
    """Cumulative sum over the first axis; row by row is several times faster than NumPy's own on wide rows."""
    out[0] = rows[0]
    for index in range(1, len(rows)):
        np.add(out[index - 1], rows[index], out=out[index])
    return out


def _of_levels(counts: FloatArray, rank_sums: FloatArray, total: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sum over x's levels of rank times y's summed ranks, and 12 times the squared deviations of x's ranks."""
    rank = _running_sum(counts, np.empty_like(counts))
    rank -= 0.5 * counts
    return np.einsum("kr,kr->r", rank, rank_sums), total**3 - _cubes(counts)


def _cubes(counts: FloatArray) -> FloatArray:
    """Sums of cubes over the first axis; NumPy's own power of 3 takes ten times as long as two products."""
    squares = counts * counts
    squares *= counts
    sums: FloatArray = squares.sum(axis=0)
    return sums
