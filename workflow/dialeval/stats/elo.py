"""Elo ratings, and Bootstrap Elo over many shuffled orders at once.

Ratings are computed in units of `2 * scale / ln 10`, relative to the initial rating. The expected score of a player
that leads by d is then `(1 + tanh d) / 2`. tanh is exactly odd in floating point, so one player's gain is exactly the
other's loss, and the numbering of the players does not matter.

A comparison shrinks the effect of the start on the ratings. On average it shrinks by at least the smallest non-zero
eigenvalue of the Laplacian with weights `share * K * alpha * E (1 - E)`, alpha = ln 10 / scale. It is therefore enough
to draw and play the tail of a shuffle. The eigenvalue gives a first length of the tail. A few shuffles are also played
from another, typical start. If the results differ, the tail is doubled, up to the full shuffle.

If a player has far fewer comparisons than the others, tails are long. Up to forty shuffles then share all but their
last comparisons: the shared head is played once, and each shuffle continues with its own draw from all comparisons.
With m own comparisons and a shrinkage of c, the correlation of these shuffles is at most exp(-2 c m). The expectation
stays unbiased, and the variance is larger by .3 c^-1 / n, about 1% for certified tails.

A player with about a hundred comparisons or fewer has no certified tail. The ratings of this player are unbiased but
less precise: shuffles with a common head are nearly equal. The standard deviation over repeats shows it, since repeats
share nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dialeval.stats.arrays import BoolArray, FloatArray, IntArray
from dialeval.stats.comparisons import Comparisons, compare, equalised, pair_laplacian
from dialeval.stats.elo_shuffles import CodeArray, block_width, compact_codes, draw_shuffles, play_shuffles
from dialeval.stats.likelihood import fit_strengths

TAIL_TOLERANCE = 1e-6
_START_DISTANCE = 1000.0
_TAIL_MARGIN = 1.15
_N_SHADOWS = 32
_TYPICAL_RIDGE = 0.01
# Most comparisons to play in shuffles without a common head. Forty shuffles with a common head are worth 32 independent
# ones for the rating that depends longest on its start, unless `own_tail_length` was limited, and nearly forty for all
# other ratings.
_MOST_INDEPENDENT = 1_000_000_000
SIBLINGS = 40
# As many heads as ten repeats of a thousand shuffles have, so that no rating depends on a few heads.
_FEWEST_HEADS = 250
_OWN_TAIL = 2.5
_LONGEST_OWN_TAIL = 50_000
# Largest effect of the start, in standard deviations of a rating: 95% intervals then cover 94%.
_NEGLIGIBLE = 0.25


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
    """Rate players by Bootstrap Elo: the median Elo rating over shuffled orders, averaged over repeats.

    The result does not depend on the numbering of the players or on the sides. Its standard deviation over random seeds
    is about 1.2533 s / sqrt(shuffles * repeats), where s is the standard deviation between shuffles (`shuffle_sd`). For
    a player with few comparisons it is larger: use r / sqrt(repeats), where r is the standard deviation between repeats
    (`rating_sd`).

    Args:
        left, right: players of each comparison, numbers in 0..n_players-1, shape [n].
        outcome: 1 where left wins, 0.5 for a tie, 0 where right wins, shape [n].
        n_players: number of players; some may have no comparison.
        shuffles: number of shuffles per repeat; 1000 in the paper.
        repeats: number of independent repeats; 10 in the paper.
        k: maximum change of a rating by one comparison.
        scale: rating difference for odds of 10 to 1.
        initial: initial rating of every player.
        random_seed: seed of the shuffles.
        equal_pairs: whether all compared pairs have the same number of comparisons in a shuffle.

    Raises:
        ValueError: if shapes differ, a player is out of range or meets itself, an outcome is not 1, 0.5 or 0, or a
            setting is out of range.
    """
    comparisons = compare(left, right, outcome, n_players)
    check_settings(k, scale)
    if shuffles < 1 or repeats < 1:
        raise ValueError(f"shuffles is {shuffles} and repeats is {repeats}; both must be 1 or more")
    rng = np.random.Generator(np.random.SFC64(random_seed))
    played = equalised(comparisons) if equal_pairs else comparisons
    tails = play_certified(played, shuffles, repeats, k=k, scale=scale, rng=rng)
    ratings = initial + tails.final.reshape(comparisons.n_rated, repeats, shuffles)
    medians = np.median(ratings, axis=2)
    missing = np.full(comparisons.n_rated, np.nan)
    return BootstrapElo(
        rating=comparisons.to_all_players(medians.mean(axis=1)),
        rating_sd=comparisons.to_all_players(medians.std(axis=1, ddof=1) if repeats > 1 else missing),
        shuffle_sd=comparisons.to_all_players(ratings.std(axis=(1, 2), ddof=1) if shuffles * repeats > 1 else missing),
        repeat_rating=comparisons.to_all_players(medians.T),
        tail_length=tails.length,
        certificate_gap=tails.gap,
        fell_back=tails.length == len(played.type_of_row),
        siblings=tails.siblings,
        group=comparisons.group_of_player(),
        games=comparisons.games(),
        notes=comparisons.notes(),
        repeats=repeats,
        initial=initial,
    )


def play_certified(
    comparisons: Comparisons,
    shuffles: int,
    repeats: int,
    *,
    k: float,
    scale: float,
    rng: np.random.Generator,
    length: int | None = None,
) -> Played:
    """Play the certified tails of shuffles, or full shuffles where no tail can be certified.

    Args:
        comparisons: what to shuffle.
        shuffles: shuffles of each repeat; those of different repeats share nothing.
        repeats: how many repeats.
        k: maximum change of a rating by one comparison.
        scale: rating difference for odds of 10 to 1.
        rng: source of randomness.
        length: the shortest tail to try; None for that of the eigenvalue.
    """
    n, n_shuffles = len(comparisons.type_of_row), shuffles * repeats
    final = np.empty((comparisons.n_rated, n_shuffles))
    if n == 0:
        return Played(final, 0, 0.0, 1)
    unit = rating_unit(scale)
    rate = contraction_rate(comparisons, k=k, scale=scale)
    length = length or required_length(rate, n, TAIL_TOLERANCE)
    siblings = min(SIBLINGS, n_shuffles // _FEWEST_HEADS)
    own = own_tail_length(rate, n) if siblings > 1 and length * n_shuffles > _MOST_INDEPENDENT else 0
    siblings = siblings if own else 1
    per_repeat = math.ceil(shuffles / siblings)
    beginning = (np.arange(repeats)[:, np.newaxis] * per_repeat + np.arange(shuffles) // siblings).ravel()
    length = min(length, n - own)
    codes = compact_codes(comparisons.type_of_row, comparisons.n_types)
    half_k = 0.5 * k / unit
    begun, gap = 0, 0.0
    while begun < per_repeat * repeats:
        blocks_left = math.ceil((per_repeat * repeats - begun) / block_width(length, codes.itemsize))
        width = math.ceil((per_repeat * repeats - begun) / blocks_left)
        drawn = draw_shuffles(codes, length, width, rng)
        n_shadows = min(_N_SHADOWS, width) if begun == 0 and length + own < n else 0
        start = np.zeros((comparisons.n_rated, width + n_shadows))
        if n_shadows:
            start[:, width:] = typical_ratings(comparisons, n_shadows, k=k, scale=scale, rng=rng)
        again = np.arange(n_shadows) if n_shadows else None
        played = play_shuffles(drawn, comparisons.first, comparisons.second, start, half_k, again)
        if n_shadows:
            gap = unit * float(np.abs(played[:, :n_shadows] - played[:, width:]).max())
            if not gap <= TAIL_TOLERANCE:
                longest = next_length(length, n)
                return play_certified(comparisons, shuffles, repeats, k=k, scale=scale, rng=rng, length=longest)
        here = slice(*np.searchsorted(beginning, [begun, begun + width]))
        played = played[:, beginning[here] - begun]
        if own:
            played = continue_play(comparisons, codes, played, own, half_k, rng)
        final[:, here] = unit * played
        begun += width
    return Played(final, length + own, gap, siblings)


class Played(NamedTuple):
    """Shuffles after their last comparison.

    Attributes:
        final: ratings of the rated players in points from the initial rating, shape [n_rated, n_shuffles].
        length: how many comparisons of each shuffle were played.
        gap: the largest difference that another start made to one of those that were played twice, in points.
        siblings: how many shuffles share their beginning; 1 where each has its own.
    """

    final: FloatArray
    length: int
    gap: float
    siblings: int


def continue_play(
    comparisons: Comparisons,
    codes: CodeArray,
    state: FloatArray,
    length: int,
    half_k: float,
    rng: np.random.Generator,
) -> FloatArray:
    """Play more comparisons, drawn anew for each shuffle, from ratings in kernel units, shape [n_rated, width]."""
    final = np.empty_like(state)
    step = block_width(length, codes.itemsize)
    for begin in range(0, state.shape[1], step):
        part = state[:, begin : begin + step]
        drawn = draw_shuffles(codes, length, part.shape[1], rng)
        final[:, begin : begin + step] = play_shuffles(drawn, comparisons.first, comparisons.second, part, half_k)
    return final


@dataclass(frozen=True)
class BootstrapElo:
    """Bootstrap Elo ratings.

    A player without a comparison has NaN.

    Attributes:
        rating: mean over repeats of the median over shuffles, in Elo points, shape [n_players].
        rating_sd: standard deviation of the median between repeats, shape [n_players]; NaN for one repeat.
        shuffle_sd: standard deviation of the rating between shuffles, shape [n_players].
        repeat_rating: median over the shuffles of each repeat, shape [repeats, n_players].
        tail_length: comparisons played of each shuffle.
        certificate_gap: largest effect of another start on a rating, in points, over the shuffles that were played
            twice; 0 if full shuffles were played.
        fell_back: whether full shuffles were played, because no tail could be certified.
        siblings: number of shuffles that share all but their last comparisons: 1, or up to 40 if the shuffles have
            more than a billion comparisons together.
        group: index of each player's group, -1 without a comparison, shape [n_players]. Comparisons connect the
            players of a group; ratings of different groups cannot be compared.
        games: number of comparisons of each player, shape [n_players].
        notes: caveats on each player's rating; empty without any.
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
    repeats: int
    initial: float


