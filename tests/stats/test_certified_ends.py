"""Long shuffles that share their beginnings: each is as good as one of its own, and they are nearly independent."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import chi2

from dialeval.stats import certified_ends, elo_resamples
from dialeval.stats.certified_ends import own_end, play_certified
from dialeval.stats.comparisons import compare
from dialeval.stats.elo import bootstrap_elo
from dialeval.stats.elo_interval import bootstrap_elo_interval
from dialeval.stats.shuffles import draw_shuffles, play_shuffles

SETTINGS = {"k": 32.0, "scale": 400.0}


def share(monkeypatch):
    """Has shuffles share their beginnings, however few and short they are."""
    monkeypatch.setattr(certified_ends, "_MOST_APART", 0)
    monkeypatch.setattr(certified_ends, "_FEWEST_BEGINNINGS", 1)


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
    monkeypatch.setattr(certified_ends, "_LONGEST_OWN_END", 1000)
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
    monkeypatch.setattr(certified_ends, "_FEWEST_BEGINNINGS", 30)
    assert bootstrap_elo(*seldom_met.arguments, shuffles=shuffles, random_seed=1).siblings == siblings


def test_own_ends_are_at_most_half_of_all():
    assert own_end(0.01, 10_000) == 250
    assert own_end(0.01, 301) == 150
    assert own_end(0.0, 301) == 150
    assert own_end(1e-9, 10_000_000) == 50_000


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
    monkeypatch.setattr(elo_resamples, "_LONGEST_APART", 0)
    monkeypatch.setattr(elo_resamples, "BYTES_PER_BLOCK", 200_000)
    dealt = []

    def play(hands, *arguments):
        dealt.append(hands.nbytes)
        return play_shuffles(hands, *arguments)

    monkeypatch.setattr(elo_resamples, "play_shuffles", play)
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
    monkeypatch.setattr(elo_resamples, "_LONGEST_APART", 0)
    shared = bootstrap_elo_interval(*data.arguments[:3], cluster, 4, **settings)
    assert shared.tail_length >= apart.tail_length
    assert (shared.replicates != apart.replicates).any()
    np.testing.assert_allclose(shared.sampling_sd, apart.sampling_sd, rtol=0.2)
    more = shared.noise_sd / apart.noise_sd  # it is measured, and taken out of the replicates
    assert ((more > 0.8) & (more < 1.9)).all()
    np.testing.assert_allclose(shared.replicates.mean(axis=0), apart.replicates.mean(axis=0), atol=4.0)
