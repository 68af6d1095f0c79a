"""Confidence intervals of shares, and of means of shares, whose rows come in clusters.

Wilson's score interval with an effective number of rows and Student's t (and Jeffreys', where that reaches further).
The variance is measured between clusters, and drawn towards the one that holds where a cluster is worth a single row,
the more so the fewer clusters speak against it. So a share of 0 or 1 has an interval, a dear one. What all this covers,
`benchmarks/stats_coverage.py` measures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, ndtri, stdtrit

from dialeval.stats.arrays import FloatArray, IntArray, as_codes, as_floats, check_confidence, dense_codes
from dialeval.stats.resampling import ONE_CLUSTER, Interval

# Intervals of shares, and of unweighted means of shares, whose rows hang together in clusters.

NO_ROW = "there is nothing to take a share of"
ONE_CLUSTER_IN_A_CELL = "a cell with a single cluster gives the mean no interval"

_DENSE_CELLS = 1_000_000
_ASSUMED = 1.0
"""Weight of the assumption that a cluster is worth one row, beside the square of the clusters that tell."""


@dataclass(frozen=True)
class ShareIntervals:
    """Shares of groups with their intervals; arrays have shape [n_groups].

    Attributes:
        estimate: the share, or the unweighted mean of the group's cells; NaN where there is no row.
        low, high: ends of the interval; NaN where there is none.
        n_clusters: clusters that the group has rows in.
        design_effect: variance of the estimate over that of as many independent rows.
        effective_n: independent rows that would say as much.
        reason: why a number is missing; empty where none is.
    """

    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    n_clusters: IntArray
    design_effect: FloatArray
    effective_n: FloatArray
    reason: tuple[str, ...]
    confidence: float

    def behind(self, group: int) -> dict[str, float | str | None]:
        """Returns what tables put beside a group's interval: its clusters, design effect, effective n, and note."""
        return {
            "n_clusters": int(self.n_clusters[group]),
            "design_effect": float(self.design_effect[group]),
            "effective_n": float(self.effective_n[group]),
            "note": self.reason[group] or None,
        }

    def interval(self, group: int = 0) -> Interval:
        """Returns one group's share as an `Interval`."""
        return Interval(
            float(self.estimate[group]),
            float(self.low[group]),
            float(self.high[group]),
            self.confidence,
            0,
            self.reason[group],
            n_clusters=int(self.n_clusters[group]),
            design_effect=float(self.design_effect[group]),
            effective_n=float(self.effective_n[group]),
        )


