"""A logistic regression whose interval respects clusters, and that says so when it has no finite solution."""

from __future__ import annotations

import math
import warnings

import numpy as np
import statsmodels.api as sm
from scipy.special import ndtri

from dialeval.stats.arrays import FloatArray, IntArray
from dialeval.stats.resampling import Interval


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
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit = sm.Logit(won, sm.add_constant(covariates, has_constant="add")).fit(
                disp=0, cov_type="cluster", cov_kwds={"groups": cluster}
            )
    except (np.linalg.LinAlgError, sm.tools.sm_exceptions.PerfectSeparationError):
        return missing("the regression has no finite solution")
    estimate, error = float(fit.params[1]), float(fit.bse[1])
    fitted = fit.predict()
    separated = bool((np.abs(fitted - won) < 1e-6).all())
    if not fit.mle_retvals["converged"] or separated or not math.isfinite(error):
        return missing("the regression has no finite solution: length decides every verdict")
    reach = float(ndtri(0.5 + 0.5 * confidence)) * error
    return Interval(estimate, estimate - reach, estimate + reach, confidence, 0)
