"""Corrections for many tests, against statsmodels, and what each of them promises."""

from __future__ import annotations

import math
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, kstest, multivariate_normal, norm, t
from statsmodels.stats.multitest import multipletests

from dialeval.stats.differences import paired_differences
from dialeval.stats.significance import (
    MOST_LOOKS,
    anytime_limits,
    benjamini_hochberg,
    confidence_sequence,
    crossing_probabilities,
    decisions,
    holm,
    obrien_fleming,
    order_claims,
    places,
    rounds_of,
    sequential_p_value,
    tie_statistic,
)

# Corrections for many tests, against statsmodels, and what each of them promises.

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
    assert found.ci_low.tolist() == [1, 2, 3, 1]
    assert found.ci_high.tolist() == [2, 4, 4, 3]
    assert found.n_better.tolist() == [0, 1, 2, 0]
    assert found.n_worse.tolist() == [2, 0, 0, 1]


def test_what_follows_from_two_claims_is_claimed():
    better = claims(3, {(0, 1), (1, 2)}).better
    assert better[0, 2]
    assert places([3.0, 2.0, 1.0], better).ci_high.tolist() == [1, 2, 3]


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
    assert (found.ci_low == 1).all()
    assert (found.ci_high == 3).all()


def test_estimates_that_differ_by_rounding_alone_share_a_place():
    thirds = [2.0 + 1 / 12, sum([1 / 12] * 25), 25 / 12 - 2e-16]
    found = places([*thirds, 2.0, 2.0833], np.zeros((5, 5), dtype=np.bool_))
    assert found.rank.tolist() == [1, 1, 1, 5, 4]
    assert places([-1e-300, 0.0], np.zeros((2, 2), dtype=np.bool_)).rank.tolist() == [2, 1]


def test_an_interval_reaches_to_the_estimates_place():
    better = claims(2, {(0, 1)}).better
    found = places([1.0, 2.0], better)
    assert (found.ci_low.tolist(), found.ci_high.tolist()) == ([1, 1], [2, 2])


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="needs|need"):
        places([1.0, 2.0], [[False]])
    with pytest.raises(ValueError, match="without an estimate"):
        places([1.0, np.nan], np.zeros((2, 2)))
    with pytest.raises(ValueError, match="each claimed to be better"):
        places([1.0, 2.0], np.ones((2, 2)) - np.eye(2))


@given(
    st.integers(2, 5).flatmap(
        lambda n: st.tuples(st.permutations(range(n)), st.lists(st.booleans(), min_size=10, max_size=10))
    )
)
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
    np.testing.assert_array_equal(found.ci_low, np.min(allowed, axis=0))
    np.testing.assert_array_equal(found.ci_high, np.max(allowed, axis=0))
    assert ((found.ci_low <= found.rank) & (found.rank <= found.ci_high)).all()


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
            passed.mean(axis=1), order_claims(n, pairs.first, pairs.second, pairs.estimate, pairs.p_value).better
        )
        held += bool(((found.ci_low <= true_low) & (found.ci_high >= true_high)).all())
    assert held / repetitions >= 0.93


COUNTS = st.lists(st.integers(1, 40), min_size=1, max_size=12).map(lambda steps: np.cumsum(steps).tolist())


def test_boundaries_of_even_looks_are_those_of_the_published_table() -> None:
    """Jennison and Turnbull (2000), table 2.3: O'Brien and Fleming's C_B at 5%."""
    printed = {1: 1.960, 2: 1.977, 3: 2.004, 4: 2.024, 5: 2.040, 8: 2.072, 10: 2.087, 15: 2.110, 20: 2.126}
    found = {looks: obrien_fleming(range(1, looks + 1), 0.05)[-1] for looks in printed}
    assert found == pytest.approx(printed, abs=5e-4)


def test_two_uneven_looks_keep_the_error_by_the_bivariate_normal() -> None:
    counts, error = [30, 100], 0.01
    edge = obrien_fleming(counts, error)
    joint = multivariate_normal(cov=[[1.0, math.sqrt(0.3)], [math.sqrt(0.3), 1.0]])
    inside = sum(sx * sy * joint.cdf([sx * edge[0], sy * edge[1]]) for sx in (1, -1) for sy in (1, -1))
    assert 1.0 - inside == pytest.approx(error, abs=1e-5)
    first, _ = crossing_probabilities(counts, edge)
    assert first == pytest.approx(2 * norm.sf(edge[0]), rel=1e-12)


@given(COUNTS, st.floats(1e-4, 0.3))
def test_looks_spend_the_error_and_no_more(counts: list[int], error: float) -> None:
    edge = obrien_fleming(counts, error)
    assert crossing_probabilities(counts, edge).sum() == pytest.approx(error, rel=1e-5)
    constant = edge * np.sqrt(np.asarray(counts) / counts[-1])
    assert constant == pytest.approx(constant[0])
    assert -norm.ppf(error / 2) - 1e-6 <= constant[0]


