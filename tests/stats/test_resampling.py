"""Cluster resamples, percentile intervals, paired differences, Wilson intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from dialeval.stats.resampling import (
    cluster_counts,
    interval,
    p_above_next,
    paired_difference,
    percentile_interval,
    share_interval,
    wilson_interval,
)


def test_counts_are_multinomial():
    counts = cluster_counts(7, 20_000, np.random.default_rng(0))
    assert counts.shape == (20_000, 7)
    assert (counts.sum(axis=1) == 7).all()
    assert np.abs(counts.mean(axis=0) - 1.0).max() < 0.03
    assert counts.var(axis=0).mean() == pytest.approx(6 / 7, abs=0.03)
    assert cluster_counts(0, 3, np.random.default_rng(0)).shape == (3, 0)


def test_negative_numbers_are_refused():
    with pytest.raises(ValueError, match="neither may be negative"):
        cluster_counts(-1, 3, np.random.default_rng(0))


def test_percentiles_leave_out_what_is_missing():
    replicates = np.column_stack([np.arange(101.0), np.full(101, np.nan), np.arange(101.0)])
    replicates[50:, 2] = np.nan
    low, high = percentile_interval(replicates, 0.9)
    np.testing.assert_allclose(low, [5.0, np.nan, 0.05 * 49])
    np.testing.assert_allclose(high, [95.0, np.nan, 0.95 * 49])
    assert np.isnan(percentile_interval(np.empty((0, 2)))).all()


def test_an_interval_without_replicates_says_so():
    result = interval(0.3, np.full(10, np.nan))
    assert np.isnan(result.low)
    assert result.reason == "no resample has a value"
    assert interval(np.nan, np.zeros(3)).reason == "the statistic is undefined"


def test_paired_difference_by_hand():
    first = np.array([1.0, 2.0, 3.0, 4.0, np.nan])
    second = np.array([0.0, 3.0, 3.0, 1.0, 0.0])
    result = paired_difference(2.5, 1.5, first, second)
    assert result.interval.estimate == 1.0
    assert result.interval.resamples == 4
    assert result.p_reversed == pytest.approx((1 + 0.5) / 4)
    mirrored = paired_difference(1.5, 2.5, second, first)
    assert mirrored.p_reversed == result.p_reversed
    assert mirrored.interval.low == pytest.approx(-result.interval.high)
    assert np.isnan(paired_difference(1.0, 1.0, first, second).p_reversed)
    with pytest.raises(ValueError, match="not paired"):
        paired_difference(1.0, 1.0, first, second[:2])


def test_p_above_next_by_hand():
    rating = np.array([10.0, np.nan, 30.0, 20.0])
    replicates = np.array([[1.0, 9.0, 3.0, 2.0], [2.0, 9.0, 3.0, 4.0], [2.0, 9.0, 3.0, 2.0]])
    np.testing.assert_allclose(p_above_next(rating, replicates), [np.nan, np.nan, 2 / 3, (1 + 1 + 0.5) / 3])


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_agrees_with_statsmodels(pair):
    count, n = pair
    low, high = wilson_interval(count, n)
    expected = proportion_confint(count, n, 0.05, method="wilson")
    assert low == pytest.approx(expected[0], abs=1e-12)
    assert high == pytest.approx(expected[1], abs=1e-12)
    assert 0.0 <= low <= count / n <= high <= 1.0


def test_wilson_takes_arrays_and_no_trials():
    low, high = wilson_interval([[0, 3], [5, 0]], [10, 5])
    assert low.shape == (2, 2)
    assert low[0, 0] == 0.0
    empty = wilson_interval([0, 1], [0, 2])
    assert np.isnan(empty[0][0])
    assert np.isnan(empty[1][0])
    assert np.isfinite(empty[0][1])
    with pytest.raises(ValueError, match="between 0 and n"):
        wilson_interval(3, 2)
    assert high[1, 0] == pytest.approx(proportion_confint(5, 10, 0.05, method="wilson")[1])


def test_a_share_of_nothing_or_all_has_wilsons_interval_over_clusters():
    cluster = np.repeat(np.arange(10), 3)
    weights = cluster_counts(10, 200, np.random.default_rng(0))
    among = np.ones(30, dtype=bool)
    none = share_interval(among, np.zeros(30, dtype=bool), cluster, weights, 0.95, "")
    every = share_interval(among, among, cluster, weights, 0.95, "")
    _, high = wilson_interval(0, 10)
    assert (none.estimate, none.low, none.high) == (0.0, 0.0, float(high))
    assert (every.estimate, every.low, every.high) == (1.0, pytest.approx(1 - float(high)), 1.0)
    some = share_interval(among, cluster < 3, cluster, weights, 0.95, "")
    assert some.low < 0.3 < some.high
