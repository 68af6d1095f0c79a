"""Differences become rows: is the first better than the second, and what is left of that after many such questions.

A family is the rows that share table, measure, judge and scope, such as all pairs of chatbots under one judge at one N.
P-values are corrected within it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from dialeval.stats.arrays import FloatArray
from dialeval.stats.differences import MeanDifferences, contrast_interval
from dialeval.stats.multiplicity import benjamini_hochberg, holm

Row = dict[str, Any]
FAMILY = ("table", "measure", "judge", "scope")
"""Columns whose values a family shares."""

NO_RATING = "one of the two has no rating"
NO_LIMIT = "not identifiable: the data set no limit on the distance of the two ratings"
NOT_CONNECTED = "not identifiable: no chain of comparisons connects the two"
NO_ERROR = "the data give this difference no standard error"
ONE_CLUSTER = "all comparisons are of one cluster, which tells nothing of others"


def about(table: str, measure: str, scope: str, judge: str | None = None) -> Row:
    """Returns the columns that a family shares.

    Args:
        table: the table whose numbers are compared.
        measure: what is compared: the table's column, or what else it is called.
        scope: at what N, on which task, and so on.
        judge: whose verdicts these are, where judges are not what is compared.
    """
    return {"table": table, "measure": measure, "judge": judge, "scope": scope}


def mean_rows(found: MeanDifferences, names: Sequence[str], shared: Row) -> list[Row]:
    """Returns a row per pair of systems that have an item in common, without the corrections."""
    return [
        {
            **shared,
            "first": names[first],
            "second": names[second],
            "first_value": float(found.first_value[number]),
            "second_value": float(found.second_value[number]),
            "difference": float(found.difference[number]),
            "low": float(found.low[number]),
            "high": float(found.high[number]),
            "p": float(found.p[number]),
            "n": int(found.n[number]),
            "n_clusters": int(found.n_clusters[number]),
            "note": found.note[number] or None,
        }
        for number, (first, second) in enumerate(zip(found.first, found.second, strict=True))
        if found.n[number]
    ]


def rating_rows(
    rating: FloatArray,
    variance: FloatArray,
    degrees_of_freedom: float,
    n: int,
    n_clusters: int,
    names: Sequence[str],
    shared: Row,
    *,
    reason: Callable[[int, int], str] = lambda first, second: "",
    shown: bool = True,
) -> list[Row]:
    """Returns a row per pair of systems, without the corrections.

    Args:
        rating: rating of each system, NaN for an unrated one, shape [n_systems].
        variance: of every two ratings' difference; NaN where it is not known, shape [n_systems, n_systems].
        degrees_of_freedom: of Student's t.
        n: comparisons behind all ratings.
        n_clusters: clusters that these are of.
        names: names of the systems.
        shared: the columns that the family shares.
        reason: why the data do not determine the difference of two systems; such a row has no number.
        shown: whether systems can be put in an order by their ratings, which then stand in the rows.
    """
    value = rating if shown else np.full(len(rating), np.nan)
    first, second = np.triu_indices(len(rating), 1)
    why = [reason(one, other) for one, other in zip(first.tolist(), second.tolist(), strict=True)]
    difference = np.where([bool(words) for words in why], np.nan, rating[first] - rating[second])
    low, high, p = contrast_interval(difference, np.sqrt(variance[first, second]), degrees_of_freedom)
    rows = []
    for number, (one, other) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        note = None
        if np.isnan(rating[one]) or np.isnan(rating[other]):
            note = NO_RATING
        elif np.isnan(p[number]):
            note = why[number] or (ONE_CLUSTER if n_clusters < 2 else NO_ERROR)
        rows.append(
            {
                **shared,
                "first": names[one],
                "second": names[other],
                "first_value": float(value[one]),
                "second_value": float(value[other]),
                "difference": float(difference[number]),
                "low": float(low[number]),
                "high": float(high[number]),
                "p": float(p[number]),
                "n": n,
                "n_clusters": n_clusters,
                "note": note,
            }
        )
    return rows


def corrected(rows: Iterable[Row]) -> list[Row]:
    """Returns rows with `p_holm`, `q_bh` and the number of tests of their family."""
    rows = list(rows)
    families: dict[tuple[Any, ...], list[int]] = {}
    for place, row in enumerate(rows):
        families.setdefault(tuple(row[name] for name in FAMILY), []).append(place)
    out: list[Row] = [{}] * len(rows)
    for members in families.values():
        p = np.array([rows[place]["p"] for place in members], dtype=np.float64)
        tests = int(np.count_nonzero(~np.isnan(p)))
        for place, p_holm, q_bh in zip(members, holm(p), benjamini_hochberg(p), strict=True):
            out[place] = {**rows[place], "p_holm": float(p_holm), "q_bh": float(q_bh), "family_size": tests}
    return out
