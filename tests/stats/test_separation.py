"""Resamples that set a player no limit, and intervals that say so."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialeval.stats.bradley_terry import bradley_terry, davidson
from dialeval.stats.comparisons import compare
from dialeval.stats.separation import separated

METHODS = pytest.mark.parametrize("rate", [bradley_terry, davidson], ids=["bradley_terry", "davidson"])


def tables_of(comparisons, *outcomes):
    """Each table holds the first pair's first outcome, and so on; None for a pair that did not meet."""
    place = {1.0: 0, 0.5: 1, 0.0: 2}
    tables = np.zeros((len(outcomes), comparisons.n_pairs, 3))
    for row, of_pairs in enumerate(outcomes):
        for pair, results in enumerate(of_pairs):
            for result in results:
                tables[row, pair, place[result]] += 1
    return tables


def test_who_wins_all_is_above_and_who_loses_all_below():
    games = compare([0, 0, 1], [1, 2, 2], [1.0, 1.0, 1.0], 3)
    assert games.players.tolist() == [0, 1, 2]
    every = [1.0, 0.0]
    above, below = separated(
        games,
        tables_of(
            games,
            [every, every, every],  # nobody is apart
            [[1.0], [1.0], every],  # 0 beats both, who beat each other
            [every, [1.0], [1.0]],  # 2 loses to both
            [[1.0], [1.0], [1.0]],  # a ladder: 1 lies between two that cannot be told apart from it
            [[1.0, 0.5], [1.0], every],  # a tie counts for both
        ),
    )
    assert above.tolist() == [
        [False, False, False], [True, False, False], [False, False, False], [True, True, False], [False] * 3
    ]  # fmt: skip
    assert below.tolist() == [
        [False, False, False], [False, False, False], [False, False, True], [False, True, True], [False] * 3
    ]  # fmt: skip


def test_of_two_one_is_above_and_the_other_below():
    games = compare([0, 0], [1, 1], [1.0, 0.0], 2)
    above, below = separated(games, tables_of(games, [[1.0, 1.0]], [[0.0]]))
    assert above.tolist() == [[True, False], [False, True]]
    assert below.tolist() == [[False, True], [True, False]]


def limits_by_reach(games, table):
    """Who is above and below, from all players' reach, one power of the matrix of wins after the other."""
    wins = np.eye(games.n_rated, dtype=bool)
    wins[games.first, games.second] |= table[:, 0] + table[:, 1] > 0
    wins[games.second, games.first] |= table[:, 2] + table[:, 1] > 0
    reaches = wins
    for _ in range(games.n_rated):
        reaches = reaches | (reaches @ wins)
    size = (reaches & reaches.T).sum(axis=1)
    above, below = np.zeros(games.n_rated, bool), np.zeros(games.n_rated, bool)
    group = games.groups()
    for number in np.unique(group):
        members = np.flatnonzero(group == number)
        largest = members[size[members] == size[members].max()]
        main = largest if len(largest) == size[largest[0]] else members
        above[members] = ~reaches[np.ix_(main, members)].all(axis=0)
        below[members] = ~reaches[np.ix_(members, main)].all(axis=1)
    return above, below


@given(st.integers(0, 2**32 - 1), st.integers(2, 7), st.integers(1, 14))
@settings(max_examples=150, deadline=None)
def test_limits_are_those_of_everybodys_reach(random_seed, n_players, n_games):
    rng = np.random.default_rng(random_seed)
    left = rng.integers(0, n_players, n_games)
    right = (left + rng.integers(1, n_players, n_games)) % n_players
    games = compare(left, right, rng.choice([0.0, 0.5, 1.0], n_games, p=[0.45, 0.1, 0.45]), n_players)
    tables = np.stack([rng.multinomial(n_games, games.table().ravel() / n_games) for _ in range(5)]).astype(float)
    tables = tables.reshape(5, games.n_pairs, 3)
    above, below = separated(games, tables)
    for row, table in enumerate(tables):
        if not ((table[:, 0] + table[:, 1] > 0) != (table[:, 2] + table[:, 1] > 0)).any():
            continue
        expected = limits_by_reach(games, table)
        np.testing.assert_array_equal(above[row], expected[0])
        np.testing.assert_array_equal(below[row], expected[1])


def with_a_newcomer(n_seeds=40):
    """Three players with many games on many seeds, and a fourth with twelve wins and a loss."""
    rng = np.random.default_rng(5)
    pairs = np.array([(0, 1), (0, 2), (1, 2)] * n_seeds)
    seed = np.repeat(np.arange(n_seeds), 3)
    outcome = (rng.random(len(pairs)) < 0.5).astype(float)
    left = np.concatenate([pairs[:, 0], np.full(13, 3)])
    right = np.concatenate([pairs[:, 1], [0, 1, 2] * 4, [1]])
    outcome = np.concatenate([outcome, np.ones(12), [0.0]])
    return left, right, outcome, np.concatenate([seed, np.arange(13)])


