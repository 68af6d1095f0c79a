"""Bradley-Terry and Davidson ratings: known answers, oracles, invariances, degenerate data."""

from __future__ import annotations

import tracemalloc
from functools import partial

import evalica
import numpy as np
import pytest
from comparison_lists import N_PLAYERS, comparison_lists
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from dialeval.stats.bradley_terry import bradley_terry, separated
from dialeval.stats.comparisons import compare

# Bradley-Terry and Davidson ratings: known answers, oracles, invariances, degenerate data.

POINTS = 400.0 / np.log(10.0)
davidson = partial(bradley_terry, ties="davidson")
METHODS = pytest.mark.parametrize("rate", [bradley_terry, davidson], ids=["bradley_terry", "davidson"])


@METHODS
def test_three_wins_to_one_is_log_three(rate):
    """Two players, three wins to one: the odds are 3, whichever the model, when nothing is tied."""
    result = rate([0, 0, 0, 0], [1, 1, 1, 1], [1.0, 1.0, 1.0, 0.0], 2)
    assert result.converged
    assert result.rating[0] - result.rating[1] == pytest.approx(POINTS * np.log(3.0), abs=1e-3)
    assert result.rating.mean() == pytest.approx(1000.0)


def test_davidson_by_hand():
    """Four wins, one loss, four ties: odds of 4, and nu = ties / sqrt(wins * losses) = 2."""
    outcome = [1.0] * 4 + [0.0] + [0.5] * 4
    result = davidson([0] * 9, [1] * 9, outcome, 2)
    assert result.rating[0] - result.rating[1] == pytest.approx(POINTS * np.log(4.0), abs=1e-3)
    assert result.tie_parameter == pytest.approx(2.0, abs=1e-5)
    halves = bradley_terry([0] * 9, [1] * 9, outcome, 2)
    assert halves.rating[0] - halves.rating[1] == pytest.approx(POINTS * np.log(2.0), abs=1e-3)
    assert np.isnan(halves.tie_parameter)


def test_bradley_terry_agrees_with_evalica(paper_scale, evalica_winners):
    theirs = evalica.bradley_terry(
        paper_scale.left.tolist(),
        paper_scale.right.tolist(),
        evalica_winners(paper_scale.outcome),
        tolerance=1e-14,
        limit=10_000,
    ).scores
    ours = bradley_terry(*paper_scale.arguments)
    strengths = np.log(theirs.loc[range(14)].to_numpy())
    assert np.abs(ours.rating - 1000.0 - POINTS * (strengths - strengths.mean())).max() <= 1e-6
    assert set(ours.notes) == {""}


def test_davidson_agrees_with_a_general_optimiser(arena):
    data = arena(5, 30, random_seed=2, spread=150.0, tie=0.35)
    ours = davidson(*data.arguments)

    def loss(parameters: np.ndarray) -> float:
        strength, log_tie = parameters[:5], parameters[5]
        half = 0.5 * (strength[data.left] - strength[data.right])
        logits = np.stack([half, np.full(len(half), log_tie), -half])
        of_outcome = np.choose((2.0 * (1.0 - data.outcome)).astype(int), logits)
        return float((np.logaddexp.reduce(logits, axis=0) - of_outcome).sum() + 1e-6 * (strength**2).sum())

    best = minimize(loss, np.zeros(6), method="BFGS", options={"gtol": 1e-7})
    centred = best.x[:5] - best.x[:5].mean()
    np.testing.assert_allclose(ours.rating - 1000.0, POINTS * centred, atol=1e-3)
    assert np.log(ours.tie_parameter) == pytest.approx(best.x[5], abs=1e-5)


def test_half_wins_compress_the_scale_and_davidson_does_not():
    rng = np.random.default_rng(0)
    strength = np.linspace(-1.5, 1.5, 8)
    i, j = np.triu_indices(8, 1)
    left, right = np.tile(i, 300), np.tile(j, 300)
    half = 0.5 * (strength[left] - strength[right])
    weights = np.exp(np.stack([half, np.zeros(len(half)), -half]))
    u = rng.random(len(half)) * weights.sum(axis=0)
    outcome = 1.0 - 0.5 * (u[:, None] > np.cumsum(weights, axis=0).T).sum(axis=1)
    truth = POINTS * strength
    halves = bradley_terry(left, right, outcome, 8).rating - 1000.0
    own = davidson(left, right, outcome, 8).rating - 1000.0
    assert np.abs(own - truth).max() < 20.0
    assert np.ptp(halves) < 0.75 * np.ptp(own)