def share_intervals(
    numerator: ArrayLike,
    cluster: ArrayLike,
    group: ArrayLike | None = None,
    n_groups: int = 1,
    *,
    denominator: ArrayLike | None = None,
    cell: ArrayLike | None = None,
    confidence: float = 0.95,
) -> ShareIntervals:
    """Share of each group with an interval that holds when the rows of a cluster are alike.

    With p the share of n rows in K clusters, psi_k the sum of a cluster's w (x - p) sqrt(K / (K - 1) (n - 1) / n) (w:
    the weights, which add up to 1; within each cell, with its own p, n and K, where a group has several) and u_k that
    of its weights,

        v = max(sum psi_k^2, sum w^2 s^2), v_1 = p (1 - p) sum u_k^2, v' = (f^2 v + v_1) / (f^2 + 1),

    v between clusters but at least that of independent rows (s^2: their variance), v_1 the variance where a cluster is
    worth one row, and f the number of clusters that tell: those with a success, those with a failure, or
    (sum psi^2)^2 / sum psi^4, whichever is smallest. The square lets the intervals of rows without correlation come
    close to those of independent rows from 15 clusters on.

    The ends are the outer ones of Wilson's (1927) and Jeffreys' with p (1 - p) / v' rows, or 1 / sum u_k^2 where p is 0
    or 1, and the quantile of Student's t with K less the number of cells degrees of freedom (K - 1 where all cells
    share their clusters).

    Args:
        numerator: what each row adds to the share, between 0 and its denominator, shape [n].
        cluster: cluster of each row (seed, dialogue), numbers or text, shape [n].
        group: group of each row, numbers in 0..n_groups-1, shape [n]; None for a single group.
        n_groups: number of groups.
        denominator: what each row counts, shape [n]; rows of 0 are left out. None for 1 each.
        cell: of each row, shape [n], where the estimate is the unweighted mean of the shares of a group's cells.
        confidence: nominal coverage.

    Raises:
        ValueError: if shapes differ, a group is out of range, or a numerator is below 0 or above its denominator.
    """
    check_confidence(confidence)
    above = as_floats("numerator", numerator)
    n = len(above)
    below = np.ones(n) if denominator is None else as_floats("denominator", denominator, n)
    wrong = ~((above >= 0.0) & (above <= below))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise ValueError(f"numerator[{row}] is {above[row]}; it must lie between 0 and its denominator, {below[row]}")
    groups = np.zeros(n, dtype=np.int64) if group is None else as_codes("group", group, length=n, below=n_groups)
    clusters, n_clusters = dense_codes("cluster", cluster, n)
    cells, n_cells = (groups, n_groups) if cell is None else dense_codes("cell", cell, n)
    group_of_cell = np.arange(n_groups)
    if cell is not None:
        group_of_cell = np.zeros(n_cells, dtype=np.int64)
        group_of_cell[cells] = groups
        if (group_of_cell[cells] != groups).any():
            raise ValueError("a cell lies in two groups")
    if not below.all():
        kept = below > 0.0
        above, below = above[kept], below[kept]
        clusters, cells = clusters[kept], cells[kept]

    place, owner, within = _places(cells, clusters, n_cells, n_clusters)
    size = len(owner)
    weight = _sums(place, below, size)
    met = weight > 0.0
    blocks = _Blocks(
        cell=owner[met],
        cluster=within[met],
        weight=weight[met],
        success=_sums(place, above, size)[met],
        square=_sums(place, np.divide(above**2, below, out=np.zeros_like(above), where=below > 0.0), size)[met],
        weight_square=_sums(place, below**2, size)[met],
    )
    shares = _cell_shares(blocks, group_of_cell, n_groups)
    between = _between_clusters(blocks, shares, group_of_cell, n_groups, n_clusters, one_cell_each=cell is None)
    return _put_together(shares, between, confidence)


def share_interval(
    numerator: ArrayLike,
    cluster: ArrayLike,
    *,
    denominator: ArrayLike | None = None,
    cell: ArrayLike | None = None,
    confidence: float = 0.95,
    reason: str = NO_ROW,
) -> Interval:
    """The share of a single group, as `share_intervals` has it; `reason` says why there is none without rows."""
    found = share_intervals(numerator, cluster, denominator=denominator, cell=cell, confidence=confidence).interval()
    return found if found.reason != NO_ROW else Interval(found.estimate, found.low, found.high, confidence, 0, reason)


@dataclass(frozen=True)
class _Blocks:
    """Sums over the rows of one cluster in one cell, shape [n_blocks]: of d (the denominator), x d, x^2 d, d^2."""

    cell: IntArray
    cluster: IntArray
    weight: FloatArray
    success: FloatArray
    square: FloatArray
    weight_square: FloatArray


@dataclass(frozen=True)
class _CellShares:
    """What follows from the cells alone.

    Attributes:
        share: of each cell, shape [n_cells].
        unit: what a denominator of 1 weighs in the mean of the cell's group, shape [n_cells].
        correction: sqrt(K / (K - 1) (n - 1) / n) of each cell, shape [n_cells].
        estimate: mean of a group's cells, NaN where it has none, shape [n_groups].
        independent: its variance if all rows were independent, shape [n_groups].
        row_weights: sum of the squared weights of the rows, shape [n_groups].
        n_cells: of each group that have a row, shape [n_groups].
        fewest, most: clusters of a cell of the group, shape [n_groups].
    """

    share: FloatArray
    unit: FloatArray
    correction: FloatArray
    estimate: FloatArray
    independent: FloatArray
    row_weights: FloatArray
    n_cells: FloatArray
    fewest: IntArray
    most: IntArray


