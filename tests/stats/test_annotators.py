"""Agreement of raters and rounds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr

from dialeval.stats.agreement import judge_agreement
from dialeval.stats.annotators import krippendorffs_alpha, mean_pairwise_pearson


def ratings(k: int = 4, n: int = 80, missing: float = 0.0, seed: int = 5) -> np.ndarray:
    """Ratings 1..5 of raters who see a common value with noise, shape [k, n]."""
    rng = np.random.default_rng(seed)
    common = rng.integers(1, 6, n)
    values = np.clip(common + rng.integers(-1, 2, (k, n)), 1, 5).astype(float)
    values[rng.random(values.shape) < missing] = np.nan
    return values


def test_the_mean_over_pairs_by_hand():
    """Two rounds in step and one against them: correlations 1, -1, -1."""
    result = mean_pairwise_pearson([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [3.0, 2.0, 1.0]])
    assert result.estimate == pytest.approx(-1 / 3)
    assert np.isnan(result.low)
    assert result.reason == ""


def test_missing_ratings_leave_their_item_out_of_the_pairs_they_are_in():
    values = ratings(missing=0.2)
    expected = []
    for one in range(4):
        for other in range(one + 1, 4):
            both = ~np.isnan(values[[one, other]]).any(axis=0)
            expected.append(pearsonr(values[one, both], values[other, both])[0])
    result = mean_pairwise_pearson(values, resamples=200)
    assert result.estimate == pytest.approx(np.mean(expected), abs=1e-12)
    assert result.low < result.estimate < result.high


def test_a_round_that_never_varies_is_left_out_and_told():
    values = np.vstack([ratings(2), np.full(80, 3.0)])
    result = mean_pairwise_pearson(values)
    assert result.estimate == pytest.approx(pearsonr(values[0], values[1])[0])
    assert result.reason == "2 of 3 pairs of rounds have no correlation"


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (ratings(1), "agreement needs two rounds"),
        (np.full((2, 9), 3.0), "no two rounds have a correlation"),
        (np.zeros((2, 0)), "no two rounds have a correlation"),
        ([[1.0, np.nan], [np.nan, 2.0]], "no two rounds have a correlation"),
    ],
)
def test_agreement_that_is_undefined_says_why(values, reason):
    result = mean_pairwise_pearson(values, resamples=5)
    assert np.isnan(result.estimate)
    assert result.reason == reason


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_alpha_agrees_with_the_count_of_all_pairs(missing):
    values = ratings(missing=missing)
    judge, item = np.indices(values.shape)
    cluster = np.arange(80) // 2
    other = judge_agreement(
        judge.ravel(), item.ravel(), values.ravel(), cluster[item].ravel(), 4, level="interval", resamples=50
    )
    ours = krippendorffs_alpha(values, cluster, resamples=50)
    assert ours.estimate == pytest.approx(other.alpha.estimate, abs=1e-12)
    assert (ours.low, ours.high) == pytest.approx((other.alpha.low, other.alpha.high), abs=1e-12)


def test_alpha_does_not_depend_on_origin_and_unit():
    values = ratings(missing=0.1)
    alpha = krippendorffs_alpha(values).estimate
    assert krippendorffs_alpha(1e4 + 0.01 * values).estimate == pytest.approx(alpha)
    assert krippendorffs_alpha(1e-6 * values).estimate == pytest.approx(alpha)  # as probabilities can be


def test_alpha_that_is_undefined_says_why():
    for same in (2.0, 1e-6 / 3, 1e6 + 1 / 3):
        assert krippendorffs_alpha(np.full((3, 5), same)).reason == "ratings do not vary"
    assert krippendorffs_alpha([[1.0, np.nan], [np.nan, 2.0]]).reason == "no item has two ratings"
    assert np.isnan(krippendorffs_alpha(np.zeros((2, 0)), resamples=3).estimate)


@pytest.mark.parametrize("function", [mean_pairwise_pearson, krippendorffs_alpha])
def test_clusters_widen_the_interval(function):
    values, cluster = np.tile(ratings(), 4), np.tile(np.arange(80), 4)
    naive = function(values, resamples=300)
    clustered = function(values, cluster, resamples=300)
    assert clustered.estimate == pytest.approx(naive.estimate)
    assert clustered.high - clustered.low > 1.5 * (naive.high - naive.low)


@pytest.mark.parametrize("function", [mean_pairwise_pearson, krippendorffs_alpha])
def test_wrong_input_is_named(function):
    with pytest.raises(ValueError, match=r"rounds must have shape \[rounds, items\]"):
        function([1.0, 2.0])
    with pytest.raises(ValueError, match="finite"):
        function([[1.0, np.inf], [1.0, 2.0]])
    with pytest.raises(ValueError, match="cluster has 3 entries where 2"):
        function([[1.0, 2.0], [1.0, 2.0]], [0, 1, 2])


def test_the_interval_of_two_rounds_is_fishers():
    rng = np.random.default_rng(6)
    common = rng.normal(size=1500)
    rounds = np.array([common + rng.normal(size=1500), common + rng.normal(size=1500)])
    found = mean_pairwise_pearson(rounds, resamples=2000)
    theirs = pearsonr(*rounds).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.004)