def check_settings(k: float, scale: float) -> None:
    """Raise ValueError unless K and the scale are above 0."""
    if not (k > 0.0 and scale > 0.0):
        raise ValueError(f"k is {k} and scale is {scale}; both must be above 0")


def rating_unit(scale: float) -> float:
    """Return the points in one unit of the kernels' rating scale."""
    return 2.0 * scale / math.log(10.0)


def contraction_rate(comparisons: Comparisons, *, k: float, scale: float) -> float:
    """Return the smallest share by which one comparison shrinks differences of two starts; 0 if it shrinks none."""
    n_groups = int(comparisons.groups().max()) + 1
    return max(float(np.linalg.eigvalsh(_contraction_laplacian(comparisons, k=k, scale=scale))[n_groups]), 0.0)


class StartDependence(NamedTuple):
    """How much Elo ratings still depend on their start after all comparisons; arrays have shape [..., n_players].

    Attributes:
        points: distance of a rating from its limit for many comparisons, in points.
        share: remaining share of a player's distance between start and limit.
    """

    points: FloatArray
    share: FloatArray

    def is_negligible(self, sd: FloatArray) -> BoolArray:
        """Return whether the dependence is negligible against a rating's standard deviation, shape [n_players]."""
        with np.errstate(invalid="ignore", divide="ignore"):
            unknown = sd * self.share / (1.0 - self.share)  # settling places are known no better than this
            found: BoolArray = np.abs(self.points) + unknown <= _NEGLIGIBLE * sd
        return found

    def is_negligible_for_pairs(self, sd: FloatArray) -> BoolArray:
        """Return `is_negligible` for all differences of two ratings, whose standard deviations have shape [n, n]."""
        share = np.maximum(self.share[:, np.newaxis], self.share)
        apart = self.points[:, np.newaxis] - self.points
        return StartDependence(apart, share).is_negligible(sd)


