"""Corrections for many tests, against statsmodels, and what each of them promises."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from dialeval.stats.differences import paired_differences
from dialeval.stats.multiplicity import benjamini_hochberg, holm, order_claims, places

# Corrections for many tests, against statsmodels, and what each of them promises.

P_VALUES = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=30)


@given(P_VALUES)
@settings(max_examples=8)  # statsmodels takes its time
def test_both_corrections_are_those_of_statsmodels(p_values):
    np.testing.assert_allclose(holm(p_values), multipletests(p_values, method="holm")[1], atol=1e-12)
    np.testing.assert_allclose(benjamini_hochberg(p_values), multipletests(p_values, method="fdr_bh")[1], atol=1e-12)


@given(P_VALUES, st.integers(1, 5))
def test_a_missing_p_value_counts_in_no_family(p_values, n_missing):
    for correct in (holm, benjamini_hochberg):
        with_gaps = correct([np.nan] * n_missing + p_values)
        assert np.isnan(with_gaps[:n_missing]).all()
        np.testing.assert_array_equal(with_gaps[n_missing:], correct(p_values))


def test_no_p_values_give_none():
    assert len(holm([])) == len(benjamini_hochberg([])) == 0


def test_what_is_no_p_value_is_refused():
    with pytest.raises(ValueError, match=r"p_values\[1\] is 1.5"):
        holm([0.5, 1.5])


def test_holm_holds_the_family_wise_error_and_benjamini_hochberg_the_share_of_false_claims():
    rng = np.random.default_rng(0)
    wrong, false_share = [], []
    for _ in range(2000):
        p = rng.random(20)
        wrong.append(holm(p).min() <= 0.05)
        p[:10] = rng.random(10) * 1e-3  # ten real differences
        claimed = benjamini_hochberg(p) <= 0.05
        false_share.append(claimed[10:].sum() / max(claimed.sum(), 1))
    assert np.mean(wrong) <= 0.065
    assert np.mean(false_share) <= 0.05


# Places of systems: by hand, against brute force over all orders, and simulated with a known order.

LADDER = np.linspace(0.3, 0.9, 6)
TIED = np.array([0.4, 0.4, 0.4, 0.7, 0.7, 0.7])
EQUAL = np.full(6, 0.6)


def claims(n, better, **options):
    """Claims from pairs with a p-value that is nearly 0 where one is named better, and 1 elsewhere."""
    first, second = np.array(list(combinations(range(n), 2))).T
    sign = np.array([1.0 if pair in better else -1.0 for pair in zip(first, second, strict=True)])
    known = [(one, other) in better or (other, one) in better for one, other in zip(first, second, strict=True)]
    return order_claims(n, first, second, sign, np.where(known, 1e-9, 1.0), **options)


def test_places_lie_between_those_that_are_better_and_those_that_are_worse():
    found = places([30.0, 20.0, 10.0, 25.0], claims(4, {(0, 1), (0, 2), (3, 2)}).better)
    assert found.rank.tolist() == [1, 3, 4, 2]
    assert found.low.tolist() == [1, 2, 3, 1]
    assert found.high.tolist() == [2, 4, 4, 3]
    assert found.n_better.tolist() == [0, 1, 2, 0]
    assert found.n_worse.tolist() == [2, 0, 0, 1]


def test_what_follows_from_two_claims_is_claimed():
    better = claims(3, {(0, 1), (1, 2)}).better
    assert better[0, 2]
    assert places([3.0, 2.0, 1.0], better).high.tolist() == [1, 2, 3]


def test_nothing_follows_from_claims_that_run_in_a_circle():
    found = claims(4, {(0, 1), (1, 2), (2, 0)})
    assert found.cyclic
    assert np.argwhere(found.better).tolist() == [[0, 1], [1, 2], [2, 0]]


def test_holm_decides_what_is_claimed():
    pairs = ([0, 0, 1], [1, 2, 2], [1.0, 1.0, 1.0])
    assert not order_claims(3, *pairs, [0.02, 0.02, 0.02]).better.any()  # three times .02
    assert np.argwhere(order_claims(3, *pairs, [0.016, 0.024, 0.04]).better).tolist() == [[0, 1], [0, 2], [1, 2]]
    assert not order_claims(3, *pairs, [0.016, 0.024, 0.04], confidence=0.99).better.any()


def test_equal_estimates_share_a_place_and_an_untested_pair_settles_nothing():
    better = order_claims(3, [0, 0, 1], [1, 2, 2], [0.0, 1.0, np.nan], [0.001, np.nan, 0.001]).better
    assert not better.any()
    found = places([2.0, 2.0, 1.0], better)
    assert found.rank.tolist() == [1, 1, 3]
    assert (found.low == 1).all()
    assert (found.high == 3).all()


def test_an_interval_reaches_to_the_estimates_place():
    better = claims(2, {(0, 1)}).better
    found = places([1.0, 2.0], better)
    assert (found.low.tolist(), found.high.tolist()) == ([1, 1], [2, 2])


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="needs|need"):
        places([1.0, 2.0], [[False]])
    with pytest.raises(ValueError, match="without an estimate"):
        places([1.0, np.nan], np.zeros((2, 2)))
    with pytest.raises(ValueError, match="each is claimed"):
        places([1.0, 2.0], np.ones((2, 2)) - np.eye(2))


@given(
    st.integers(2, 5).flatmap(
        lambda n: st.tuples(st.permutations(range(n)), st.lists(st.booleans(), min_size=10, max_size=10))
    )
)
@settings(max_examples=60)
def test_places_are_those_of_all_orders_that_the_claims_allow(drawn):
    order, kept = drawn
    n = len(order)
    stated = {pair for pair, keep in zip(combinations(order, 2), kept, strict=False) if keep}
    first, second = np.array(list(combinations(range(n), 2))).T
    pairs = list(zip(first.tolist(), second.tolist(), strict=True))
    sign = [1.0 if pair in stated else -1.0 for pair in pairs]
    p = [1e-9 if {pair, pair[::-1]} & stated else 1.0 for pair in pairs]
    estimate = np.zeros(n)
    estimate[list(order)] = np.arange(n, 0, -1)
    found = places(estimate, order_claims(n, first, second, sign, p).better)
    allowed = [
        np.argsort(one) + 1
        for one in permutations(range(n))
        if all(one.index(winner) < one.index(loser) for winner, loser in stated)
    ]
    np.testing.assert_array_equal(found.low, np.min(allowed, axis=0))
    np.testing.assert_array_equal(found.high, np.max(allowed, axis=0))
    assert ((found.low <= found.rank) & (found.rank <= found.high)).all()


@pytest.mark.parametrize("truth", [EQUAL, LADDER, TIED], ids=["all equal", "a ladder", "ties"])
def test_all_places_hold_together_in_95_percent(truth):
    rng = np.random.default_rng(0)
    n, seeds, repetitions = len(truth), 40, 200
    true_low = 1 + (truth > truth[:, np.newaxis]).sum(axis=1)
    true_high = n - (truth < truth[:, np.newaxis]).sum(axis=1)
    held = 0
    for _ in range(repetitions):
        hardness = rng.normal(0.0, 0.5, seeds)
        chance = 1.0 / (1.0 + np.exp(-(np.log(truth / (1.0 - truth))[:, np.newaxis] + hardness)))
        passed = (rng.random((n, seeds)) < chance).astype(float)
        pairs = paired_differences(passed, np.arange(seeds))
        found = places(
            passed.mean(axis=1), order_claims(n, pairs.first, pairs.second, pairs.difference, pairs.p).better
        )
        held += bool(((found.low <= true_low) & (found.high >= true_high)).all())
    assert held / repetitions >= 0.93
