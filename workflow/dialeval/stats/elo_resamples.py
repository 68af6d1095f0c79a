"""Comparisons of resampled seeds, and Elo ratings of each resample by two halves of a few shuffles."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from dialeval.stats.arrays import FloatArray
from dialeval.stats.certified_ends import (
    BYTES_PER_BLOCK,
    block_width,
    contraction,
    longer,
    needed_length,
    own_end,
    typical_ratings,
)
from dialeval.stats.comparisons import N_RESULTS, Comparisons
from dialeval.stats.equal_weight import most_of_a_pair, whole_counts
from dialeval.stats.replicates import ClusterTable, blocks_of
from dialeval.stats.resampling import cluster_counts
from dialeval.stats.shuffles import (
    CodeArray,
    code_type,
    compact_codes,
    draw_shuffles,
    play_shuffles,
    rating_unit,
)

# What a replicate's rating leaves to the start is far under the shuffles' noise, so a coarser end will do here.
_TAIL_TOLERANCE = 0.01
_MIN_SHUFFLES, _MAX_SHUFFLES = 8, 96
# Comparisons to play in all, some 10 ns each; drawing a shuffle costs about as much as playing a thousand.
_WORK, _WORK_PER_PLAYER, _MOST_WORK = 1e8, 2.5e7, 5e8
_WORK_PER_SHUFFLE = 1000
_PAIRS_PER_BLOCK = 500
# Shuffles that are longer share their beginnings with those of the same half.
_LONGEST_APART = 100_000


@dataclass(frozen=True)
class Resamples:
    """Resamples of the clusters, each made when it is asked for: all their comparisons at once would fill memory.

    Attributes:
        tables: of some resamples, by their numbers: how each pair's comparisons end, shape [R, n_pairs, 3].
        deck: the comparisons of one, in any order.
    """

    tables: Callable[[slice], FloatArray]
    deck: Callable[[int], CodeArray]


def draw_resamples(
    counts: ClusterTable, resamples: int, random_seed: int, rng: np.random.Generator, *, equal_pairs: bool
) -> Resamples:
    """Draws the resamples of the clusters; with `equal_pairs` a deck has as many comparisons of every pair."""
    comparisons = counts.comparisons
    # More than 255 times the same one: that has a probability of one in 10 to the 506.
    times = np.empty((0 if counts.each_alone else resamples, counts.n_clusters), dtype=np.uint8)
    for rows in blocks_of(len(times), counts.n_clusters):
        times[rows] = cluster_counts(counts.n_clusters, rows.stop - rows.start, rng)

    def tables(rows: slice) -> FloatArray:
        if not counts.each_alone:
            few = blocks_of(len(times[rows]), counts.n_clusters)
            return np.concatenate([counts.resample(times[rows][part].astype(np.float64)) for part in few])
        seeds = ([random_seed, number] for number in range(rows.start, rows.stop))
        return np.concatenate([counts.multinomial(1, np.random.default_rng(seed)) for seed in seeds])

    n_codes = comparisons.n_types + N_RESULTS
    if equal_pairs or counts.each_alone:
        types = compact_codes(np.arange(comparisons.n_types), n_codes)
        most = most_of_a_pair(comparisons)

        def deck(number: int) -> CodeArray:
            table = tables(slice(number, number + 1))[0]
            return np.repeat(types, (whole_counts(table, most) if equal_pairs else table.astype(np.int64)).ravel())

        return Resamples(tables, deck)
    order = np.argsort(counts.cluster, kind="stable")
    codes, cluster = compact_codes(comparisons.type_of_row, n_codes)[order], counts.cluster[order]
    return Resamples(tables, lambda number: np.repeat(codes, times[number][cluster]))


def play_resamples(
    comparisons: Comparisons,
    drawn: Resamples,
    resamples: int,
    *,
    k: float,
    scale: float,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray, int, int]:
    """Rate every resample by two halves of a few shuffles.

    Returns:
        Median of each half in points from the initial rating, shape [2, R, n_rated]; mean over all shuffles of
        E (1 - E) at the end, shape [n_pairs]; comparisons played of each shuffle; and shuffles per resample.
    """
    n = len(comparisons.type_of_row)
    unit = rating_unit(scale)
    # One more pair, of the first player with itself: its tie moves nothing and fills up shorter shuffles.
    first, second = np.append(comparisons.first, 0), np.append(comparisons.second, 0)
    nothing = N_RESULTS * comparisons.n_pairs + 1
    dtype = code_type(comparisons.n_types + N_RESULTS)
    shrinking = contraction(comparisons, k=k, scale=scale)
    length = needed_length(shrinking, n, _TAIL_TOLERANCE)
    halves = np.empty((2, resamples, comparisons.n_rated))
    steepness = np.zeros(comparisons.n_pairs)
    done = 0
    while done < resamples:
        shuffles = 2 * (_shuffles_per_resample(length, resamples, comparisons.n_rated) // 2)
        own = own_end(shrinking, n) if length > _LONGEST_APART else 0
        begun = 2 if own else shuffles
        at_once = block_width(length, dtype.itemsize) // begun
        if own:
            at_once = min(at_once, BYTES_PER_BLOCK // (dtype.itemsize * own * shuffles))
        block = range(done, min(done + max(1, at_once), resamples))
        decks: Iterable[CodeArray] = (drawn.deck(number) for number in block)
        played_length = length
        if length == n:
            decks = [*decks]
            played_length = max(max(map(len, decks)) - own, 0)
        width = begun * len(block)
        hands = _deal(decks, len(block), begun, played_length, nothing, rng, spared=own)
        again = np.arange(0, width, begun) if done == 0 and length < n else None
        n_shadows = 0 if again is None else len(again)
        start = np.zeros((comparisons.n_rated, width + n_shadows))
        if n_shadows:
            start[:, width:] = typical_ratings(comparisons, n_shadows, k=k, scale=scale, rng=rng)
        final = play_shuffles(hands, first, second, start, 0.5 * k / unit, again)
        final, shadows = final[:, :width], final[:, width:]
        if n_shadows and unit * np.abs(final[:, ::begun] - shadows).max() > _TAIL_TOLERANCE:
            length = longer(length, n)
            continue
        if own:
            del hands, decks  # as large as what comes
            of_shuffle = np.repeat(np.arange(width), shuffles // 2)
            hands = _deal(map(drawn.deck, block), len(block), shuffles, own, nothing, rng)
            final = play_shuffles(hands, first, second, final[:, of_shuffle], 0.5 * k / unit)
        by_half = unit * final.reshape(comparisons.n_rated, len(block), 2, shuffles // 2)
        halves[:, done : done + len(block)] = np.median(by_half, axis=3).transpose(2, 1, 0)
        for begin in range(0, comparisons.n_pairs, _PAIRS_PER_BLOCK):
            pairs = slice(begin, begin + _PAIRS_PER_BLOCK)
            lead = final[comparisons.first[pairs]] - final[comparisons.second[pairs]]
            steepness[pairs] += 0.25 * (1.0 - np.tanh(lead) ** 2).mean(axis=1) * len(block) / resamples
        done += len(block)
    return halves, steepness, min(length + own, n), shuffles


def _deal(
    decks: Iterable[CodeArray],
    n_decks: int,
    hands: int,
    length: int,
    nothing: int,
    rng: np.random.Generator,
    *,
    spared: int = 0,
) -> CodeArray:
    """Deal hands of every deck, shape [n_decks * hands, length], and spare so many of it.

    Where there are fewer, a hand has them all, after comparisons that do nothing.
    """
    dealt = np.full((n_decks * hands, length), nothing, dtype=code_type(nothing + 2))
    for place, deck in enumerate(decks):
        few = max(min(length, len(deck) - spared), 0)
        dealt[place * hands : (place + 1) * hands, length - few :] = draw_shuffles(deck, few, hands, rng)
    return dealt


def _shuffles_per_resample(length: int, resamples: int, n_players: int) -> int:
    work = min(_WORK + _WORK_PER_PLAYER * n_players, _MOST_WORK)
    affordable = work / (resamples * (length + _WORK_PER_SHUFFLE))
    return int(min(max(affordable, _MIN_SHUFFLES), _MAX_SHUFFLES))
