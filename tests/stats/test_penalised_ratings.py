"""Firth's ratings against the closed solution of two players, a numeric maximum of the likelihood, and known truths."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from scipy.stats import t

from dialeval.stats.bradley_terry import bradley_terry
from dialeval.stats.penalised_ratings import (
    FEW_COMPARISONS,
    NO_CLUSTERS,
    NO_LARGEST_GROUP,
    NOT_CONNECTED,
    penalised_bradley_terry,
)

POINTS = 400.0 / np.log(10.0)


def penalised(strength: np.ndarray, left: np.ndarray, right: np.ndarray, outcome: np.ndarray) -> float:
    """The penalised log likelihood, written with dense matrices; the last player has minus the others' sum."""
    full = np.append(strength, -strength.sum())
    design = np.zeros((len(left), len(full)))
    design[np.arange(len(left)), left] = 1.0
    design[np.arange(len(left)), right] = -1.0
    lead = design @ full
    p = 1.0 / (1.0 + np.exp(-lead))
    reduced = design[:, :-1] - design[:, -1:]
    information = reduced.T @ (reduced * (p * (1.0 - p))[:, np.newaxis])
    return float((outcome * lead - np.logaddexp(0.0, lead)).sum() + 0.5 * np.linalg.slogdet(information)[1])


@pytest.mark.parametrize(("wins", "n"), [(9, 9), (0, 4), (7, 10), (5, 10)])
def test_two_players_have_the_closed_solution_of_half_a_win_more_for_each(wins: int, n: int) -> None:
    found = penalised_bradley_terry(np.zeros(n, int), np.ones(n, int), np.arange(n) < wins, 2)
    lead = float(found.rating[0] - found.rating[1])
    assert lead == pytest.approx(400.0 * np.log10((wins + 0.5) / (n - wins + 0.5)), abs=1e-4)
    assert found.rating.mean() == pytest.approx(1000.0)
    assert found.ci_low[0] < found.rating[0] < found.ci_high[0]


def test_ratings_and_limits_are_the_numeric_maximum_and_profile() -> None:
    left, right = np.array([0, 0, 0, 1, 1, 2, 0, 1]), np.array([1, 2, 3, 2, 3, 3, 1, 3])
    outcome = np.array([1, 1, 1, 0.5, 1, 0, 1, 1])  # player 0 never loses

    def loss(strength: np.ndarray) -> float:
        return -penalised(strength, left, right, outcome)

    best = minimize(loss, np.zeros(3), tol=1e-12)
    found = penalised_bradley_terry(left, right, outcome, 4)
    assert found.rating[:3] == pytest.approx(1000.0 + POINTS * best.x, abs=0.02)

    def root(value: float) -> float:
        held = minimize(lambda free: loss(np.array([value, *free])), best.x[1:], tol=1e-12)
        n = 4  # comparisons of player 0, which are its clusters
        return float(np.sqrt(2.0 * (held.fun - best.fun)) - t.ppf(0.975, n - 1))

    high = brentq(root, best.x[0] + 0.01, 30.0)
    low = brentq(root, -30.0, best.x[0] - 0.01)
    assert found.ci_high[0] == pytest.approx(1000.0 + POINTS * high, rel=1e-3)
    assert found.ci_low[0] == pytest.approx(1000.0 + POINTS * low, rel=1e-3)


@pytest.mark.parametrize("seed", range(40))
def test_few_comparisons_reach_the_numeric_maximum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 7))
    chain, more = rng.permutation(k), int(rng.integers(0, 5))
    others = [rng.choice(k, 2, replace=False) for _ in range(more)]
    left = np.array([*chain[:-1], *(pair[0] for pair in others)])
    right = np.array([*chain[1:], *(pair[1] for pair in others)])
    outcome = rng.choice([0.0, 0.5, 1.0], len(left), p=[0.45, 0.1, 0.45])
    best = minimize(lambda strength: -penalised(strength, left, right, outcome), np.zeros(k - 1), tol=1e-10).x
    found = penalised_bradley_terry(left, right, outcome, k)
    assert found.rating == pytest.approx(1000.0 + POINTS * np.append(best, -best.sum()), abs=0.01)


def test_the_winner_of_a_single_comparison_is_rated_higher() -> None:
    found = penalised_bradley_terry([0], [1], [1.0], 2)
    assert found.rating[0] - found.rating[1] == pytest.approx(400.0 * np.log10(3.0))


