"""Count tables of resampled comparisons: one table per resample of the seeds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import ArrayLike

from dialeval.stats.arrays import BoolArray, FloatArray, IntArray, dense_codes
from dialeval.stats.comparisons import N_RESULTS, Comparisons
from dialeval.stats.linked import groups, mostly_zeros
from dialeval.stats.resampling import cluster_counts

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_NUMBERS_PER_BLOCK = 4_000_000


@dataclass(frozen=True)
class ClusterTable:
    """Counts of every comparison type within every cluster.

    Attributes:
        comparisons: what is counted.
        cluster: cluster of each comparison, shape [n].
        n_clusters: number of clusters.
        counts: comparisons by cluster and type, shape [n_clusters, n_types], dense where that is small.
    """

    comparisons: Comparisons
    cluster: IntArray
    n_clusters: int
    counts: FloatArray | csr_array

    def resample(self, cluster_weights: FloatArray) -> FloatArray:
        """Table of each resample, shape [R, n_pairs, 3], from cluster counts of shape [R, n_clusters]."""
        tables = cast("FloatArray", np.asarray(cluster_weights @ self.counts))
        return tables.reshape(len(cluster_weights), self.comparisons.n_pairs, N_RESULTS)

    @property
    def each_alone(self) -> bool:
        """Whether every comparison is its own cluster, so that the tables of resamples are multinomial."""
        return self.n_clusters == len(self.cluster)

    def clusters_of_player(self) -> IntArray:
        """How many clusters each rated player has a comparison in, shape [n_rated]."""
        n = self.comparisons.n_rated
        pair = self.comparisons.type_of_row // N_RESULTS
        players = np.concatenate([self.comparisons.first[pair], self.comparisons.second[pair]])
        if self.each_alone:
            return np.bincount(players, minlength=n)
        met = np.sort(players * self.n_clusters + np.tile(self.cluster, 2))
        return np.bincount(met[np.diff(met, prepend=-1) > 0] // self.n_clusters, minlength=n)

    def multinomial(self, n_tables: int, rng: np.random.Generator) -> FloatArray:
        """Draw tables of resamples of single comparisons, shape [n_tables, n_pairs, 3]."""
        drawn = rng.multinomial(len(self.cluster), self._shares, size=n_tables)
        return drawn.astype(np.float64).reshape(n_tables, self.comparisons.n_pairs, N_RESULTS)

    @cached_property
    def _shares(self) -> FloatArray:
        """Share of each comparison type, shape [n_types]; counted once, since there may be millions of rows."""
        return np.asarray(self.comparisons.table().ravel() / max(len(self.cluster), 1), dtype=np.float64)

    def blocks(self, resamples: int, rng: np.random.Generator) -> Iterator[tuple[slice, FloatArray]]:
        """Draw resamples of the clusters and yield their tables, with their places, in blocks that fit in memory.

        Where every comparison is its own cluster the tables are multinomial, and are drawn as such.
        """
        widest = self.comparisons.n_types if self.each_alone else max(self.comparisons.n_types, self.n_clusters)
        for rows in blocks_of(resamples, widest):
            n_tables = rows.stop - rows.start
            if self.each_alone:
                yield rows, self.multinomial(n_tables, rng)
            else:
                yield rows, self.resample(cluster_counts(self.n_clusters, n_tables, rng))


def blocks_of(resamples: int, numbers: int) -> Iterator[slice]:
    """Yield the places of resamples in blocks that fit in memory, where each holds so many numbers."""
    step = max(1, _NUMBERS_PER_BLOCK // max(numbers, 1))
    for begin in range(0, resamples, step):
        yield slice(begin, min(begin + step, resamples))


def cluster_table(comparisons: Comparisons, cluster: ArrayLike | None) -> ClusterTable:
    """Count comparison types by cluster; without clusters each comparison is one of its own.

    Raises:
        ValueError: if `cluster` is not a vector with one entry per comparison.
    """
    n_rows = len(comparisons.type_of_row)
    if cluster is None:
        codes, n_clusters = np.arange(n_rows), n_rows
    else:
        codes, n_clusters = dense_codes("cluster", cluster, n_rows)
    sparse = mostly_zeros(np.ones(n_rows), codes, comparisons.type_of_row, (n_clusters, comparisons.n_types))
    small = n_clusters * comparisons.n_types <= _NUMBERS_PER_BLOCK
    return ClusterTable(comparisons, codes, n_clusters, sparse.toarray() if small else sparse)


def rated_in(comparisons: Comparisons, tables: FloatArray) -> BoolArray:
    """Which players each table can rate, shape [R, n_rated].

    A resample can leave a player without a comparison, or cut it off from the rest of its group; it then says
    nothing of that player. Of a group that falls apart the largest part is kept.
    """
    met = tables.sum(axis=2) > 0
    rated = np.ones((len(tables), comparisons.n_rated), dtype=np.bool_)
    group = comparisons.groups()
    for row in np.flatnonzero(~met.all(axis=1)):
        part = groups(comparisons.first[met[row]], comparisons.second[met[row]], comparisons.n_rated)
        if part.max() == group.max():
            continue
        size = np.bincount(part)
        for number in range(int(group.max()) + 1):
            members = np.flatnonzero(group == number)
            largest = part[members[np.argmax(size[part[members]])]]
            rated[row, members] = (part[members] == largest) & (size[largest] > 1)
    return rated