@dataclass(frozen=True)
class _Between:
    """What follows from the clusters of a group, shape [n_groups]: the terms of `share_intervals`' formula.

    Attributes:
        n_clusters: K.
        variance: sum of psi^2.
        concentration: sum of u^2.
        telling: f.
    """

    n_clusters: IntArray
    variance: FloatArray
    concentration: FloatArray
    telling: FloatArray


def _cell_shares(blocks: _Blocks, group_of_cell: IntArray, n_groups: int) -> _CellShares:
    n_cells = len(group_of_cell)
    total = _sums(blocks.cell, blocks.weight, n_cells)
    used = total > 0.0
    share = np.divide(_sums(blocks.cell, blocks.success, n_cells), total, out=np.zeros(n_cells), where=used)
    n_used = _sums(group_of_cell, used.astype(np.float64), n_groups)
    divisor = np.maximum(n_used, 1.0)
    unit = np.divide(1.0, total * divisor[group_of_cell], out=np.zeros(n_cells), where=used)
    n_clusters = np.bincount(blocks.cell, minlength=n_cells)
    spread = np.maximum(_sums(blocks.cell, blocks.square, n_cells) - share**2 * total, 0.0)
    spread[(share == 0.0) | (share == 1.0)] = 0.0
    squares = _sums(blocks.cell, blocks.weight_square, n_cells)
    alone = unit**2 * squares
    rows = np.divide(total**2, squares, out=np.ones(n_cells), where=used)
    variance = np.divide(alone * spread, total, out=np.zeros(n_cells), where=used)
    fewest = np.full(n_groups, np.iinfo(np.int64).max)
    np.minimum.at(fewest, group_of_cell[used], n_clusters[used])
    most = np.zeros(n_groups, dtype=np.int64)
    np.maximum.at(most, group_of_cell, n_clusters)
    return _CellShares(
        share=share,
        unit=unit,
        correction=np.sqrt(n_clusters / np.maximum(n_clusters - 1.0, 1.0) * (rows - 1.0) / rows),
        estimate=np.where(n_used > 0.0, _sums(group_of_cell, share, n_groups) / divisor, np.nan),
        independent=_sums(group_of_cell, variance, n_groups),
        row_weights=_sums(group_of_cell, alone, n_groups),
        n_cells=n_used,
        fewest=fewest,
        most=most,
    )


def _between_clusters(
    blocks: _Blocks,
    shares: _CellShares,
    group_of_cell: IntArray,
    n_groups: int,
    n_clusters: int,
    *,
    one_cell_each: bool,
) -> _Between:
    unit = shares.unit[blocks.cell]
    weight, success = unit * blocks.weight, unit * blocks.success
    excess = success - shares.share[blocks.cell] * weight
    psi = shares.correction[blocks.cell] * np.where(np.abs(excess) > 1e-12 * weight, excess, 0.0)
    group = group_of_cell[blocks.cell]
    if not one_cell_each:  # a cluster may lie in several cells of a group
        place, owner, _ = _places(group, blocks.cluster, n_groups, n_clusters)
        weight, success, psi = (_sums(place, values, len(owner)) for values in (weight, success, psi))
        met = weight > 0.0
        group, weight, success, psi = owner[met], weight[met], success[met], psi[met]
    variance = _sums(group, psi**2, n_groups)
    fourth = _sums(group, psi**4, n_groups)
    telling = np.minimum(
        np.bincount(group[success > 1e-12 * weight], minlength=n_groups),
        np.bincount(group[weight - success > 1e-9 * weight], minlength=n_groups),
    )
    return _Between(
        n_clusters=np.bincount(group, minlength=n_groups),
        variance=variance,
        concentration=_sums(group, weight**2, n_groups),
        telling=np.minimum(telling, np.divide(variance**2, fourth, out=np.zeros(n_groups), where=fourth > 0.0)),
    )


