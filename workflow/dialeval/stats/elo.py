"""Elo ratings: one order of play, and Bootstrap Elo as the median over shuffled orders (BotChat, appendix A)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dialeval.stats.arrays import FloatArray, IntArray
from dialeval.stats.certified_ends import play_certified
from dialeval.stats.comparisons import compare
from dialeval.stats.equal_weight import equalised


@dataclass(frozen=True)
class SequentialElo:
    """Elo ratings after one order of play, with the settings that gave them.

    Attributes:
        rating: Elo points, shape [n_players]; `initial` for a player without a comparison, as the rules have it.
        games: comparisons of each player, shape [n_players].
    """

    rating: FloatArray
    games: IntArray
    k: float
    scale: float
    initial: float


@dataclass(frozen=True)
class BootstrapElo:
    """Bootstrap Elo ratings, with the settings that gave them.

    Numbers per player are in the caller's order; a player without a comparison has NaN.

    Attributes:
        rating: mean over repeats of the median over shuffles, in Elo points, shape [n_players].
        rating_sd: standard deviation of that median from repeat to repeat, shape [n_players]; NaN for one repeat.
        shuffle_sd: standard deviation of the rating from shuffle to shuffle, shape [n_players].
        repeat_rating: the median over shuffles of each repeat, shape [repeats, n_players].
        tail_length: comparisons played of each shuffle.
        certificate_gap: the largest difference, in points, that another start made to any player in the shuffles
            that were played twice; 0 where whole shuffles were played from the true start.
        fell_back: whether whole shuffles were played, because no shorter end could be certified.
        siblings: how many shuffles share all but their last comparisons: 1, or up to 40 where those of all shuffles
            would be more than a billion.
        group: number of the set of players connected by comparisons; ratings of different groups have nothing to do
            with each other; -1 without a comparison, shape [n_players].
        games: comparisons of each player, shape [n_players].
        notes: why a player's rating needs care, empty where it needs none.
    """

    rating: FloatArray
    rating_sd: FloatArray
    shuffle_sd: FloatArray
    repeat_rating: FloatArray
    tail_length: int
    certificate_gap: float
    fell_back: bool
    siblings: int
    group: IntArray
    games: IntArray
    notes: tuple[str, ...]
    shuffles: int
    repeats: int
    k: float
    scale: float
    initial: float
    random_seed: int


def sequential_elo(
    left: ArrayLike,
    right: ArrayLike,
    outcome: ArrayLike,
    n_players: int,
    *,
    k: float = 32.0,
    scale: float = 400.0,
    initial: float = 1000.0,
) -> SequentialElo:
    """Play comparisons once, in the order given (equation 1 of the BotChat paper).

    A single order is nearly noise at K = 32 (some 44 points of standard deviation): report `bootstrap_elo`.

    Args:
        left, right: players of each comparison, numbers in 0..n_players-1, shape [n].
        outcome: 1 where left wins, 0.5 for a tie, 0 where right wins, shape [n].
        n_players: number of players.
        k: the most points that one comparison can move.
        scale: Elo points in which odds grow tenfold.
        initial: rating that everyone starts from.

    Raises:
        ValueError: if shapes differ, a player is out of range or meets itself, an outcome is none of the three, or
            a setting is out of range.
    """
    comparisons = compare(left, right, outcome, n_players)
    check_settings(k, scale)
    rating = [initial] * n_players
    rows = zip(np.asarray(left).tolist(), np.asarray(right).tolist(), np.asarray(outcome).tolist(), strict=True)
    for i, j, result in rows:
        expected = 1.0 / (1.0 + 10.0 ** ((rating[j] - rating[i]) / scale))
        change = k * (result - expected)
        rating[i] += change
        rating[j] -= change
    return SequentialElo(np.asarray(rating, dtype=np.float64), comparisons.games(), k, scale, initial)


def bootstrap_elo(
    left: ArrayLike,
    right: ArrayLike,
    outcome: ArrayLike,
    n_players: int,
    *,
    shuffles: int = 1000,
    repeats: int = 1,
    k: float = 32.0,
    scale: float = 400.0,
    initial: float = 1000.0,
    random_seed: int,
    equal_pairs: bool = False,
) -> BootstrapElo:
    """Rate players by Bootstrap Elo: shuffle, play, take the median over shuffles; average that over repeats.

    The result does not depend on the players' numbering nor on which side a player stands, to the last bit. Its
    spread over `random_seed` is a matter of `shuffles`: about 1.2533 * shuffle_sd / sqrt(shuffles * repeats), and more
    for a player with few comparisons where shuffles share their beginnings: rating_sd / sqrt(repeats) tells.

    Args:
        left, right: players of each comparison, numbers in 0..n_players-1, shape [n].
        outcome: 1 where left wins, 0.5 for a tie, 0 where right wins, shape [n].
        n_players: number of players, of whom some may have no comparison.
        shuffles: shuffles per repeat; the paper has 1000.
        repeats: repeats with shuffles of their own; the paper averages 10.
        k: the most points that one comparison can move.
        scale: Elo points in which odds grow tenfold.
        initial: rating that everyone starts from.
        random_seed: seed of the shuffles.
        equal_pairs: whether shuffles have as many comparisons of every pair that met, in the shares that were seen.

    Raises:
        ValueError: if shapes differ, a player is out of range or meets itself, an outcome is none of the three, or
            a setting is out of range.
    """
    comparisons = compare(left, right, outcome, n_players)
    check_settings(k, scale)
    if shuffles < 1 or repeats < 1:
        raise ValueError(f"shuffles is {shuffles} and repeats is {repeats}; both must be 1 or more")
    rng = np.random.Generator(np.random.SFC64(random_seed))
    played = equalised(comparisons) if equal_pairs else comparisons
    ends = play_certified(played, shuffles, repeats, k=k, scale=scale, rng=rng)
    ratings = initial + ends.final.reshape(comparisons.n_rated, repeats, shuffles)
    medians = np.median(ratings, axis=2)
    missing = np.full(comparisons.n_rated, np.nan)
    return BootstrapElo(
        rating=comparisons.spread(medians.mean(axis=1)),
        rating_sd=comparisons.spread(medians.std(axis=1, ddof=1) if repeats > 1 else missing),
        shuffle_sd=comparisons.spread(ratings.std(axis=(1, 2), ddof=1) if shuffles * repeats > 1 else missing),
        repeat_rating=comparisons.spread(medians.T),
        tail_length=ends.length,
        certificate_gap=ends.gap,
        fell_back=ends.length == len(played.type_of_row),
        siblings=ends.siblings,
        group=comparisons.group_of_player(),
        games=comparisons.games(),
        notes=comparisons.notes(),
        shuffles=shuffles,
        repeats=repeats,
        k=k,
        scale=scale,
        initial=initial,
        random_seed=random_seed,
    )


def check_settings(k: float, scale: float) -> None:
    """Raise ValueError unless K and the scale are above 0."""
    if not (k > 0.0 and scale > 0.0):
        raise ValueError(f"k is {k} and scale is {scale}; both must be above 0")
