"""Elo ratings: one order of play, and Bootstrap Elo as the median over shuffled orders (BotChat, appendix A).

Elo forgets where it started. An update is a non-expansive map of the ratings, and on average one comparison shrinks
differences by at least the smallest non-zero eigenvalue of the Laplacian that weighs each pair with
`share * K * alpha * E (1 - E)`, alpha = ln 10 / scale. So only the end of a shuffle needs drawing and playing. How long
an end is needed is taken from the eigenvalue and then certified: a few shuffles are also played from another,
typical start, and where that makes a difference the end is doubled, up to the whole shuffle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dialeval.stats.arrays import FloatArray, IntArray
from dialeval.stats.comparisons import Comparisons, compare, pair_laplacian
from dialeval.stats.equal_weight import equalised
from dialeval.stats.likelihood import fit_strengths
from dialeval.stats.shuffles import compact_codes, draw_shuffles, play_shuffles, rating_unit

TAIL_TOLERANCE = 1e-6
_START_DISTANCE = 1000.0
_TAIL_MARGIN = 1.15
_N_SHADOWS = 32
_TYPICAL_RIDGE = 0.01
_MAX_WIDTH = 2000
_BYTES_PER_BLOCK = 400_000_000


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
    spread over `random_seed` is a matter of `shuffles`: about 1.2533 * shuffle_sd / sqrt(shuffles * repeats).

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
    final, length, gap = play_certified(played, shuffles * repeats, k=k, scale=scale, rng=rng)
    ratings = initial + final.reshape(comparisons.n_rated, repeats, shuffles)
    medians = np.median(ratings, axis=2)
    missing = np.full(comparisons.n_rated, np.nan)
    return BootstrapElo(
        rating=comparisons.spread(medians.mean(axis=1)),
        rating_sd=comparisons.spread(medians.std(axis=1, ddof=1) if repeats > 1 else missing),
        shuffle_sd=comparisons.spread(ratings.std(axis=(1, 2), ddof=1) if shuffles * repeats > 1 else missing),
        repeat_rating=comparisons.spread(medians.T),
        tail_length=length,
        certificate_gap=gap,
        fell_back=length == len(played.type_of_row),
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


def play_certified(
    comparisons: Comparisons, n_shuffles: int, *, k: float, scale: float, rng: np.random.Generator
) -> tuple[FloatArray, int, float]:
    """Play shuffles from their certified ends, or whole where no end can be certified.

    Returns:
        Final ratings of the rated players in points from the initial rating, shape [n_rated, n_shuffles]; how many
        comparisons of each shuffle were played; and the largest difference that another start made, in points.
    """
    n = len(comparisons.type_of_row)
    final = np.empty((comparisons.n_rated, n_shuffles))
    if n == 0:
        return final, 0, 0.0
    unit = rating_unit(scale)
    codes = compact_codes(comparisons.type_of_row, comparisons.n_types)
    length = needed_length(comparisons, k=k, scale=scale, tolerance=TAIL_TOLERANCE)
    done, gap = 0, 0.0
    while done < n_shuffles:
        blocks_left = math.ceil((n_shuffles - done) / block_width(length, codes.itemsize))
        width = math.ceil((n_shuffles - done) / blocks_left)
        drawn = draw_shuffles(codes, length, width, rng)
        n_shadows = min(_N_SHADOWS, width) if done == 0 and length < n else 0
        start = np.zeros((comparisons.n_rated, width + n_shadows))
        if n_shadows:
            start[:, width:] = typical_ratings(comparisons, n_shadows, k=k, scale=scale, rng=rng)
        again = np.arange(n_shadows) if n_shadows else None
        played = play_shuffles(drawn, comparisons.first, comparisons.second, start, 0.5 * k / unit, again)
        if n_shadows:
            gap = unit * float(np.abs(played[:, :n_shadows] - played[:, width:]).max())
            if not gap <= TAIL_TOLERANCE:
                length = longer(length, n)
                gap = 0.0
                continue
        final[:, done : done + width] = unit * played[:, :width]
        done += width
    return final, length, gap


def needed_length(comparisons: Comparisons, *, k: float, scale: float, tolerance: float) -> int:
    """Comparisons after which a start 1000 points off should matter less than `tolerance` points; at most all.

    More than half of a shuffle is not worth cutting short: the whole is then played.
    """
    n = len(comparisons.type_of_row)
    table = comparisons.table()
    strength = _typical_strength(comparisons)
    expected = 0.5 * (1.0 + np.tanh(0.5 * (strength[comparisons.first] - strength[comparisons.second])))
    weight = table.sum(axis=1) / n * k * math.log(10.0) / scale * expected * (1.0 - expected)
    n_groups = int(comparisons.groups().max()) + 1
    contraction = float(np.linalg.eigvalsh(pair_laplacian(comparisons, weight))[n_groups])
    if contraction <= 0.0:
        return n
    length = _TAIL_MARGIN * math.log(_START_DISTANCE / tolerance) / contraction
    return math.ceil(length) if 2.0 * length <= n else n


def longer(length: int, n: int) -> int:
    """The next length to try of n comparisons when `length` could not be certified."""
    return 2 * length if 4 * length <= n else n


def block_width(length: int, itemsize: int) -> int:
    """Shuffles, of codes of so many bytes, to play side by side: many, to be fast, few enough to stay small."""
    return int(min(max(_BYTES_PER_BLOCK // (itemsize * length), 64), _MAX_WIDTH))


def typical_ratings(
    comparisons: Comparisons, width: int, *, k: float, scale: float, rng: np.random.Generator
) -> FloatArray:
    """Ratings as they may stand in the middle of a shuffle, in kernel units, shape [n_rated, width].

    Bradley-Terry strengths with Elo's own noise about them; its variance is at most K / (2 alpha) points squared.
    As in a real shuffle, the ratings of a connected group sum to what they started from.
    """
    spread = math.sqrt(0.5 * k * scale / math.log(10.0)) / rating_unit(scale)
    noise = spread * rng.standard_normal((comparisons.n_rated, width))
    group = comparisons.groups()
    size = np.bincount(group)
    for column in noise.T:
        column -= (np.bincount(group, column) / size)[group]
    return 0.5 * _typical_strength(comparisons)[:, np.newaxis] + noise


def _typical_strength(comparisons: Comparisons) -> FloatArray:
    """Bradley-Terry strengths (natural log), held within reach by a ridge, shape [n_rated]."""
    fit = fit_strengths(
        comparisons.table()[np.newaxis],
        comparisons.first,
        comparisons.second,
        comparisons.n_rated,
        ties=False,
        ridge=_TYPICAL_RIDGE,
    )
    strength: FloatArray = fit.strength[0]
    return strength


def check_settings(k: float, scale: float) -> None:
    """Raise ValueError unless K and the scale are above 0."""
    if not (k > 0.0 and scale > 0.0):
        raise ValueError(f"k is {k} and scale is {scale}; both must be above 0")
