"""Elo in one order, Bootstrap Elo and its certified ends."""

from __future__ import annotations

import math

import evalica
import numpy as np
import pytest
from comparison_lists import N_PLAYERS, comparison_lists
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from dialeval.stats import elo, elo_interval
from dialeval.stats.comparisons import compare
from dialeval.stats.elo import (
    TAIL_TOLERANCE,
    bootstrap_elo,
    contraction_rate,
    own_tail_length,
    play_certified,
    rating_unit,
    required_length,
    sequential_elo,
    typical_ratings,
)
from dialeval.stats.elo_interval import bootstrap_elo_interval
from dialeval.stats.elo_shuffles import compact_codes, draw_shuffles, play_shuffles

# Elo in one order, Bootstrap Elo and its certified ends.


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
    ratings = comparisons.to_all_players(1000.0 + unit * played.T)
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
    rate = contraction_rate(comparisons, k=32.0, scale=400.0)
    length = required_length(rate, len(paper_scale.left), TAIL_TOLERANCE)
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
    monkeypatch.setattr("dialeval.stats.elo.required_length", lambda *_, **__: 500)
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


@given(rows=comparison_lists(), order=st.permutations(range(N_PLAYERS)))
def test_relabelling_permutes_exactly(rows, order):
    left, right, outcome = rows
    order = np.array(order)
    plain = bootstrap_elo(left, right, outcome, N_PLAYERS, shuffles=20, random_seed=1)
    renamed = bootstrap_elo(order[left], order[right], outcome, N_PLAYERS, shuffles=20, random_seed=1)
    np.testing.assert_array_equal(renamed.rating[order], plain.rating)
    np.testing.assert_array_equal(np.array(renamed.notes)[order], plain.notes)


@given(rows=comparison_lists())
def test_swapping_sides_changes_nothing(rows):
    left, right, outcome = rows
    plain = bootstrap_elo(left, right, outcome, N_PLAYERS, shuffles=20, random_seed=1)
    swapped = bootstrap_elo(right, left, 1.0 - outcome, N_PLAYERS, shuffles=20, random_seed=1)
    np.testing.assert_array_equal(swapped.rating, plain.rating)


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


def test_unconnected_groups_are_distinguished():
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


# Long shuffles that share their beginnings: each is as good as one of its own, and they are nearly independent.

SETTINGS = {"k": 32.0, "scale": 400.0}


def share(monkeypatch):
    """Has shuffles share their beginnings, however few and short they are."""
    monkeypatch.setattr(elo, "_MOST_INDEPENDENT", 0)
    monkeypatch.setattr(elo, "_FEWEST_HEADS", 1)


@pytest.fixture
def seldom_met(paper_scale):
    """One in three of its comparisons is left to player 0."""
    has_it = (paper_scale.left == 0) | (paper_scale.right == 0)
    kept = ~has_it | (np.random.default_rng(4).random(len(has_it)) < 1 / 3)
    return paper_scale.take(np.flatnonzero(kept))


@pytest.mark.parametrize(("n", "length"), [(50, 7), (3000, 900), (70_000, 34_000), (300_000, 66_000)])
def test_of_what_is_drawn_twice_the_last_one_counts(n, length):
    """Against drawing one after the other; positions of the longest do not fit into sixteen bits."""
    codes = np.random.default_rng(1).integers(0, 60_000, n).astype(np.uint16)
    drawn = draw_shuffles(codes, length, 3, np.random.Generator(np.random.SFC64(5)))
    rng = np.random.Generator(np.random.SFC64(5))
    needed = -n * math.log1p(-length / n)
    n_draws = math.ceil(needed + 6.0 * math.sqrt(needed - length + 1.0)) + 8
    for row in drawn:
        last = {int(number): place for place, number in enumerate(rng.integers(0, n, n_draws, dtype=np.uint32))}
        in_order = sorted(last, key=lambda number: last[number])
        assert row.tolist() == codes[in_order[:length]].tolist()


def test_siblings_are_nearly_independent_even_for_who_is_seldom_met(seldom_met, monkeypatch):
    share(monkeypatch)
    comparisons = compare(*seldom_met.arguments)
    families = 120
    played = play_certified(comparisons, families * 40, 1, **SETTINGS, rng=np.random.default_rng(7))
    assert played.siblings == 40
    assert played.length < len(seldom_met.left)
    ratings = played.final.reshape(comparisons.n_rated, families, 40)
    between = 40 * ratings.mean(axis=2).var(axis=1, ddof=1)
    within = ratings.var(axis=2, ddof=1).mean(axis=1)
    # The ratio is F distributed about 1 + 39 * correlation, and the correlation is exp(-5) or less.
    assert (between / within < (1 + 39 * math.exp(-5.0)) * chi2.ppf(0.9995, families - 1) / (families - 1)).all()


def test_ratings_by_shared_beginnings_are_those_of_separate_shuffles(seldom_met, monkeypatch):
    apart = bootstrap_elo(*seldom_met.arguments, shuffles=200, repeats=4, random_seed=1)
    share(monkeypatch)
    shared = bootstrap_elo(*seldom_met.arguments, shuffles=200, repeats=4, random_seed=2)
    assert (apart.siblings, shared.siblings) == (1, 40)
    assert apart.tail_length < shared.tail_length < 2 * apart.tail_length
    assert shared.certificate_gap <= 1e-6
    error = 1.2533 * apart.shuffle_sd / math.sqrt(800) * math.sqrt(2.3)
    assert (np.abs(apart.rating - shared.rating) < 4.5 * error).all()
    np.testing.assert_allclose(shared.shuffle_sd, apart.shuffle_sd, rtol=0.1)


