"""A logistic regression whose interval respects clusters, and that says so when it has no finite solution."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import expit, ndtri

from dialeval.stats.arrays import FloatArray, IntArray
from dialeval.stats.resampling import Interval

_MOST_STEPS = 35
_STEP = 1e-8
"""A step in no coefficient longer than this is the last one."""
_RIDGE = 1e-10
"""What is added to the mean information of a coefficient, so that it can be inverted."""


def robust_slope(won: FloatArray, covariates: FloatArray, cluster: IntArray, confidence: float) -> Interval:
    """Fit a logistic regression with an intercept and return the coefficient of the first covariate.

    Args:
        won: 1 or 0, shape [n].
        covariates: shape [n, k].
        cluster: cluster of each row, shape [n]; the covariance is robust to dependence within one.
        confidence: nominal coverage of the normal interval.

    Returns:
        The coefficient with its interval; missing, with the reason, where the maximum is not finite or unknown.
    """

    def missing(reason: str) -> Interval:
        return Interval(math.nan, math.nan, math.nan, confidence, 0, reason)

    if len(won) <= covariates.shape[1] + 1:
        return missing("too few decided verdicts")
    if np.ptp(covariates[:, 0]) == 0.0:
        return missing("every length ratio is the same")
    if np.ptp(won) == 0.0:
        return missing("the same place wins every decided verdict")
    if len(np.unique(cluster)) < 2:
        return missing("a robust interval needs two clusters or more")
    design = np.column_stack([np.ones(len(won)), covariates])
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # on the way to no finite solution
            coefficients, converged = _maximise(design, won)
            error = float(np.sqrt(_covariance(design, won, coefficients, cluster)[1, 1]))
    except np.linalg.LinAlgError:
        return missing("the regression has no finite solution")
    separated = bool((np.abs(expit(design @ coefficients) - won) < 1e-6).all())
    if not converged or separated or not math.isfinite(error):
        return missing("the regression has no finite solution: length decides every verdict")
    estimate, reach = float(coefficients[1]), float(ndtri(0.5 + 0.5 * confidence)) * error
    return Interval(estimate, estimate - reach, estimate + reach, confidence, 0)


def _maximise(design: FloatArray, won: FloatArray) -> tuple[FloatArray, bool]:
    """Returns the coefficients of most likelihood by Newton's method, shape [k], and whether it came to an end.

    Raises:
        numpy.linalg.LinAlgError: if the information cannot be inverted.
    """
    coefficients = np.zeros(design.shape[1])
    for _ in range(_MOST_STEPS):
        win = expit(design @ coefficients)
        information = (design.T * (win * (1.0 - win))) @ design / len(won)
        np.einsum("ii->i", information)[:] += _RIDGE
        step = np.linalg.solve(information, design.T @ (won - win) / len(won))
        coefficients = coefficients + step
        if (np.abs(step) <= _STEP).all():
            return coefficients, True
    return coefficients, False


def _covariance(design: FloatArray, won: FloatArray, coefficients: FloatArray, cluster: IntArray) -> FloatArray:
    """Returns the covariance of the coefficients that is robust to clusters, shape [k, k].

    It is the sandwich of the inverse information around the scores' sums over each cluster (Liang and Zeger, 1986),
    widened by G / (G - 1) * (n - 1) / (n - k) for G clusters.

    Raises:
        numpy.linalg.LinAlgError: if the information cannot be inverted.
    """
    win = expit(design @ coefficients)
    bread = np.linalg.inv((design.T * (win * (1.0 - win))) @ design)
    groups, number = np.unique(cluster, return_inverse=True)
    scores = design * (won - win)[:, np.newaxis]
    sums = np.column_stack([np.bincount(number, column, minlength=len(groups)) for column in scores.T])
    few = len(groups) / (len(groups) - 1.0) * (len(won) - 1.0) / (len(won) - design.shape[1])
    return np.asarray(few * bread @ (sums.T @ sums) @ bread, dtype=np.float64)
