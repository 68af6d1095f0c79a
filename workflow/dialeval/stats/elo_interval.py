"""Intervals of Bootstrap Elo that reflect which seeds were drawn, and not the noise of the shuffles."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import fdtri

from dialeval.stats.arrays import FloatArray, IntArray, check_confidence
from dialeval.stats.comparisons import N_RESULTS, Comparisons, compare
from dialeval.stats.elo import (
    block_width,
    check_settings,
    longer,
    needed_length,
    pair_laplacian,
    typical_ratings,
)
from dialeval.stats.equal_weight import equalised, equally_weighted, most_of_a_pair, whole_counts
from dialeval.stats.likelihood import fit_strengths
from dialeval.stats.replicates import ClusterTable, cluster_table, rated_in
from dialeval.stats.resampling import cluster_counts, percentile_interval
from dialeval.stats.shuffles import CodeArray, compact_codes, draw_shuffles, play_shuffles, rating_unit

# What a replicate's rating leaves to the start is far under the shuffles' noise, so a coarser end will do here.
_TAIL_TOLERANCE = 0.01
# Elo pulls a player with few comparisons towards the start; so does this ridge its prediction.
_RIDGE = 1.0
_MIN_SHUFFLES, _MAX_SHUFFLES = 8, 96
# Comparisons to play in all, some 10 ns each; drawing a shuffle costs about as much as playing a thousand.
_WORK, _WORK_PER_PLAYER, _MOST_WORK = 1e8, 2.5e7, 5e8
_WORK_PER_SHUFFLE = 1000
_NOISE_TEST_LEVEL = 0.99


@dataclass(frozen=True)
class BootstrapEloInterval:
    """Expanded percentile intervals of Bootstrap Elo over resampled seeds, with the settings that gave them.

    Numbers per player are in the caller's order; a player without a comparison has NaN.

    Attributes:
        low, high: ends of the interval in Elo points, shape [n_players].
        replicates: ratings of each resample with the shuffles' noise taken out, shape [resamples, n_players];
            paired, so that differences and `p_above_next` can be taken from them.
        sampling_sd: standard deviation over resamples that stems from the seeds, shape [n_players].
        noise_sd: standard deviation that the shuffles added to a replicate and that was taken out, shape [n_players].
        unexplained_sd: part of `sampling_sd` that the prediction did not explain, shape [n_players].
        slope: the regression's slope; 1 where the prediction is right.
        shuffles: shuffles played of each replicate, in two halves.
        tail_length: comparisons played of each shuffle.
        fell_back: whether whole shuffles were played.
        notes: why a player's interval needs care, empty where it needs none.
    """

    low: FloatArray
    high: FloatArray
    replicates: FloatArray
    sampling_sd: FloatArray
    noise_sd: FloatArray
    unexplained_sd: FloatArray
    slope: float
    shuffles: int
    tail_length: int
    fell_back: bool
    notes: tuple[str, ...]
    n_clusters: int
    resamples: int
    confidence: float
    k: float
    scale: float
    initial: float
    random_seed: int


def bootstrap_elo_interval(
    left: ArrayLike,
    right: ArrayLike,
    outcome: ArrayLike,
    cluster: ArrayLike,
    n_players: int,
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    k: float = 32.0,
    scale: float = 400.0,
    initial: float = 1000.0,
    random_seed: int,
    equal_pairs: bool = False,
) -> BootstrapEloInterval:
    """Percentile intervals of Bootstrap Elo when clusters (seeds) are drawn anew.

    Each resample of the clusters is rated by a few dozen shuffles. Their median is the resample's Bootstrap Elo
    plus noise that a thousand shuffles would nearly remove, at thirty times the cost. The noise is kept out so:

    1. It is measured. The shuffles of a resample are two independent halves, whose medians differ by noise alone.
    2. A resample's rating is regressed on a prediction that has no such noise: the Bradley-Terry strengths of the
       same resample, carried over to Elo's balance of gains and losses (`_predict`). One slope serves all players,
       and each has an intercept, so of the noise the fitted values keep next to nothing.
    3. What the regression leaves is compared with the measured noise. Where it is significantly more (1% level),
       the residuals are added back, shrunk to the variance in excess of the noise; else they are noise, and dropped.

    Args:
        left, right: players of each comparison, numbers in 0..n_players-1, shape [n].
        outcome: 1 where left wins, 0.5 for a tie, 0 where right wins, shape [n].
        cluster: seed of each comparison, numbers or text, shape [n].
        n_players: number of players, of whom some may have no comparison.
        resamples: bootstrap resamples of the clusters, 20 or more.
        confidence: nominal coverage.
        k: the most points that one comparison can move.
        scale: Elo points in which odds grow tenfold.
        initial: rating that everyone starts from.
        random_seed: seed of the resampling and of the shuffles.
        equal_pairs: as for `bootstrap_elo`, in every resample anew.

    Raises:
        ValueError: if shapes differ, a player is out of range or meets itself, an outcome is none of the three, or
            a setting is out of range.
    """
    comparisons = compare(left, right, outcome, n_players)
    counts = cluster_table(comparisons, cluster)
    check_settings(k, scale)
    check_confidence(confidence)
    if resamples < 20:
        raise ValueError(f"resamples is {resamples}; an interval needs 20 or more")
    rng = np.random.Generator(np.random.SFC64(random_seed))
    drawn = cluster_counts(counts.n_clusters, resamples, rng)
    played = equalised(comparisons) if equal_pairs else comparisons
    if comparisons.n_pairs:
        tables = counts.resample(drawn)
        decks = _equal_decks(tables, most_of_a_pair(comparisons)) if equal_pairs else _decks(counts, drawn)
        halves, steepness, length, shuffles = _play_resamples(played, decks, resamples, k=k, scale=scale, rng=rng)
        halves[:, ~rated_in(comparisons, tables)] = np.nan
        predicted = (
            scale / math.log(10.0) * _predict(played, equally_weighted(tables) if equal_pairs else tables, steepness)
        )
        replicates, noise, unexplained, slope = _without_noise(halves, predicted)
    else:
        replicates, length, shuffles, slope = np.empty((resamples, 0)), 0, 0, math.nan
        noise = unexplained = np.empty(0)
    low, high = percentile_interval(initial + replicates, confidence, counts.clusters_of_player())
    known = np.count_nonzero(~np.isnan(replicates), axis=0) > 1
    sd = np.full(comparisons.n_rated, np.nan)
    sd[known] = np.nanstd(replicates[:, known], axis=0, ddof=1)
    return BootstrapEloInterval(
        low=comparisons.spread(low),
        high=comparisons.spread(high),
        replicates=comparisons.spread(initial + replicates),
        sampling_sd=comparisons.spread(sd),
        noise_sd=comparisons.spread(noise),
        unexplained_sd=comparisons.spread(unexplained),
        slope=slope,
        shuffles=shuffles,
        tail_length=length,
        fell_back=length == len(played.type_of_row),
        notes=comparisons.notes(),
        n_clusters=counts.n_clusters,
        resamples=resamples,
        confidence=confidence,
        k=k,
        scale=scale,
        initial=initial,
        random_seed=random_seed,
    )


class _Decks(NamedTuple):
    """The comparisons of each resample: how many there are, shape [R], and what gives their types."""

    sizes: IntArray
    deal: Callable[[int], CodeArray]


def _decks(counts: ClusterTable, drawn: FloatArray) -> _Decks:
    """Returns the comparisons of the drawn clusters."""
    codes = compact_codes(counts.comparisons.type_of_row, counts.comparisons.n_types + N_RESULTS)
    order = np.argsort(counts.cluster, kind="stable")
    codes, cluster = codes[order], counts.cluster[order]
    times = drawn.astype(np.int64)
    sizes = times @ np.bincount(cluster, minlength=counts.n_clusters)
    return _Decks(sizes, lambda number: np.repeat(codes, times[number][cluster]))


def _equal_decks(tables: FloatArray, total: int) -> _Decks:
    """Returns as many comparisons of every pair of a resample, in the shares that it has there."""
    types = compact_codes(np.arange(tables[0].size), tables[0].size + N_RESULTS)
    sizes = total * (tables.sum(axis=2) > 0).sum(axis=1)
    return _Decks(sizes, lambda number: np.repeat(types, whole_counts(tables[number], total).ravel()))


def _play_resamples(
    comparisons: Comparisons,
    decks: _Decks,
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
    length = needed_length(comparisons, k=k, scale=scale, tolerance=_TAIL_TOLERANCE)
    halves = np.empty((2, resamples, comparisons.n_rated))
    steepness = np.zeros(comparisons.n_pairs)
    done = 0
    while done < resamples:
        shuffles = 2 * (_shuffles_per_resample(length, resamples, comparisons.n_rated) // 2)
        block = range(done, min(done + max(1, block_width(length) // shuffles), resamples))
        played_length = int(decks.sizes[block].max()) if length == n else length
        hands = np.concatenate(
            [_draw_padded(decks.deal(number), played_length, shuffles, nothing, rng) for number in block]
        )
        width = len(hands)
        n_shadows = len(block) if done == 0 and length < n else 0
        start = np.zeros((comparisons.n_rated, width + n_shadows))
        if n_shadows:
            hands = np.concatenate([hands, hands[::shuffles]])
            start[:, width:] = typical_ratings(comparisons, n_shadows, k=k, scale=scale, rng=rng)
        final = play_shuffles(hands, first, second, start, 0.5 * k / unit)
        final, shadows = final[:, :width], final[:, width:]
        if n_shadows and unit * np.abs(final[:, ::shuffles] - shadows).max() > _TAIL_TOLERANCE:
            length = longer(length, n)
            continue
        by_half = unit * final.reshape(comparisons.n_rated, len(block), 2, shuffles // 2)
        halves[:, done : done + len(block)] = np.median(by_half, axis=3).transpose(2, 1, 0)
        lead = final[comparisons.first] - final[comparisons.second]
        steepness += 0.25 * (1.0 - np.tanh(lead) ** 2).mean(axis=1) * len(block) / resamples
        done += len(block)
    return halves, steepness, length, shuffles


def _predict(comparisons: Comparisons, tables: FloatArray, steepness: FloatArray) -> FloatArray:
    """Predict how each resample's Elo ratings differ from the average, as natural-log strengths, shape [R, n_rated].

    Where ratings wander about their mean, gains and losses balance: sum_j n_ij (S_ij - mean of E_ij) = 0 for every
    player i. Bradley-Terry has E at the mean instead. To first order a change of strengths d therefore is a change
    of ratings r with L_elo r = L_bt d, the Laplacians weighing a pair by its comparisons times the mean of E (1 - E)
    and times E (1 - E) at the Bradley-Terry strengths.
    """

    def strengths(table: FloatArray) -> FloatArray:
        fit = fit_strengths(table, comparisons.first, comparisons.second, comparisons.n_rated, ties=False, ridge=_RIDGE)
        return fit.strength

    whole = comparisons.table()
    centre = strengths(whole[np.newaxis])[0]
    half_lead = 0.5 * (centre[comparisons.first] - centre[comparisons.second])
    games = whole.sum(axis=1)
    at_centre = pair_laplacian(comparisons, games * 0.25 * (1.0 - np.tanh(half_lead) ** 2))
    wandering = pair_laplacian(comparisons, games * steepness)
    response: FloatArray = at_centre @ np.linalg.pinv(wandering, hermitian=True)
    return np.asarray((strengths(tables) - centre) @ response, dtype=np.float64)


def _shuffles_per_resample(length: int, resamples: int, n_players: int) -> int:
    work = min(_WORK + _WORK_PER_PLAYER * n_players, _MOST_WORK)
    affordable = work / (resamples * (length + _WORK_PER_SHUFFLE))
    return int(min(max(affordable, _MIN_SHUFFLES), _MAX_SHUFFLES))


def _draw_padded(deck: CodeArray, length: int, width: int, nothing: int, rng: np.random.Generator) -> CodeArray:
    """Draw shuffles of `length` from a deck; a smaller deck is drawn whole, after comparisons that do nothing."""
    drawn = draw_shuffles(deck, min(length, len(deck)), width, rng)
    missing = length - drawn.shape[1]
    if missing == 0:
        return drawn
    return np.concatenate([np.full((width, missing), nothing, dtype=deck.dtype), drawn], axis=1)


def _without_noise(halves: FloatArray, predicted: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Take the noise that the halves measure out of their mean.

    Args:
        halves: medians of the two halves, shape [2, R, n_rated], NaN where unknown.
        predicted: noiseless predictions, shape [R, n_rated].

    Returns:
        Replicates, shape [R, n_rated], NaN where unknown; standard deviations of the noise, and of what is beyond
        both the prediction and the noise, shape [n_rated]; and the slope.
    """
    value = np.where(np.isnan(halves).any(axis=0), np.nan, halves.mean(axis=0))
    known = ~np.isnan(value)
    count = np.count_nonzero(known, axis=0)
    enough = count >= 4
    out = np.full(value.shape, np.nan)
    noise, unexplained = np.full(len(count), np.nan), np.full(len(count), np.nan)
    noise[enough] = 0.5 * np.sqrt(np.nanmean((halves[0] - halves[1])[:, enough] ** 2, axis=0))
    centred = np.full(value.shape, np.nan)
    expected = np.full(value.shape, np.nan)
    centred[:, enough] = value[:, enough] - np.nanmean(value[:, enough], axis=0)
    expected[:, enough] = np.where(known, predicted, np.nan)[:, enough]
    expected[:, enough] -= np.nanmean(expected[:, enough], axis=0)
    # A player without noise of its own must not set the slope alone.
    least = max(0.1 * float(np.median(noise[enough])), 1e-9) if enough.any() else 1e-9
    weight = 1.0 / np.maximum(noise, least) ** 2
    power = float(np.nansum(weight * expected**2))
    slope = float(np.nansum(weight * expected * centred)) / power if power > 0.0 else 0.0
    for player in np.flatnonzero(enough):
        rows = known[:, player]
        fitted = slope * expected[rows, player]
        residual = centred[rows, player] - fitted
        freedom = count[player] - 1
        residual_variance = float(residual @ residual) / freedom
        noise_variance = float(noise[player]) ** 2
        excess = 0.0
        if residual_variance > noise_variance * float(fdtri(freedom, count[player], _NOISE_TEST_LEVEL)):
            excess = residual_variance - noise_variance
            fitted = fitted + residual * math.sqrt(excess / residual_variance)
        out[rows, player] = fitted + value[rows, player].mean()
        unexplained[player] = math.sqrt(excess)
    return out, noise, unexplained, slope
