"""Ends of an interval of a share, or of another number between 0 and 1, with any positive number of rows behind it."""

from __future__ import annotations

from typing import cast

import numpy as np
from scipy.special import betaincinv, ndtri, stdtrit

from dialeval.stats.arrays import FloatArray


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
