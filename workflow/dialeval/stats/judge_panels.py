"""Several judges: one score of a panel, and the difference of two judges' correlations with annotators.

Panel scores do not use human labels. They can therefore serve as the judge's scores of a human-corrected estimate: a
poor panel widens the interval but keeps its coverage. The mean of the judges is hard to beat. If some judges may be
bad, use Dawid and Skene's model, or for graded scores weights by agreement.

Two judges are compared on the items that both scored, since scores are not missing at random. Sums over common items
are computed once for each set of items and judge, added up by cluster, and weighted by all resamples together.

The p-value is that of Student's t for the difference divided by its bootstrap standard error. A share of resamples
could not be smaller than 1 / resamples, too coarse for a correction over many pairs. Williams' test, which assumes
independent items, is in `correlation`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from dialeval.stats.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    as_floats,
    check_confidence,
    dense_codes,
    first_notes,
    with_room_for_squares,
)
from dialeval.stats.estimates import t_interval
from dialeval.stats.resampling import cluster_counts

MOST_LEVELS = 7
"""Largest number of distinct scores that are treated as categories, with error rates per judge."""
FEWEST_JUDGES = 3
"""Smallest number of judges that can identify a bad judge; if two differ, either may be wrong."""
_ITERATIONS = 200
_TOLERANCE = 1e-5
_ROUNDING = 1e-12  # of the largest value
_HONEST, _ERRING = 2.0, 0.5
TOO_FEW = "fewer than 3 items have both scores and a rating"
CONSTANT = "scores or ratings of the common items are all the same"
ONE_CLUSTER = "all common items are of one dialogue"
SAME_SCORES = "the judges' scores are the same up to scale"
NO_RESAMPLE = "too few resamples have both correlations"
_NUMBERS_PER_BLOCK = 20_000_000
_MIN_RELATIVE_SPREAD = 1e-13
_SAME = 1e-10


def panel_scores(
    scores: ArrayLike, system: ArrayLike, *, how: str = "mean", levels: ArrayLike | None = None
) -> FloatArray:
    """Return one score of all judges for each row, shape [n]; NaN where no judge has one.

    Args:
        scores: of each judge, on one scale, NaN where it has none, shape [n_judges, n].
        system: system of each row, shape [n].
        how: "mean"; or "dawid_skene", which needs three judges (with fewer it is the mean) and takes graded scores of
            more than `MOST_LEVELS` levels as their mean weighted by how far each judge agrees with the others.
        levels: the answers that there are as numbers, such as 0 and 1, where the scores are answers or means of
            repeated ones; None to take the distinct scores.

    Raises:
        ValueError: if shapes do not fit, a score is infinite, or `how` is unknown.
    """
    if how not in ("mean", "dawid_skene"):
        raise ValueError(f"how is {how!r}; it must be 'mean' or 'dawid_skene'")
    table = _checked(scores)
    systems, n_systems = dense_codes("system", system, table.shape[1])
    judging = np.isfinite(table).sum(axis=1) > 0
    if how == "mean" or judging.sum() < FEWEST_JUDGES:
        return _weighted(table, judging.astype(np.float64), systems, n_systems)
    found = np.unique(table[~np.isnan(table)]) if levels is None else np.unique(np.asarray(levels, np.float64))
    if 2 <= len(found) <= MOST_LEVELS:
        return dawid_skene(table, found).expected
    return _weighted(table, agreement_weights(table, systems), systems, n_systems)


def dawid_skene(scores: ArrayLike, levels: ArrayLike) -> DawidSkene:
    """Fit Dawid and Skene's model to the judges' answers by EM, starting at the judges' mean vote.

    A score between two levels (the mean of repeats) counts partly for each. Every judge gets a few pseudo-answers, most
    of them right, so that error rates of judges with few answers are not 0 or 1.

    Args:
        scores: of each judge, NaN where it has none, shape [n_judges, n].
        levels: the answers as numbers, two or more.

    Raises:
        ValueError: if shapes do not fit, or there are fewer than two levels.
    """
    table, values = _checked(scores), np.unique(np.asarray(levels, dtype=np.float64))
    if len(values) < 2:
        raise ValueError("answers need two levels or more")
    votes = _votes(table, values)
    scored = votes.sum(axis=(0, 2)) > 0.0
    chance = votes.sum(axis=0) / np.maximum(votes.sum(axis=(0, 2)), 1e-12)[:, np.newaxis]
    n_levels = len(values)
    pseudo_counts = np.full((n_levels, n_levels), _ERRING / (n_levels - 1)) + (
        _HONEST - _ERRING / (n_levels - 1)
    ) * np.eye(n_levels)
    iterations, moved = 0, np.inf
    share, errors = np.full(n_levels, 1.0 / n_levels), np.zeros((len(table), n_levels, n_levels))
    while iterations < _ITERATIONS and moved > _TOLERANCE:
        iterations += 1
        share = (chance[scored].sum(axis=0) + 1.0) / (scored.sum() + n_levels)
        counts = np.einsum("nc,jnl->jcl", chance, votes) + pseudo_counts
        errors = counts / counts.sum(axis=2, keepdims=True)
        log_chance = np.log(share) + np.einsum("jnl,jcl->nc", votes, np.log(errors))
        risen = np.exp(log_chance - log_chance.max(axis=1, keepdims=True))
        settled = np.where(scored[:, np.newaxis], risen / risen.sum(axis=1, keepdims=True), 0.0)
        moved = float(np.abs(settled - chance).max(initial=0.0))
        chance = settled
    chance = np.where(scored[:, np.newaxis], chance, np.nan)
    return DawidSkene(values, chance, chance @ values, errors, share, iterations, moved <= _TOLERANCE)


@dataclass(frozen=True)
class DawidSkene:
    """Fit of Dawid and Skene's (1979) model.

    Attributes:
        levels: the answers as numbers, shape [C].
        chance: of each true answer for each row, shape [n, C]; NaN where no judge answered.
        expected: mean of the answers by their chances, shape [n]; NaN where no judge answered.
        errors: chance of each answer of each judge by the true one, shape [n_judges, C, C].
        share: of each true answer, shape [C].
        iterations: steps taken.
        converged: whether the chances had settled.
    """

    levels: FloatArray
    chance: FloatArray
    expected: FloatArray
    errors: FloatArray
    share: FloatArray
    iterations: int
    converged: bool


def _checked(scores: ArrayLike) -> FloatArray:
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"scores must have shape [judges, rows], they have {table.shape}")
    if np.isinf(table).any():
        raise ValueError("scores must be finite, or NaN where a judge has none")
    return table


def _votes(table: FloatArray, levels: FloatArray) -> FloatArray:
    """Parts of an answer at each level, shape [n_judges, n, C]: 0 without an answer."""
    known = ~np.isnan(table)
    value = np.clip(np.where(known, table, levels[0]), levels[0], levels[-1])
    above = np.clip(np.searchsorted(levels, value), 1, len(levels) - 1)
    part = (value - levels[above - 1]) / (levels[above] - levels[above - 1])
    votes = np.zeros((*table.shape, len(levels)))
    judge, row = np.indices(table.shape)
    votes[judge, row, above] += part
    votes[judge, row, above - 1] += 1.0 - part
    return votes * known[:, :, np.newaxis]


def _weighted(table: FloatArray, weight: FloatArray, system: IntArray, n_systems: int) -> FloatArray:
    """Return the weighted mean over the judges of each row as if all had scored it, shape [n]; NaN without scores.

    A judge's missing score is imputed from additive effects of rows and judges within a system. Otherwise a row without
    a strict judge's score would look better than other rows. Results are clipped to the range of the judges' scores.
    """
    scored = weight > 0.0
    table, weight = table[scored], weight[scored]
    known = ~np.isnan(table)
    if not known.any():
        return np.full(table.shape[1], np.nan)
    close = _TOLERANCE * float(np.ptp(table[known]))
    below = (weight[:, np.newaxis] * known).sum(axis=0)
    cell = np.arange(len(table))[:, np.newaxis] * n_systems + system
    count = np.maximum(np.bincount(cell[known], minlength=len(table) * n_systems), 1)
    strictness = np.zeros(len(table) * n_systems)
    row = np.zeros(table.shape[1])
    for _ in range(_ITERATIONS):
        # Only differences of judges' effects matter: a row has the mean over all judges.
        level = strictness.reshape(len(table), n_systems)
        middle = (weight[:, np.newaxis] * level).sum(axis=0) / max(float(weight.sum()), 1e-12)
        left = np.where(known, table - (level - middle)[:, system], 0.0)
        before, row = row, (weight[:, np.newaxis] * left).sum(axis=0) / np.maximum(below, 1e-12)
        if known.all() or float(np.abs(row - before).max(initial=0.0)) <= close:
            break
        residual = np.where(known, table - row, 0.0)
        strictness = np.bincount(cell.ravel(), residual.ravel(), minlength=len(strictness)) / count
    scores_of_row = np.where(known, table, np.nan)
    limits = (np.nanmin(scores_of_row), np.nanmax(scores_of_row)) if known.any() else (0.0, 0.0)
    return np.where(below > 0.0, np.clip(row, *limits), np.nan)


def agreement_weights(scores: ArrayLike, system: ArrayLike) -> FloatArray:
    """Return the weight of each judge: its loading on the judges' first common component within systems, at least 0.

    The component is the first principal component of the judges' correlations, with the sign of most loadings.

    Args:
        scores: of each judge, NaN where it has none, shape [n_judges, n].
        system: system of each row, shape [n].

    Returns:
        Shape [n_judges]; 1 each if no two judges' scores correlate.
    """
    table = with_room_for_squares(_checked(scores))
    codes, n_systems = dense_codes("system", system, table.shape[1])
    n_judges = len(table)
    alike = np.eye(n_judges)
    for one in range(n_judges):
        for other in range(one + 1, n_judges):
            both = ~np.isnan(table[one]) & ~np.isnan(table[other])
            first, second = (_within(table[judge, both], codes[both], n_systems) for judge in (one, other))
            if first.any() and second.any():
                alike[one, other] = alike[other, one] = (
                    first @ second / (np.linalg.norm(first) * np.linalg.norm(second))
                )
    if np.array_equal(alike, np.eye(n_judges)):
        return np.ones(n_judges)
    loading: FloatArray = np.linalg.eigh(alike)[1][:, -1]
    return np.maximum(loading * (1.0 if loading.sum() >= 0.0 else -1.0), 0.0)


def _within(value: FloatArray, system: IntArray, n_systems: int) -> FloatArray:
    """Return the values minus their system's mean; rounding errors of equal values are set to 0."""
    count = np.maximum(np.bincount(system, minlength=n_systems), 1)
    apart = value - (np.bincount(system, value, minlength=n_systems) / count)[system]
    return np.where(np.abs(apart) > _ROUNDING * np.abs(value).max(initial=0.0), apart, 0.0)