def test_with_much_data_they_are_those_of_maximum_likelihood() -> None:
    rng = np.random.default_rng(0)
    left, right = np.tile(np.triu_indices(5, 1), 300)
    strength = np.linspace(-1, 1, 5)
    outcome = (rng.random(len(left)) < 1 / (1 + np.exp(strength[right] - strength[left]))).astype(float)
    found, usual = (rate(left, right, outcome, 5) for rate in (penalised_bradley_terry, bradley_terry))
    assert found.rating == pytest.approx(usual.rating, abs=0.5)


def test_the_undefeated_and_the_winless_are_finite_and_in_order() -> None:
    left, right = np.tile(np.triu_indices(4, 1), 6)
    found = penalised_bradley_terry(left, right, np.ones(len(left)), 4)  # the first always wins: total separation
    assert (np.diff(found.rating) < 0).all()
    assert np.isfinite([*found.ci_low, *found.ci_high]).all()
    assert found.notes == ("", "", "", "")


def test_what_is_not_identifiable_has_a_reason_and_no_number() -> None:
    apart = penalised_bradley_terry([0, 0, 1, 3], [1, 2, 2, 4], [1, 1, 1, 1], 6)
    assert np.isnan(apart.rating[3:]).all()
    assert apart.notes == (FEW_COMPARISONS, FEW_COMPARISONS, FEW_COMPARISONS, NOT_CONNECTED, NOT_CONNECTED, "")
    assert np.isnan(apart.ci_low).all()
    assert apart.rating[:3].mean() == pytest.approx(1000.0)
    one = penalised_bradley_terry([0, 0], [1, 1], [1, 0], 2, cluster=["a", "a"])
    assert one.rating == pytest.approx([1000.0, 1000.0])
    assert np.isnan(one.ci_low).all()
    assert one.notes == (NO_CLUSTERS, NO_CLUSTERS)
    none = penalised_bradley_terry([], [], [], 2)
    assert np.isnan(none.rating).all()
    ties = penalised_bradley_terry([0] * 8, [1] * 8, [0.5] * 8, 2)
    assert ties.rating == pytest.approx([1000.0, 1000.0])
    assert ties.ci_low[0] < 1000.0 < ties.ci_high[0]


@pytest.mark.parametrize("names", [[0, 1, 2, 3], [2, 3, 0, 1]])
def test_which_of_two_groups_of_the_same_size_is_rated_does_not_depend_on_names(names: list[int]) -> None:
    name = np.array(names)
    left, right = name[[0, 0, 1, 2, 2, 3] * 4], name[[1, 1, 0, 3, 3, 2] * 4]
    none = penalised_bradley_terry(left, right, np.ones(24), 4)
    assert np.isnan([none.rating, none.ci_low, none.ci_high]).all()
    assert set(none.notes) == {NO_LARGEST_GROUP}
    wins = np.where(np.isin(left, name[:2]), left == name[0], 1.0)  # the first group is separated
    found = penalised_bradley_terry(left, right, wins, 4)
    assert np.isnan(found.rating[name]).tolist() == [True, True, False, False]


def test_repeats_within_a_seed_do_not_narrow_the_interval() -> None:
    rng = np.random.default_rng(1)
    left, right = np.tile(np.triu_indices(3, 1), 12)
    outcome = (rng.random(len(left)) < 0.6).astype(float)
    seed = np.repeat(np.arange(12), 3)
    once = penalised_bradley_terry(left, right, outcome, 3, cluster=seed)
    four = penalised_bradley_terry(*(np.tile(one, 4) for one in (left, right, outcome)), 3, cluster=np.tile(seed, 4))
    assert four.ci_high - four.ci_low == pytest.approx(once.ci_high - once.ci_low, rel=0.2)


def test_pairs_can_weigh_the_same() -> None:
    data = np.array([0] * 20 + [1] * 2 + [0] * 2), np.array([1] * 20 + [2] * 2 + [2] * 2)
    outcome = np.array([1.0, 0.0] * 12)
    for equal in (False, True):
        found = penalised_bradley_terry(*data, outcome, 3, equal_pairs=equal)
        assert found.rating == pytest.approx([1000.0] * 3)
    outcome[:20] = 1.0
    apart = [penalised_bradley_terry(*data, outcome, 3, equal_pairs=equal).rating[0] for equal in (False, True)]
    assert apart[0] != pytest.approx(apart[1], abs=1.0)
