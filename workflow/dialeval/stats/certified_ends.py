"""Shuffles played from certified ends: Elo forgets where it started.

An update is a non-expansive map of the ratings, and on average one comparison shrinks differences by at least the
smallest non-zero eigenvalue of the Laplacian that weighs each pair with `share * K * alpha * E (1 - E)`,
alpha = ln 10 / scale. So only the end of a shuffle needs drawing and playing. How long an end is needed is taken from
the eigenvalue and then certified: a few shuffles are also played from another, typical start, and where that makes a
difference the end is doubled, up to the whole shuffle.

Where a player is met far more seldom than others, ends are long. Up to forty shuffles then share all but their last
comparisons: what comes first is played once, and each goes on with comparisons drawn anew from all. Those that share a
beginning are correlated, by exp(-2 c m) at the most, where one comparison shrinks differences by c and m are a
shuffle's own. But for a comparison that may come both before and after that seam each is a uniform shuffle; its
expectation is that of one, and its spread wider by .3 c^-1 / n of the variance, a hundredth where ends are certified.

Where no end is certified, c is that of a player with some hundred comparisons or fewer. Of these a true shuffle has
each once; here some come twice and others never, and what a shuffle has of its own is too short to forget the rest.
That player's ratings then spread more (of 30 comparisons, two to three times as much) and are hardly more than one a
beginning: its rating is as right on average, and less sure. The spread over repeats, which share nothing, tells.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dialeval.stats.arrays import BoolArray, FloatArray
from dialeval.stats.comparisons import Comparisons, pair_laplacian
from dialeval.stats.likelihood import fit_strengths
from dialeval.stats.shuffles import CodeArray, compact_codes, draw_shuffles, play_shuffles, rating_unit

TAIL_TOLERANCE = 1e-6
_START_DISTANCE = 1000.0
_TAIL_MARGIN = 1.15
_N_SHADOWS = 32
_TYPICAL_RIDGE = 0.01
_MAX_WIDTH = 2000
BYTES_PER_BLOCK = 400_000_000
# Comparisons that shuffles without a common beginning may take. Forty that have one are correlated by exp(-5) in the
# rating that is slowest to forget, and worth 32 that have none, unless `own_end` had to be shorter than it asks for; in
# all other ratings nearly forty.
_MOST_APART = 1_000_000_000
SIBLINGS = 40
# So that the rating of who forgets slowest does not hang on a few: as many as ten repeats of a thousand shuffles have.
_FEWEST_BEGINNINGS = 250
_FORGOTTEN = 2.5
_LONGEST_OWN_END = 50_000
# Standard deviations of a rating that its start may still make: 95% intervals then hold 94%.
_MOST_LEFT = 0.25


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
    """Play shuffles from their certified ends, or whole where no end can be certified.

    Args:
        comparisons: what to shuffle.
        shuffles: shuffles of each repeat; those of different repeats share nothing.
        repeats: how many repeats.
        k: the most points that one comparison can move.
        scale: Elo points in which odds grow tenfold.
        rng: source of randomness.
        length: the shortest end to try; None for what the eigenvalue says.
    """
    n, n_shuffles = len(comparisons.type_of_row), shuffles * repeats
    final = np.empty((comparisons.n_rated, n_shuffles))
    if n == 0:
        return Played(final, 0, 0.0, 1)
    unit = rating_unit(scale)
    shrinking = contraction(comparisons, k=k, scale=scale)
    length = length or needed_length(shrinking, n, TAIL_TOLERANCE)
    siblings = min(SIBLINGS, n_shuffles // _FEWEST_BEGINNINGS)
    own = own_end(shrinking, n) if siblings > 1 and length * n_shuffles > _MOST_APART else 0
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
                longest = longer(length, n)
                return play_certified(comparisons, shuffles, repeats, k=k, scale=scale, rng=rng, length=longest)
        here = slice(*np.searchsorted(beginning, [begun, begun + width]))
        played = played[:, beginning[here] - begun]
        if own:
            played = play_on(comparisons, codes, played, own, half_k, rng)
        final[:, here] = unit * played
        begun += width
    return Played(final, length + own, gap, siblings)


def play_on(
    comparisons: Comparisons,
    codes: CodeArray,
    state: FloatArray,
    length: int,
    half_k: float,
    rng: np.random.Generator,
) -> FloatArray:
    """Play that many comparisons more, drawn anew for each shuffle, from ratings in kernel units, [n_rated, width]."""
    final = np.empty_like(state)
    step = block_width(length, codes.itemsize)
    for begin in range(0, state.shape[1], step):
        part = state[:, begin : begin + step]
        drawn = draw_shuffles(codes, length, part.shape[1], rng)
        final[:, begin : begin + step] = play_shuffles(drawn, comparisons.first, comparisons.second, part, half_k)
    return final


def contraction(comparisons: Comparisons, *, k: float, scale: float) -> float:
    """Share by which one comparison shrinks differences between two starts, on average, at the slowest; 0 for never."""
    n_groups = int(comparisons.groups().max()) + 1
    return max(float(np.linalg.eigvalsh(_shrinking(comparisons, k=k, scale=scale))[n_groups]), 0.0)


class LeftOfStart(NamedTuple):
    """What Elo ratings still have of their start after all comparisons; arrays have shape [..., n_players].

    Attributes:
        points: how far a rating still is from where it settles, in points.
        share: share of a player's own distance from the start that is left.
    """

    points: FloatArray
    share: FloatArray

    def forgotten(self, sd: FloatArray) -> BoolArray:
        """Return where what is left is small beside a rating's standard deviation, shape [n_players]."""
        with np.errstate(invalid="ignore", divide="ignore"):
            unknown = sd * self.share / (1.0 - self.share)  # settling places are known no better than this
            found: BoolArray = np.abs(self.points) + unknown <= _MOST_LEFT * sd
        return found

    def of_pairs_forgotten(self, sd: FloatArray) -> BoolArray:
        """Return the same of all differences of two ratings, whose standard deviations have shape [n, n]."""
        share = np.maximum(self.share[:, np.newaxis], self.share)
        apart = self.points[:, np.newaxis] - self.points
        return LeftOfStart(apart, share).forgotten(sd)


