"""Who is linked with whom, and tables that are mostly zeros.

Both are SciPy's sparse arrays, which load a tenth of what a job's start takes: they are loaded by the first call, and a
job that rates nobody goes without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dialeval.stats.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def mostly_zeros(values: FloatArray, rows: IntArray, columns: IntArray, shape: tuple[int, int]) -> csr_array:
    """A sparse table of values by row and column, each of shape [n]; those of one place add up."""
    from scipy.sparse import coo_array

    return coo_array((values, (rows, columns)), shape=shape).tocsr()


def groups(first: IntArray, second: IntArray, n: int) -> IntArray:
    """Number of the group of linked players that each of `n` belongs to, shape [n].

    Args:
        first, second: players of each link, shape [n_links].
        n: number of players.
    """
    from scipy.sparse.csgraph import connected_components

    _, group = connected_components(mostly_zeros(np.ones(len(first)), first, second, (n, n)), directed=False)
    return np.asarray(group, dtype=np.int64)


def rings(winner: IntArray, loser: IntArray, n: int) -> IntArray:
    """Number of the ring that each of `n` players belongs to, shape [n].

    In a ring everyone can be reached from everyone by going from a player to one against whom it scored.

    Args:
        winner, loser: players of each score, shape [n_scores].
        n: number of players.
    """
    from scipy.sparse.csgraph import connected_components

    scores = mostly_zeros(np.ones(len(winner)), winner, loser, (n, n))
    _, ring = connected_components(scores, directed=True, connection="strong")
    return np.asarray(ring, dtype=np.int64)
