"""Estimates with confidence intervals from a standard error: Student's t intervals, and intervals of proportions.

Resampled intervals are in `resampling`; they return the same `Estimate`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from dialeval.stats.arrays import FloatArray, IntArray, check_confidence

SINGLE_CLUSTER = "a single cluster gives no interval"


@dataclass(frozen=True)
class Estimate:
    """One estimate with its confidence interval; numbers that are undefined are NaN, and `note` says why.

    Attributes:
        estimate: the statistic of the data.
        ci_low, ci_high: limits of the confidence interval.
        confidence: nominal coverage, for example 0.95.
        resamples: number of bootstrap replicates with a value; 0 if the interval is not resampled.
        note: why a number is undefined, or empty.
        n_clusters: clusters of the items; 0 if not counted.
        design_effect: variance divided by the variance of independent items.
        n_effective: number of independent items with the same variance.
        std_error, df: standard error and degrees of freedom.
        n_items: items; 0 if not counted.
    """

    estimate: float
    ci_low: float
    ci_high: float
    confidence: float
    resamples: int
    note: str = ""
    n_clusters: int = 0
    design_effect: float = math.nan
    n_effective: float = math.nan
    std_error: float = math.nan
    df: float = math.nan
    n_items: int = 0

    @classmethod
    def missing(cls, confidence: float, note: str, n_clusters: int = 0, resamples: int = 0) -> Estimate:
        """Return an undefined estimate; `note` says why."""
        return cls(math.nan, math.nan, math.nan, confidence, resamples, note, n_clusters)

    def limits(self, name: str = "estimate", prefix: str = "") -> dict[str, float]:
        """Return the estimate under a name, and its limits as `ci_low` and `ci_high` after a prefix."""
        return {name: self.estimate, f"{prefix}ci_low": self.ci_low, f"{prefix}ci_high": self.ci_high}

    def columns(self) -> dict[str, Any]:
        """Return the table columns beside the interval: clusters, design effect, effective items, note."""
        return {
            "n_clusters": self.n_clusters or None,
            "design_effect": self.design_effect,
            "n_effective": self.n_effective,
            "note": self.note or None,
        }


@dataclass(frozen=True)
class Estimates:
    """Estimates of several groups, with the fields of `Estimate` except `resamples`; arrays have shape [n_groups]."""

    estimate: FloatArray
    std_error: FloatArray
    df: FloatArray
    ci_low: FloatArray
    ci_high: FloatArray
    n_items: IntArray
    n_clusters: IntArray
    design_effect: FloatArray
    n_effective: FloatArray
    note: tuple[str, ...]
    confidence: float

    def columns(self, group: int) -> dict[str, Any]:
        """Return a group's table columns, as `Estimate.columns` but with 0 clusters as 0."""
        return self.one(group).columns() | {"n_clusters": int(self.n_clusters[group])}

    def one(self, group: int = 0) -> Estimate:
        """Return the estimate of one group."""
        arrays = [field.name for field in fields(Estimates) if field.name not in ("note", "confidence")]
        numbers: dict[str, Any] = {name: getattr(self, name)[group].item() for name in arrays}
        return Estimate(**numbers, note=self.note[group], confidence=self.confidence, resamples=0)


def t_interval(
    estimate: ArrayLike, std_error: ArrayLike, df: ArrayLike, confidence: float = 0.95
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the lower limit, the upper limit and the two-sided p-value of Student's t.

    Args:
        estimate, std_error, df: shapes that broadcast; NaN if unknown. Degrees of freedom below 1 count as 1.
        confidence: nominal coverage.

    Returns:
        NaN where a number is unknown or the standard error is not above 0.
    """
    from scipy.special import stdtr, stdtrit  # slow to load, and not needed for the result types alone

    check_confidence(confidence)
    value, error, freedom = np.broadcast_arrays(*(np.asarray(part, np.float64) for part in (estimate, std_error, df)))
    known = (error > 0.0) & (freedom > 0.0) & np.isfinite(value) & np.isfinite(error)
    error, freedom = np.where(known, error, 1.0), np.where(known, np.maximum(freedom, 1.0), 1.0)
    reach = stdtrit(freedom, 0.5 + 0.5 * confidence) * error
    p_value = 2.0 * stdtr(freedom, -np.abs(np.where(known, value, 0.0)) / error)
    low, high, p_value = (np.where(known, part, np.nan) for part in (value - reach, value + reach, p_value))
    return low, high, p_value


def proportion_interval(
    p: FloatArray, n_effective: FloatArray, df: FloatArray, confidence: float
) -> tuple[FloatArray, FloatArray]:
    """Return the outer limits of Wilson's and Jeffreys' intervals, with Student's t for the normal quantile.

    At some proportions near 0 and 1, each interval alone covers 92% or less, but not at the same proportions. Jeffreys'
    interval has n_effective times (normal quantile / t quantile)^2 items (Korn and Graubard 1998).

    Args:
        p: proportions, shape [n_groups]; NaN if undefined.
        n_effective: number of independent items with the same variance, above 0, shape [n_groups].
        df: degrees of freedom, shape [n_groups]; below 1 counts as 1.
        confidence: nominal coverage.
    """
    from scipy.special import betaincinv, ndtri, stdtrit  # as above

    tail = 0.5 * (1.0 - confidence)
    square = stdtrit(np.maximum(df, 1.0), 1.0 - tail) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = (p + square / (2.0 * n_effective)) / (1.0 + square / n_effective)
        spread = square * (p * (1.0 - p) / n_effective + square / (4.0 * n_effective**2))
        reach = np.sqrt(spread) / (1.0 + square / n_effective)
        fewer = n_effective * float(ndtri(1.0 - tail)) ** 2 / square
        a, b = p * fewer + 0.5, (1.0 - p) * fewer + 0.5
        low = np.minimum(centre - reach, betaincinv(a, b, tail))
        high = np.maximum(centre + reach, betaincinv(a, b, 1.0 - tail))
    low = np.where(p == 0.0, 0.0, np.minimum(low, p))  # exactly 0 and 1, without rounding
    high = np.where(p == 1.0, 1.0, np.maximum(high, p))
    return cast("FloatArray", np.maximum(low, 0.0)), cast("FloatArray", np.minimum(high, 1.0))
