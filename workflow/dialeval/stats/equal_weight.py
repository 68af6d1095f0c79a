"""Pairs that were compared unequally often, brought to the same weight.

Where close pairs are asked about longer, ratings of the comparisons as they are would follow them more than others:
what is estimated would depend on when the asking stopped. With the same weight for every pair that met, it is what a
design with all pairs equally often estimates, each pair's shares being as they were seen.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dialeval.stats.arrays import FloatArray, IntArray
from dialeval.stats.comparisons import N_RESULTS, Comparisons


def pair_weights(tables: FloatArray) -> FloatArray:
    """Returns what a comparison of each pair weighs, so that all pairs that met weigh the same, and n in all.

    Args:
        tables: counts of first wins, ties and second wins, shape [..., n_pairs, 3].

    Returns:
        Shape [..., n_pairs]; 0 for a pair that did not meet.
    """
    met = tables.sum(axis=-1)
    share = met.sum(axis=-1, keepdims=True) / np.maximum((met > 0).sum(axis=-1, keepdims=True), 1)
    return np.asarray(np.divide(share, met, out=np.zeros(met.shape), where=met > 0), dtype=np.float64)


def equally_weighted(tables: FloatArray) -> FloatArray:
    """Returns tables, shape [..., n_pairs, 3], in which every pair that met weighs the same."""
    return np.asarray(tables * pair_weights(tables)[..., np.newaxis], dtype=np.float64)


def whole_counts(table: FloatArray, total: int) -> IntArray:
    """Returns whole numbers of comparisons that stand for a table, `total` of each pair that met.

    Shares are kept to within one comparison, by the largest remainders.

    Args:
        table: counts of first wins, ties and second wins, shape [n_pairs, 3].
        total: comparisons of each pair.
    """
    met = table.sum(axis=1, keepdims=True)
    wanted = np.divide(table * total, met, out=np.zeros(table.shape), where=met > 0)
    counts = np.floor(wanted + 1e-9).astype(np.int64)
    left = np.where(met[:, 0] > 0, total - counts.sum(axis=1), 0)
    rank = np.argsort(np.argsort(counts - wanted, axis=1, kind="stable"), axis=1, kind="stable")
    return np.asarray(counts + (rank < left[:, np.newaxis]), dtype=np.int64)


def most_of_a_pair(comparisons: Comparisons) -> int:
    """Returns how many comparisons the pair has that was compared most."""
    return int(comparisons.table().sum(axis=1).max(initial=0))


def equalised(comparisons: Comparisons) -> Comparisons:
    """Returns comparisons with as many of every pair as the most compared one has, for methods that play them."""
    counts = whole_counts(comparisons.table(), most_of_a_pair(comparisons)).ravel()
    return replace(comparisons, type_of_row=np.repeat(np.arange(N_RESULTS * comparisons.n_pairs), counts))
