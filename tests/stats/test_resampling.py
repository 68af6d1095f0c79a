"""Cluster resamples, percentile intervals, paired differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import bootstrap, norm
from scipy.stats import t as student

from dialeval.stats.resampling import (
    bias_corrected_interval,
    cluster_counts,
    integer_counts,
    interval,
    p_above_next,
    percentile_interval,
    ratio_replicates,
    without_zero_width,
)


def test_counts_are_multinomial():
    counts = cluster_counts(7, 20_000, np.random.default_rng(0))
    assert counts.shape == (20_000, 7)
    assert (counts.sum(axis=1) == 7).all()
    assert np.abs(counts.mean(axis=0) - 1.0).max() < 0.03
    assert counts.var(axis=0).mean() == pytest.approx(6 / 7, abs=0.03)
    assert cluster_counts(0, 3, np.random.default_rng(0)).shape == (3, 0)


@pytest.mark.parametrize(
    ("n_clusters", "largest", "kind"),
    [(1, 1, np.uint8), (200, 255, np.uint8), (200, 256, np.uint16), (70, 70_000, np.uint32)],
)
def test_whole_counts_are_the_same_draws(n_clusters, largest, kind):
    whole = integer_counts(n_clusters, 300, np.random.default_rng(6), largest)
    assert whole.dtype == kind
    assert (whole == cluster_counts(n_clusters, 300, np.random.default_rng(6))).all()
    rng = np.random.default_rng(6)  # one draw after another, counted one by one
    assert (whole == [np.bincount(rng.integers(0, n_clusters, n_clusters), minlength=n_clusters) for _ in whole]).all()


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


def test_percentiles_are_numpys_whatever_the_shape_of_the_replicates():
    """Columns whose tails hold the ends, columns whose tails do not, and columns that have none."""
    rng = np.random.default_rng(7)
    normal = rng.normal(size=(400, 12))
    normal[:, 1] *= 1e200  # its square has no room
    normal[:, 2] = normal[:, 2] > 1.0
    normal[:, 3] = np.exp(5.0 * normal[:, 3])
    normal[:, 4] = 0.3
    normal[:, 5] = np.round(normal[:, 5])
    normal[:, 6] += 1e9  # nothing but rounding is left of its variance
    normal[:7, 7] = np.nan
    normal[1:, 8] = np.nan
    normal[:3, 9] = 1e6
    normal[:, 10] = np.where(np.arange(400) < 200, -1.0, 1.0)
    for confidence in (0.2, 0.9, 0.95, 0.999):
        ends = percentile_interval(normal.reshape(400, 3, 4), confidence)
        tail = 0.5 * (1.0 - confidence)
        np.testing.assert_allclose(
            np.reshape(ends, (2, 12)), np.nanquantile(normal, [tail, 1.0 - tail], axis=0), rtol=1e-13
        )
    ordered = np.arange(101.0)
    low, high = percentile_interval(np.where(ordered > 90, np.inf, ordered), 0.9)
    assert (float(low), float(high)) == (pytest.approx(5.0), np.inf)


def test_an_interval_without_replicates_says_so():
    result = interval(0.3, np.full(10, np.nan))
    assert np.isnan(result.ci_low)
    assert result.note == "no resample has a value"
    assert interval(np.nan, np.zeros(3)).note == "the statistic is undefined"


def test_p_above_next_by_hand():
    rating = np.array([10.0, np.nan, 30.0, 20.0])
    replicates = np.array([[1.0, 9.0, 3.0, 2.0], [2.0, 9.0, 3.0, 4.0], [2.0, 9.0, 3.0, 2.0]])
    np.testing.assert_allclose(p_above_next(rating, replicates), [np.nan, np.nan, 2 / 3, (1 + 1 + 0.5) / 3])


def test_replicates_that_differ_by_rounding_alone_count_half():
    rating = np.array([2.0, 1.0])
    replicates = np.array([[1000.0, 1000.0 - 1e-10], [1000.0, 1000.0 + 1e-10], [1001.0, 1000.0], [1000.0, 1000.0]])
    np.testing.assert_allclose(p_above_next(rating, replicates), [2.5 / 4, np.nan])


def test_percentiles_of_a_mean_are_expanded_to_its_t_interval():
    """The plain ones are 1.9 times too narrow for a mean of five; Hesterberg (2015), section 4.4."""
    rng = np.random.default_rng(3)
    values = rng.normal(0, 1, 5)
    means = cluster_counts(5, 200_000, rng) @ values / 5
    spread = values.std(ddof=1) / np.sqrt(5)
    normal = means.mean() + means.std() * np.random.default_rng(4).normal(size=200_000)
    low, high = percentile_interval(normal, 0.95, 5)
    assert (high - low) / 2 == pytest.approx(student.ppf(0.975, 4) * spread, rel=0.05)
    plain = percentile_interval(normal, 0.95)
    assert (plain[1] - plain[0]) / 2 == pytest.approx(1.96 * spread * np.sqrt(0.8), rel=0.05)


def test_percentiles_take_a_number_of_clusters_each_and_none_of_one():
    replicates = np.column_stack([np.arange(1001.0)] * 3)
    low, high = percentile_interval(replicates, 0.95, [5, 1000, 1])
    assert low[0] < low[1] < 25.0
    assert high[1] == pytest.approx(1000 - low[1])
    assert np.isnan([low[2], high[2]]).all()
    assert interval(0.5, np.arange(10.0), n_clusters=1).note == "a single cluster gives no interval"
    assert interval(0.5, np.arange(10.0), n_clusters=7).n_clusters == 7


def test_ratios_on_resamples_are_those_of_the_rows_drawn():
    rng = np.random.default_rng(9)
    above, below, cluster = rng.normal(size=12), rng.integers(0, 3, 12).astype(float), rng.integers(0, 4, 12)
    below[cluster == 3] = 0.0
    counts = np.array([[1, 1, 1, 1], [2, 0, 1, 1], [0, 0, 0, 4]])
    expected = []
    for row in counts:
        rows = np.repeat(np.arange(12), row[cluster])
        expected.append(above[rows].sum() / below[rows].sum() if below[rows].sum() else np.nan)
    np.testing.assert_allclose(ratio_replicates(above, below, cluster, counts.astype(float)), expected)
    assert np.isnan(expected).tolist() == [False, False, True]


def test_an_interval_without_width_is_none():
    low, high = without_zero_width(np.array([1.0, 2.0, np.nan]), np.array([1.0 + 1e-9, 3.0, np.nan]))
    np.testing.assert_array_equal((low, high), ([np.nan, 2.0, np.nan], [np.nan, 3.0, np.nan]))


def test_without_a_bias_the_corrected_ends_are_the_percentiles():
    replicates = np.random.default_rng(3).normal(size=1001)
    straight = percentile_interval(replicates, n_clusters=12)
    assert bias_corrected_interval(np.median(replicates), replicates, n_clusters=12) == pytest.approx(straight)
    with_gaps = np.concatenate([replicates, np.full(99, np.nan)])
    assert bias_corrected_interval(np.median(replicates), with_gaps, n_clusters=12) == pytest.approx(straight)


def test_bias_corrected_ends_by_hand_and_close_to_scipys_where_there_is_no_acceleration():
    """Three in ten replicates lie below the estimate, so the ends are the quantiles Phi(2 Phi^-1(.3) -+ 1.96)."""
    replicates = np.arange(1000.0)
    shift = 2 * norm.ppf(0.3)
    expected = 999 * norm.cdf(shift + norm.ppf([0.025, 0.975]))
    assert bias_corrected_interval(299.5, replicates) == pytest.approx(tuple(expected), rel=1e-9)
    sample = np.random.default_rng(1).normal(size=500)
    result = bootstrap((sample,), np.median, n_resamples=9999, rng=np.random.default_rng(2))
    mine = bias_corrected_interval(np.median(sample), result.bootstrap_distribution)
    assert mine == pytest.approx(tuple(result.confidence_interval), abs=0.02)


def test_bias_corrected_ends_of_nothing_are_missing():
    for found in (
        bias_corrected_interval(0.5, np.full(9, np.nan), n_clusters=9),
        bias_corrected_interval(0.5, np.zeros(0)),
        bias_corrected_interval(0.5, np.linspace(0, 1, 9), n_clusters=1),
    ):
        assert np.isnan(found).all()
    assert bias_corrected_interval(0.5, np.full(9, 0.5), n_clusters=9) == (0.5, 0.5)
    assert bias_corrected_interval(2.0, np.linspace(0, 1, 9), n_clusters=9)[1] == pytest.approx(1.0)
