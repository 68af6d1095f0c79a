"""Who is linked with whom, against what reachability says, and sparse tables against dense ones."""

from __future__ import annotations

from functools import partial
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.stats.arrays import BoolArray, IntArray
from dialeval.stats.bradley_terry import bradley_terry
from dialeval.stats.comparisons import (
    compare,
    equalised,
    equally_weighted,
    groups,
    integer_counts,
    pair_weights,
    sparse_table,
    strong_components,
)
from dialeval.stats.elo import bootstrap_elo
from dialeval.stats.elo_interval import bootstrap_elo_interval
from dialeval.stats.style_control import controlled_ratings

# Who is linked with whom, against what reachability says, and sparse tables against dense ones.

PLAYERS = 6
LINKS = st.lists(st.tuples(*[st.integers(0, PLAYERS - 1)] * 2), max_size=12)


def reaches(links: list[tuple[int, int]]) -> BoolArray:
    """Who comes to whom, link by link (Warshall)."""
    found = np.eye(PLAYERS, dtype=np.bool_)
    for one, other in links:
        found[one, other] = True
    for between in range(PLAYERS):
        found |= found[:, [between]] & found[between]
    return found


def together(number: IntArray) -> BoolArray:
    """Which players have the same number."""
    return np.equal.outer(number, number)


def sides(links: list[tuple[int, int]]) -> tuple[IntArray, IntArray]:
    """The players of each link as two arrays."""
    first, second = np.array(links, dtype=np.int64).reshape(-1, 2).T
    return first, second


@given(LINKS)
def test_a_group_is_who_can_be_reached_either_way_round(links: list[tuple[int, int]]) -> None:
    both_ways = links + [(other, one) for one, other in links]
    np.testing.assert_array_equal(together(groups(*sides(links), PLAYERS)), reaches(both_ways))


@given(LINKS)
def test_in_a_ring_everyone_is_reached_from_everyone(links: list[tuple[int, int]]) -> None:
    reached = reaches(links)
    np.testing.assert_array_equal(together(strong_components(*sides(links), PLAYERS)), reached & reached.T)


def test_values_of_one_place_add_up() -> None:
    table = sparse_table(np.array([1.0, 2.0, 4.0]), np.array([0, 0, 1]), np.array([2, 2, 0]), (2, 3))
    np.testing.assert_array_equal(table.toarray(), [[0.0, 0.0, 3.0], [4.0, 0.0, 0.0]])


def test_no_players_have_no_group_and_no_ring() -> None:
    nobody = np.zeros(0, dtype=np.int64)
    assert len(groups(nobody, nobody, 0)) == len(strong_components(nobody, nobody, 0)) == 0


# Pairs compared unequally often, as if equally often: by hand, and against the same comparisons written out.

TIMES = {(0, 1): 1, (0, 2): 2, (0, 3): 4, (1, 2): 4, (1, 3): 2, (2, 3): 1}
"""How many times more cases than the least each pair was asked about; 4 at most."""