def test_so_many_looks_that_they_are_not_integrated_get_the_wider_boundary_of_looking_without_a_pause() -> None:
    many = obrien_fleming(range(1, MOST_LOOKS + 2), 0.05)[-1]
    assert obrien_fleming(range(1, MOST_LOOKS + 1), 0.05)[-1] < many == pytest.approx(2.2414, abs=1e-4)


def test_a_walk_passes_the_boundaries_as_often_as_they_say() -> None:
    counts = np.array([20, 40, 60, 80, 111])
    rng = np.random.default_rng(5)
    walk = np.cumsum(rng.standard_normal((40_000, 5)) * np.sqrt(np.diff(counts, prepend=0)), axis=1)
    z = np.abs(walk) / np.sqrt(counts)
    assert (z > obrien_fleming(counts.tolist(), 0.05)).any(axis=1).mean() == pytest.approx(0.05, abs=0.004)
    assert (z > 1.96).any(axis=1).mean() > 0.12, "the same walk without boundaries: what they are for"
    sequence = confidence_sequence(counts.tolist(), 0.05)
    assert (z > sequence).any(axis=1).mean() < 0.05


def test_the_confidence_sequence_does_not_depend_on_later_looks() -> None:
    assert confidence_sequence([10, 20], 0.05).tolist() == confidence_sequence([10, 20, 500], 0.05)[:2].tolist()


def test_anytime_limits_hold_a_mean_at_all_looks_and_those_of_one_look_do_not() -> None:
    rng, runs, n = np.random.default_rng(3), 1000, np.arange(2, 201)  # from the second label on
    x = rng.normal(size=(runs, n[-1]))
    mean = x.cumsum(axis=1)[:, n - 1] / n
    spread = np.array([x[:, :size].std(axis=1, ddof=1) for size in n]).T
    reach = t.ppf(0.975, n - 1) * spread / np.sqrt(n)
    wider = np.array([anytime_limits(0.0, -1.0, 1.0, int(size), 0.95)[1] for size in n])
    assert (np.abs(mean) <= wider * reach).all(axis=1).mean() >= 0.95
    assert (np.abs(mean) <= reach).all(axis=1).mean() < 0.8
    assert anytime_limits(2.0, 1.0, 4.0, 50, 0.95) == pytest.approx((2.0 - wider[48], 2.0 + 2.0 * wider[48]))
    assert all(math.isnan(limit) for limit in anytime_limits(math.nan, math.nan, math.nan, 0, 0.95))


@pytest.mark.parametrize("n", [2, 5, 50, 5000])
def test_anytime_limits_have_the_tail_probability_of_the_boundary(n: int) -> None:
    boundary = float(confidence_sequence([n], 0.05)[0])
    reach = t.ppf(0.975, n - 1)
    low, high = anytime_limits(1.0, 1.0 - reach, 1.0 + reach, n, 0.95)
    assert t.sf(high - 1.0, n - 1) == pytest.approx(norm.sf(boundary))
    assert t.cdf(low - 1.0, n - 1) == pytest.approx(norm.sf(boundary))


def test_p_values_allow_for_the_looks_before() -> None:
    counts = [20, 40, 60]
    edge = obrien_fleming(counts, 0.05)
    assert sequential_p_value([20], edge[:1], 2.5) == pytest.approx(2 * norm.sf(2.5))
    assert sequential_p_value(counts, edge, edge[-1]) == pytest.approx(0.05, abs=1e-6)
    assert sequential_p_value(counts, edge, 0.0) == pytest.approx(1.0, abs=1e-6)
    assert sequential_p_value(counts, edge, 1.96) > 2 * norm.sf(1.96)
    assert np.isnan(sequential_p_value(list(range(1, MOST_LOOKS + 2)), np.full(MOST_LOOKS + 1, 3.0), 1.0))


