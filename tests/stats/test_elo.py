"""Elo in one order, Bootstrap Elo and its certified ends."""

from __future__ import annotations

import evalica
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from dialeval.stats.certified_ends import TAIL_TOLERANCE, contraction, needed_length, typical_ratings
from dialeval.stats.comparisons import compare
from dialeval.stats.elo import bootstrap_elo, sequential_elo
from dialeval.stats.shuffles import compact_codes, draw_shuffles, play_shuffles, rating_unit

N_PLAYERS = 6


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


def test_one_win_between_equals_moves_half_of_k():
    result = sequential_elo([0], [1], [1.0], 2)
    assert result.rating.tolist() == [1016.0, 984.0]


def test_a_tie_moves_the_lower_one_up():
    result = sequential_elo([0, 0], [1, 1], [1.0, 0.5], 2)
    expected = 1.0 / (1.0 + 10.0 ** (-32.0 / 400.0))
    assert result.rating[0] == pytest.approx(1016.0 + 32.0 * (0.5 - expected))
    assert result.rating.sum() == pytest.approx(2000.0)


def test_one_order_agrees_with_evalica(paper_scale, evalica_winners):
    theirs = evalica.elo(
        paper_scale.left.tolist(),
        paper_scale.right.tolist(),
        evalica_winners(paper_scale.outcome),
        initial=1000.0,
        scale=400.0,
        k=32.0,
    ).scores
    ours = sequential_elo(*paper_scale.arguments).rating
    assert np.abs(ours - theirs.loc[range(14)].to_numpy()).max() <= 1e-9


def test_side_by_side_play_agrees_with_one_order(arena):
    data = arena(7, 20, random_seed=4, spread=200.0)
    comparisons = compare(*data.arguments)
    rng = np.random.default_rng(0)
    orders = np.array([rng.permutation(len(data.left)) for _ in range(5)])
    codes = compact_codes(comparisons.type_of_row, comparisons.n_types)
    unit = rating_unit(400.0)
    played = play_shuffles(codes[orders], comparisons.first, comparisons.second, np.zeros((7, 5)), 0.5 * 32.0 / unit)
    ratings = comparisons.spread(1000.0 + unit * played.T)
    for order, rating in zip(orders, ratings, strict=True):
        expected = sequential_elo(*data.take(order).arguments).rating
        assert np.abs(rating - expected).max() <= 1e-9


@pytest.mark.parametrize("length", [1, 3, 5])
def test_drawn_ends_are_uniform_ordered_subsets(length):
    n, width = 5, 30_000
    drawn = draw_shuffles(np.arange(n, dtype=np.uint16), length, width, np.random.default_rng(8))
    assert all(len(set(row)) == length for row in drawn[:200].tolist())
    number = drawn.astype(np.int64) @ (n ** np.arange(length))
    _, seen = np.unique(number, return_counts=True)
    n_orders = int(np.prod(np.arange(n - length + 1, n + 1)))
    assert len(seen) == n_orders
    statistic = ((seen - width / n_orders) ** 2 / (width / n_orders)).sum()
    assert statistic < chi2.ppf(0.999, n_orders - 1)


def test_long_decks_are_drawn_without_repetition():
    drawn = draw_shuffles(np.arange(40_000, dtype=np.uint16), 4000, 20, np.random.default_rng(8))
    assert all(len(np.unique(row)) == 4000 for row in drawn)
    assert abs(drawn.mean() - 20_000) < 400


def test_the_end_of_a_shuffle_stands_for_the_whole(paper_scale):
    comparisons = compare(*paper_scale.arguments)
    shrinking = contraction(comparisons, k=32.0, scale=400.0)
    length = needed_length(shrinking, len(paper_scale.left), TAIL_TOLERANCE)
    assert length < len(paper_scale.left) / 4
    codes = compact_codes(comparisons.type_of_row, comparisons.n_types)
    whole = draw_shuffles(codes, len(codes), 16, np.random.default_rng(1))
    start = np.zeros((14, 16))
    half_k = 16.0 / rating_unit(400.0)
    long = play_shuffles(whole, comparisons.first, comparisons.second, start, half_k)
    short = play_shuffles(whole[:, -length:], comparisons.first, comparisons.second, start, half_k)
    assert rating_unit(400.0) * np.abs(long - short).max() <= 1e-6


def test_paper_scale_is_certified(paper_scale):
    result = bootstrap_elo(*paper_scale.arguments, shuffles=200, random_seed=1)
    assert not result.fell_back
    assert 0.0 < result.certificate_gap <= 1e-6
    assert result.tail_length < 10_000
    assert set(result.notes) == {""}
    assert (result.games == 2 * 13 * 222).all()


def test_bad_cases_choose_the_whole_shuffle(bad_case):
    data, k = bad_case
    result = bootstrap_elo(*data.arguments, shuffles=40, k=k, random_seed=1)
    assert result.fell_back
    assert result.tail_length == len(data.left)