@METHODS
@given(rows=comparison_lists(), order=st.permutations(range(N_PLAYERS)))
def test_relabelling_permutes_exactly(rate, rows, order):
    left, right, outcome = rows
    order = np.array(order)
    plain = rate(left, right, outcome, N_PLAYERS, resamples=5, random_seed=1)
    renamed = rate(order[left], order[right], outcome, N_PLAYERS, resamples=5, random_seed=1)
    assert plain.converged
    np.testing.assert_allclose(renamed.rating[order], plain.rating, rtol=0, atol=1e-5)
    np.testing.assert_array_equal(np.array(renamed.notes)[order], plain.notes)


@METHODS
def test_relabelling_permutes_to_the_last_bit(rate, arena):
    data = arena(7, 20, random_seed=3)
    order = np.array([4, 2, 0, 6, 1, 5, 3])
    left, right, outcome, n = data.arguments
    plain = rate(left, right, outcome, n, cluster=data.seed, resamples=20, random_seed=1)
    renamed = rate(order[left], order[right], outcome, n, cluster=data.seed, resamples=20, random_seed=1)
    np.testing.assert_array_equal(renamed.rating[order], plain.rating)
    np.testing.assert_array_equal(renamed.ci_low[order], plain.ci_low)


@METHODS
@given(rows=comparison_lists())
def test_swapping_sides_changes_nothing(rate, rows):
    left, right, outcome = rows
    plain = rate(left, right, outcome, N_PLAYERS)
    swapped = rate(right, left, 1.0 - outcome, N_PLAYERS)
    np.testing.assert_allclose(swapped.rating, plain.rating, rtol=0, atol=1e-5)


@METHODS
@given(rows=comparison_lists())
def test_a_player_without_comparisons_leaves_the_others(rate, rows):
    left, right, outcome = rows
    plain = rate(left, right, outcome, N_PLAYERS, resamples=5, random_seed=1)
    wider = rate(left, right, outcome, N_PLAYERS + 1, resamples=5, random_seed=1)
    np.testing.assert_array_equal(wider.rating[:-1], plain.rating)
    np.testing.assert_array_equal(wider.ci_low[:-1], plain.ci_low)
    assert np.isnan(wider.rating[-1])
    assert wider.group[-1] == -1


@METHODS
def test_winning_or_losing_everything_is_finite_flagged_and_moves_no_other_rating(rate, arena):
    data = arena(4, 50, random_seed=6)
    outcome = np.where(data.left == 0, 1.0, np.where(data.right == 0, 0.0, data.outcome))
    result = rate(data.left, data.right, outcome, 4)
    assert np.isfinite(result.rating).all()
    assert result.converged
    assert result.notes[0].startswith("wins every comparison")
    assert result.notes[1:] == ("", "", "")
    without = (data.left != 0) & (data.right != 0)
    alone = rate(data.left[without] - 1, data.right[without] - 1, outcome[without], 3)
    np.testing.assert_allclose(result.rating[1:], alone.rating, atol=0.5 if rate is davidson else 1e-3)


@METHODS
def test_two_halves_of_which_one_always_wins_are_flagged(rate):
    """0 and 1 beat each other and always beat 2 and 3, who beat each other: no player wins or loses everything."""
    left = [0, 1, 2, 3, 0, 1, 0, 1]
    right = [1, 0, 3, 2, 2, 3, 3, 2]
    result = rate(left, right, [1.0] * 8, 4)
    assert result.converged
    assert np.isfinite(result.rating).all()
    assert sum(note.startswith("the data do not bound its distance") for note in result.notes) == 2


@METHODS
def test_unconnected_groups_are_distinguished(rate):
    result = rate([0, 0, 2, 2], [1, 1, 3, 3], [1.0, 0.0, 1.0, 0.5], 4)
    assert result.group.tolist() == [0, 0, 1, 1]
    assert result.rating[:2] == pytest.approx([1000.0, 1000.0], abs=1e-3)


@METHODS
def test_degenerate_arenas(rate):
    for n_players in (0, 1, 3):
        empty = rate([], [], [], n_players, resamples=3)
        assert empty.rating.shape == (n_players,)
        assert np.isnan(empty.rating).all()
        assert np.isnan(empty.ci_low).all()
    ties = rate([0, 1, 2], [1, 2, 0], [0.5] * 3, 3, resamples=10)
    np.testing.assert_allclose(ties.rating, 1000.0, atol=1e-6)
    assert ties.converged
    single = rate([0], [1], [1.0], 2)
    assert np.isfinite(single.rating).all()
    assert single.notes[0].startswith("wins every")
    assert single.notes[1].startswith("loses every")


