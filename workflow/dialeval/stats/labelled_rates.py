"""Intervals of rates and of a judge's error rates: Wilson's, as Student's t misses on one side near 0 and 1.

Means on a scale have them where nearly all labels are its highest, or lowest: as shares of the scale.
"""

from __future__ import annotations

import numpy as np

from dialeval.stats.arrays import BoolArray, FloatArray
from dialeval.stats.labelled_rows import LabelledRows
from dialeval.stats.shares import ShareIntervals, share_intervals

FEWEST_EITHER = 5
"""Clusters with a pass, and with a fail, that a rate needs for a correction."""


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
    found = _shares(rows, (rows.y - low) / (high - low), rows.labelled & which[rows.system], confidence)
    left = (high - low) * np.where(doubt > 0.0, 1.0, rows.mean(rows.thin, rows.w))
    down, up = (
        np.where(which, left * reach, np.nan) for reach in (found.estimate - found.low, found.high - found.estimate)
    )
    return down, up


def bias_reach(rows: LabelledRows, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Return how far the interval of a judge's bias on a rate reaches down and up; NaN without two clusters, shape [K].

    The bias is the rate of false passes less that of false fails. The limits of their two Wilson intervals are put
    together as those of a difference (Zou and Donner 2008), with the correlation of two counts of one multinomial.
    So a judge without an error on the labels has an interval that is not of width 0.
    """
    both = rows.labelled & rows.scored
    gap = np.where(both, rows.f - rows.y, 0.0)
    passes, fails = (_shares(rows, np.maximum(part, 0.0), both, confidence) for part in (gap, -gap))
    p, q = passes.estimate, fails.estimate
    with np.errstate(invalid="ignore", divide="ignore"):
        alike = -np.nan_to_num(np.sqrt(p * q / ((1.0 - p) * (1.0 - q))))
    left = rows.mean(rows.thin, rows.w * rows.scored)

    def reach(of_passes: FloatArray, of_fails: FloatArray) -> FloatArray:
        square = of_passes**2 + of_fails**2 - 2.0 * np.maximum(alike, -1.0) * of_passes * of_fails
        return np.asarray(left * np.sqrt(square))

    return reach(p - passes.low, fails.high - q), reach(passes.high - p, q - fails.low)


def _shares(rows: LabelledRows, value: FloatArray, taken: BoolArray, confidence: float) -> ShareIntervals:
    """Return the weighted means of values from 0 to 1 of each system as shares."""
    return share_intervals(
        (rows.w * value)[taken],
        (rows.cell // rows.shape[1])[taken],
        rows.system[taken],
        rows.shape[1],
        denominator=rows.w[taken],
        confidence=confidence,
    )