def test_bad_cases_are_bad(bad_case):
    """A short end really gives other ratings here, so that falling back is not for nothing."""
    data, k = bad_case
    comparisons = compare(*data.arguments)
    codes = compact_codes(comparisons.type_of_row, comparisons.n_types)
    whole = draw_shuffles(codes, len(codes), 8, np.random.default_rng(1))
    start, half_k = np.zeros((14, 8)), 0.5 * k / rating_unit(400.0)
    long = play_shuffles(whole, comparisons.first, comparisons.second, start, half_k)
    short = play_shuffles(whole[:, -6000:], comparisons.first, comparisons.second, start, half_k)
    assert rating_unit(400.0) * np.abs(long - short).max() > 1.0


def test_a_player_with_few_comparisons_is_certified_or_played_whole(paper_scale):
    """One in twenty comparisons has player 0: the end must be longer, and it still stands for the whole."""
    has_it = (paper_scale.left == 0) | (paper_scale.right == 0)
    rng = np.random.default_rng(2)
    few = rng.choice(np.flatnonzero(has_it), int(0.05 / 0.95 * (~has_it).sum()), replace=False)
    data = paper_scale.take(np.sort(np.concatenate([np.flatnonzero(~has_it), few])))
    plain = bootstrap_elo(*paper_scale.arguments, shuffles=40, random_seed=1)
    result = bootstrap_elo(*data.arguments, shuffles=40, random_seed=1)
    assert result.tail_length > 1.5 * plain.tail_length
    assert result.fell_back or result.certificate_gap <= 1e-6


def test_a_length_that_fails_is_doubled(paper_scale, monkeypatch):
    monkeypatch.setattr("dialeval.stats.certified_ends.needed_length", lambda *_, **__: 500)
    result = bootstrap_elo(*paper_scale.arguments, shuffles=40, random_seed=1)
    assert result.tail_length in (4000, 8000)
    assert result.certificate_gap <= 1e-6


def test_equal_players_are_not_certified_by_an_equal_start(arena):
    """Were the second start the players' true strengths alone, it would equal the first one here."""
    data = arena(4, 300, spread=0.0, tie=0.0)
    comparisons = compare(*data.arguments)
    start = typical_ratings(comparisons, 32, k=32.0, scale=400.0, rng=np.random.default_rng(0))
    assert np.abs(start.sum(axis=0)).max() < 1e-9
    assert rating_unit(400.0) * start.std() > 20.0


def test_spread_over_seeds_is_that_of_a_median(arena):
    data = arena(8, 20, random_seed=9, spread=120.0)
    shuffles, n_seeds = 400, 60
    runs = [bootstrap_elo(*data.arguments, shuffles=shuffles, random_seed=seed) for seed in range(n_seeds)]
    ratings = np.array([run.rating for run in runs])
    shuffle_sd = np.sqrt(np.mean([run.shuffle_sd**2 for run in runs], axis=0))
    expected = np.sqrt(np.pi / 2.0) * shuffle_sd / np.sqrt(shuffles)
    statistic = (n_seeds - 1) * (ratings.std(axis=0, ddof=1) / expected) ** 2
    # 8 players are looked at, which sum to a constant; the density at the median is not exactly normal.
    low, high = chi2.ppf([0.0005, 0.9995], n_seeds - 1)
    assert ((low < statistic) & (statistic < high)).all(), statistic


def test_repeats_average_and_report_their_spread(arena):
    data = arena(5, 30)
    result = bootstrap_elo(*data.arguments, shuffles=50, repeats=4, random_seed=2)
    assert result.repeat_rating.shape == (4, 5)
    np.testing.assert_allclose(result.rating, result.repeat_rating.mean(axis=0))
    np.testing.assert_allclose(result.rating_sd, result.repeat_rating.std(axis=0, ddof=1))
    assert np.isnan(bootstrap_elo(*data.arguments, shuffles=50, random_seed=2).rating_sd).all()


def test_same_seed_same_ratings(arena):
    data = arena(5, 30)
    first, again, other = (bootstrap_elo(*data.arguments, shuffles=50, random_seed=seed).rating for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).all()


@settings(max_examples=40, deadline=None)
@given(rows=comparison_lists(), order=st.permutations(range(N_PLAYERS)))
def test_relabelling_permutes_exactly(rows, order):
    left, right, outcome = rows
    order = np.array(order)
    plain = bootstrap_elo(left, right, outcome, N_PLAYERS, shuffles=20, random_seed=1)
    renamed = bootstrap_elo(order[left], order[right], outcome, N_PLAYERS, shuffles=20, random_seed=1)
    np.testing.assert_array_equal(renamed.rating[order], plain.rating)
    np.testing.assert_array_equal(np.array(renamed.notes)[order], plain.notes)


