"""Confidence intervals of Bootstrap Elo over resampled seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import fdtri

from dialeval.stats.arrays import BoolArray, FloatArray, IntArray, check_confidence
from dialeval.stats.comparisons import (
    N_RESULTS,
    ClusterTable,
    Comparisons,
    blocks_of,
    cluster_table,
    compare,
    equalised,
    equally_weighted,
    integer_counts,
    largest_pair_count,
    pair_laplacian,
    rated_in,
    start_note,
)
from dialeval.stats.elo import (
    StartDependence,
    check_settings,
    contraction_rate,
    next_length,
    own_tail_length,
    rating_unit,
    required_length,
    start_dependence,
    typical_ratings,
)
from dialeval.stats.elo_shuffles import (
    BYTES_PER_BLOCK,
    CodeArray,
    block_width,
    code_type,
    compact_codes,
    draw_shuffles,
    play_shuffles,
)
from dialeval.stats.likelihood import fit_strengths
from dialeval.stats.resampling import cluster_counts, percentile_interval, without_zero_width

# Elo pulls a player with few comparisons towards the start; so does this ridge its prediction.
_RIDGE = 1.0
_NOISE_TEST_LEVEL = 0.99
_TIMES, _MOST_TIMES = 1.25, 1e4
# In a replicate, the effect of the start is far below the shuffles' noise, so a larger tolerance is enough.
_TAIL_TOLERANCE = 0.01
_MIN_SHUFFLES, _MAX_SHUFFLES = 8, 96
# Comparisons to play in total, about 10 ns each; drawing a shuffle takes about as long as playing a thousand.
_WORK, _WORK_PER_PLAYER, _MOST_WORK = 1e8, 2.5e7, 5e8
_WORK_PER_SHUFFLE = 1000
_PAIRS_PER_BLOCK = 500
# Longer shuffles share their head with those of the same half.
_LONGEST_INDEPENDENT = 100_000


@dataclass(frozen=True)
class BootstrapEloInterval:
    """Expanded percentile intervals of Bootstrap Elo over resampled seeds.

    A player without a comparison has NaN.

    Attributes:
        ci_low, ci_high: limits of the interval in Elo points, shape [n_players]; NaN if its width is not identifiable:
            for undefeated and winless players, if all resamples are equal, and if comparisons are so few that the
            rating depends on its start.
        replicates: ratings of each resample without the noise of the shuffles, shape [resamples, n_players]; the
            players' replicates are paired.
        sampling_sd: standard deviation over resamples due to the seeds, shape [n_players].
        noise_sd: standard deviation of the removed noise of a replicate, shape [n_players].
        slope: slope of the regression; 1 if the prediction is right.
        tail_length: comparisons played of each shuffle.
        fell_back: whether full shuffles were played.
        start_dependence: dependence of the ratings on their start after all comparisons; NaN without a comparison.
        clusters: number of clusters with comparisons of each player, shape [n_players].
        needed: number of comparisons after which a player's rating no longer depends on its start, shape [n_players];
            NaN if it does not depend on it now.
        notes: caveats on each player's interval; empty without any.
    """

    ci_low: FloatArray
    ci_high: FloatArray
    replicates: FloatArray
    sampling_sd: FloatArray
    noise_sd: FloatArray
    slope: float
    tail_length: int
    fell_back: bool
    clusters: IntArray
    start_dependence: StartDependence
    needed: FloatArray
    notes: tuple[str, ...]
    confidence: float


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
    """Return percentile intervals of Bootstrap Elo over resampled clusters (seeds).

    Each resample is rated by a few dozen shuffles. The median of these ratings is its Bootstrap Elo plus noise. Three
    steps remove the noise:

    1. The noise is measured: two independent halves of the shuffles have medians that differ by noise alone.
    2. The ratings are regressed on the Bradley-Terry strengths of the same resample, mapped to Elo ratings. The slope
       is common to all players; each player has an intercept.
    3. The variance of the residuals is compared with the noise. If it is significantly larger (1% level), the residuals
       are shrunk to the excess variance and added to the fitted ratings. Otherwise the fitted ratings are used alone.

    Args:
        left, right, outcome, n_players, k, scale, initial: as in `bootstrap_elo`.
        cluster: seed of each comparison, numbers or text, shape [n].
        resamples: bootstrap resamples of the clusters, 20 or more.
        confidence: nominal coverage.
        random_seed: seed of the resampling and of the shuffles.
        equal_pairs: as in `bootstrap_elo`, for each resample.

    Raises:
        ValueError: as in `bootstrap_elo`.
    """
    comparisons = compare(left, right, outcome, n_players)
    counts = cluster_table(comparisons, cluster)
    check_settings(k, scale)
    check_confidence(confidence)
    if resamples < 20:
        raise ValueError(f"resamples is {resamples}; an interval needs 20 or more")
    rng = np.random.Generator(np.random.SFC64(random_seed))
    played = equalised(comparisons) if equal_pairs else comparisons
    if comparisons.n_pairs:
        drawn = draw_resamples(counts, resamples, random_seed, rng, equal_pairs=equal_pairs)
        halves, steepness, length = play_resamples(played, drawn, resamples, k=k, scale=scale, rng=rng)
        predicted, rated = _predict(played, drawn, resamples, steepness, equal_pairs=equal_pairs)
        halves[:, ~rated] = np.nan
        replicates, noise, slope = _denoised(halves, scale / math.log(10.0) * predicted)
    else:
        replicates, noise, length, slope = np.empty((resamples, 0)), np.empty(0), 0, math.nan
    low, high = percentile_interval(initial + replicates, confidence, counts.clusters_of_player())
    known = np.count_nonzero(~np.isnan(replicates), axis=0) > 1
    sd = np.full(comparisons.n_rated, np.nan)
    sd[known] = np.nanstd(replicates[:, known], axis=0, ddof=1)
    notes = comparisons.notes()
    low, high = (comparisons.to_all_players(end) for end in without_zero_width(low, high))
    several = counts.clusters_of_player() > 1  # of one, resamples have no standard deviation
    left, needed = _start_dependence(played, np.where(several, sd, np.nan), k=k, scale=scale)
    notes = tuple(
        note or (start_note(count, wanted) if wanted > 0 else "")
        for note, count, wanted in zip(notes, comparisons.games(), comparisons.to_all_players(needed), strict=True)
    )
    low[[bool(note) for note in notes]] = high[[bool(note) for note in notes]] = np.nan
    return BootstrapEloInterval(
        ci_low=low,
        ci_high=high,
        replicates=comparisons.to_all_players(initial + replicates),
        sampling_sd=comparisons.to_all_players(sd),
        noise_sd=comparisons.to_all_players(noise),
        slope=slope,
        tail_length=length,
        fell_back=length == len(played.type_of_row),
        clusters=comparisons.to_all_players(counts.clusters_of_player(), missing=0),
        start_dependence=StartDependence(*map(comparisons.to_all_players, left)),
        needed=comparisons.to_all_players(needed),
        notes=notes,
        confidence=confidence,
    )


def draw_resamples(
    counts: ClusterTable, resamples: int, random_seed: int, rng: np.random.Generator, *, equal_pairs: bool
) -> Resamples:
    """Draw the resamples of the clusters; with `equal_pairs` a deck has as many comparisons of every pair."""
    comparisons = counts.comparisons
    # More than 255 times the same one: that has a probability of one in 10 to the 506.
    times = np.empty((0 if counts.is_unclustered else resamples, counts.n_clusters), dtype=np.uint8)
    for rows in blocks_of(len(times), counts.n_clusters):
        times[rows] = cluster_counts(counts.n_clusters, rows.stop - rows.start, rng)

    def tables(rows: slice) -> FloatArray:
        if not counts.is_unclustered:
            few = blocks_of(len(times[rows]), counts.n_clusters)
            return np.concatenate([counts.resample(times[rows][part].astype(np.float64)) for part in few])
        seeds = ([random_seed, number] for number in range(rows.start, rows.stop))
        return np.concatenate([counts.multinomial(1, np.random.default_rng(seed)) for seed in seeds])

    n_codes = comparisons.n_types + N_RESULTS
    if equal_pairs or counts.is_unclustered:
        types = compact_codes(np.arange(comparisons.n_types), n_codes)
        most = largest_pair_count(comparisons)

        def deck(number: int) -> CodeArray:
            table = tables(slice(number, number + 1))[0]
            return np.repeat(types, (integer_counts(table, most) if equal_pairs else table.astype(np.int64)).ravel())

        return Resamples(tables, deck)
    order = np.argsort(counts.cluster, kind="stable")
    codes, cluster = compact_codes(comparisons.type_of_row, n_codes)[order], counts.cluster[order]
    return Resamples(tables, lambda number: np.repeat(codes, times[number][cluster]))


@dataclass(frozen=True)
class Resamples:
    """Resamples of the clusters, each made on demand: all their comparisons at once would fill memory.

    Attributes:
        tables: of some resamples, by their numbers: how each pair's comparisons end, shape [R, n_pairs, 3].
        deck: the comparisons of one, in any order.
    """

    tables: Callable[[slice], FloatArray]
    deck: Callable[[int], CodeArray]


def play_resamples(
    comparisons: Comparisons,
    drawn: Resamples,
    resamples: int,
    *,
    k: float,
    scale: float,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray, int]:
    """Rate every resample by two halves of a few shuffles.

    Returns:
        Median of each half in points from the initial rating, shape [2, R, n_rated]; mean over all shuffles of
        E (1 - E) at the end, shape [n_pairs]; and comparisons played of each shuffle.
    """
    n = len(comparisons.type_of_row)
    unit = rating_unit(scale)
    # One more pair, the first player with itself: its tie changes no rating and pads shorter shuffles.
    first, second = np.append(comparisons.first, 0), np.append(comparisons.second, 0)
    filler = N_RESULTS * comparisons.n_pairs + 1
    dtype = code_type(comparisons.n_types + N_RESULTS)
    rate = contraction_rate(comparisons, k=k, scale=scale)
    length = required_length(rate, n, _TAIL_TOLERANCE)
    halves = np.empty((2, resamples, comparisons.n_rated))
    steepness = np.zeros(comparisons.n_pairs)
    done = 0
    while done < resamples:
        shuffles = 2 * (_shuffles_per_resample(length, resamples, comparisons.n_rated) // 2)
        own = own_tail_length(rate, n) if length > _LONGEST_INDEPENDENT else 0
        begun = 2 if own else shuffles
        at_once = block_width(length, dtype.itemsize) // begun
        if own:
            at_once = min(at_once, BYTES_PER_BLOCK // (dtype.itemsize * own * shuffles))
        block = range(done, min(done + max(1, at_once), resamples))
        code_lists: Iterable[CodeArray] = (drawn.deck(number) for number in block)
        played_length = length
        if length == n:
            code_lists = [*code_lists]
            played_length = max(max(map(len, code_lists)) - own, 0)
        width = begun * len(block)
        orders = _draw_orders(code_lists, len(block), begun, played_length, filler, rng, reserved=own)
        again = np.arange(0, width, begun) if done == 0 and length < n else None
        n_shadows = 0 if again is None else len(again)
        start = np.zeros((comparisons.n_rated, width + n_shadows))
        if n_shadows:
            start[:, width:] = typical_ratings(comparisons, n_shadows, k=k, scale=scale, rng=rng)
        final = play_shuffles(orders, first, second, start, 0.5 * k / unit, again)
        final, shadows = final[:, :width], final[:, width:]
        if n_shadows and unit * np.abs(final[:, ::begun] - shadows).max() > _TAIL_TOLERANCE:
            length = next_length(length, n)
            continue
        if own:
            del orders, code_lists  # as large as what comes
            of_shuffle = np.repeat(np.arange(width), shuffles // 2)
            orders = _draw_orders(map(drawn.deck, block), len(block), shuffles, own, filler, rng)
            final = play_shuffles(orders, first, second, final[:, of_shuffle], 0.5 * k / unit)
        by_half = unit * final.reshape(comparisons.n_rated, len(block), 2, shuffles // 2)
        halves[:, done : done + len(block)] = np.median(by_half, axis=3).transpose(2, 1, 0)
        for begin in range(0, comparisons.n_pairs, _PAIRS_PER_BLOCK):
            pairs = slice(begin, begin + _PAIRS_PER_BLOCK)
            lead = final[comparisons.first[pairs]] - final[comparisons.second[pairs]]
            steepness[pairs] += 0.25 * (1.0 - np.tanh(lead) ** 2).mean(axis=1) * len(block) / resamples
        done += len(block)
    return halves, steepness, min(length + own, n)


def _shuffles_per_resample(length: int, resamples: int, n_players: int) -> int:
    work = min(_WORK + _WORK_PER_PLAYER * n_players, _MOST_WORK)
    affordable = work / (resamples * (length + _WORK_PER_SHUFFLE))
    return int(min(max(affordable, _MIN_SHUFFLES), _MAX_SHUFFLES))


def _draw_orders(
    code_lists: Iterable[CodeArray],
    n_lists: int,
    orders: int,
    length: int,
    filler: int,
    rng: np.random.Generator,
    *,
    reserved: int = 0,
) -> CodeArray:
    """Draw orders of every list of codes, shape [n_lists * orders, length], leaving `reserved` of it out.

    If there are fewer, an order has them all, after comparisons that change no rating.
    """
    drawn = np.full((n_lists * orders, length), filler, dtype=code_type(filler + 2))
    for place, deck in enumerate(code_lists):
        few = max(min(length, len(deck) - reserved), 0)
        drawn[place * orders : (place + 1) * orders, length - few :] = draw_shuffles(deck, few, orders, rng)
    return drawn


def _predict(
    comparisons: Comparisons, drawn: Resamples, resamples: int, steepness: FloatArray, *, equal_pairs: bool
) -> tuple[FloatArray, BoolArray]:
    """Predict each resample's deviation of Elo ratings from the average, as natural-log strengths, shape [R, n_rated].

    Also return which players each resample can rate, of the same shape.

    Where ratings wander about their mean, gains and losses balance: sum_j n_ij (S_ij - mean of E_ij) = 0 for every
    player i. Bradley-Terry has E at the mean instead. To first order a change of strengths d therefore is a change
    of ratings r with L_elo r = L_bt d, the Laplacians weighing a pair by its comparisons times the mean of E (1 - E)
    and times E (1 - E) at the Bradley-Terry strengths.
    """

    def strengths(table: FloatArray) -> FloatArray:
        fit = fit_strengths(table, comparisons.first, comparisons.second, comparisons.n_rated, ties=False, ridge=_RIDGE)
        return fit.strength

    table_of_all = comparisons.table()
    centre = strengths(table_of_all[np.newaxis])[0]
    half_lead = 0.5 * (centre[comparisons.first] - centre[comparisons.second])
    games = table_of_all.sum(axis=1)
    at_centre = pair_laplacian(comparisons, games * 0.25 * (1.0 - np.tanh(half_lead) ** 2))
    wandering = pair_laplacian(comparisons, games * steepness)
    response: FloatArray = at_centre @ np.linalg.pinv(wandering, hermitian=True)
    found = np.empty((resamples, comparisons.n_rated))
    rated = np.empty(found.shape, dtype=np.bool_)
    for rows in blocks_of(resamples, comparisons.n_types):
        tables = drawn.tables(rows)
        rated[rows] = rated_in(comparisons, tables)
        found[rows] = strengths(equally_weighted(tables) if equal_pairs else tables)
    return np.asarray((found - centre) @ response, dtype=np.float64), rated


def _denoised(halves: FloatArray, predicted: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Remove the noise that the halves measure from their mean.

    Args:
        halves: medians of the two halves, shape [2, R, n_rated], NaN where unknown.
        predicted: noiseless predictions, shape [R, n_rated].

    Returns:
        Replicates, shape [R, n_rated], NaN where unknown; standard deviations of the noise, shape [n_rated]; and the
        slope.
    """
    value = np.where(np.isnan(halves).any(axis=0), np.nan, halves.mean(axis=0))
    known = ~np.isnan(value)
    count = np.count_nonzero(known, axis=0)
    enough = count >= 4
    out = np.full(value.shape, np.nan)
    noise = np.full(len(count), np.nan)
    noise[enough] = 0.5 * np.sqrt(np.nanmean((halves[0] - halves[1])[:, enough] ** 2, axis=0))
    centred = np.full(value.shape, np.nan)
    expected = np.full(value.shape, np.nan)
    centred[:, enough] = value[:, enough] - np.nanmean(value[:, enough], axis=0)
    expected[:, enough] = np.where(known, predicted, np.nan)[:, enough]
    expected[:, enough] -= np.nanmean(expected[:, enough], axis=0)
    # A player without noise must not determine the slope alone.
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
        if residual_variance > noise_variance * float(fdtri(freedom, count[player], _NOISE_TEST_LEVEL)):
            fitted = fitted + residual * math.sqrt((residual_variance - noise_variance) / residual_variance)
        out[rows, player] = fitted + value[rows, player].mean()
    return out, noise, slope


def _start_dependence(
    comparisons: Comparisons, sd: FloatArray, *, k: float, scale: float
) -> tuple[StartDependence, FloatArray]:
    """Return the dependence on the start, and how many comparisons each rated player needs; NaN where it has enough."""
    needed = np.full(comparisons.n_rated, np.nan)
    if not comparisons.n_pairs:
        return StartDependence(needed, needed), needed
    games = comparisons.games()[comparisons.players]
    left = start_dependence(comparisons, k=k, scale=scale)
    wanting = ~left.is_negligible(sd) & (sd > 0.0)
    times = 1.0
    while (wanting & np.isnan(needed)).any() and times < _MOST_TIMES:
        times *= _TIMES
        enough = start_dependence(comparisons, k=k, scale=scale, times=times).is_negligible(sd / math.sqrt(times))
        needed[wanting & np.isnan(needed) & enough] = times
    return left, np.where(wanting, np.where(np.isnan(needed), np.inf, needed) * games, np.nan)
