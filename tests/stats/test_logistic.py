"""A logistic slope with an interval that respects clusters, against statsmodels."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit, ndtri

from dialeval.stats.logistic import robust_slope


@pytest.mark.parametrize("random_seed", range(40))
def test_estimate_and_interval_are_those_of_statsmodels(random_seed: int) -> None:
    rng = np.random.default_rng(random_seed)
    n, k = int(rng.integers(20, 90)), int(rng.integers(1, 3))
    covariates = rng.normal(size=(n, k))
    won = (rng.random(n) < expit(rng.normal() + covariates @ rng.normal(size=k))).astype(float)
    cluster = rng.integers(0, n // 3, n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = sm.Logit(won, sm.add_constant(covariates)).fit(
            disp=0, cov_type="cluster", cov_kwds={"groups": cluster}
        )  # fmt: skip
    ours = robust_slope(won, covariates, cluster, 0.9)
    reach = ndtri(0.95) * fit.bse[1]
    assert fit.mle_retvals["converged"]
    assert (ours.estimate, ours.low, ours.high) == pytest.approx(
        (fit.params[1], fit.params[1] - reach, fit.params[1] + reach), rel=1e-8, abs=1e-9
    )


def test_what_has_no_finite_solution_is_said_without_a_warning() -> None:
    rng = np.random.default_rng(6)
    told = set()
    for _ in range(300):
        n = int(rng.integers(3, 9))
        length = np.exp(rng.uniform(-6.0, 300.0)) * rng.normal(size=(n, 1))
        won = (length[:, 0] > rng.normal()).astype(float)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            told.add(robust_slope(won, length, np.arange(n), 0.95).reason)
    assert "the regression has no finite solution: length decides every verdict" in told


def test_nothing_is_told_where_a_covariate_is_there_twice() -> None:
    rng = np.random.default_rng(3)
    ratio = rng.normal(size=60)
    won = (rng.random(60) < expit(ratio)).astype(float)
    ours = robust_slope(won, np.column_stack([ratio, ratio]), np.arange(60), 0.95)
    assert np.isnan(ours.estimate) or ours.high - ours.low > 100.0


def test_one_cluster_has_no_interval() -> None:
    ours = robust_slope(np.array([0.0, 1.0, 1.0, 0.0]), np.arange(4.0)[:, np.newaxis], np.zeros(4, np.int64), 0.95)
    assert ours.reason == "a robust interval needs two clusters or more"
