"""Kernel of `correlation`: Pearson's coefficient of weighted items, for many sets of weights at once.

Weights are counts of resampled clusters: repeating the items of a cluster w times and giving them the weight w come to
the same.
"""

from __future__ import annotations

import numpy as np

from dialeval.stats.arrays import BoolArray, FloatArray, IntArray
from dialeval.stats.design_effect import sums_by_cluster

_RESAMPLES_PER_BLOCK = 128  # what follows the product stays in the processor's cache
_ROUNDING = 1e-13


def weighted_pearson(drawn: FloatArray, cluster: IntArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Pearson correlations of the judges' scores with people, dimension by dimension.

    Args:
        drawn: how often each cluster counts, shape [R, n_clusters].
        cluster: of each item, numbers in ascending order, each from 0 on being there, shape [n].
        x: scores, NaN where missing, shape [J, D, n].
        y: ratings, NaN where missing, shape [D, n].

    Returns:
        Shape [R, J, D]; NaN where a variable does not vary, or where all weights are 0.
    """
    n_judges, n_dimensions, n = x.shape
    if not x.size:
        return np.full((len(drawn), n_judges, n_dimensions), np.nan)
    known = ~np.isnan(x) & ~np.isnan(y)
    if known.all():
        x = (x - x.mean(axis=2, keepdims=True)).reshape(-1, n)
        y = y - y.mean(axis=1, keepdims=True)
        columns = [np.ones((1, n)), y, y * y, x, x * x, x * np.tile(y, (n_judges, 1))]
        shapes = [(1, 1), *[(1, n_dimensions)] * 2, *[(n_judges, n_dimensions)] * 3]
    else:
        # What is missing weighs nothing, so that each judge has sums of its own of people's ratings.
        x, y = (_centred(np.where(known, part, 0.0), known).reshape(-1, n) for part in (x, y))
        columns = [known.reshape(-1, n).astype(np.float64), y, y * y, x, x * x, x * y]
        shapes = [(n_judges, n_dimensions)] * 6
    # Every sum that is needed in one matrix product, the whole cost of it.
    sums = sums_by_cluster(np.concatenate(columns), np.bincount(cluster, minlength=drawn.shape[1])).T
    ends = np.cumsum([len(part) for part in columns])[:-1]
    out = np.empty((len(drawn), n_judges, n_dimensions))
    for begin in range(0, len(out), _RESAMPLES_PER_BLOCK):
        block = slice(begin, begin + _RESAMPLES_PER_BLOCK)
        parts = np.split(drawn[block] @ sums, ends, axis=1)
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