def left_of_start(comparisons: Comparisons, *, k: float, scale: float, times: float = 1.0) -> LeftOfStart:
    """Return what ratings of the rated players still have of a start at which all are equal.

    Differences shrink as exp(-n L), where L is the Laplacian of `contraction` and n the number of comparisons. Where
    the data determine the ratings of some players alone, points and shares are about the mean of these.

    Args:
        comparisons: what is played.
        k: the most points that one comparison can move.
        scale: Elo points in which odds grow tenfold.
        times: how many times as many comparisons are played.
    """
    group = comparisons.groups()
    of_group = (group[:, np.newaxis] == group) / np.bincount(group)[group]
    spectrum, vectors = np.linalg.eigh(_shrinking(comparisons, k=k, scale=scale))
    kept = (vectors * np.exp(-np.maximum(spectrum, 0.0) * times * len(comparisons.type_of_row))) @ vectors.T
    settled = scale / math.log(10.0) * _typical_strength(comparisons)
    share = np.diag(kept - of_group) / (1.0 - np.diag(of_group))
    points, identified = -kept @ settled, comparisons.identified()
    if identified.any() and not identified.all():
        points -= points[identified].mean()
        apart = np.diag(kept) - kept[identified].mean(axis=0)
        share = np.where(identified, apart / (1.0 - 1.0 / identified.sum()), share)
    return LeftOfStart(points, np.clip(share, 0.0, 1.0))


def _shrinking(comparisons: Comparisons, *, k: float, scale: float) -> FloatArray:
    """Laplacian by which one comparison shrinks differences, on average, shape [n_rated, n_rated]."""
    table = comparisons.table()
    strength = _typical_strength(comparisons)
    expected = 0.5 * (1.0 + np.tanh(0.5 * (strength[comparisons.first] - strength[comparisons.second])))
    share = table.sum(axis=1) / len(comparisons.type_of_row)
    return pair_laplacian(comparisons, share * k * math.log(10.0) / scale * expected * (1.0 - expected))


def needed_length(shrinking: float, n: int, tolerance: float) -> int:
    """Comparisons after which a start 1000 points off should matter less than `tolerance` points; at most all.

    More than half of a shuffle is not worth cutting short: the whole is then played.

    Args:
        shrinking: share by which a comparison shrinks differences.
        n: comparisons of a whole shuffle.
        tolerance: in points.
    """
    length = _TAIL_MARGIN * math.log(_START_DISTANCE / tolerance) / shrinking if shrinking else math.inf
    return math.ceil(length) if 2.0 * length <= n else n


def own_end(shrinking: float, n: int) -> int:
    """Comparisons that a shuffle has of its own where it shares the others; at most half of all."""
    wanted = _FORGOTTEN / shrinking if shrinking else math.inf
    return math.ceil(min(wanted, _LONGEST_OWN_END, n // 2))


def longer(length: int, n: int) -> int:
    """The next length to try of n comparisons when `length` could not be certified."""
    return 2 * length if 4 * length <= n else n


def block_width(length: int, itemsize: int) -> int:
    """Shuffles, of codes of so many bytes, to play side by side: many, to be fast, few enough to stay small."""
    return int(min(max(BYTES_PER_BLOCK // (itemsize * length), 64), _MAX_WIDTH))


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
