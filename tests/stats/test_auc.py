"""AUC with clusters: against scikit-learn, DeLong by hand, and simulated dialogues."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score

from dialeval.stats.auc import ALL_THE_SAME, FEW_CLUSTERS, NO_PAIR, auc_gain, clustered_auc, midranks

# AUC with clusters: against scikit-learn, DeLong by hand, and simulated dialogues.


def test_it_is_scikit_learns_with_ties_half() -> None:
    rng = np.random.default_rng(0)
    for levels in (2, 5, 10_000):
        score, good = rng.integers(0, levels, 300) / levels, rng.random(300) < 0.3
        found = clustered_auc(score, good, np.arange(300) % 40)
        assert found.auc == pytest.approx(roc_auc_score(good, score), abs=1e-12)
        assert found.ci_low < found.auc < found.ci_high
        assert (found.n, found.n_clusters, found.reason) == (300, 40, "")


def test_by_hand() -> None:
    """True ones at 3 and 1, spoiled ones at 2 and 1: they win 2, lose 1, and tie once."""
    found = clustered_auc([3.0, 1.0, 2.0, 1.0], [1, 1, 0, 0], [0, 1, 0, 1])
    assert found.auc == 0.625
    # placements: true 1 and .25, spoiled .5 and .75
    np.testing.assert_allclose(found.contributions, [0.375 / 2 - 0.125 / 2, -0.375 / 2 + 0.125 / 2])


def test_with_many_clusters_of_one_example_the_interval_is_delongs() -> None:
    rng = np.random.default_rng(1)
    good = np.arange(4000) < 1500
    score = rng.normal(size=4000) + good
    found = clustered_auc(score, good, np.arange(4000))
    wins = score[good][:, None] > score[~good][None, :]
    variance = wins.mean(axis=1).var(ddof=1) / good.sum() + wins.mean(axis=0).var(ddof=1) / (~good).sum()
    np.testing.assert_allclose(
        [found.ci_low, found.ci_high], found.auc + np.array([-1.96, 1.96]) * variance**0.5, atol=1e-3
    )


def test_what_a_dialogue_repeats_says_nothing_new() -> None:
    rng = np.random.default_rng(2)
    good = np.arange(200) % 2 == 1
    score = rng.normal(size=200) + good
    once = clustered_auc(score, good, np.arange(200) // 4)
    again = clustered_auc(np.tile(score, 5), np.tile(good, 5), np.tile(np.arange(200) // 4, 5))
    apart = clustered_auc(np.tile(score, 5), np.tile(good, 5), np.arange(1000) // 4)
    assert (again.ci_low, again.ci_high) == pytest.approx((once.ci_low, once.ci_high))
    assert apart.ci_high - apart.ci_low < 0.6 * (once.ci_high - once.ci_low)


def test_an_auc_of_one_has_an_interval_that_shrinks_with_dialogues() -> None:
    lows = []
    for clusters in (5, 20, 200):
        good = np.arange(2 * clusters) % 2 == 1
        found = clustered_auc(1.0 * good, good, np.arange(2 * clusters) // 2)
        assert (found.auc, found.ci_high) == (1.0, 1.0)
        lows.append(found.ci_low)
        wrong = clustered_auc(1.0 * ~good, good, np.arange(2 * clusters) // 2)
        assert (wrong.auc, wrong.ci_low, wrong.ci_high) == pytest.approx((0.0, 0.0, 1.0 - found.ci_low))
    assert 0.3 < lows[0] < 0.5 < lows[1] < 0.85 < lows[2] < 0.99


def test_strata_are_held_against_themselves_and_weighted_by_their_examples() -> None:
    """The second stratum's scores lie far above the first's, which a plain AUC would take for something told."""
    score = [0.9, 0.1, 10.1, 10.9, 10.2, 10.8, 7.0]
    good = [1, 0, 1, 0, 1, 0, 1]
    stratum = ["a", "a", "b", "b", "b", "b", "without a spoiled one"]
    found = clustered_auc(score, good, np.arange(7), stratum=stratum)
    assert found.auc == pytest.approx((2 * 1.0 + 4 * 0.0) / 6)
    assert (found.n, found.n_clusters) == (6, 6)


def test_what_has_no_interval_says_why() -> None:
    assert clustered_auc([], [], []).reason == NO_PAIR
    assert clustered_auc([1.0, 2.0], [1, 1], [0, 1]).reason == NO_PAIR
    few = clustered_auc([1.0, 0.0] * 4, [1, 0] * 4, np.arange(8) // 2)
    assert (few.auc, few.reason) == (1.0, FEW_CLUSTERS)
    assert np.isnan([few.ci_low, few.ci_high]).all()
    constant = clustered_auc(np.full(40, 0.3), np.arange(40) % 2, np.arange(40) // 2)
    assert (constant.auc, constant.reason) == (0.5, ALL_THE_SAME)
    with pytest.raises(ValueError, match=r"score\[1\] is not a finite number"):
        clustered_auc([1.0, np.nan], [1, 0], [0, 1])


def test_a_gain_is_measured_on_the_same_dialogues() -> None:
    rng = np.random.default_rng(3)
    good, cluster = np.arange(400) % 2 == 1, np.arange(400) // 4
    before = rng.normal(size=400) + 0.5 * good
    same = clustered_auc(before, good, cluster)
    assert auc_gain(same, same)[0] == 0.0
    difference, low, high = auc_gain(clustered_auc(before + 0.7 * good, good, cluster), same)
    _, apart, _ = auc_gain(clustered_auc(rng.normal(size=400) + 1.2 * good, good, cluster), same)
    assert 0.0 < low < difference < high
    assert low > apart, "what both say of a dialogue cancels"
    constant = clustered_auc(np.zeros(400), good, cluster)
    assert auc_gain(same, constant)[0] == pytest.approx(same.auc - 0.5)
    assert np.isnan(auc_gain(same, constant)[1:]).all()


@pytest.mark.parametrize("truth", [0.5, 0.97])
def test_intervals_hold_the_truth_where_dialogues_are_few_and_of_unequal_length(truth: float) -> None:
    rng = np.random.default_rng(4)
    held = []
    for _ in range(300):
        cluster = np.tile(np.repeat(np.arange(15), np.minimum(rng.geometric(0.25, 15), 21)), 2)
        good = np.arange(len(cluster)) < len(cluster) // 2
        own = rng.normal(size=(2, 15))[1 * good, cluster]
        score = np.sqrt(0.3) * own + np.sqrt(0.7) * rng.normal(size=len(cluster)) + np.sqrt(2.0) * ndtri(truth) * good
        found = clustered_auc(score, good, cluster)
        held.append(found.ci_low <= truth <= found.ci_high)
    assert np.mean(held) > 0.92


# Ranks with the mean of equal ones, against scipy.


@given(st.lists(st.sampled_from([-np.inf, -1.5, 0.0, 0.1, 2.0, np.inf]) | st.floats(-1e6, 1e6), max_size=40))
def test_they_are_those_of_scipy(values: list[float]) -> None:
    assert midranks(np.array(values)).tolist() == rankdata(values).tolist()
