"""Which judges can be told apart by the damage that they notice? Every two on the same pairs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dialeval.aggregation.differences import Row, about, mean_rows
from dialeval.aggregation.robustness import ScoredPairs
from dialeval.published.robustness import find_ratios
from dialeval.stats.arrays import FloatArray, IntArray
from dialeval.stats.differences import paired_differences
from dialeval.stats.robustness import ROUNDING

_CELL = ("corpus", "language", "level", "strategy", "dimension")


class _Cell(NamedTuple):
    """One strategy on one dimension: 1 where a judge noticed a pair's damage, by judge and method, and the clusters."""

    noticed: dict[tuple[str, str], FloatArray]
    cluster: IntArray


def robustness_differences(scored: ScoredPairs, confidence: float) -> Iterator[Row]:
    """Yields the differences of the tables `robustness` and `averages`.

    As in these tables a pair with a missing score is not noticed. Pairs that stem from one dialogue are one cluster.

    Args:
        scored: every pair under every scorer.
        confidence: nominal coverage of the intervals.
    """
    cells = _cells(scored)
    for place, cell in cells.items():
        names, values = _table([cell])
        found = paired_differences(values, cell.cluster, confidence=confidence)
        yield from mean_rows(found, names, about("robustness", "ratio", ", ".join(place)))
    levels: dict[tuple[str, ...], list[_Cell]] = {}
    for place, cell in cells.items():
        if find_ratios(place[3], place[4]):  # the paper's cells, as in its averages
            levels.setdefault(place[:3], []).append(cell)
    for level, members in levels.items():
        names, values = _table(members)
        stratum = np.repeat(np.arange(len(members)), [len(cell.cluster) for cell in members])
        cluster = np.concatenate([cell.cluster for cell in members])
        found = paired_differences(values, cluster, stratum=stratum, confidence=confidence)
        yield from mean_rows(found, names, about("averages", "average", ", ".join(level)))


def _cells(scored: ScoredPairs) -> dict[tuple[str, ...], _Cell]:
    """The cells; a judge without any score of a cell is not in it. All judges of a cell have its pairs in one order."""
    cells: dict[tuple[str, ...], _Cell] = {}
    ends = np.cumsum(np.bincount(scored.group, minlength=len(scored.groups)))
    for group, end, start in zip(scored.groups, ends, np.r_[0, ends[:-1]], strict=True):
        drop = scored.original[start:end] - scored.damaged[start:end]
        if np.isnan(drop).all():
            continue
        place = tuple(group[name] for name in _CELL)
        cell = cells.setdefault(place, _Cell({}, scored.cluster[start:end]))
        cell.noticed[group["judge"], group["method"]] = (drop > group["theta"] + ROUNDING).astype(np.float64)
    return cells


def _table(cells: list[_Cell]) -> tuple[list[str], FloatArray]:
    """Names of the judges of some cells, and what they noticed, NaN where one is not in a cell: [n_judges, n]."""
    judges = list(dict.fromkeys(judge for cell in cells for judge in cell.noticed))
    rows = [
        np.concatenate([cell.noticed.get(judge, np.full(len(cell.cluster), np.nan)) for cell in cells])
        for judge in judges
    ]
    return [f"{judge} ({method})" for judge, method in judges], np.array(rows).reshape(len(judges), -1)
