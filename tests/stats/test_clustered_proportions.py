"""Clustered intervals of shares: against their formula written out slowly, at 0 and 1, and in small simulations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, norm
from scipy.stats import t as student

from dialeval.stats.clustered import clustered_proportion, clustered_proportions


def by_the_formula(numerator, denominator, cluster, cell, confidence=0.95):
    """The docstring of `clustered_proportions`, row by row."""
    psi, weight, success = {}, {}, {}
    estimate = independent = row_weights = 0.0
    cells = sorted(set(cell))
    most = 0
    for name in cells:
        rows = [i for i in range(len(cell)) if cell[i] == name]
        total = sum(denominator[i] for i in rows)
        p = sum(numerator[i] for i in rows) / total
        k = len({cluster[i] for i in rows})
        most = max(most, k)
        if k < 2:
            return estimate, math.nan, math.nan
        n = total**2 / sum(denominator[i] ** 2 for i in rows)
        estimate += p / len(cells)
        s2 = sum(denominator[i] * (numerator[i] / denominator[i] - p) ** 2 for i in rows) / total
        for i in rows:
            w = denominator[i] / total / len(cells)
            x = numerator[i] / denominator[i]
            independent += w**2 * s2
            row_weights += w**2
            psi[cluster[i]] = psi.get(cluster[i], 0.0) + w * (x - p) * math.sqrt(k / (k - 1) * (n - 1) / n)
            weight[cluster[i]] = weight.get(cluster[i], 0.0) + w
            success[cluster[i]] = success.get(cluster[i], 0.0) + w * x
    squares = sum(value**2 for value in psi.values())
    fourth = sum(value**4 for value in psi.values())
    f = min(
        sum(success[k] > 1e-12 for k in psi),
        sum(weight[k] - success[k] > 1e-12 for k in psi),
        squares**2 / fourth if squares > 1e-20 else 0.0,
    )
    alike = sum(value**2 for value in weight.values())
    variance = (f**2 * max(squares, independent) + estimate * (1 - estimate) * alike) / (f**2 + 1)
    n = estimate * (1 - estimate) / variance if 1e-12 < estimate < 1 - 1e-12 else 1 / alike
    t = student.ppf(0.5 + confidence / 2, max(len(psi) - len(cells), most - 1))
    centre = (estimate + t * t / (2 * n)) / (1 + t * t / n)
    reach = math.sqrt(t * t * (estimate * (1 - estimate) / n + t * t / (4 * n * n))) / (1 + t * t / n)
    fewer = n * (norm.ppf(0.5 + confidence / 2) / t) ** 2
    jeffreys = beta(estimate * fewer + 0.5, (1 - estimate) * fewer + 0.5)
    low = min(centre - reach, jeffreys.ppf(0.5 - confidence / 2))
    high = max(centre + reach, jeffreys.ppf(0.5 + confidence / 2))
    low = 0.0 if estimate < 1e-12 else max(min(low, estimate), 0.0)
    high = 1.0 if estimate > 1 - 1e-12 else min(max(high, estimate), 1.0)
    return estimate, low, high


ROWS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([1.0, 2.0]), st.integers(0, 4), st.integers(0, 2)),
    min_size=1,
    max_size=25,
)


@given(ROWS)
def test_the_interval_is_its_formula(rows):
    share, denominator, cluster, cell = (list(column) for column in zip(*rows, strict=True))
    numerator = [x * d for x, d in zip(share, denominator, strict=True)]
    result = clustered_proportion(numerator, cluster, trials=denominator, stratum=cell)
    estimate, low, high = by_the_formula(numerator, denominator, cluster, cell)
    if math.isnan(low):
        assert "single cluster" in result.note
        assert math.isnan(result.ci_low)
        assert math.isnan(result.ci_high)
        return
    assert result.estimate == pytest.approx(estimate, abs=1e-12)
    assert (result.ci_low, result.ci_high) == pytest.approx((low, high), abs=1e-7)
    assert 0.0 <= result.ci_low <= result.estimate <= result.ci_high <= 1.0
    assert result.ci_low < result.ci_high


@given(ROWS)
def test_groups_are_as_one_at_a_time_and_successes_mirror_failures(rows):
    share, _, cluster, group = (np.array(column) for column in zip(*rows, strict=True))
    together = clustered_proportions(share, cluster, group, 3)
    mirrored = clustered_proportions(1.0 - share, cluster, group, 3)
    for number in range(3):
        mine = group == number
        alone = clustered_proportion(share[mine], cluster[mine])
        for one, other in ((alone.ci_low, together.ci_low), (alone.ci_high, together.ci_high)):
            assert one == pytest.approx(other[number], abs=1e-12, nan_ok=True)
        assert mirrored.ci_low[number] == pytest.approx(1.0 - together.ci_high[number], abs=1e-9, nan_ok=True)
        assert alone.n_clusters == together.n_clusters[number] == len(set(cluster[mine]))


def test_many_groups_and_clusters_are_counted_as_few_are():
    """Where pairs of group and cluster are too many to be laid out they are found by sorting."""
    rng = np.random.default_rng(0)
    group, cluster = rng.integers(0, 3, 300), rng.integers(0, 20, 300)
    x = (rng.random(300) < 0.8).astype(float)
    few = clustered_proportions(x, cluster, group, 3)
    # As many groups and clusters as make the table of pairs longer than a million.
    spread = clustered_proportions(
        np.concatenate([x, np.zeros(3000)]),
        np.concatenate([cluster, np.arange(20, 3020)]),
        np.concatenate([group, np.full(3000, 999)]),
        1000,
    )
    np.testing.assert_allclose(spread.ci_low[:3], few.ci_low)
    np.testing.assert_allclose(spread.ci_high[:3], few.ci_high)


@pytest.mark.parametrize("clusters", [5, 20, 222])
def test_all_or_none_is_no_certainty(clusters):
    """All held: as many Bernoulli trials as clusters, with t for the normal quantile."""
    cluster = np.repeat(np.arange(clusters), 2)
    every = clustered_proportion(np.ones(len(cluster)), cluster)
    none = clustered_proportion(np.zeros(len(cluster)), cluster)
    square = student.ppf(0.975, clusters - 1) ** 2
    assert every.ci_low <= clusters / (clusters + square) + 1e-12
    assert every.ci_low == pytest.approx(clusters / (clusters + square), abs=0.02)
    assert (every.ci_high, none.ci_low) == (1.0, 0.0)
    assert none.ci_high == pytest.approx(1.0 - every.ci_low)
    assert (every.n_effective, every.design_effect) == (pytest.approx(clusters), pytest.approx(2.0))


def test_single_cluster_and_nothing_at_all_say_why():
    alone = clustered_proportion([1.0, 0.0], ["d", "d"])
    assert (alone.estimate, alone.note) == (0.5, "a single cluster gives no interval")
    assert math.isnan(alone.ci_low)
    assert math.isnan(alone.design_effect)
    assert clustered_proportion([], [], note="no verdict").note == "no verdict"
    assert math.isnan(clustered_proportion([], []).estimate)
    in_a_cell = clustered_proportion([1.0, 0.0, 1.0], [0, 1, 2], stratum=[0, 0, 1])
    assert in_a_cell.estimate == 0.75
    assert in_a_cell.note == "a cell with a single cluster gives the mean no interval"


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"numerator\[1\] is 2.0; it must lie between 0 and its denominator, 1.0"):
        clustered_proportions([1.0, 2.0], [0, 1])
    with pytest.raises(ValueError, match=r"numerator\[0\] is nan"):
        clustered_proportions([math.nan], [0])
    with pytest.raises(ValueError, match="cluster has 1 entries"):
        clustered_proportions([1.0, 0.0], [0])
    with pytest.raises(ValueError, match="a cell lies in two groups"):
        clustered_proportions([1.0, 0.0], [0, 1], [0, 1], 2, stratum=[5, 5])
    with pytest.raises(ValueError, match="confidence is 2"):
        clustered_proportions([1.0], [0], confidence=2)


@pytest.mark.parametrize("clusters", [10, 20])
@pytest.mark.parametrize("correlation", [0.0, 0.5])
@pytest.mark.parametrize("p", [0.5, 0.9, 0.98])
@pytest.mark.parametrize("rows", [2, 14])
def test_intervals_hold_the_truth(clusters, correlation, p, rows):
    """A small version of `benchmarks/stats_coverage.py`: 600 repetitions, so 93% is two standard errors from 95%."""
    rng = np.random.default_rng([clusters, int(10 * correlation), int(100 * p), rows])
    size = 1.0 / correlation - 1.0 if correlation else 0.0
    chance = rng.beta(p * size, (1 - p) * size, (600, clusters)) if correlation else np.full((600, clusters), p)
    outcome = rng.random((600, clusters, rows)) < chance[:, :, np.newaxis]
    cluster = np.broadcast_to(np.arange(clusters)[:, np.newaxis], outcome.shape)
    group = np.repeat(np.arange(600), clusters * rows)
    result = clustered_proportions(outcome.ravel(), cluster.ravel(), group, 600)
    assert np.mean((result.ci_low <= p) & (p <= result.ci_high)) >= (0.93 if clusters >= 20 else 0.9)