@dataclass(frozen=True)
class JudgePairs:
    """Pearson correlations of two judges with human ratings on the items that both scored; arrays have shape [n_pairs].

    Attributes:
        first, second: indices of the judges; pairs without a common item are left out.
        first_pearson, second_pearson: their correlations with human ratings.
        between: their correlation with each other.
        difference: first_pearson - second_pearson.
        ci_low, ci_high: limits of the difference's interval.
        p: two-sided p-value of equal correlations.
        p_reversed: share of the resamples in which the difference has the opposite sign; NaN if the difference is 0.
        n, n_clusters: numbers of common items and clusters.
        reason: why numbers are missing, or empty.
    """

    first: IntArray
    second: IntArray
    first_pearson: FloatArray
    second_pearson: FloatArray
    between: FloatArray
    difference: FloatArray
    ci_low: FloatArray
    ci_high: FloatArray
    p: FloatArray
    p_reversed: FloatArray
    n: IntArray
    n_clusters: IntArray
    reason: tuple[str, ...]
    resamples: int
    confidence: float
    random_seed: int


def compare_judges(
    scores: ArrayLike,
    human: ArrayLike,
    cluster: ArrayLike,
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    random_seed: int = 0,
) -> JudgePairs:
    """Compare every two judges by a paired bootstrap of clusters.

    Args:
        scores: scores of the judges, NaN where missing, shape [n_judges, n].
        human: human ratings, NaN where missing, shape [n].
        cluster: dialogue of each item, numbers or text, shape [n].
        resamples, confidence, random_seed: as in `correlation.correlate`, with the same resamples.

    Raises:
        ValueError: as in `correlation.correlate`.
    """
    check_confidence(confidence)
    ratings = as_floats("human", human)
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != len(ratings):
        raise ValueError(f"scores must have shape [judges, {len(ratings)}], they have {values.shape}")
    if np.isinf(values).any() or np.isinf(ratings).any():
        raise ValueError("scores and human ratings must be finite, or NaN where missing")
    codes, n_clusters = dense_codes("cluster", cluster, len(ratings))
    weights = np.ones((resamples + 1, n_clusters))  # the data themselves come first
    weights[1:] = cluster_counts(n_clusters, resamples, np.random.default_rng(random_seed))

    order = np.argsort(codes, kind="stable")
    values, ratings = (with_room_for_squares(part[..., order]) for part in (values, ratings))
    codes = codes[order]
    known = ~np.isnan(values) & ~np.isnan(ratings)
    pairs = [pair for pair in combinations(range(len(values)), 2) if (known[pair[0]] & known[pair[1]]).any()]
    sets, of_pair = _common_sets(known, pairs)
    items = np.array([int(common.sum()) for common in sets], dtype=np.int64)
    sizes = [np.bincount(codes[common], minlength=n_clusters) for common in sets]
    filled = np.array([np.count_nonzero(size) for size in sizes], dtype=np.int64)
    freedom = np.array([float(size.sum()) ** 2 / float((size**2.0).sum()) - 1.0 for size in sizes])

    n_pairs = len(pairs)
    found = np.full((5, n_pairs), np.nan)
    first_pearson, second_pearson, difference, error, p_reversed = found
    by_set: dict[int, list[int]] = {}
    for number, common in enumerate(of_pair):
        by_set.setdefault(common, []).append(number)
    for common, judges, correlations in _correlations(values, ratings, codes, weights, sets, by_set, pairs):
        place = {judge: column for column, judge in enumerate(judges)}
        members = np.array(by_set[common])
        one = correlations[:, [place[pairs[number][0]] for number in members]]
        other = correlations[:, [place[pairs[number][1]] for number in members]]
        ahead = one - other
        first_pearson[members], second_pearson[members], difference[members] = one[0], other[0], ahead[0]
        error[members], p_reversed[members] = _spread(ahead, int(filled[common]))

    between = np.array([_between(values, sets[of_pair[number]], *pair) for number, pair in enumerate(pairs)])
    n, clusters = items[of_pair], filled[of_pair]
    reason = first_notes(
        [
            (n < 3, TOO_FEW),
            (np.isnan(difference), CONSTANT),
            (clusters < 2, ONE_CLUSTER),
            (error <= _SAME, SAME_SCORES),
            (np.isnan(error), NO_RESAMPLE),
        ]
    )
    found[:3, n < 3] = np.nan
    settled = np.array([not note for note in reason], dtype=np.bool_)
    low, high, p = t_interval(
        np.where(settled, difference, np.nan), error, freedom[of_pair] if n_pairs else 0.0, confidence
    )
    return JudgePairs(
        first=np.array([pair[0] for pair in pairs], dtype=np.int64),
        second=np.array([pair[1] for pair in pairs], dtype=np.int64),
        first_pearson=first_pearson,
        second_pearson=second_pearson,
        between=between,
        difference=difference,
        ci_low=np.maximum(low, -2.0),
        ci_high=np.minimum(high, 2.0),
        p=p,
        p_reversed=np.where(settled, p_reversed, np.nan),
        n=n,
        n_clusters=clusters,
        reason=reason,
        resamples=resamples,
        confidence=confidence,
        random_seed=random_seed,
    )


