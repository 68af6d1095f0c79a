"""Differences become places: which can each system have, by every number that systems are compared by?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

import numpy as np

from dialeval.aggregation.differences import FAMILY, Row
from dialeval.aggregation.head_to_head import HEAD_TO_HEAD
from dialeval.stats.arrays import FloatArray
from dialeval.stats.ranks import order_claims, places
from dialeval.tables import HUMAN

CYCLIC = "the pairs, compared on different cases, run in a circle: nothing is concluded from two of them together"


def ranks(differences: Sequence[Row], confidence: float) -> list[Row]:
    """Returns the rows of a table `ranks`, best first within each family of the table `differences`.

    Head-to-head differences give no places: of three systems each may beat the next.

    Args:
        differences: rows of a protocol's table `differences`.
        confidence: with which all places of a family hold together.
    """
    return [
        row
        for family, pairs in groupby(differences, lambda row: tuple(row[name] for name in FAMILY))
        if HEAD_TO_HEAD not in family
        for row in _of_family(dict(zip(FAMILY, family, strict=True)), list(pairs), confidence)
    ]


def _of_family(shared: Row, pairs: Sequence[Row], confidence: float) -> list[Row]:
    names = list(dict.fromkeys(row[side] for row in pairs for side in ("first", "second")))
    code = {name: number for number, name in enumerate(names)}
    claims = order_claims(
        len(names),
        [code[row["first"]] for row in pairs],
        [code[row["second"]] for row in pairs],
        _floats(row["difference"] for row in pairs),
        _floats(row["p"] for row in pairs),
        confidence=confidence,
    )
    estimate = _estimates(names, pairs)
    ranked = [number for number, name in enumerate(names) if name != HUMAN and not np.isnan(estimate[number])]
    found = places(estimate[ranked], claims.better[np.ix_(ranked, ranked)])
    rows = []
    for place, number in enumerate(ranked):
        of_system = [row for row in pairs if names[number] in (row["first"], row["second"])]
        untested = sum(row["p"] is None or np.isnan(row["p"]) for row in of_system) + len(names) - 1 - len(of_system)
        notes = [CYCLIC] if claims.cyclic else []
        notes += [f"{untested} of its {len(names) - 1} differences could not be tested"] if untested else []
        rows.append(
            {
                **shared,
                "system": names[number],
                "estimate": float(estimate[number]),
                "rank": int(found.rank[place]),
                "rank_low": int(found.low[place]),
                "rank_high": int(found.high[place]),
                "n_better": int(found.n_better[place]),
                "n_worse": int(found.n_worse[place]),
                "n_systems": len(ranked),
                "note": "; ".join(notes) or None,
            }
        )
    return sorted(rows, key=lambda row: row["rank"])


def _estimates(names: Sequence[str], pairs: Sequence[Row]) -> FloatArray:
    """Returns each system's value: the mean of those that stand beside the others, by the items that they rest on."""
    values: dict[str, list[float]] = {name: [] for name in names}
    items: dict[str, list[int]] = {name: [] for name in names}
    for row in pairs:
        for side in ("first", "second"):
            value = row[f"{side}_value"]
            if row["n"] and value is not None and not np.isnan(value):
                values[row[side]].append(value)
                items[row[side]].append(row["n"])
    return np.array([_mean(values[name], items[name]) for name in names], dtype=np.float64)


def _mean(values: Sequence[float], items: Sequence[int]) -> float:
    if len(set(values)) <= 1:  # as it is, so that equal systems stay equal
        return next(iter(values), np.nan)
    return float(np.average(values, weights=items))


def _floats(values: Iterable[float | None]) -> FloatArray:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
