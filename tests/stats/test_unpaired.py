"""Means over different items: against scipy, and simulated with shared dialogues."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_ind

from dialeval.stats.differences import NO_ITEM, ONE_CLUSTER, ONE_CLUSTER_IN_STRATUM
from dialeval.stats.unpaired import Side, unpaired_difference


def side(value, cluster=None, stratum=None):
    n = len(value)
    return Side(value, np.arange(n) if cluster is None else cluster, np.zeros(n) if stratum is None else stratum)


def test_with_many_independent_items_it_is_welchs_test():
    rng = np.random.default_rng(0)
    first, second = (rng.random(n) < share for n, share in ((3000, 0.55), (2000, 0.5)))
    result = unpaired_difference(side(1.0 * first), side(1.0 * second, cluster=10_000 + np.arange(2000)))
    oracle = ttest_ind(first, second, equal_var=False)
    low, high = oracle.confidence_interval()
    np.testing.assert_allclose([result.low, result.high], [low, high], atol=3e-4)
    assert result.p == pytest.approx(oracle.pvalue, rel=0.05)


def test_items_of_both_sides_make_no_noise():
    value = np.random.default_rng(1).integers(0, 2, 2000).astype(float)
    nearly = unpaired_difference(side(value), side(value[:1900]))
    other = unpaired_difference(side(value), side(value[:1900], cluster=5000 + np.arange(1900)))
    assert nearly.high - nearly.low < 0.3 * (other.high - other.low)


def test_only_strata_of_both_sides_count():
    result = unpaired_difference(side([1.0, 1.0, 0.0], stratum=["a", "a", "b"]), side([0.0, 1.0], stratum=["a", "a"]))
    assert (result.first_value, result.second_value, result.n) == (1.0, 0.5, 4)


def test_all_right_on_both_sides_leaves_a_wide_interval():
    result = unpaired_difference(side(np.ones(8)), side(np.ones(8), cluster=100 + np.arange(8)))
    assert result.low < -0.2 < 0.2 < result.high
    assert result.p > 0.9


def test_what_has_no_interval_says_why():
    assert unpaired_difference(side([]), side([1.0])).note == NO_ITEM
    assert unpaired_difference(side([1.0, 0.0], cluster=[0, 0]), side([1.0], cluster=[0])).note == ONE_CLUSTER
    assert unpaired_difference(side([1.0]), side([1.0, 0.0], cluster=[8, 9])).note == ONE_CLUSTER_IN_STRATUM
    with pytest.raises(ValueError, match="between 0 and 1"):
        unpaired_difference(side([2.0]), side([1.0]))


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_intervals_hold_the_truth_where_items_share_dialogues(share):
    """Twenty dialogues, each with four items of either procedure and a difficulty of its own."""
    rng = np.random.default_rng(2)
    cluster = np.repeat(np.arange(20), 4)
    held = []
    for _ in range(300):
        chance = rng.beta(share * 3, (1 - share) * 3, 20)[cluster]
        first, second = (side(1.0 * (rng.random(80) < chance), cluster=cluster) for _ in range(2))
        result = unpaired_difference(first, second)
        held.append(result.low <= 0.0 <= result.high)
    assert np.mean(held) >= 0.93