def _common_sets(known: BoolArray, pairs: list[tuple[int, int]]) -> tuple[list[BoolArray], IntArray]:
    """Return the distinct sets of common items, and the set of each pair."""
    numbers: dict[bytes, int] = {}
    sets: list[BoolArray] = []
    of_pair = np.zeros(len(pairs), dtype=np.int64)
    for place, (first, second) in enumerate(pairs):
        common = known[first] & known[second]
        of_pair[place] = numbers.setdefault(np.packbits(common).tobytes(), len(sets))
        if of_pair[place] == len(sets):
            sets.append(common)
    return sets, of_pair


def _correlations(
    values: FloatArray,
    ratings: FloatArray,
    codes: IntArray,
    weights: FloatArray,
    sets: list[BoolArray],
    by_set: dict[int, list[int]],
    pairs: list[tuple[int, int]],
) -> Iterator[tuple[int, list[int], FloatArray]]:
    """Yield each set, the judges that are compared on it, and their correlations there, shape [R + 1, n_judges].

    Many sets share one matrix product. Items lie cluster by cluster.
    """
    centred, ratings_centred = _centred(values), _centred(ratings)
    starts = np.flatnonzero(np.r_[True, np.diff(codes) > 0]) if len(codes) else np.zeros(0, dtype=np.int64)
    waiting: list[tuple[int, list[int]]] = []
    columns: list[FloatArray] = []
    width = 0

    def flush() -> Iterator[tuple[int, list[int], FloatArray]]:
        sums = weights @ np.concatenate(columns).T
        end = 0
        for common, judges in waiting:
            start, end = end, end + 3 * (1 + len(judges))
            yield common, judges, _pearson(sums[:, start:end], len(judges))

    for common, members in by_set.items():
        judges = sorted({judge for number in members for judge in pairs[number]})
        mask = sets[common].astype(np.float64)
        x, y = centred[judges] * mask, ratings_centred * mask
        rows = np.concatenate([np.stack([mask, y, y * ratings_centred]), x, x * centred[judges], x * ratings_centred])
        columns.append(np.add.reduceat(rows, starts, axis=1))
        waiting.append((common, judges))
        width += len(rows)
        if width * max(len(weights), len(starts)) > _NUMBERS_PER_BLOCK:
            yield from flush()
            waiting, columns, width = [], [], 0
    if waiting:
        yield from flush()


