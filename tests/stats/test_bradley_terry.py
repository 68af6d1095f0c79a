"""Bradley-Terry and Davidson ratings: known answers, oracles, invariances, degenerate data."""

from __future__ import annotations

import tracemalloc

import evalica
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from dialeval.stats.bradley_terry import bradley_terry, davidson

N_PLAYERS = 6
POINTS = 400.0 / np.log(10.0)
METHODS = pytest.mark.parametrize("rate", [bradley_terry, davidson], ids=["bradley_terry", "davidson"])


@st.composite
def comparison_lists(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows = draw(
        st.lists(
            st.tuples(st.integers(0, N_PLAYERS - 1), st.integers(1, N_PLAYERS - 1), st.sampled_from([0.0, 0.5, 1.0])),
            min_size=1,
            max_size=40,
        )
    )
    left = np.array([row[0] for row in rows])
    right = np.array([(row[0] + row[1]) % N_PLAYERS for row in rows])
    return left, right, np.array([row[2] for row in rows])


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
@settings(max_examples=60, deadline=None)
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
    np.testing.assert_array_equal(renamed.low[order], plain.low)


@METHODS
@settings(max_examples=60, deadline=None)
@given(rows=comparison_lists())
def test_swapping_sides_changes_nothing(rate, rows):
    left, right, outcome = rows
    plain = rate(left, right, outcome, N_PLAYERS)
    swapped = rate(right, left, 1.0 - outcome, N_PLAYERS)
    np.testing.assert_allclose(swapped.rating, plain.rating, rtol=0, atol=1e-5)


@METHODS
@settings(max_examples=40, deadline=None)
@given(rows=comparison_lists())
def test_a_player_without_comparisons_leaves_the_others(rate, rows):
    left, right, outcome = rows
    plain = rate(left, right, outcome, N_PLAYERS, resamples=5, random_seed=1)
    wider = rate(left, right, outcome, N_PLAYERS + 1, resamples=5, random_seed=1)
    np.testing.assert_array_equal(wider.rating[:-1], plain.rating)
    np.testing.assert_array_equal(wider.low[:-1], plain.low)
    assert np.isnan(wider.rating[-1])
    assert wider.group[-1] == -1


@METHODS
def test_winning_or_losing_everything_is_finite_flagged_and_moves_nobody_else(rate, arena):
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
    assert sum(note.startswith("the data set no limit") for note in result.notes) == 2


@METHODS
def test_unconnected_groups_are_told_apart(rate):
    result = rate([0, 0, 2, 2], [1, 1, 3, 3], [1.0, 0.0, 1.0, 0.5], 4)
    assert result.group.tolist() == [0, 0, 1, 1]
    assert result.rating[:2] == pytest.approx([1000.0, 1000.0], abs=1e-3)


@METHODS
def test_degenerate_arenas(rate):
    for n_players in (0, 1, 3):
        empty = rate([], [], [], n_players, resamples=3)
        assert empty.rating.shape == (n_players,)
        assert np.isnan(empty.rating).all()
        assert np.isnan(empty.low).all()
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
    np.testing.assert_allclose(alone.high - alone.low, clustered.high - clustered.low, rtol=0.12)


def test_copies_within_a_seed_do_not_narrow_the_interval(arena):
    data = arena(4, 60, random_seed=8)
    copies = data.take(np.tile(np.arange(len(data.left)), 5))
    once = bradley_terry(*data.arguments, cluster=data.seed, resamples=500, random_seed=1)
    five = bradley_terry(*copies.arguments, cluster=copies.seed, resamples=500, random_seed=1)
    rows = bradley_terry(*copies.arguments, resamples=500, random_seed=1)
    np.testing.assert_allclose(five.low, once.low, atol=1e-3)
    assert (rows.high - rows.low < 0.7 * (five.high - five.low)).all()


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
