"""Paired differences: by hand, against scipy and statsmodels where these apply, and simulated where they do not."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import t, ttest_rel

from dialeval.stats.clustered import ONE_CLUSTER
from dialeval.stats.differences import (
    ALL_THE_SAME,
    NO_ITEM,
    ONE_CLUSTER_IN_STRATUM,
    item_differences,
    paired_differences,
)
from dialeval.stats.estimates import t_interval
from dialeval.stats.significance import holm


def draw(rng, shares, n_clusters, per_cluster, correlation):
    """Items of a cluster that resemble each other, half of it shared by the systems: [n_systems, n], clusters."""
    size = (len(shares), n_clusters, per_cluster)
    shared, own = rng.normal(size=(1, n_clusters, 1)), rng.normal(size=(len(shares), n_clusters, 1))
    latent = np.sqrt(correlation / 2) * (shared + own) + np.sqrt(1 - correlation) * rng.normal(size=size)
    passed = latent < ndtri(np.asarray(shares))[:, np.newaxis, np.newaxis]
    return passed.astype(float).reshape(len(shares), -1), np.repeat(np.arange(n_clusters), per_cluster)


def test_values_differences_and_counts_are_of_the_items_in_common():
    values = [[1, 1, 0, np.nan, 1], [0, np.nan, 0, 1, 1], [1, 0, 1, 0, np.nan]]
    result = paired_differences(values, ["s", "s", "t", "t", "u"])
    assert list(zip(result.first, result.second, strict=True)) == [(0, 1), (0, 2), (1, 2)]
    np.testing.assert_allclose(result.first_mean, [2 / 3, 2 / 3, 1 / 3])
    np.testing.assert_allclose(result.second_mean, [1 / 3, 2 / 3, 2 / 3])
    np.testing.assert_allclose(result.estimate, [1 / 3, 0.0, -1 / 3])
    assert (result.n_items.tolist(), result.n_clusters.tolist()) == ([3, 3, 3], [3, 2, 2])


def test_a_stratified_mean_counts_every_stratum_once():
    result = paired_differences([[1, 1, 1, 0], [0, 0, 0, 0]], range(4), stratum=["a", "a", "b", "b"])
    assert result.estimate.tolist() == [0.75]


def test_with_many_independent_items_it_is_the_paired_t_test():
    rng = np.random.default_rng(1)
    values = rng.integers(0, 3, (2, 4000)) / 2 * np.array([[1.0], [0.95]])
    result, oracle = paired_differences(values, np.arange(4000)), ttest_rel(*values)
    low, high = oracle.confidence_interval()
    assert result.p_value[0] == pytest.approx(oracle.pvalue, rel=0.05)
    np.testing.assert_allclose([result.ci_low[0], result.ci_high[0]], [low, high], atol=2e-4)


def test_with_many_clusters_it_is_the_cluster_robust_regression_on_a_constant():
    values, cluster = draw(np.random.default_rng(2), (0.6, 0.5), 1500, 4, 0.5)
    result = paired_differences(values, cluster)
    fit = sm.OLS(values[0] - values[1], np.ones(len(cluster))).fit(
        cov_type="cluster", cov_kwds={"groups": cluster}, use_t=True
    )
    np.testing.assert_allclose([result.ci_low[0], result.ci_high[0]], fit.conf_int()[0], atol=5e-4)
    assert result.df[0] == pytest.approx(1499)


def test_a_repeated_cluster_adds_no_certainty():
    values, cluster = draw(np.random.default_rng(3), (0.6, 0.5), 30, 1, 0.0)
    once = paired_differences(values, cluster)
    often = paired_differences(np.repeat(values, 50, axis=1), np.repeat(cluster, 50))
    np.testing.assert_allclose(
        [often.ci_low, often.ci_high, often.p_value], [once.ci_low, once.ci_high, once.p_value], atol=1e-9
    )


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_equal_systems_without_any_failure_or_success_get_a_wide_interval_and_a_word(share):
    result = paired_differences(np.full((2, 20), share), np.repeat(np.arange(5), 4))
    assert result.note == (ALL_THE_SAME,)
    assert result.p_value.tolist() == [1.0]
    assert result.ci_low[0] == pytest.approx(-result.ci_high[0])
    assert result.ci_high[0] > 0.3


def test_a_system_that_always_wins_is_better_but_not_by_exactly_one():
    result = paired_differences([[1.0] * 10, [0.0] * 10], range(10))
    assert (result.estimate[0], result.ci_high[0]) == (1.0, 1.0)
    assert 0.3 < result.ci_low[0] < 0.9
    assert 1e-4 < result.p_value[0] < 0.01  # the sign test: 0.002


def test_what_has_no_interval_says_why():
    values = [[1, 0, 1, np.nan], [0, 0, 1, 1], [np.nan, np.nan, np.nan, 1]]
    result = paired_differences(values, ["s", "s", "s", "s"])
    assert result.note == (ONE_CLUSTER, NO_ITEM, ONE_CLUSTER)
    assert np.isnan([result.ci_low, result.ci_high, result.p_value]).all()
    assert np.isnan(result.estimate).tolist() == [False, True, False]
    lone = paired_differences([[1, 0, 1], [0, 0, 1]], [1, 2, 3], stratum=["a", "a", "b"])
    assert lone.note == (ONE_CLUSTER_IN_STRATUM,)
    assert len(paired_differences([[1.0]], [1]).p_value) == 0


def test_one_cluster_with_nearly_everything_leaves_little_freedom():
    cluster = [0] * 95 + [1, 2, 3, 4, 5]
    values = np.random.default_rng(0).integers(0, 2, (2, 100))
    assert paired_differences(values, cluster).df[0] < 0.2


@given(st.integers(2, 5), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_the_interval_holds_the_difference_and_has_a_width(n_systems, n, seed):
    rng = np.random.default_rng(seed)
    values = rng.choice([0.0, 0.5, 1.0, np.nan], (n_systems, n))
    result = paired_differences(values, rng.integers(0, 4, n), stratum=rng.integers(0, 2, n))
    has = ~np.isnan(result.ci_low)
    assert (result.ci_low[has] < result.ci_high[has]).all()
    assert (result.ci_low[has] <= result.estimate[has] + 1e-12).all()
    assert (result.estimate[has] <= result.ci_high[has] + 1e-12).all()
    assert ((result.p_value[has] >= 0) & (result.p_value[has] <= 1)).all()
    assert all(note for note, there in zip(result.note, has, strict=True) if not there)
    swapped = paired_differences(values[::-1], np.arange(n) % 3)
    straight = paired_differences(values, np.arange(n) % 3)
    np.testing.assert_allclose(
        sorted(np.nan_to_num(straight.p_value, nan=2)), sorted(np.nan_to_num(swapped.p_value, nan=2))
    )


def test_pairs_with_items_of_their_own_are_those_with_items_in_common():
    values, cluster = draw(np.random.default_rng(4), (0.6, 0.5, 0.4), 12, 3, 0.3)
    together = paired_differences(values, cluster)
    pairs = [(0, 1), (0, 2), (1, 2)]
    rows = [np.concatenate([values[pair[side]] for pair in pairs]) for side in (0, 1)]
    alone = item_differences(
        *rows, np.tile(cluster, 3), pair=np.repeat([0, 1, 2], 36), first=[0, 0, 1], second=[1, 2, 2]
    )
    for name in ("estimate", "ci_low", "ci_high", "p_value", "n_items", "n_clusters"):
        np.testing.assert_allclose(getattr(alone, name), getattr(together, name))


def test_values_that_are_no_shares_are_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        paired_differences([[2.0], [1.0]], [0])
    with pytest.raises(ValueError, match=r"first_value\[0\] is nan; it must lie between 0 and 1"):
        item_differences([np.nan], [1.0], [0])
    with pytest.raises(ValueError, match="shape"):
        paired_differences([1.0], [0])


def test_an_estimate_without_an_error_has_no_interval():
    low, high, p = t_interval([1.0, np.nan, 1.0], [0.0, 1.0, np.inf], 5.0)
    assert np.isnan([low, high, p]).all()


@pytest.mark.parametrize(("first", "second"), [(0.5, 0.5), (0.98, 0.98), (0.98, 0.9)])
@pytest.mark.parametrize("correlation", [0.0, 0.6])
def test_intervals_hold_the_truth_at_twenty_clusters(first, second, correlation):
    rng = np.random.default_rng(5)
    values, cluster = draw(rng, (first, second), 1000 * 20, 10, correlation)
    result = item_differences(
        *values, cluster, pair=cluster // 20, first=np.zeros(1000, int), second=np.ones(1000, int)
    )
    assert np.mean((result.ci_low <= first - second) & (first - second <= result.ci_high)) >= 0.93


@pytest.mark.parametrize(("n_clusters", "shares"), [(10, (0.9, 0.7)), (20, (0.8, 0.65))])
def test_few_clusters_find_nearly_as_much_as_students_test_and_claim_no_more_than_promised(n_clusters, shares):
    rng = np.random.default_rng(8)
    found = {}
    for truth in (shares, (shares[0], shares[0])):
        values = (rng.random((2, 2000, n_clusters, 5)) < np.reshape(truth, (2, 1, 1, 1))).astype(float)
        pair, cluster = (np.broadcast_to(code, values.shape[1:]).ravel() for code in (
            np.arange(2000)[:, np.newaxis, np.newaxis], np.arange(n_clusters)[:, np.newaxis]
        ))  # fmt: skip
        tested = item_differences(
            *values.reshape(2, -1), cluster, pair=pair, first=np.zeros(2000, int), second=np.ones(2000, int)
        )
        student = ttest_rel(*values.mean(axis=3), axis=1).pvalue
        found[truth] = (tested.p_value <= 0.05).mean(), (student <= 0.05).mean()
    power, of_student = found[shares]
    assert 0.8 * of_student <= power <= of_student
    assert found[shares[0], shares[0]][0] <= 0.055


def test_three_items_are_made_up_by_cluster_that_varies_but_never_more_than_two():
    """One item a cluster, five won by either side: ten clusters vary alike, so .3 items are made up."""
    values = np.repeat([[1.0, 0.0], [0.0, 1.0]], 5, axis=1)
    result = paired_differences(values, range(10))
    variance = (10**2 * 1 / 9 + 0.3) / 10.3**2
    assert (result.ci_low[0], result.ci_high[0]) == pytest.approx(
        (-t.ppf(0.975, 9) * variance**0.5, t.ppf(0.975, 9) * variance**0.5)
    )
    lone = paired_differences([[1.0] + [0.0] * 9, [0.0] * 10], range(10))  # one varies, but for the mean's own spread
    assert lone.p_value[0] > 0.3


def test_among_equal_systems_hardly_any_table_has_a_significant_pair():
    rng = np.random.default_rng(6)
    wrong = [holm(paired_differences(*draw(rng, [0.6] * 8, 40, 3, 0.4)).p_value).min() <= 0.05 for _ in range(300)]
    assert np.mean(wrong) <= 0.06
