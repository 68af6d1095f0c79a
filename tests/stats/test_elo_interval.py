"""Intervals of Bootstrap Elo: the sampling of seeds, without the noise of the shuffles."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from dialeval.stats.bradley_terry import bradley_terry
from dialeval.stats.elo import bootstrap_elo
from dialeval.stats.elo_interval import bootstrap_elo_interval
from dialeval.stats.resampling import cluster_counts


@pytest.mark.slow
def test_noise_of_the_shuffles_is_kept_out(arena):
    """Against resamples that are rated by so many shuffles that hardly any noise is left."""
    data = arena(4, 60, random_seed=2, spread=100.0)
    ours = bootstrap_elo_interval(*data.arguments[:3], data.seed, 4, resamples=1000, random_seed=5)
    rng = np.random.default_rng(6)
    rows_of = np.arange(len(data.left)).reshape(60, -1)
    exact = []
    for counts in cluster_counts(60, 120, rng).astype(np.int64):
        sample = data.take(rows_of[np.repeat(np.arange(60), counts)].ravel())
        exact.append(bootstrap_elo(*sample.arguments, shuffles=800, random_seed=int(rng.integers(2**31))).rating)
    exact_sd = np.std(exact, axis=0, ddof=1)
    assert (ours.noise_sd > 2.0).all()
    # 120 resamples leave the right-hand side 6% uncertain.
    np.testing.assert_allclose(ours.sampling_sd, exact_sd, rtol=0.2)
    assert ours.slope == pytest.approx(1.0, abs=0.1)


def test_intervals_follow_the_ratings_and_are_as_wide_as_bradley_terrys(arena):
    data = arena(6, 100, random_seed=3)
    elo = bootstrap_elo(*data.arguments, shuffles=500, random_seed=1)
    ours = bootstrap_elo_interval(*data.arguments[:3], data.seed, 6, resamples=400, random_seed=1)
    theirs = bradley_terry(*data.arguments, cluster=data.seed, resamples=400, random_seed=1)
    assert ((ours.ci_low < elo.rating) & (elo.rating < ours.ci_high)).all()
    np.testing.assert_allclose(ours.ci_high - ours.ci_low, theirs.ci_high - theirs.ci_low, rtol=0.25)


def test_replicates_are_reproducible_and_permute(arena):
    data = arena(5, 40, random_seed=4)
    order = np.array([3, 0, 4, 1, 2])
    left, right, outcome, n = data.arguments
    first = bootstrap_elo_interval(left, right, outcome, data.seed, n, resamples=50, random_seed=1)
    again = bootstrap_elo_interval(left, right, outcome, data.seed, n, resamples=50, random_seed=1)
    renamed = bootstrap_elo_interval(order[left], order[right], outcome, data.seed, n, resamples=50, random_seed=1)
    np.testing.assert_array_equal(first.replicates, again.replicates)
    np.testing.assert_array_equal(renamed.replicates[:, order], first.replicates)


def test_clusters_widen_the_interval(arena):
    """Verdicts that are copies of each other say no more than one of them."""
    data = arena(4, 40, random_seed=5)
    copies = data.take(np.repeat(np.arange(len(data.left)), 4))
    rows = np.repeat(np.arange(len(data.left)), 4)
    clustered = bootstrap_elo_interval(*copies.arguments[:3], rows, 4, resamples=400, random_seed=1)
    naive = bootstrap_elo_interval(*copies.arguments[:3], np.arange(len(rows)), 4, resamples=400, random_seed=1)
    assert (clustered.sampling_sd > 1.6 * naive.sampling_sd).all()


def test_degenerate_arenas():
    empty = bootstrap_elo_interval([], [], [], [], 3, random_seed=0)
    assert np.isnan(empty.ci_low).all()
    assert all(note.startswith("no comparison") for note in empty.notes)
    ties = bootstrap_elo_interval([0, 0], [1, 1], [0.5, 0.5], [0, 1], 2, resamples=20, random_seed=0)
    np.testing.assert_allclose(ties.replicates, 1000.0)
    assert np.isnan([ties.ci_low, ties.ci_high]).all()  # resamples that are all alike say nothing of other seeds
    one_seed = bootstrap_elo_interval([0], [1], [1.0], ["a"], 2, resamples=20, random_seed=0)
    assert np.isnan([one_seed.ci_low, one_seed.ci_high]).all()  # one seed says nothing of others


def test_who_wins_everything_has_no_interval_of_no_width(arena):
    data = arena(4, 20, random_seed=1)
    wins = data.outcome.copy()
    wins[data.left == 0], wins[data.right == 0] = 1.0, 0.0
    result = bootstrap_elo_interval(data.left, data.right, wins, data.seed, 4, resamples=100, random_seed=1)
    assert np.isnan([result.ci_low[0], result.ci_high[0]]).all()
    assert np.isfinite(result.replicates).all()
    assert (result.ci_high[1:] - result.ci_low[1:] > 10.0).all()
    assert result.notes[0].startswith("wins every comparison")


@pytest.mark.parametrize("alone", [True, False])
def test_where_all_beat_every_lower_one_no_rating_has_an_interval(alone: bool) -> None:
    left, right = np.tile([0, 1, 0], 10), np.tile([1, 2, 2], 10)
    cluster = np.arange(30) // (1 if alone else 2)
    result = bootstrap_elo_interval(left, right, np.ones(30), cluster, 3, resamples=50, random_seed=1)
    assert np.isnan([result.ci_low, result.ci_high]).all()
    assert np.isfinite(result.replicates).all()


def test_a_judge_that_always_takes_the_first_gives_no_interval(arena):
    """Each seed has both orders, so every resample has everybody win as often as lose."""
    data = arena(3, 30, random_seed=1)
    first = np.ones(len(data.left))
    elo = bootstrap_elo_interval(data.left, data.right, first, data.seed, 3, resamples=50, random_seed=1)
    plain = bradley_terry(data.left, data.right, first, 3, cluster=data.seed, resamples=50, random_seed=1)
    for result in (elo, plain):
        assert np.isnan([result.ci_low, result.ci_high]).all()


def test_single_comparisons_are_resampled_as_clusters_of_one_would_be(arena):
    """Each comparison by itself is drawn from a multinomial; with two of a cluster, all clusters are drawn."""
    data = arena(4, 60, random_seed=6)
    settings = {"resamples": 300, "random_seed": 1}
    alone = bootstrap_elo_interval(*data.arguments[:3], np.arange(len(data.left)), 4, **settings)
    nearly = np.arange(len(data.left))
    nearly[1] = 0
    drawn = bootstrap_elo_interval(*data.arguments[:3], nearly, 4, **settings)
    np.testing.assert_allclose(alone.sampling_sd, drawn.sampling_sd, rtol=0.2)
    np.testing.assert_allclose(alone.replicates.mean(axis=0), drawn.replicates.mean(axis=0), atol=6.0)


def test_many_clusters_need_no_matrix_of_resamples_times_clusters(arena):
    data = arena(3, 5_000, random_seed=7)
    tracemalloc.start()
    bootstrap_elo_interval(*data.arguments[:3], np.arange(len(data.left)), 3, resamples=200, random_seed=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200 * len(data.left) * 8 / 2


def test_a_player_that_resamples_can_lose_is_missing_only_there():
    """Each comparison stands forty times in its cluster: five alone would not forget where Elo starts."""
    left, right = np.tile([0, 1, 0, 1, 2], 40), np.tile([1, 0, 1, 0, 0], 40)
    outcome, cluster = np.tile([1.0, 1.0, 0.0, 0.5, 1.0], 40), np.tile(np.arange(5), 40)
    result = bootstrap_elo_interval(left, right, outcome, cluster, 3, resamples=200, random_seed=0)
    missing = np.isnan(result.replicates[:, 2])
    assert 0 < missing.sum() < 200
    assert np.isfinite(result.ci_low[:2]).all()
    assert result.notes[2].startswith("wins every comparison")


def test_wrong_settings_are_named():
    with pytest.raises(ValueError, match="resamples is 5"):
        bootstrap_elo_interval([0], [1], [1.0], [0], 2, resamples=5, random_seed=0)
    with pytest.raises(ValueError, match="cluster has 2 entries"):
        bootstrap_elo_interval([0], [1], [1.0], [0, 1], 2, random_seed=0)