def start_dependence(comparisons: Comparisons, *, k: float, scale: float, times: float = 1.0) -> StartDependence:
    """Return how much ratings of the rated players still depend on a start with equal ratings.

    Differences shrink as exp(-n L), where L is the Laplacian of `contraction_rate` and n the number of comparisons.
    If the data determine the ratings of some players only, points and shares are relative to the mean of these players.

    Args:
        comparisons: the comparisons.
        k: maximum change of a rating by one comparison.
        scale: rating difference for odds of 10 to 1.
        times: how many times as many comparisons are played.
    """
    group = comparisons.groups()
    of_group = (group[:, np.newaxis] == group) / np.bincount(group)[group]
    spectrum, vectors = np.linalg.eigh(_contraction_laplacian(comparisons, k=k, scale=scale))
    kept = (vectors * np.exp(-np.maximum(spectrum, 0.0) * times * len(comparisons.type_of_row))) @ vectors.T
    settled = scale / math.log(10.0) * _typical_strength(comparisons)
    share = np.diag(kept - of_group) / (1.0 - np.diag(of_group))
    points, identified = -kept @ settled, comparisons.identified()
    if identified.any() and not identified.all():
        points -= points[identified].mean()
        apart = np.diag(kept) - kept[identified].mean(axis=0)
        share = np.where(identified, apart / (1.0 - 1.0 / identified.sum()), share)
    return StartDependence(points, np.clip(share, 0.0, 1.0))


