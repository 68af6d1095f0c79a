"""What the coverage benchmarks share: the cases, clusters whose rows are alike, and a measured coverage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

CLUSTERS = (5, 10, 20, 50, 222)
CORRELATIONS = (0.0, 0.3)
"""Of two rows of one cluster."""


class Measured(NamedTuple):
    """How often intervals held the truth.

    Attributes:
        what: the published number.
        clusters: how many there were.
        correlation: of two rows of one cluster.
        case: what else tells the case, such as the true share.
        coverage: percent of the intervals that hold the truth.
        error: its standard error, in points.
        without: percent of the repetitions that give no interval; they are left out.
    """

    what: str
    clusters: int
    correlation: float
    case: str
    coverage: float
    error: float
    without: float

    @staticmethod
    def heading() -> str:
        return f"{'what':<34} clusters  alike  {'case':<14} coverage  error  no interval"

    def name(self) -> str:
        return f"{self.what}, {self.clusters} clusters, correlation {self.correlation:g}, {self.case}"

    def line(self) -> str:
        return (
            f"{self.what:<34} {self.clusters:>8}  {self.correlation:>5.1f}  {self.case:<14} {self.coverage:>8.1f}"
            f"  {self.error:>5.1f}  {self.without:>11.1f}"
        )


def measured(
    what: str,
    clusters: int,
    correlation: float,
    case: str,
    low: np.ndarray,
    high: np.ndarray,
    truth: np.ndarray | float,
) -> Measured:
    """Count how often low <= truth <= high; arrays of shape [repetitions] or [repetitions, numbers of one of them]."""
    low, high = (np.asarray(end, dtype=float).reshape(len(low), -1) for end in (low, high))
    given = ~np.isnan(low) | ~np.isnan(high)  # a missing end is one without a limit
    held = (np.nan_to_num(low, nan=-np.inf) <= truth) & (truth <= np.nan_to_num(high, nan=np.inf))
    counted = given.any(axis=1)
    share = (held & given).sum(axis=1)[counted] / given.sum(axis=1)[counted]
    n = len(share)
    coverage = float(share.mean()) if n else np.nan
    # Numbers of one repetition hang together; repetitions do not.
    error = float(share.std(ddof=1)) / n**0.5 if n > 1 else np.nan
    return Measured(what, clusters, correlation, case, 100 * coverage, 100 * error, 100 * (1 - given.mean()))


def alike(rng: np.random.Generator, p: float, correlation: float, shape: tuple[int, ...]) -> np.ndarray:
    """Each cluster's own chance of success: beta-distributed with mean p, so that two rows correlate as told."""
    if correlation == 0.0:
        return np.full(shape, p)
    size = 1.0 / correlation - 1.0
    return rng.beta(p * size, (1.0 - p) * size, shape)


def cases() -> Iterator[tuple[int, float]]:
    for clusters in CLUSTERS:
        for correlation in CORRELATIONS:
            yield clusters, correlation
