"""Which numbers moved: every published number of two runs, with a test of the difference and its corrections.

Where both runs have the same cases the test is paired; else the two are independent estimates, and the standard error
of their difference follows from the published intervals. P-values are corrected over all numbers of the comparison, so
that even one false "yes" among them has a chance below 5%.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from dialeval.comparison.paired_differences import (
    Difference,
    paired_accuracy,
    paired_correlations,
    paired_measure,
    paired_robustness,
)
from dialeval.comparison.runs import Key, Number, Run, is_measure, published_numbers
from dialeval.stats.differences import contrast_interval
from dialeval.stats.multiplicity import benjamini_hochberg, holm

Row = dict[str, Any]
PAIRED, TWO_SAMPLES = "paired", "as two samples"
YES, PERHAPS, NO, UNKNOWN = "yes", "perhaps", "no", "unknown"
ALPHA = 0.05
NO_NUMBER = "one of the two runs has no number"
NO_INTERVAL = "one of the two numbers has no interval"
_NORMAL = 1.959964
"""Half the width of a normal 95% interval in standard errors; Student's are wider, and so is what follows from them."""
_Pairing = Callable[[Run, Run, str, Mapping[Key, float]], Iterator[tuple[Key, Difference]]]
_PAIRINGS: Mapping[str, _Pairing] = {
    "dialogbench/accuracy": paired_accuracy,
    "metaeval/correlations": paired_correlations,
    "robustness/robustness": paired_robustness,
}


def compared_numbers(a: Run, b: Run) -> list[Row]:
    """Returns the rows of the table `comparison/numbers`, those that moved most certainly first within each table."""
    tables: dict[str, list[Number]] = defaultdict(list)
    for number in published_numbers(a, b):
        tables[number.table].append(number)
    rows = []
    for table, numbers in tables.items():
        pairing = paired_measure if is_measure(numbers[0].kind) else _PAIRINGS.get(numbers[0].kind)
        published = {tuple(number.key.items()): _moved(number) for number in numbers}
        found = dict(pairing(a, b, table, published)) if pairing else {}
        rows += [_row(number, found.get(tuple(number.key.items()))) for number in numbers]
    return _corrected(rows)


def _moved(number: Number) -> float:
    first, second = number.a[0], number.b[0]
    return math.nan if first is None or second is None else second - first


def _row(number: Number, found: Difference | None) -> Row:
    about = {
        "table": number.table,
        "measure": number.measure,
        "judge": number.judge,
        "scope": number.scope,
        "system": number.system,
        "value_a": number.a[0],
        "value_b": number.b[0],
    }
    if found is None:
        return {**about, **independent(number)}
    nothing = found.difference == 0.0 and math.isnan(found.p)  # no test is defined where no value differs
    row = {**about, **found._asdict(), "note": found.note or None, "how": PAIRED}
    return row | {"difference": found.difference + 0.0, "p": 1.0 if nothing else found.p}


def independent(number: Number) -> Row:
    """Returns the difference of two published numbers as of two independent estimates."""
    difference = _moved(number)
    row: Row = {"difference": difference, "low": math.nan, "high": math.nan, "p": math.nan, "how": TWO_SAMPLES}
    row |= {"n": None, "n_clusters": None, "note": None}
    if math.isnan(difference):
        return row | {"note": NO_NUMBER}
    ends = (*number.a[1:], *number.b[1:])
    if any(end is None for end in ends):
        return row | {"note": NO_INTERVAL}
    if number.a == number.b:
        return row | {"p": 1.0}
    low_a, high_a, low_b, high_b = (float(end) for end in ends if end is not None)
    error = math.hypot(high_a - low_a, high_b - low_b) / 2.0 / _NORMAL
    low, high, p = (float(end) for end in contrast_interval(difference, error, math.inf))
    return row | {"low": low, "high": high, "p": p}


def _corrected(rows: list[Row]) -> list[Row]:
    p = np.array([row["p"] for row in rows], dtype=np.float64)
    for row, p_holm, q_bh in zip(rows, holm(p), benjamini_hochberg(p), strict=True):
        row |= {"p_holm": float(p_holm), "q_bh": float(q_bh)}
        row["moved"] = _verdict(row)
    place = {table: number for number, table in enumerate(dict.fromkeys(row["table"] for row in rows))}
    return sorted(rows, key=lambda row: (place[row["table"]], math.inf if math.isnan(row["p"]) else row["p"]))


def _verdict(row: Row) -> str:
    if math.isnan(row["p"]):
        return NO if row["difference"] == 0.0 else UNKNOWN
    return YES if row["p_holm"] < ALPHA else PERHAPS if row["p"] < ALPHA else NO