@METHODS
def test_a_player_of_few_games_has_no_upper_limit(rate):
    """The ridge would put it at some three thousand points in every resample without its loss."""
    left, right, outcome, seed = with_a_newcomer()
    result = rate(left, right, outcome, 4, cluster=seed, resamples=400)
    assert np.isnan(result.high[3])
    assert np.isfinite(result.low[3])
    assert 100 < result.above[3] < 250  # the loss is not drawn in (1 - 1/40)^40 = 37% of the resamples
    assert result.below[3] < 10
    # The others are not drawn along by a player at infinity.
    assert np.isfinite([result.low[:3], result.high[:3]]).all()
    assert (result.high[:3] - result.low[:3] < 250).all()
    assert result.clusters.tolist() == [40, 40, 40, 13]


@METHODS
def test_the_others_intervals_are_those_without_the_newcomer(rate):
    left, right, outcome, seed = with_a_newcomer()
    old = (left < 3) & (right < 3)
    alone = rate(left[old], right[old], outcome[old], 3, cluster=seed[old], resamples=1000)
    together = rate(left, right, outcome, 4, cluster=seed, resamples=1000)
    # The newcomer moves their mean, and so their level, and not how far they are apart.
    for one, other in ((0, 1), (0, 2), (1, 2)):
        expected = np.std(alone.replicates[:, one] - alone.replicates[:, other])
        found = np.std(together.replicates[:, one] - together.replicates[:, other])
        assert found == pytest.approx(expected, rel=0.15)


@METHODS
def test_a_player_that_wins_all_has_no_limits_at_all(rate):
    left, right, outcome, seed = with_a_newcomer()
    outcome[-1] = 1.0
    result = rate(left, right, outcome, 4, cluster=seed, resamples=50)
    assert np.isnan([result.low[3], result.high[3]]).all()
    assert result.notes[3].startswith("wins every comparison")


def test_the_design_effect_of_a_rating_is_that_of_its_verdicts():
    """Both orders always agree: two comparisons say as much as one."""
    rng = np.random.default_rng(1)
    pairs = np.array([(0, 1), (0, 2), (1, 2)] * 200)
    outcome = (rng.random(len(pairs)) < [0.6, 0.7, 0.6] * 200).astype(float)
    seed = np.arange(len(pairs))
    once = bradley_terry(pairs[:, 0], pairs[:, 1], outcome, 3, cluster=seed)
    twice = bradley_terry(*np.repeat(pairs, 2, axis=0).T, np.repeat(outcome, 2), 3, cluster=np.repeat(seed, 2))
    np.testing.assert_allclose(once.design_effect, 1.0)
    np.testing.assert_allclose(twice.design_effect, 2.0, rtol=0.01)


def test_the_design_effect_is_the_linear_forms_variance_by_seed_over_that_by_row(arena):
    """Row by row: each comparison moves the strengths by its residual times a difference of columns."""
    data = arena(5, 12, random_seed=4)
    rating = bradley_terry(*data.arguments, cluster=data.seed)
    strength = rating.rating * np.log(10.0) / 400.0
    p = 1.0 / (1.0 + np.exp(strength[data.right] - strength[data.left]))
    sides = np.zeros((len(p), 5))
    sides[np.arange(len(p)), data.left], sides[np.arange(len(p)), data.right] = 1.0, -1.0
    moves = (data.outcome - p)[:, np.newaxis] * sides @ np.linalg.pinv(sides.T * (p * (1.0 - p)) @ sides, rcond=1e-10)
    by_seed = np.stack([moves[data.seed == seed].sum(axis=0) for seed in range(12)])
    n = len(p)
    expected = (by_seed**2).sum(axis=0) * 12 / 11 / ((moves**2).sum(axis=0) * n / (n - 1))
    np.testing.assert_allclose(rating.design_effect, expected, rtol=1e-6)


def test_the_design_effect_is_the_resamples_variance_over_the_rows(arena):
    data = arena(4, 200, random_seed=2)
    by_seed = bradley_terry(*data.arguments, cluster=data.seed, resamples=2000)
    by_row = bradley_terry(*data.arguments, resamples=2000)
    ratio = by_seed.replicates.var(axis=0) / by_row.replicates.var(axis=0)
    np.testing.assert_allclose(by_seed.design_effect, ratio, rtol=0.2)