def test_p_values_of_walks_that_stop_at_a_boundary_are_even() -> None:
    counts = [20, 40, 60, 80]
    edge = obrien_fleming(counts, 0.2)
    rng = np.random.default_rng(8)
    z = np.cumsum(rng.standard_normal((4000, 4)), axis=1) / np.sqrt(np.arange(1, 5))
    stop = np.where((np.abs(z) > edge).any(axis=1), (np.abs(z) > edge).argmax(axis=1), 3)
    p = [sequential_p_value(counts[: k + 1], edge, row[k]) for row, k in zip(z, stop, strict=True)]
    assert kstest(p, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("counts", [[], [0, 3], [3, 3], [5, 4]])
def test_counts_that_do_not_increase_are_refused(counts: list[int]) -> None:
    with pytest.raises(ValueError, match="increase"):
        obrien_fleming(counts, 0.05)
    with pytest.raises(ValueError, match="increase"):
        confidence_sequence(counts, 0.05)


def test_the_distance_from_a_tie_by_hand() -> None:
    found = tie_statistic(np.array([[1.0, 1.0, 0.75, 0.0, np.nan], [0.5] * 5, [np.nan] * 5]))
    assert found.estimate[:2].tolist() == [0.6875, 0.5]
    spread = np.std([0.5, 0.5, 0.25, -0.5], ddof=1) * 2
    assert found.se[:2].tolist() == pytest.approx([spread / 4, 0.5 / 5])  # of ties alone that of half a case
    # half a step is .25: the case that is nearest to a tie is so far from it
    assert found.statistic.tolist() == pytest.approx([(0.75 - 0.25) / max(spread, math.sqrt(0.8125)), 0.0, 0.0])
    assert np.isnan(found.estimate[2])
    # of 20 cases and more the spread about the mean counts, with half a case at the least
    found = tie_statistic(np.array([[1.0] * 19 + [0.0], [1.0] * 20, [1.0] * 14 + [0.0] * 6]))
    assert found.statistic.tolist() == pytest.approx([8.5 / (20 * 0.05) ** 0.5, 9.5 / 0.5, 3.5 / 5**0.5])
    assert found.cautious.tolist() == pytest.approx([8.5 / 5**0.5, 9.5 / 5**0.5, 3.5 / 5**0.5])


@given(st.integers(1, 400), st.floats(0.01, 0.3))
def test_of_two_equals_few_pass_a_single_look_however_few_the_cases_are(n: int, error: float) -> None:
    """Wins of one side over n cases that are never tied, by the binomial distribution."""
    wins = np.arange(n + 1)
    score = (np.arange(n) < wins[:, np.newaxis]).astype(float)
    passed = decisions(score, obrien_fleming([n], error)[0], error) != 0
    assert binom.pmf(wins, n, 0.5) @ passed <= error * 1.03


def test_a_handful_of_cases_settles_nothing_though_one_side_won_them_all() -> None:
    assert decisions(np.ones(5), 1.96) == 0  # by the binomial 2 / 32
    assert decisions(np.ones(6), 1.96) == 1  # 2 / 64
    assert decisions(np.zeros(6), 1.96) == -1
    assert decisions(np.array([1.0] * 5 + [0.5] * 50), 1.96) == 0, "ties say nothing"


@pytest.mark.parametrize(("n", "block"), [(6, 2), (10, 5), (12, 12), (20, 5), (40, 10)])
def test_of_equals_shown_in_both_orders_few_are_called_different_on_few_cases(n: int, block: int) -> None:
    rng = np.random.default_rng(11)
    lead = 0.6 * rng.standard_normal((20_000, n))
    score = np.mean([rng.random(lead.shape) < 1 / (1 + np.exp(-lead - place)) for place in (0.3, -0.3)], axis=0)
    counts = np.cumsum(np.bincount(rounds_of(n, block))).tolist()
    claims = [decisions(score[:, :k], edge) for k, edge in zip(counts, obrien_fleming(counts, 0.05), strict=True)]
    assert np.any(claims, axis=0).mean() < 0.054


def test_rounds_have_blocks_and_the_last_takes_a_small_rest() -> None:
    assert np.bincount(rounds_of(222, 20)).tolist() == [20] * 10 + [22]
    assert np.bincount(rounds_of(30, 20)).tolist() == [20, 10]
    assert np.bincount(rounds_of(29, 20)).tolist() == [29]
    assert rounds_of(0, 20).tolist() == []


def test_equals_are_called_different_in_one_of_twenty_and_the_rest_costs_a_third() -> None:
    """A small version of `benchmarks/adaptive.py`: effects of place and seed, both orders; 4,000 pairs of each kind."""
    counts = np.cumsum(np.bincount(rounds_of(222, 20))).tolist()
    edges = obrien_fleming(counts, 0.05)
    cost = {}
    for gap in (0.0, 1.0):
        rng = np.random.default_rng(3)
        lead = gap + 0.6 * rng.standard_normal((4000, 222))
        score = np.mean([rng.random(lead.shape) < 1 / (1 + np.exp(-lead - place)) for place in (0.3, -0.3)], axis=0)
        claims = np.column_stack([decisions(score[:, :n], edge) for n, edge in zip(counts, edges, strict=True)])
        first = np.where((claims != 0).any(axis=1), (claims != 0).argmax(axis=1), -1)
        cost[gap] = np.asarray(counts)[first].mean() / 222
        if gap:
            assert (claims[np.arange(4000), first] == 1).mean() > 0.999
            assert ((claims == -1).any(axis=1)).mean() < 0.001
        else:
            assert (claims != 0).any(axis=1).mean() == pytest.approx(0.044, abs=0.009)
    assert cost[1.0] < 0.3 < 0.95 < cost[0.0]