def test_whole_shuffles_that_share_a_beginning_stand_for_separate_ones(arena, monkeypatch):
    """Nothing is certified where K is small; a sixth of each shuffle is its own."""
    data = arena(5, 300, random_seed=3)
    apart = bootstrap_elo(*data.arguments, shuffles=400, repeats=4, k=1.0, random_seed=1)
    share(monkeypatch)
    monkeypatch.setattr(elo, "_LONGEST_OWN_TAIL", 1000)
    shared = bootstrap_elo(*data.arguments, shuffles=400, repeats=4, k=1.0, random_seed=2)
    assert shared.fell_back
    assert shared.siblings == 40
    # Forty beginnings at least, were their shuffles all the same.
    assert (np.abs(apart.rating - shared.rating) < 4.5 * 1.2533 * apart.shuffle_sd / math.sqrt(40)).all()
    np.testing.assert_allclose(shared.shuffle_sd, apart.shuffle_sd, rtol=0.35)


def test_a_last_family_may_be_smaller(seldom_met, monkeypatch):
    share(monkeypatch)
    result = bootstrap_elo(*seldom_met.arguments, shuffles=45, repeats=2, random_seed=1)
    assert np.isfinite(result.repeat_rating).all()
    assert result.repeat_rating.shape == (2, 14)
    assert (result.repeat_rating[0] != result.repeat_rating[1]).all()


@pytest.mark.parametrize(("shuffles", "siblings"), [(30, 1), (90, 3), (1500, 40)])
def test_few_shuffles_have_no_fewer_beginnings(seldom_met, monkeypatch, shuffles, siblings):
    share(monkeypatch)
    monkeypatch.setattr(elo, "_FEWEST_HEADS", 30)
    assert bootstrap_elo(*seldom_met.arguments, shuffles=shuffles, random_seed=1).siblings == siblings


def test_own_ends_are_at_most_half_of_all():
    assert own_tail_length(0.01, 10_000) == 250
    assert own_tail_length(0.01, 301) == 150
    assert own_tail_length(0.0, 301) == 150
    assert own_tail_length(1e-9, 10_000_000) == 50_000


def test_who_is_hardly_met_is_rated_the_same_and_less_surely(arena, monkeypatch):
    """Its shuffles are worth little more than one of each family, and the spread over repeats tells."""
    data = arena(6, 150, random_seed=3)
    has_it = np.flatnonzero((data.left == 0) | (data.right == 0))
    data = data.take(np.delete(np.arange(len(data.left)), has_it[25:]))
    apart = bootstrap_elo(*data.arguments, shuffles=200, repeats=4, random_seed=1)
    share(monkeypatch)
    shared = bootstrap_elo(*data.arguments, shuffles=200, repeats=60, random_seed=2)
    assert shared.fell_back
    assert shared.rating_sd[0] > 3 * apart.rating_sd[0]
    assert (np.abs(apart.rating - shared.rating) < 4.5 * (apart.rating_sd / 2 + shared.rating_sd / math.sqrt(60))).all()


def test_what_is_dealt_at_once_fits_the_room_for_it(arena, monkeypatch):
    """The ends that shuffles have of their own are more than the beginnings that they share."""
    data = arena(4, 100, random_seed=3)
    monkeypatch.setattr(elo_interval, "_LONGEST_INDEPENDENT", 0)
    monkeypatch.setattr(elo_interval, "BYTES_PER_BLOCK", 200_000)
    dealt = []

    def play(hands, *arguments):
        dealt.append(hands.nbytes)
        return play_shuffles(hands, *arguments)

    monkeypatch.setattr(elo_interval, "play_shuffles", play)
    bootstrap_elo_interval(*data.arguments[:3], data.seed, 4, resamples=30, random_seed=1)
    assert 100_000 < max(dealt) <= 200_000


@pytest.mark.parametrize("sizes", ["alone", "unlike"])
def test_intervals_by_shared_beginnings_are_those_of_separate_shuffles(arena, monkeypatch, sizes):
    data = arena(4, 100, random_seed=3)
    rows = np.arange(len(data.left))
    # One cluster with half of all, which a resample may lack or have five times.
    cluster = {"alone": rows, "unlike": np.where(rows % 2 == 0, -1, data.seed)}[sizes]
    settings = {"resamples": 150, "random_seed": 1}
    apart = bootstrap_elo_interval(*data.arguments[:3], cluster, 4, **settings)
    monkeypatch.setattr(elo_interval, "_LONGEST_INDEPENDENT", 0)
    shared = bootstrap_elo_interval(*data.arguments[:3], cluster, 4, **settings)
    assert shared.tail_length >= apart.tail_length
    assert (shared.replicates != apart.replicates).any()
    np.testing.assert_allclose(shared.sampling_sd, apart.sampling_sd, rtol=0.2)
    more = shared.noise_sd / apart.noise_sd  # it is measured, and taken out of the replicates
    assert ((more > 0.8) & (more < 1.9)).all()
    np.testing.assert_allclose(shared.replicates.mean(axis=0), apart.replicates.mean(axis=0), atol=4.0)
