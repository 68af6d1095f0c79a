"""Ranks of values, of which equal ones share the mean of theirs."""

from __future__ import annotations

import numpy as np

from dialeval.stats.arrays import FloatArray


def midranks(values: FloatArray) -> FloatArray:
    """Returns the rank of each value, 1 for the smallest; equal ones have the mean of the ranks that they fill.

    Args:
        values: without NaN, shape [n].

    Returns:
        Shape [n].
    """
    _, level, count = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - 0.5 * (count - 1))[level], dtype=np.float64)
