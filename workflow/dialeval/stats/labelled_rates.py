"""Rates of which few labels pass, or few fail: Wilson's interval of people alone, as Student's t holds too little.

Means on a scale are the same where nearly all labels are its highest, or lowest: as shares of the scale.
"""

from __future__ import annotations

import numpy as np

from dialeval.stats.arrays import BoolArray, FloatArray
from dialeval.stats.labelled_rows import LabelledRows
from dialeval.stats.shares import share_intervals

FEWEST_EITHER = 5
"""Clusters with a pass, and with a fail, that a rate needs for a correction and for Student's t."""


def few_of_either(rows: LabelledRows, ends: tuple[float, float]) -> BoolArray:
    """Which systems have labels above the lowest, or below the highest, on too few clusters for Student's t, shape [K].

    Of a rate these are its passes and its fails.
    """
    low, high = ends
    passed, failed = ((rows.of_cell(rows.labelled & part) > 0.0).sum(axis=0) for part in (rows.y > low, rows.y < high))
    few: BoolArray = np.minimum(passed, failed) < FEWEST_EITHER
    return few


def wilson_reach(
    rows: LabelledRows, which: BoolArray, doubt: FloatArray, ends: tuple[float, float], confidence: float
) -> tuple[FloatArray, FloatArray]:
    """How far Wilson's interval of people's rate or mean reaches down and up, NaN for the other systems, shape [K]."""
    low, high = ends
    taken = rows.labelled & which[rows.system]
    clusters = rows.cell // rows.shape[1]
    found = share_intervals(
        (rows.w * (rows.y - low) / (high - low))[taken],
        clusters[taken],
        rows.system[taken],
        rows.shape[1],
        denominator=rows.w[taken],
        confidence=confidence,
    )
    left = (high - low) * np.where(doubt > 0.0, 1.0, rows.mean(rows.thin, rows.w))
    down, up = (
        np.where(which, left * reach, np.nan) for reach in (found.estimate - found.low, found.high - found.estimate)
    )
    return down, up
