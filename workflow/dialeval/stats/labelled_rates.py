"""Rates of which few labels pass, or few fail: Wilson's interval of people alone, as Student's t holds too little."""

from __future__ import annotations

import numpy as np

from dialeval.stats.arrays import BoolArray, FloatArray
from dialeval.stats.labelled_rows import LabelledRows
from dialeval.stats.shares import share_intervals

FEWEST_EITHER = 5
"""Clusters with a pass, and with a fail, that a rate needs for a correction and for Student's t."""


def few_of_either(rows: LabelledRows) -> BoolArray:
    """Which systems have passes, or fails, on too few clusters for Student's t, shape [K]."""
    passed, failed = ((rows.of_cell(rows.labelled & part) > 0.0).sum(axis=0) for part in (rows.y > 0.0, rows.y < 1.0))
    few: BoolArray = np.minimum(passed, failed) < FEWEST_EITHER
    return few


def wilson_reach(
    rows: LabelledRows, which: BoolArray, doubt: FloatArray, confidence: float
) -> tuple[FloatArray, FloatArray]:
    """How far Wilson's interval of people's rate reaches down and up, NaN for the other systems, shape [K]."""
    taken = rows.labelled & which[rows.system]
    clusters = rows.cell // rows.shape[1]
    found = share_intervals(
        (rows.w * rows.y)[taken],
        clusters[taken],
        rows.system[taken],
        rows.shape[1],
        denominator=rows.w[taken],
        confidence=confidence,
    )
    left = np.where(doubt > 0.0, 1.0, rows.mean(rows.thin, rows.w))
    down, up = (
        np.where(which, left * reach, np.nan) for reach in (found.estimate - found.low, found.high - found.estimate)
    )
    return down, up