def required_length(rate: float, n: int, tolerance: float) -> int:
    """Return the comparisons after which a start 1000 points off changes less than `tolerance` points; n above n / 2.

    Args:
        rate: share by which a comparison shrinks differences.
        n: comparisons of a whole shuffle.
        tolerance: in points.
    """
    length = _TAIL_MARGIN * math.log(_START_DISTANCE / tolerance) / rate if rate else math.inf
    return math.ceil(length) if 2.0 * length <= n else n


def own_tail_length(rate: float, n: int) -> int:
    """Return the number of comparisons that shuffles with a shared beginning do not share; at most half of all."""
    wanted = _OWN_TAIL / rate if rate else math.inf
    return math.ceil(min(wanted, _LONGEST_OWN_TAIL, n // 2))


def next_length(length: int, n: int) -> int:
    """Return the next length to try of n comparisons when `length` could not be certified."""
    return 2 * length if 4 * length <= n else n


def typical_ratings(
    comparisons: Comparisons, width: int, *, k: float, scale: float, rng: np.random.Generator
) -> FloatArray:
    """Return typical ratings in the middle of a shuffle, in kernel units, shape [n_rated, width].

    They are Bradley-Terry strengths plus Elo's noise, with a variance of at most K / (2 alpha) points squared. As in a
    real shuffle, the ratings of a connected group keep their sum.
    """
    spread = math.sqrt(0.5 * k * scale / math.log(10.0)) / rating_unit(scale)
    noise = spread * rng.standard_normal((comparisons.n_rated, width))
    group = comparisons.groups()
    size = np.bincount(group)
    for column in noise.T:
        column -= (np.bincount(group, column) / size)[group]
    return 0.5 * _typical_strength(comparisons)[:, np.newaxis] + noise


def _contraction_laplacian(comparisons: Comparisons, *, k: float, scale: float) -> FloatArray:
    """Return the Laplacian by which one comparison shrinks differences, on average, shape [n_rated, n_rated]."""
    table = comparisons.table()
    strength = _typical_strength(comparisons)
    expected = 0.5 * (1.0 + np.tanh(0.5 * (strength[comparisons.first] - strength[comparisons.second])))
    share = table.sum(axis=1) / len(comparisons.type_of_row)
    return pair_laplacian(comparisons, share * k * math.log(10.0) / scale * expected * (1.0 - expected))


def _typical_strength(comparisons: Comparisons) -> FloatArray:
    """Return the Bradley-Terry strengths (natural log), kept finite by a ridge, shape [n_rated]."""
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


@dataclass(frozen=True)
class SequentialElo:
    """Elo ratings after one order of play.

    Attributes:
        rating: Elo points, shape [n_players]; `initial` for a player without a comparison.
        games: number of comparisons of each player, shape [n_players].
    """

    rating: FloatArray
    games: IntArray


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
    """Return Elo ratings after the comparisons in the given order (equation 1 of the BotChat paper).

    Ratings by a single order are noisy (a standard deviation of about 44 points at K = 32). Report `bootstrap_elo`.

    Args:
        left, right, outcome, n_players, k, scale, initial: as in `bootstrap_elo`.

    Raises:
        ValueError: as in `bootstrap_elo`.
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
    return SequentialElo(np.asarray(rating, dtype=np.float64), comparisons.games())