def _centred(values: FloatArray) -> FloatArray:
    """Return values minus the mean of the known ones along the last axis; 0 where missing."""
    known = ~np.isnan(values)
    count = np.maximum(known.sum(axis=-1, keepdims=True), 1)
    mean = np.where(known, values, 0.0).sum(axis=-1, keepdims=True) / count
    return np.where(known, values - mean, 0.0)


def _pearson(sums: FloatArray, n_judges: int) -> FloatArray:
    """Return correlations from sums of 1, y, y^2 and of each judge's x, x^2 and x y, shape [R + 1, n_judges]."""
    total, sum_y, sum_yy = sums[:, 0:1], sums[:, 1:2], sums[:, 2:3]
    sum_x, sum_xx, sum_xy = np.split(sums[:, 3:], [n_judges, 2 * n_judges], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread_x, spread_y = sum_xx - sum_x**2 / total, sum_yy - sum_y**2 / total
        value = (sum_xy - sum_x * sum_y / total) / np.sqrt(spread_x * spread_y)
    constant = ~(spread_x > _MIN_RELATIVE_SPREAD * sum_xx) | ~(spread_y > _MIN_RELATIVE_SPREAD * sum_yy)
    return np.where(constant, np.nan, np.clip(value, -1.0, 1.0))


def _spread(ahead: FloatArray, n_clusters: int) -> tuple[FloatArray, FloatArray]:
    """Return the standard error and share of reversed resamples of each pair; the first row is the data themselves."""
    replicates, estimate = ahead[1:], ahead[0]
    known = ~np.isnan(replicates)
    count = known.sum(axis=0)
    error, reversed_share = np.full(len(estimate), np.nan), np.full(len(estimate), np.nan)
    enough = (count >= max(2, len(replicates) // 2)) & ~np.isnan(estimate)
    if n_clusters > 1 and enough.any():
        # The bootstrap variance is too small by the factor (n - 1) / n.
        stretch = math.sqrt(n_clusters / (n_clusters - 1.0))
        error[enough] = stretch * np.nanstd(replicates[:, enough], axis=0, ddof=1)
    for pair in np.flatnonzero((count > 0) & ~np.isnan(estimate) & (estimate != 0.0)):
        own = replicates[known[:, pair], pair]
        reversed_share[pair] = np.mean(0.5 * (1.0 - np.sign(own) * np.sign(estimate[pair])))
    return error, reversed_share


def _between(values: FloatArray, common: BoolArray, first: int, second: int) -> float:
    """Return the Pearson correlation of two judges on their common items; NaN where one does not vary."""
    one, other = (values[judge, common] - values[judge, common].mean() for judge in (first, second))
    length = math.sqrt(float(one @ one) * float(other @ other))
    return float(np.clip(one @ other / length, -1.0, 1.0)) if length > 0.0 else math.nan