@settings(max_examples=40, deadline=None)
@given(rows=comparison_lists())
def test_swapping_sides_changes_nothing(rows):
    left, right, outcome = rows
    plain = bootstrap_elo(left, right, outcome, N_PLAYERS, shuffles=20, random_seed=1)
    swapped = bootstrap_elo(right, left, 1.0 - outcome, N_PLAYERS, shuffles=20, random_seed=1)
    np.testing.assert_array_equal(swapped.rating, plain.rating)


@settings(max_examples=25, deadline=None)
@given(rows=comparison_lists())
def test_a_player_without_comparisons_leaves_the_others(rows):
    left, right, outcome = rows
    plain = bootstrap_elo(left, right, outcome, N_PLAYERS, shuffles=20, random_seed=1)
    wider = bootstrap_elo(left, right, outcome, N_PLAYERS + 1, shuffles=20, random_seed=1)
    np.testing.assert_array_equal(wider.rating[:-1], plain.rating)
    assert np.isnan(wider.rating[-1])
    assert wider.notes[-1].startswith("no comparison")


def test_relabelling_permutes_exactly_where_ends_are_played(paper_scale):
    order = np.random.default_rng(3).permutation(14)
    left, right, outcome, n = paper_scale.arguments
    plain = bootstrap_elo(left, right, outcome, n, shuffles=64, random_seed=1)
    renamed = bootstrap_elo(order[left], order[right], outcome, n, shuffles=64, random_seed=1)
    swapped = bootstrap_elo(right, left, 1.0 - outcome, n, shuffles=64, random_seed=1)
    assert not plain.fell_back
    np.testing.assert_array_equal(renamed.rating[order], plain.rating)
    np.testing.assert_array_equal(swapped.rating, plain.rating)


def test_degenerate_arenas():
    empty = bootstrap_elo([], [], [], 3, random_seed=0)
    assert np.isnan(empty.rating).all()
    assert np.isnan(bootstrap_elo([], [], [], 1, random_seed=0).rating).all()
    ties = bootstrap_elo([0, 1, 2], [1, 2, 0], [0.5, 0.5, 0.5], 3, shuffles=10, random_seed=0)
    assert ties.rating.tolist() == [1000.0] * 3
    assert ties.notes == ("", "", "")
    single = bootstrap_elo([0], [1], [1.0], 2, shuffles=1, random_seed=0)
    assert single.rating.tolist() == [1016.0, 984.0]
    assert np.isnan(single.shuffle_sd).all()


def test_unconnected_groups_are_told_apart():
    result = bootstrap_elo([0, 0, 2], [1, 1, 3], [1.0, 0.0, 1.0], 5, shuffles=20, random_seed=0)
    assert result.group.tolist() == [0, 0, 1, 1, -1]
    assert result.fell_back


def test_winning_or_losing_everything_is_finite_and_flagged(arena):
    data = arena(4, 50, random_seed=6)
    outcome = np.where(data.left == 0, 1.0, np.where(data.right == 0, 0.0, data.outcome))
    outcome = np.where(data.left == 3, 0.0, np.where(data.right == 3, 1.0, outcome))
    result = bootstrap_elo(data.left, data.right, outcome, 4, shuffles=50, random_seed=0)
    assert np.isfinite(result.rating).all()
    assert result.rating.argmax() == 0
    assert result.rating.argmin() == 3
    assert result.notes[0].startswith("wins every comparison")
    assert result.notes[3].startswith("loses every comparison")
    assert result.notes[1] == result.notes[2] == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [1], [1.0, 1.0], 2), "right has 1 entries"),
        (([0, 2], [1, 1], [1.0, 1.0], 2), r"left\[1\] is 2"),
        (([0, 1], [1, 1], [1.0, 1.0], 2), "row 1 compares player 1 with itself"),
        (([0], [1], [0.7], 2), r"outcome\[0\] is 0.7"),
        (([0], [1], [np.nan], 2), "leave unparsed verdicts out"),
        (([0.5], [1], [1.0], 2), "whole numbers"),
    ],
)
def test_wrong_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        bootstrap_elo(*arguments, random_seed=0)


def test_wrong_settings_are_named():
    with pytest.raises(ValueError, match="shuffles is 0"):
        bootstrap_elo([0], [1], [1.0], 2, shuffles=0, random_seed=0)
    with pytest.raises(ValueError, match="k is -1"):
        sequential_elo([0], [1], [1.0], 2, k=-1.0)


def test_real_battles(battles, evalica_winners):
    result = bootstrap_elo(*battles.arguments, shuffles=300, random_seed=1)
    assert np.isfinite(result.rating).all()
    one_order = evalica.elo(
        battles.left.tolist(), battles.right.tolist(), evalica_winners(battles.outcome), k=32.0
    ).scores
    rank_correlation = np.corrcoef(
        result.rating.argsort().argsort(), one_order.loc[range(battles.n_players)].argsort().argsort()
    )[0, 1]
    assert rank_correlation > 0.7  # one order is noisy; its average is not
