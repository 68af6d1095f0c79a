"""Bradley-Terry and Davidson ratings with intervals, and which players have no finite rating.

If a player, or a group of players, wins or loses every comparison with the others, the likelihood has no finite maximum
(Ford 1957), and the fitted rating depends on the ridge. In a resample, such a rating counts as infinite. If a limit of
an interval falls among infinite ratings, that limit is missing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from dialeval.stats.arrays import BoolArray, FloatArray, IntArray, check_confidence
from dialeval.stats.comparisons import (
    FIRST_WINS,
    SECOND_WINS,
    TIE,
    Comparisons,
    cluster_table,
    compare,
    equally_weighted,
    pair_weights,
    rated_in,
    strong_components,
)
from dialeval.stats.likelihood import Strengths, fit_strengths, strength_design_effects
from dialeval.stats.resampling import p_above_next, percentile_interval, without_zero_width

DEFAULT_RIDGE = 1e-6
_BETTER = 0.5  # of a t, which is 0 or 1 where the direction may be as long as it likes
_TOLD = 1e-9


@dataclass(frozen=True)
class StrengthRating:
    """Ratings from a paired-comparison likelihood.

    A player without a comparison has NaN.

    Attributes:
        method: "bradley_terry" (`ties="half"`) or "davidson".
        rating: Elo points, shape [n_players]; in each group, `initial` is the mean over the players with finite rating
            differences.
        ci_low, ci_high: limits of the expanded percentile interval over resampled clusters, shape [n_players]; NaN if
            not identifiable, or if all resamples give the same rating.
        p_above_next: share of replicates in which a player is above the next-ranked player, shape [n_players].
        replicates: ratings of each resample, infinite if unbounded, shape [resamples, n_players].
        above, below: numbers of resamples in which the rating is unbounded above, or below, shape [n_players].
        clusters: number of clusters with comparisons of each player, shape [n_players].
        design_effect: design effect of the linearised Bradley-Terry strength, shape [n_players]; NaN for Davidson's
            model.
        tie_parameter: Davidson's nu; NaN for Bradley-Terry.
        group: index of each player's connected group, -1 without a comparison, shape [n_players]. Ratings of different
            groups cannot be compared.
        games: number of comparisons of each player, shape [n_players].
        notes: caveats on each player's rating, or empty.
        converged: whether the fit to the data converged.
        unconverged_replicates: number of resamples that did not converge.
        iterations: largest number of Newton steps of a fit.
        max_gradient: largest final gradient of a fit, in comparisons.
    """

    method: str
    rating: FloatArray
    ci_low: FloatArray
    ci_high: FloatArray
    p_above_next: FloatArray
    replicates: FloatArray
    above: IntArray
    below: IntArray
    clusters: IntArray
    design_effect: FloatArray
    tie_parameter: float
    group: IntArray
    games: IntArray
    notes: tuple[str, ...]
    converged: bool
    unconverged_replicates: int
    iterations: int
    max_gradient: float
    n_clusters: int
    resamples: int
    confidence: float
    scale: float
    initial: float
    ridge: float
    random_seed: int


def bradley_terry(
    left: ArrayLike,
    right: ArrayLike,
    outcome: ArrayLike,
    n_players: int,
    *,
    ties: Literal["half", "davidson"] = "half",
    cluster: ArrayLike | None = None,
    resamples: int = 0,
    confidence: float = 0.95,
    scale: float = 400.0,
    initial: float = 1000.0,
    ridge: float = DEFAULT_RIDGE,
    random_seed: int = 0,
    equal_pairs: bool = False,
) -> StrengthRating:
    """Rate players by the Bradley-Terry model, P(i beats j) = 1 / (1 + 10^((R_j - R_i) / scale)).

    If ties count half a win for each player, many ties shrink the differences of ratings. Davidson's model (1970) has a
    parameter for ties: with pi = 10^(R / scale), P(i beats j) = pi_i / (pi_i + pi_j + nu sqrt(pi_i pi_j)), and
    P(tie) = nu sqrt(pi_i pi_j) / (pi_i + pi_j + nu sqrt(pi_i pi_j)). The ridge also penalises log(nu).

    Args:
        left, right: players of each comparison, numbers in 0..n_players-1, shape [n].
        outcome: 1 where left wins, 0.5 for a tie, 0 where right wins, shape [n].
        n_players: number of players; some may have no comparison.
        ties: "half" (a tie is half a win for each) or "davidson" (Davidson's model).
        cluster: cluster (seed) of each comparison, numbers or text, shape [n]; None if comparisons are independent.
        resamples: bootstrap resamples behind the intervals; 0 for none.
        confidence: nominal coverage.
        scale: rating difference for odds of 10 to 1.
        initial: mean rating of each group of connected players, see `StrengthRating`.
        ridge: penalty `ridge / 2 * sum(strength^2)` on natural-log strengths. It keeps the rating of a player that wins
            or loses every comparison finite. The default changes other ratings by far less than one point.
        random_seed: seed of the resampling.
        equal_pairs: whether all compared pairs have the same weight.

    Raises:
        ValueError: if shapes differ, a player is out of range or meets itself, an outcome is not 1, 0.5 or 0, or a
            setting is out of range.
    """
    if ridge <= 0.0 or scale <= 0.0 or resamples < 0:
        raise ValueError(f"ridge ({ridge}) and scale ({scale}) must be above 0, resamples ({resamples}) 0 or more")
    check_confidence(confidence)
    if ties not in ("half", "davidson"):
        raise ValueError(f"ties is {ties!r}; it must be 'half' or 'davidson'")
    has_tie_parameter = ties == "davidson"
    comparisons = compare(left, right, outcome, n_players)
    counts = cluster_table(comparisons, cluster)
    points = scale / math.log(10.0)

    def fit(tables: FloatArray, start: Strengths | None = None) -> tuple[Strengths, FloatArray]:
        strengths = fit_strengths(
            equally_weighted(tables) if equal_pairs else tables,
            comparisons.first,
            comparisons.second,
            comparisons.n_rated,
            ties=has_tie_parameter,
            ridge=ridge,
            start=start,
        )
        centred = anchor_at_mean(strengths.strength, comparisons, rated_in(comparisons, tables))
        return strengths, comparisons.to_all_players(initial + points * centred)

    point, rating = fit(comparisons.table()[np.newaxis])
    replicates = np.full((resamples, comparisons.n_players), np.nan)
    fits = [point]
    above, below = (np.zeros(comparisons.n_rated, dtype=np.int64) for _ in range(2))
    if len(counts.cluster):
        for rows, tables in counts.blocks(resamples, np.random.default_rng(random_seed)):
            strengths, drawn = fit(tables, start=point)
            fits.append(strengths)
            up, down = separated(comparisons, tables)
            above += up.sum(axis=0)
            below += down.sum(axis=0)
            replicates[rows] = comparisons.to_all_players(
                _anchored(drawn[:, comparisons.players], up, down, rating[0, comparisons.players], comparisons)
            )
    clusters = comparisons.to_all_players(counts.clusters_of_player(), missing=0)
    low, high = percentile_interval(replicates, confidence, clusters)
    low, high = without_zero_width(*(np.where(np.isfinite(end), end, np.nan) for end in (low, high)))
    effect = np.full(comparisons.n_rated, np.nan)
    if not has_tie_parameter and comparisons.n_pairs:
        weight = pair_weights(comparisons.table()) if equal_pairs else None
        effect[comparisons.anchored()] = strength_design_effects(counts, point.strength[0], weight)[
            comparisons.anchored()
        ]
    return StrengthRating(
        method="davidson" if has_tie_parameter else "bradley_terry",
        rating=rating[0],
        ci_low=low,
        ci_high=high,
        p_above_next=p_above_next(rating[0], replicates),
        replicates=replicates,
        above=comparisons.to_all_players(above, missing=0),
        below=comparisons.to_all_players(below, missing=0),
        clusters=clusters,
        design_effect=comparisons.to_all_players(effect),
        tie_parameter=float(np.exp(point.log_tie[0])) if has_tie_parameter and comparisons.n_pairs else math.nan,
        group=comparisons.group_of_player(),
        games=comparisons.games(),
        notes=comparisons.notes(),
        converged=bool(point.converged[0]),
        unconverged_replicates=sum(int(np.count_nonzero(~part.converged)) for part in fits[1:]),
        iterations=max(part.iterations for part in fits),
        max_gradient=max(part.max_gradient for part in fits),
        n_clusters=counts.n_clusters,
        resamples=resamples,
        confidence=confidence,
        scale=scale,
        initial=initial,
        ridge=ridge,
        random_seed=random_seed,
    )


def determined_directions(design: FloatArray, outcome: FloatArray) -> FloatArray:
    """Return an orthonormal basis of the combinations of coefficients that a logistic regression determines.

    A direction in which no row's fit gets worse and some get better has no maximum (Albert and Anderson 1984). The
    determined combinations are spanned by the rows whose fit no such direction improves.

    Args:
        design: shape [n, P]; of rows that are alike but for one covariate, those with its least and its greatest value
            will do.
        outcome: 1, 0, or between them, which a fit can only lose by leaving, shape [n].

    Returns:
        Shape [P, rank].
    """
    from scipy.optimize import linprog  # a fifth of what a job's start takes

    sign = np.where(outcome == 1.0, 1.0, -1.0)[:, np.newaxis]
    decided = (outcome == 0.0) | (outcome == 1.0)
    toward = (sign * design)[decided]
    n, size = toward.shape
    overlap = design
    if n:
        # A direction d and 0 <= t <= 1 with most sum of t, where every margin is at least t, and 0 at other outcomes.
        found = linprog(
            np.concatenate([np.zeros(size), -np.ones(n)]),
            A_ub=np.column_stack([-toward, np.eye(n)]),
            b_ub=np.zeros(n),
            A_eq=np.column_stack([design[~decided], np.zeros((int((~decided).sum()), n))])
            if not decided.all()
            else None,
            b_eq=np.zeros(int((~decided).sum())) if not decided.all() else None,
            bounds=[(None, None)] * size + [(0.0, 1.0)] * n,
            method="highs",
        )
        better = np.asarray(found.x, dtype=np.float64)[size:] >= _BETTER
        overlap = np.concatenate([toward[~better], design[~decided]])
    _, spread, directions = np.linalg.svd(overlap, full_matrices=False)
    return np.asarray(directions[spread > _TOLD * max(float(spread.max(initial=0.0)), 1e-300)].T, dtype=np.float64)


def anchor_at_mean(strength: FloatArray, comparisons: Comparisons, rated: BoolArray) -> FloatArray:
    """Shift strengths, shape [R, n_rated], so that the anchored players of each group average 0; NaN where not `rated`.

    Players without a finite rating are left out of the mean, since their value depends on the ridge.
    """
    known = np.where(rated, strength, np.nan)
    for members, anchored in _by_group(comparisons):
        inside = rated[:, members] & anchored
        total = np.where(inside, strength[:, members], 0.0).sum(axis=1)
        known[:, members] -= (total / np.maximum(inside.sum(axis=1), 1))[:, np.newaxis]
    return known


def _by_group(comparisons: Comparisons) -> list[tuple[IntArray, BoolArray]]:
    """Return the rated players of each connected group, and which of these are anchored."""
    group, anchored = comparisons.groups(), comparisons.anchored()
    order = np.argsort(group, kind="stable")
    return [(members, anchored[members]) for members in np.split(order, np.cumsum(np.bincount(group))[:-1])]


def separated(comparisons: Comparisons, tables: FloatArray) -> tuple[BoolArray, BoolArray]:
    """Return which players each table rates infinitely far above, or below, the others of their group.

    The others are the largest set of players who all score against each other, directly or through a chain of players.
    Without a single largest set, players are compared with all others: of two players of whom one wins all, one is
    above and the other is below.

    Args:
        comparisons: what was compared.
        tables: first wins, ties and second wins of each pair, shape [R, n_pairs, 3].

    Returns:
        Above and below, each of shape [R, n_rated]; a player that is both is cut off.
    """
    shape = (len(tables), comparisons.n_rated)
    above, below = np.zeros(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_)
    first_scores = (tables[:, :, FIRST_WINS] + tables[:, :, TIE]) > 0
    second_scores = (tables[:, :, SECOND_WINS] + tables[:, :, TIE]) > 0
    rows = np.flatnonzero((first_scores != second_scores).any(axis=1))
    if not len(rows):
        return above, below
    scores = np.concatenate([first_scores[rows], second_scores[rows]], axis=1)
    patterns, pattern_of = np.unique(np.packbits(scores, axis=1), axis=0, return_inverse=True)
    group = comparisons.groups()
    for number, pattern in enumerate(patterns):
        there = np.unpackbits(pattern, count=scores.shape[1]).astype(np.bool_)
        alike = rows[pattern_of.ravel() == number]
        above[alike], below[alike] = _limits(comparisons, there, group)
    return above, below


def _limits(comparisons: Comparisons, scores: BoolArray, group: np.ndarray) -> tuple[BoolArray, BoolArray]:
    """Return above and below, shape [n_rated], of one pattern of who scores against whom."""
    n = comparisons.n_rated
    first_scores, second_scores = scores[: comparisons.n_pairs], scores[comparisons.n_pairs :]
    winner = np.concatenate([comparisons.first[first_scores], comparisons.second[second_scores]])
    loser = np.concatenate([comparisons.second[first_scores], comparisons.first[second_scores]])
    ring = strong_components(winner, loser, n)
    n_rings = int(ring.max(initial=-1)) + 1
    # All players of a strong component reach the same players.
    reach = np.eye(n_rings, dtype=np.float32)
    reach[ring[winner], ring[loser]] = 1.0
    steps = 1
    while steps < n_rings:
        reach = np.minimum(reach @ reach, 1.0)
        steps *= 2
    reaches = reach > 0.0
    size = np.bincount(ring)[ring]
    above, below = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    for number in range(int(group.max()) + 1):
        members = np.flatnonzero(group == number)
        largest = members[size[members] == size[members].max()]
        # With one largest set, players are compared with it; with several, with all others.
        main = largest if len(largest) == size[largest[0]] else members
        main_rings = np.unique(ring[main])
        above[members] = ~reaches[np.ix_(main_rings, ring[members])].all(axis=0)
        below[members] = ~reaches[np.ix_(ring[members], main_rings)].all(axis=1)
    return above, below


def _anchored(
    drawn: FloatArray, above: BoolArray, below: BoolArray, rating: FloatArray, comparisons: Comparisons
) -> FloatArray:
    """Set unbounded players of a replicate to infinity, and shift the others to their average position.

    Args:
        drawn: ratings of the replicates, centred with whatever the ridge gave, shape [R, n_rated].
        above, below: who has no upper, no lower limit, shape [R, n_rated]; who has neither is unknown.
        rating: ratings of the data themselves, shape [n_rated].
        comparisons: what was compared.
    """
    apart = np.asarray(above | below)
    rows = np.flatnonzero(apart.any(axis=1))
    if not len(rows):
        return drawn
    out = drawn.copy()
    moved = np.full(drawn[rows].shape, np.nan)
    for members, anchored in _by_group(comparisons):
        of_group = drawn[np.ix_(rows, members)]
        anchors: BoolArray = np.asarray(~apart[np.ix_(rows, members)] & anchored & ~np.isnan(of_group))
        shift = np.where(anchors, rating[members] - of_group, 0.0).sum(axis=1) / np.maximum(anchors.sum(axis=1), 1)
        moved[:, members] = np.where(anchors.any(axis=1, keepdims=True), of_group + shift[:, np.newaxis], np.nan)
    moved[above[rows]] = np.inf
    moved[below[rows]] = -np.inf
    moved[above[rows] & below[rows]] = np.nan
    out[rows] = moved
    return out
