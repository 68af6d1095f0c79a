"""One number in two runs on the cases that both have: the second run's values less the first's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dialeval.stats.arrays import FloatArray
from dialeval.stats.differences import mean_differences
from dialeval.stats.means import paired_mean_difference

FEWEST_CLUSTERS = 2
LEAST_SHARED = 0.5
"""Of the cases of the run that has fewer: with less in common, what is common says little of the published numbers."""
MARK = "\x1e"
"""Stands between the number of a run, 0 or 1, and a name that both may have."""


class Difference(NamedTuple):
    """A number in the second run less the same in the first, on what both have.

    Attributes:
        difference: NaN where there is none.
        low, high, p: interval and two-sided p-value; NaN with a note.
        n, n_clusters: cases that both have, and clusters that these are of.
        note: what to know; mostly empty.
    """

    difference: float
    low: float
    high: float
    p: float
    n: int
    n_clusters: int
    note: str = ""


def enough_in_common(first: Any, second: Any) -> bool:
    """Returns whether two runs' clusters, any names, have enough in common to be compared one by one."""
    one, other = set(first), set(second)
    n = len(one & other)
    return n >= FEWEST_CLUSTERS and n >= LEAST_SHARED * min(len(one), len(other))


def twice(systems: list[str]) -> Iterator[tuple[str, int, int]]:
    """Yields the systems that both runs have, with their places among the marked ones."""
    place = {system: number for number, system in enumerate(systems)}
    for system, number in place.items():
        run, _, name = system.partition(MARK)
        other = place.get(f"1{MARK}{name}")
        if run == "0" and other is not None:
            yield name, number, other


def paired_shares(second: FloatArray, first: FloatArray, cluster: Any, stratum: Any = None) -> Difference:
    """Compares what a system got in either run, from 0 to 1, shape [n] each."""
    row = np.zeros(len(first), np.int64)
    found = mean_differences(second, first, row, [1], [0], cluster, stratum=stratum)
    ends = float(found.low[0]), float(found.high[0]), float(found.p[0])
    return Difference(float(found.difference[0]), *ends, int(found.n[0]), int(found.n_clusters[0]), found.note[0] or "")


def paired_scores(second: FloatArray, first: FloatArray, cluster: Any) -> Difference:
    """Compares what a system got in either run, on any scale, shape [n] each."""
    found = paired_mean_difference(second, first, cluster)
    return Difference(found.difference, found.low, found.high, found.p, found.n, found.n_clusters, found.note)


def marked_scores(read: pa.Table, number: int, judge: str) -> pa.Table:
    """Returns the judgements of one judge in one run, under a name that says which run it is."""
    own = read.filter(pc.equal(read["judge"], judge)).replace_schema_metadata()
    place = own.schema.get_field_index("judge")
    return own.set_column(place, own.schema.field(place), pa.array([f"{number}{MARK}{judge}"] * len(own), pa.string()))