def test_a_resample_that_loses_a_player_says_nothing_of_it():
    left, right = np.array([0, 1, 0, 1, 2]), np.array([1, 0, 1, 0, 0])
    outcome = np.array([1.0, 1.0, 0.0, 0.5, 1.0])
    result = bradley_terry(left, right, outcome, 3, resamples=300, random_seed=0)
    missing = np.isnan(result.replicates[:, 2])
    assert missing.mean() == pytest.approx((4 / 5) ** 5, abs=0.1)


def test_clusters_and_rows_agree_where_each_row_is_a_cluster(arena):
    data = arena(5, 40, random_seed=7)
    alone = bradley_terry(*data.arguments, resamples=2000, random_seed=1)
    text = np.array([f"row {index:05d}" for index in range(len(data.left))])
    text[-2:] = "shared"  # leaves the multinomial path
    clustered = bradley_terry(*data.arguments, cluster=text, resamples=2000, random_seed=1)
    np.testing.assert_allclose(alone.ci_high - alone.ci_low, clustered.ci_high - clustered.ci_low, rtol=0.12)


def test_copies_within_a_seed_do_not_narrow_the_interval(arena):
    data = arena(4, 60, random_seed=8)
    copies = data.take(np.tile(np.arange(len(data.left)), 5))
    once = bradley_terry(*data.arguments, cluster=data.seed, resamples=500, random_seed=1)
    five = bradley_terry(*copies.arguments, cluster=copies.seed, resamples=500, random_seed=1)
    rows = bradley_terry(*copies.arguments, resamples=500, random_seed=1)
    np.testing.assert_allclose(five.ci_low, once.ci_low, atol=1e-3)
    assert (rows.ci_high - rows.ci_low < 0.7 * (five.ci_high - five.ci_low)).all()


def test_p_above_next_is_from_paired_replicates(arena):
    data = arena(5, 100, random_seed=9)
    result = bradley_terry(*data.arguments, cluster=data.seed, resamples=300, random_seed=1)
    best, second = np.argsort(-result.rating)[:2]
    share = np.mean(result.replicates[:, best] > result.replicates[:, second])
    assert result.p_above_next[best] == pytest.approx(share)
    assert np.isnan(result.p_above_next[result.rating.argmin()])


@METHODS
def test_wrong_settings_are_named(rate):
    with pytest.raises(ValueError, match="ridge"):
        rate([0], [1], [1.0], 2, ridge=0.0)
    with pytest.raises(ValueError, match="confidence is 95"):
        rate([0], [1], [1.0], 2, confidence=95)
    with pytest.raises(ValueError, match="ties is 'whole'"):
        bradley_terry([0], [1], [1.0], 2, ties="whole")


def test_real_battles(battles, evalica_winners):
    theirs = evalica.bradley_terry(
        battles.left.tolist(),
        battles.right.tolist(),
        evalica_winners(battles.outcome),
        tolerance=1e-14,
        limit=100_000,
    )
    strengths = np.log(theirs.scores.loc[range(battles.n_players)].to_numpy())
    ours = bradley_terry(*battles.arguments, cluster=battles.seed, resamples=100, random_seed=1)
    assert ours.converged
    assert np.abs(ours.rating - 1000.0 - POINTS * (strengths - strengths.mean())).max() <= 1e-5
    np.testing.assert_array_equal(np.argsort(ours.rating), np.argsort(strengths))
    with_ties = davidson(*battles.arguments, cluster=battles.seed, resamples=100, random_seed=1)
    assert with_ties.converged
    assert with_ties.unconverged_replicates == 0
    assert 1.0 < with_ties.tie_parameter < 3.0
    assert np.ptp(with_ties.rating) > np.ptp(ours.rating)


def test_many_pairs_of_many_players_need_no_matrix_of_both():
    rng = np.random.default_rng(0)
    n_players, n = 300, 20_000
    left = rng.integers(0, n_players, n)
    right = (left + rng.integers(1, n_players, n)) % n_players
    outcome = rng.choice([0.0, 0.5, 1.0], n)
    n_pairs = len(np.unique(np.minimum(left, right) * n_players + np.maximum(left, right)))
    tracemalloc.start()
    result = bradley_terry(left, right, outcome, n_players)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.converged
    assert peak < n_pairs * n_players * 8 / 2


# Resamples that set a player no limit, and intervals that say so.


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
    assert np.isnan(result.ci_high[3])
    assert np.isfinite(result.ci_low[3])
    assert 100 < result.above[3] < 250  # the loss is not drawn in (1 - 1/40)^40 = 37% of the resamples
    assert result.below[3] < 10
    # The others are not drawn along by a player at infinity.
    assert np.isfinite([result.ci_low[:3], result.ci_high[:3]]).all()
    assert (result.ci_high[:3] - result.ci_low[:3] < 250).all()
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
    assert np.isnan([result.ci_low[3], result.ci_high[3]]).all()
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