def _put_together(shares: _CellShares, between: _Between, confidence: float) -> ShareIntervals:
    p = shares.estimate
    alike = p * (1.0 - p) * between.concentration
    seen = between.telling**2
    variance = (seen * np.maximum(between.variance, shares.independent) + _ASSUMED * alike) / (seen + _ASSUMED)
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = np.where(variance > 0.0, p * (1.0 - p) / variance, 1.0 / between.concentration)
        effect = np.where(
            shares.independent > 0.0,
            variance / shares.independent,
            between.concentration / shares.row_weights,
        )
        effective = 1.0 / (shares.row_weights * effect)
    freedom = np.maximum(between.n_clusters - shares.n_cells, shares.most - 1)
    low, high = share_ends(p, rows, freedom, confidence)
    known, single = shares.n_cells > 0.0, shares.fewest < 2
    why = np.where(between.n_clusters < 2, ONE_CLUSTER, ONE_CLUSTER_IN_A_CELL)
    given = known & ~single
    return ShareIntervals(
        estimate=p,
        low=np.where(given, low, np.nan),
        high=np.where(given, high, np.nan),
        n_clusters=between.n_clusters,
        design_effect=np.where(given, effect, np.nan),
        effective_n=np.where(given, effective, np.nan),
        reason=tuple(np.where(known, np.where(single, why, ""), NO_ROW).tolist()),
        confidence=confidence,
    )


def _places(owner: IntArray, cluster: IntArray, n_owners: int, n_clusters: int) -> tuple[IntArray, IntArray, IntArray]:
    """Number the pairs of owner and cluster.

    Returns:
        The number of each row's pair, shape [n]; owner and cluster of every pair, also of some without a row where
        these are few enough to need no sorting.
    """
    key = owner * max(n_clusters, 1) + cluster
    if n_owners * n_clusters <= max(_DENSE_CELLS, 4 * len(key)):
        pairs = np.arange(n_owners * n_clusters)
        place = key
    else:
        pairs, place = np.unique(key, return_inverse=True)
    return place, pairs // max(n_clusters, 1), pairs % max(n_clusters, 1)


def _sums(place: IntArray, values: FloatArray, size: int) -> FloatArray:
    return np.bincount(place, values, minlength=size).astype(np.float64, copy=False)


# Ends of an interval of a share, or of another number between 0 and 1, with any positive number of rows behind it.


def share_ends(p: FloatArray, n: FloatArray, freedom: FloatArray, confidence: float) -> tuple[FloatArray, FloatArray]:
    """The outer ones of Wilson's and Jeffreys' ends, for any positive number of rows, with Student's t for the normal.

    Each alone covers 92% or less at some shares near 0 and 1, where counts are few; they do not at the same ones.
    Jeffreys' takes so many rows fewer as t is wider than the normal quantile (Korn and Graubard 1998).

    Args:
        p: shares, shape [n_groups]; NaN where there is none.
        n: independent rows that say as much as what is behind each, shape [n_groups].
        freedom: degrees of freedom of Student's t, shape [n_groups]; below 1 counts as 1.
        confidence: nominal coverage.
    """
    tail = 0.5 * (1.0 - confidence)
    square = stdtrit(np.maximum(freedom, 1.0), 1.0 - tail) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = (p + square / (2.0 * n)) / (1.0 + square / n)
        reach = np.sqrt(square * (p * (1.0 - p) / n + square / (4.0 * n**2))) / (1.0 + square / n)
        fewer = n * float(ndtri(1.0 - tail)) ** 2 / square
        a, b = p * fewer + 0.5, (1.0 - p) * fewer + 0.5
        low = np.minimum(centre - reach, betaincinv(a, b, tail))
        high = np.maximum(centre + reach, betaincinv(a, b, 1.0 - tail))
    low = np.where(p == 0.0, 0.0, np.minimum(low, p))  # exactly 0 and 1 at the ends, without rounding
    high = np.where(p == 1.0, 1.0, np.maximum(high, p))
    return cast("FloatArray", np.maximum(low, 0.0)), cast("FloatArray", np.minimum(high, 1.0))