def drawn(copies: bool = False, n: int = 24, seed: int = 4):
    """Comparisons of four players, some pairs on more cases; with copies, as many of every pair are written out."""
    rng = np.random.default_rng(seed)
    strength = np.array([0.8, 0.3, -0.3, -0.8])
    rows = []
    for (one, other), times in TIMES.items():
        win = 1 / (1 + np.exp(strength[other] - strength[one]))
        for case in range(times * n):
            outcome = rng.choice([1.0, 0.5, 0.0], p=[0.8 * win, 0.2, 0.8 * (1 - win)])
            rows += [(one, other, outcome, case)] * (4 // times if copies else 1)
    left, right, outcome, case = (np.array(column) for column in zip(*rows, strict=True))
    return left.astype(int), right.astype(int), outcome, case


def test_weights_by_hand() -> None:
    table = np.array([[6.0, 2.0, 0.0], [1.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    assert pair_weights(table).tolist() == [5 / 8, 5 / 2, 0.0]
    assert equally_weighted(table).sum(axis=1).tolist() == [5.0, 5.0, 0.0]
    assert integer_counts(table, 10).tolist() == [[8, 2, 0], [5, 0, 5], [0, 0, 0]]
    assert integer_counts(np.array([[1.0, 1.0, 1.0]]), 8).sum() == 8


@given(st.lists(st.tuples(*[st.integers(0, 40)] * 3), min_size=1, max_size=6), st.integers(1, 200))
def test_whole_counts_keep_shares_to_within_one_comparison(rows: list[tuple[int, ...]], total: int) -> None:
    table = np.array(rows, dtype=float)
    counts = integer_counts(table, total)
    met = table.sum(axis=1)
    assert counts.sum(axis=1).tolist() == np.where(met > 0, total, 0).tolist()
    wanted = table * np.divide(total, met, out=np.zeros(len(met)), where=met > 0)[:, np.newaxis]
    assert np.abs(counts - wanted).max() < 1.0


@pytest.mark.parametrize("rate", [bradley_terry, partial(bradley_terry, ties="davidson")])
def test_likelihoods_are_those_of_as_many_comparisons_of_every_pair(rate) -> None:
    found = rate(*drawn()[:3], 4, equal_pairs=True)
    written_out = rate(*drawn(copies=True)[:3], 4)
    assert found.rating == pytest.approx(written_out.rating, abs=1e-3)
    assert np.abs(found.rating - rate(*drawn()[:3], 4).rating).max() > 1.0, "the weights matter here"
    assert found.games.sum() == 2 * len(drawn()[0]), "comparisons are counted as they are"


def test_resamples_are_weighted_too_and_cover_the_same_ground() -> None:
    left, right, outcome, case = drawn()
    found = bradley_terry(left, right, outcome, 4, cluster=case, resamples=400, equal_pairs=True, random_seed=1)
    written_out = bradley_terry(*drawn(copies=True)[:3], 4, cluster=drawn(copies=True)[3], resamples=400, random_seed=1)
    # equal but for what a pair's share of a resample does, which copies leave as it falls
    assert found.ci_low == pytest.approx(written_out.ci_low, abs=15)
    assert found.ci_high == pytest.approx(written_out.ci_high, abs=15)


def test_elo_plays_as_many_comparisons_of_every_pair() -> None:
    settings = {"shuffles": 600, "repeats": 2, "random_seed": 3}
    found = bootstrap_elo(*drawn()[:3], 4, equal_pairs=True, **settings)
    written_out = bootstrap_elo(*drawn(copies=True)[:3], 4, **settings)
    noise = 4 * np.hypot(found.shuffle_sd, written_out.shuffle_sd) * 1.26 / np.sqrt(1200)
    assert (np.abs(found.rating - written_out.rating) < noise).all()
    assert found.games.tolist() == compare(*drawn()[:3], 4).games().tolist()
    assert np.bincount(equalised(compare(*drawn()[:3], 4)).type_of_row // 3).tolist() == [96] * 6


def test_elo_s_intervals_are_about_its_ratings() -> None:
    left, right, outcome, case = drawn()
    found = bootstrap_elo_interval(left, right, outcome, case, 4, resamples=200, random_seed=5, equal_pairs=True)
    copies = drawn(copies=True)
    written_out = bootstrap_elo_interval(*copies, 4, resamples=200, random_seed=5)
    assert found.ci_low == pytest.approx(written_out.ci_low, abs=25)
    assert found.ci_high == pytest.approx(written_out.ci_high, abs=25)
    rating = bootstrap_elo(left, right, outcome, 4, random_seed=5, equal_pairs=True).rating
    assert ((found.ci_low < rating) & (rating < found.ci_high)).all()


def test_the_logit_with_length_is_that_of_the_rows_written_out() -> None:
    left, right, outcome, case = drawn()
    ratio = np.random.default_rng(2).normal(size=len(left))
    found = controlled_ratings(left, right, outcome, 4, case, log_length_ratio=ratio, equal_pairs=True)
    copies = np.repeat(
        np.arange(len(left)), [4 // TIMES[pair] for pair in zip(left.tolist(), right.tolist(), strict=True)]
    )
    of = [column[copies] for column in (left, right, outcome)]
    written_out = controlled_ratings(*of, 4, case[copies], log_length_ratio=ratio[copies])
    assert found.rating == pytest.approx(written_out.rating, abs=1e-4)
    assert found.covariance == pytest.approx(written_out.covariance, rel=1e-5)
    assert found.slope.estimate == pytest.approx(written_out.slope.estimate)
    assert found.n == len(left)


def test_equal_numbers_change_nothing() -> None:
    rng = np.random.default_rng(1)
    pairs = np.array(list(combinations(range(3), 2)) * 30)
    outcome = rng.choice([0.0, 0.5, 1.0], size=len(pairs))
    case = np.repeat(np.arange(30), 3)
    for rate in (bradley_terry, partial(bradley_terry, ties="davidson")):
        one, other = (
            rate(*pairs.T, outcome, 3, cluster=case, resamples=50, random_seed=2, equal_pairs=equal)
            for equal in (True, False)
        )
        assert one.rating == pytest.approx(other.rating)
        assert one.ci_low == pytest.approx(other.ci_low)
        assert one.design_effect == pytest.approx(other.design_effect, nan_ok=True)
    assert equalised(compare(*pairs.T, outcome, 3)).table().tolist() == compare(*pairs.T, outcome, 3).table().tolist()
