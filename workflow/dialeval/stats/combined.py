"""An interval for the mean of independent estimates, from their own intervals (MOVER; Zou and Donner 2008)."""

from __future__ import annotations

import numpy as np

from dialeval.stats.arrays import FloatArray


def mean_of_independent(estimate: FloatArray, low: FloatArray, high: FloatArray) -> tuple[float, float, float]:
    """Returns the mean of independent estimates with an interval of the same confidence as theirs.

    The distances to the limits, which need not be alike on both sides, are recovered from each interval and added as
    variances are: L = mean - sqrt(sum (estimate - low)^2) / k, and so for the upper one.

    Args:
        estimate: shape [k], k >= 1.
        low: lower limits, shape [k]; NaN where there is none, and then the mean has none.
        high: upper limits, shape [k].

    Returns:
        The mean, its lower and its upper limit.
    """
    k, mean = len(estimate), float(np.mean(estimate))
    below = float(np.sqrt(np.sum((estimate - low) ** 2))) / k
    above = float(np.sqrt(np.sum((high - estimate) ** 2))) / k
    return mean, mean - below, mean + above
