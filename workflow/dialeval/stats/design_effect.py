"""Design effects: how much more a statistic varies between clusters than it would over as many independent rows.

Both statistics here are followed by their linear form, what one row moves them by to first order.
"""

from __future__ import annotations

import numpy as np

from dialeval.stats.arrays import BoolArray, FloatArray, IntArray
from dialeval.stats.comparisons import N_RESULTS, ClusterTable, mostly_zeros, pair_laplacian


def of_correlations(
    scores: FloatArray, human: FloatArray, known: BoolArray, r: FloatArray, sizes: IntArray, n_clusters: IntArray
) -> FloatArray:
    """Design effect of Pearson's correlation of many judges and dimensions with people.

    An item moves r by (x y - r (x^2 + y^2) / 2) / n to first order, x and y being its standardised values.

    Args:
        scores: shape [n_judges, n_dimensions, n_items], the items cluster by cluster.
        human: shape [n_dimensions, n_items].
        known: whether an item has both, shape [n_judges, n_dimensions, n_items].
        r: the correlations, shape [n_judges, n_dimensions].
        sizes: items of each cluster, shape [n_clusters].
        n_clusters: clusters of the known items, shape [n_judges, n_dimensions].

    Returns:
        Shape [n_judges, n_dimensions]; 1 where each item is a cluster of its own; NaN where it is not defined.
    """
    if len(sizes) == scores.shape[2]:
        return np.where(np.isnan(r) | (n_clusters < 2), np.nan, 1.0)
    n = np.maximum(known.sum(axis=2), 1)[:, :, np.newaxis]

    def standardised(values: FloatArray) -> FloatArray:
        scaled = np.where(known, values, 0.0)
        scaled -= scaled.sum(axis=2, keepdims=True) / n
        scaled *= known
        spread = np.sqrt(_squares(scaled)[:, :, np.newaxis] / n)
        scaled /= np.where(spread > 0.0, spread, 1.0)
        return scaled

    x, y = standardised(scores), standardised(np.broadcast_to(human, scores.shape))
    moves = x * y
    x *= x
    y *= y
    x += y
    x *= 0.5 * r[:, :, np.newaxis]
    moves -= x
    alone = _squares(moves) * (n[:, :, 0] / np.maximum(n[:, :, 0] - 1, 1))
    together = _squares(sums_by_cluster(moves, sizes)) * (n_clusters / np.maximum(n_clusters - 1, 1))
    usable = (alone > 1e-12) & (n_clusters > 1)
    return np.asarray(np.divide(together, alone, out=np.full(r.shape, np.nan), where=usable), dtype=np.float64)


def _squares(values: FloatArray) -> FloatArray:
    """Sums of squares over the last axis."""
    return np.asarray(np.einsum("jdn,jdn->jd", values, values), dtype=np.float64)


def sums_by_cluster(values: FloatArray | BoolArray, sizes: IntArray) -> FloatArray:
    """Sums over the last axis, whose items lie cluster by cluster, shape [..., n_clusters]."""
    if not len(sizes):
        return np.zeros((*values.shape[:-1], 0))
    if len(sizes) == values.shape[-1]:
        return np.asarray(values, dtype=np.float64)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return np.asarray(np.add.reduceat(values, starts, axis=-1), dtype=np.float64)


def of_strengths(counts: ClusterTable, strength: FloatArray, pair_weight: FloatArray | None = None) -> FloatArray:
    """Design effect of each rated player's Bradley-Terry strength.

    To first order the strengths move by the information matrix's pseudo-inverse times the scores: y - p of every
    comparison for its first player, and the opposite for its second.

    Args:
        counts: comparisons by cluster and type.
        strength: natural-log strengths, shape [n_rated].
        pair_weight: what a comparison of each pair weighs, shape [n_pairs]; None where all weigh the same.

    Returns:
        Shape [n_rated]; NaN where it is not defined.
    """
    from scipy.sparse import csr_array  # loaded where comparisons are rated, as in `linked`

    comparisons = counts.comparisons
    n, n_rows = comparisons.n_rated, len(counts.cluster)
    if counts.n_clusters < 2 or n_rows < 2:
        return np.full(n, np.nan)
    if counts.each_alone:
        return np.ones(n)
    first, second = comparisons.first, comparisons.second
    p = 1.0 / (1.0 + np.exp(np.clip(strength[second] - strength[first], -700.0, 700.0)))
    table = comparisons.table()
    of_pair = np.ones(len(p)) if pair_weight is None else pair_weight
    residual = of_pair[:, np.newaxis] * (np.array([1.0, 0.5, 0.0]) - p[:, np.newaxis])
    information = pair_laplacian(comparisons, of_pair * table.sum(axis=1) * p * (1.0 - p))
    # A group's common level has no information; given some, it does not blow up what rounding leaves of it.
    group = comparisons.groups()
    inverse = np.linalg.pinv(information + (group[:, np.newaxis] == group), hermitian=True)
    of_rows = pair_laplacian(comparisons, (table * residual**2).sum(axis=1))
    types = np.arange(residual.size)
    scores_of_types = mostly_zeros(
        np.concatenate([residual.ravel(), -residual.ravel()]),
        np.tile(types, 2),
        np.concatenate([np.repeat(first, N_RESULTS), np.repeat(second, N_RESULTS)]),
        (len(types), n),
    )
    scores = csr_array(counts.counts) @ scores_of_types
    of_clusters = (scores.T @ scores).toarray()

    def variance(of_scores: FloatArray) -> FloatArray:
        return np.asarray((inverse @ of_scores * inverse).sum(axis=1), dtype=np.float64)

    alone = variance(of_rows) * (n_rows / (n_rows - 1.0))
    together = variance(of_clusters) * (counts.n_clusters / (counts.n_clusters - 1.0))
    return np.asarray(np.divide(together, alone, out=np.full(n, np.nan), where=alone > 0.0), dtype=np.float64)
