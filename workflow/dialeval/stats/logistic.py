"""A logistic regression whose interval respects clusters, and that says so when it has no finite solution."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import expit

from dialeval.stats.arrays import FloatArray, IntArray, dense_codes
from dialeval.stats.differences import contrast_interval
from dialeval.stats.resampling import Interval

_MOST_STEPS = 35
_STEP = 1e-8
"""A step in no coefficient longer than this is the last one."""
_RIDGE = 1e-10
"""What is added to the mean information of a coefficient, so that it can be inverted."""
_IDENTIFIED = 1e-8
"""Share of the information, in the direction that has least of it, that must be left without a cluster."""
ONE_CLUSTER_TELLS = "what is known of the slope is all from one seed or case, which tells nothing of others"


def robust_slope(won: FloatArray, covariates: FloatArray, cluster: IntArray, confidence: float) -> Interval:
    """Fit a logistic regression with an intercept and return the coefficient of the first covariate.

    Args:
        won: 1 or 0, shape [n].
        covariates: shape [n, k].
        cluster: cluster of each row, shape [n]; the covariance is robust to dependence within one.
        confidence: nominal coverage of the interval, which is Student's with the effective number of clusters less one.

    Returns:
        The coefficient with its interval; missing, with the reason, where the maximum is not finite or unknown, and
        without ends where it hangs on one cluster.
    """

    def missing(reason: str) -> Interval:
        return Interval(math.nan, math.nan, math.nan, confidence, 0, reason)

    if len(won) <= covariates.shape[1] + 1:
        return missing("too few decided verdicts")
    if np.ptp(covariates[:, 0]) == 0.0:
        return missing("every length ratio is the same")
    if np.ptp(won) == 0.0:
        return missing("the same place wins every decided verdict")
    clusters, n_clusters = dense_codes("cluster", cluster, len(won))
    if n_clusters < 2:
        return missing("a robust interval needs two clusters or more")
    design = np.column_stack([np.ones(len(won)), covariates])
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # on the way to no finite solution
            coefficients, converged = _maximise(design, won)
    except np.linalg.LinAlgError:
        return missing("the regression has no finite solution")
    separated = bool((np.abs(expit(design @ coefficients) - won) < 1e-6).all())
    if not converged or separated:
        return missing("the regression has no finite solution: length decides every verdict")
    estimate, error = float(coefficients[1]), _error(design, won, coefficients, clusters, n_clusters)
    if not math.isfinite(error):
        return Interval(estimate, math.nan, math.nan, confidence, 0, ONE_CLUSTER_TELLS, n_clusters)
    sizes = np.bincount(clusters)
    low, high, _ = contrast_interval(estimate, error, sizes.sum() ** 2 / (sizes**2).sum() - 1.0, confidence)
    return Interval(estimate, float(low), float(high), confidence, 0, n_clusters=n_clusters)


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


def _error(design: FloatArray, won: FloatArray, coefficients: FloatArray, cluster: IntArray, n_clusters: int) -> float:
    """Returns the standard error of the first covariate's coefficient that is robust to clusters.

    The sandwich of Liang and Zeger (1986) takes few clusters to be surer than they are, so that each one's score is
    taken through the information without it (CR3, nearly the jackknife). Infinite where nothing is known without one.
    """
    win = expit(design @ coefficients)
    k = design.shape[1]
    curved = design * (win * (1.0 - win))[:, np.newaxis]
    scores = np.column_stack([np.bincount(cluster, column) for column in (design * (won - win)[:, np.newaxis]).T])
    own = np.stack([np.bincount(cluster, curved[:, i] * design[:, j]) for i in range(k) for j in range(k)], axis=1)
    whole = curved.T @ design
    without, size = whole - own.reshape(n_clusters, k, k), np.sqrt(np.diag(whole))
    if np.linalg.eigvalsh(without / np.outer(size, size)).min() < _IDENTIFIED:
        return math.inf
    moved = np.linalg.solve(without, scores[:, :, np.newaxis])[:, 1, 0]
    return float(np.sqrt((moved**2).sum() * (n_clusters - 1.0) / n_clusters))
