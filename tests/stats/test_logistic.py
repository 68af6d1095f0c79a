"""A logistic slope with an interval that respects clusters, few as they may be, against statsmodels."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit
from scipy.stats import t as student

from dialeval.stats.logistic import ONE_CLUSTER_TELLS, robust_slope


@pytest.mark.parametrize("random_seed", range(40))
def test_estimate_and_interval_are_those_of_statsmodels_with_each_cluster_left_out(random_seed: int) -> None:
    rng = np.random.default_rng(random_seed)
    n, k = int(rng.integers(30, 90)), int(rng.integers(1, 3))
    covariates = rng.normal(size=(n, k))
    won = (rng.random(n) < expit(rng.normal() + covariates @ rng.normal(size=k))).astype(float)
    cluster = rng.integers(0, n // 4, n)
    design = sm.add_constant(covariates)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = sm.Logit(won, design)
        fit = model.fit(disp=0)
    names, sizes = np.unique(cluster, return_counts=True)
    scores = model.score_obs(fit.params)
    moved = [
        np.linalg.solve(
            -sm.Logit(won[cluster != name], design[cluster != name]).hessian(fit.params), scores[cluster == name].sum(0)
        )
        for name in names
    ]
    error = np.sqrt(np.square(moved).sum(axis=0)[1] * (len(names) - 1) / len(names))
    reach = student.ppf(0.95, sizes.sum() ** 2 / (sizes**2).sum() - 1) * error
    ours = robust_slope(won, covariates, cluster, 0.9)
    assert fit.mle_retvals["converged"]
    assert ours.n_clusters == len(names)
    assert (ours.estimate, ours.low, ours.high) == pytest.approx(
        (fit.params[1], fit.params[1] - reach, fit.params[1] + reach), rel=1e-6, abs=1e-7
    )


def test_few_clusters_that_are_alike_within_hold_what_they_should() -> None:
    held = []
    for random_seed in range(400):
        rng = np.random.default_rng(random_seed)
        cluster = np.repeat(np.arange(8), rng.integers(1, 12, 8))
        ratio = 0.3 * (rng.normal(size=8)[cluster] + rng.normal(size=len(cluster)))
        won = (rng.random(len(cluster)) < expit(rng.normal(size=8)[cluster])).astype(float)
        found = robust_slope(won, ratio[:, np.newaxis], cluster, 0.95)
        if not found.reason:
            held.append(found.low <= 0.0 <= found.high)
    assert len(held) > 380
    assert np.mean(held) > 0.93  # 86% with the sandwich as it is and the normal quantile


def test_a_slope_that_hangs_on_one_cluster_has_no_interval() -> None:
    rng = np.random.default_rng(1)
    cluster = np.repeat(np.arange(5), 8)
    ratio = np.where(cluster == 2, rng.normal(size=40), 0.0)
    ours = robust_slope((rng.random(40) < 0.5).astype(float), ratio[:, np.newaxis], cluster, 0.95)
    assert np.isfinite(ours.estimate)
    assert np.isnan([ours.low, ours.high]).all()
    assert ours.reason == ONE_CLUSTER_TELLS


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
    assert not ours.high - ours.low < 100.0


def test_one_cluster_has_no_interval() -> None:
    ours = robust_slope(np.array([0.0, 1.0, 1.0, 0.0]), np.arange(4.0)[:, np.newaxis], np.zeros(4, np.int64), 0.95)
    assert ours.reason == "a robust interval needs two clusters or more"
