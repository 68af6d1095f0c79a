"""Bradley-Terry likelihoods of comparisons, and design effects of strengths and correlations.

Bradley-Terry's and Davidson's models are exponential families in the strengths (and the logarithm of the tie
parameter), so the log-likelihood is concave and, with a ridge, strictly concave. Newton steps are shortened by log(1 +
r) / r, with r the range of the step over players. Every step is then an ascent from any start, and the last steps
converge quadratically (Bach 2010).

Human-corrected ratings need weights and outcomes outside 0..1: a label with an inclusion probability of 1/20 has a
weight of 20, and a label minus a part of the judge's score may be below 0.

Design effects are computed from the linearised statistic, the first-order influence of each row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dialeval.stats.arrays import BoolArray, FloatArray, IntArray
from dialeval.stats.comparisons import (
    N_RESULTS,
    ClusterTable,
    groups,
    only_largest,
    pair_laplacian,
    sparse_table,
    strong_components,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MAX_ITERATIONS = 100
STEP_TOLERANCE = 1e-10
GRADIENT_TOLERANCE = 1e-12  # per comparison; what rounding leaves
_LARGEST_EXPONENT = 700.0  # exp() stays finite
_NUMBERS_PER_BLOCK = 2_000_000
_STEPS = 60
_LONGEST_STEP = 2.0
_LARGEST_STRENGTH = 20.0
_TOLERANCE = 1e-9
_NUMBERS_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Strengths:
    """Maximum of the ridged likelihood, for each of R tables.

    Attributes:
        strength: natural-log strengths, summing to 0 within every connected group, shape [R, n_players].
        log_tie: logarithm of Davidson's tie parameter, shape [R]; minus infinity for Bradley-Terry.
        converged: whether the last step was under the tolerance, shape [R].
        iterations: the most iterations that any table took.
        max_gradient: the largest absolute gradient that is left, in comparisons.
    """

    strength: FloatArray
    log_tie: FloatArray
    converged: BoolArray
    iterations: int
    max_gradient: float


def fit_strengths(
    table: FloatArray,
    first: IntArray,
    second: IntArray,
    n_players: int,
    *,
    ties: bool,
    ridge: float,
    start: Strengths | None = None,
) -> Strengths:
    """Maximise sum(log-likelihood) - ridge / 2 * sum(parameter^2) for each table.

    Args:
        table: first wins, ties and second wins of each pair, shape [R, n_pairs, 3].
        first, second: players of each pair, shape [n_pairs].
        n_players: number of players.
        ties: Davidson's model, P(tie) = nu * sqrt(pi_i pi_j) / (pi_i + pi_j + nu * sqrt(pi_i pi_j)), if True;
            Bradley-Terry with a tie as half a win for each, if False.
        ridge: weight of the penalty.
        start: a solution to start from, with R = 1.
    """
    n_tables = len(table)
    n_parameters = n_players + int(ties)
    parameters = np.zeros((n_tables, n_parameters))
    if start is not None:
        parameters[:, :n_players] = start.strength[0]
        if ties:
            parameters[:, -1] = start.log_tie[0]
    converged = np.zeros(n_tables, dtype=np.bool_)
    iterations, max_gradient = 0, 0.0
    block = max(1, _NUMBERS_PER_BLOCK // (n_parameters**2 + 4 * len(first) + 1))
    for begin in range(0, n_tables, block):
        rows = slice(begin, begin + block)
        taken, gradient = _newton(table[rows], parameters[rows], converged[rows], first, second, ties, ridge)
        iterations, max_gradient = max(iterations, taken), max(max_gradient, gradient)
    return Strengths(
        strength=parameters[:, :n_players],
        log_tie=parameters[:, -1] if ties else np.full(n_tables, -np.inf),
        converged=converged,
        iterations=iterations,
        max_gradient=max_gradient,
    )


def _newton(
    table: FloatArray,
    parameters: FloatArray,
    converged: BoolArray,
    first: IntArray,
    second: IntArray,
    ties: bool,
    ridge: float,
) -> tuple[int, float]:
    """Iterate in place until every table has converged; return the iterations and the largest gradient left."""
    n_players = parameters.shape[1] - int(ties)
    derivatives = _davidson_derivatives if ties else _bradley_terry_derivatives
    incidence = _incidence(first, second, n_players)
    group = groups(first, second, n_players)
    within_group = (group[:, np.newaxis] == group) / np.bincount(group)[group] if n_players else np.zeros((0, 0))
    open_rows = np.arange(len(table))
    max_gradient = 0.0
    iteration = 0
    while len(open_rows) and iteration < MAX_ITERATIONS:
        iteration += 1
        here = parameters[open_rows]
        gradient, hessian = derivatives(table[open_rows], here, first, second, incidence)
        gradient -= ridge * here
        diagonal = np.arange(here.shape[1])
        hessian[:, diagonal, diagonal] += ridge
        step = np.linalg.solve(hessian, gradient[:, :, np.newaxis])[:, :, 0]
        step[:, :n_players] -= step[:, :n_players] @ within_group  # rounding would let a group drift
        stretch = np.ptp(step[:, :n_players], axis=1) if n_players else np.zeros(len(step))
        if ties:
            stretch = stretch + np.abs(step[:, -1])
        shortening = np.log1p(stretch) / np.where(stretch > 0.0, stretch, 1.0)
        step *= np.where(stretch > 0.0, shortening, 1.0)[:, np.newaxis]
        parameters[open_rows] = here + step
        rounding = GRADIENT_TOLERANCE * table[open_rows].sum(axis=(1, 2))
        done = (stretch <= STEP_TOLERANCE) | (np.abs(gradient).max(axis=1, initial=0.0) <= rounding)
        converged[open_rows[done]] = True
        left = done if iteration < MAX_ITERATIONS else np.ones(len(done), dtype=np.bool_)
        if left.any():
            max_gradient = max(max_gradient, float(np.abs(gradient[left]).max(initial=0.0)))
        open_rows = open_rows[~done]
    return iteration, max_gradient


def _davidson_derivatives(
    table: FloatArray, parameters: FloatArray, first: IntArray, second: IntArray, incidence: csr_array
) -> tuple[FloatArray, FloatArray]:
    """Return the gradient and negative Hessian of Davidson's log-likelihood; the log tie parameter is last."""
    n = parameters.shape[1] - 1
    games = table.sum(axis=2)
    half_lead = 0.5 * (parameters[:, first] - parameters[:, second])
    log_tie = parameters[:, -1:]
    top = np.maximum(np.abs(half_lead), log_tie)
    win, tie, loss = np.exp(half_lead - top), np.exp(log_tie - top), np.exp(-half_lead - top)
    total = win + tie + loss
    win, tie, loss = win / total, tie / total, loss / total
    margin = 0.5 * (win - loss)  # expectation of the statistic that goes with the strength difference
    wins, drawn, losses = table[:, :, 0], table[:, :, 1], table[:, :, 2]
    gradient = np.empty_like(parameters)
    gradient[:, :n] = (wins * (0.5 * tie + loss) - losses * (0.5 * tie + win) - drawn * margin) @ incidence
    gradient[:, n] = (drawn * (win + loss) - (wins + losses) * tie).sum(axis=1)
    # Variance of the statistic, 0.25 (win + loss) - margin^2, written without cancellation.
    weight = games * (0.25 * tie * (win + loss) + win * loss)
    hessian = np.empty((len(parameters), n + 1, n + 1))
    hessian[:, :n, :n] = _laplacian(weight, first, second, n)
    cross = (-games * margin * tie) @ incidence
    hessian[:, :n, n] = cross
    hessian[:, n, :n] = cross
    hessian[:, n, n] = (games * tie * (win + loss)).sum(axis=1)
    return gradient, hessian


def _laplacian(weight: FloatArray, first: IntArray, second: IntArray, n_players: int) -> FloatArray:
    """Return the weighted graph Laplacians, shape [R, n, n], of weights on pairs, shape [R, n_pairs]."""
    laplacian = np.zeros((len(weight), n_players, n_players))
    laplacian[:, first, second] = -weight
    laplacian[:, second, first] = -weight
    diagonal = np.arange(n_players)
    laplacian[:, diagonal, diagonal] = -(laplacian @ np.ones(n_players))
    return laplacian


def _bradley_terry_derivatives(
    table: FloatArray, strength: FloatArray, first: IntArray, second: IntArray, incidence: csr_array
) -> tuple[FloatArray, FloatArray]:
    """Return the gradient and negative Hessian of the Bradley-Terry log-likelihood, shapes [R, n] and [R, n, n]."""
    # Written without 1 - p, which would lose the few digits that count where a player nearly always wins.
    lead = np.clip(strength[:, first] - strength[:, second], -_LARGEST_EXPONENT, _LARGEST_EXPONENT)
    win, loss = 1.0 / (1.0 + np.exp(-lead)), 1.0 / (1.0 + np.exp(lead))
    half_ties = 0.5 * table[:, :, 1]
    gradient = ((table[:, :, 0] + half_ties) * loss - (table[:, :, 2] + half_ties) * win) @ incidence
    weight = table.sum(axis=2) * win * loss
    return gradient, _laplacian(weight, first, second, strength.shape[1])


def _incidence(first: IntArray, second: IntArray, n_players: int) -> csr_array:
    """Return the sparse matrix from pairs to players, first minus second, shape [n_pairs, n_players]."""
    pairs = np.arange(len(first))
    signs, players = np.repeat([1.0, -1.0], len(pairs)), np.concatenate([first, second])
    return sparse_table(signs, np.tile(pairs, 2), players, (len(pairs), n_players))


class Games(NamedTuple):
    """Compared players of each row, numbers below `n_players`, and the row's cluster; shape [n]."""

    left: IntArray
    right: IntArray
    cluster: IntArray
    n_players: int
    n_clusters: int

    def of_players(self, of_left: FloatArray, of_right: FloatArray) -> FloatArray:
        """Return the sum over a player's rows of the values of its side, shape [n_players]."""
        n = self.n_players
        total = np.bincount(self.left, of_left, minlength=n) + np.bincount(self.right, of_right, minlength=n)
        return total.astype(np.float64)

    def sums(self, value: FloatArray) -> FloatArray:
        """Return the sum over a player's rows, with the other sign where it is on the right, shape [n_players]."""
        return self.of_players(value, -value)

    def totals(self, value: FloatArray) -> FloatArray:
        """Return the sum over all rows of a player, shape [n_players]."""
        return self.of_players(value, value)

    def cluster_sums(self, value: FloatArray) -> FloatArray:
        """Return `sums` of each cluster, shape [n_clusters, n_players]."""
        return self._by_cluster(value, -1.0)

    def cluster_totals(self, value: FloatArray) -> FloatArray:
        """`totals` of each cluster, shape [n_clusters, n_players]."""
        return self._by_cluster(value, 1.0)

    def _by_cluster(self, value: FloatArray, sign: float) -> FloatArray:
        size = self.n_clusters * self.n_players
        start = self.cluster * self.n_players
        total: FloatArray = np.bincount(start + self.left, value, minlength=size) + sign * np.bincount(
            start + self.right, value, minlength=size
        )
        return total.reshape(self.n_clusters, self.n_players)


class WeightedStrengths(NamedTuple):
    """A fit; natural-log strengths that average 0.

    Attributes:
        strength: shape [n_players].
        expected: expected outcome of each row, shape [n].
        information: matrix of second derivatives, shape [n_players, n_players].
        finite: whether there is a finite solution and it was found.
    """

    strength: FloatArray
    expected: FloatArray
    information: FloatArray
    finite: bool


def fit_weighted(games: Games, outcome: FloatArray, weight: FloatArray, pseudo_games: FloatArray) -> WeightedStrengths:
    """Solve sum x (outcome - weight sigmoid(x'strength)) = 0, where x is 1 for left and -1 for right.

    Args:
        games: who met whom.
        outcome: weighted outcome of each row, shape [n].
        weight: of each row, not below 0, shape [n].
        pseudo_games: weight of made-up games, half of them won by either, between every two players, shape [n_pairs] in
            the order of `np.triu_indices`.
    """
    n = games.n_players
    one, other = np.triu_indices(n, 1)
    strength = np.zeros(n)
    finite = False
    for _ in range(_STEPS):
        expected = _sigmoid(strength[games.left] - strength[games.right])
        beside = _sigmoid(strength[one] - strength[other])
        drawn = pseudo_games * (0.5 - beside)
        gradient = games.sums(outcome - weight * expected)
        gradient += np.bincount(one, drawn, minlength=n) - np.bincount(other, drawn, minlength=n)
        information = _information(games.left, games.right, weight * expected * (1.0 - expected), n)
        information += _information(one, other, pseudo_games * beside * (1.0 - beside), n)
        step = np.linalg.solve(anchored_information(information), gradient)
        longest = float(np.abs(step).max(initial=0.0))
        strength = strength + step * min(1.0, _LONGEST_STEP / max(longest, _TOLERANCE))
        if np.abs(strength).max(initial=0.0) > _LARGEST_STRENGTH:
            break
        if longest < _TOLERANCE:
            finite = True
            break
    expected = _sigmoid(strength[games.left] - strength[games.right])
    return WeightedStrengths(strength - strength.mean() if n else strength, expected, information, finite)


def _sigmoid(lead: FloatArray) -> FloatArray:
    share: FloatArray = 1.0 / (1.0 + np.exp(-np.clip(lead, -2 * _LARGEST_STRENGTH, 2 * _LARGEST_STRENGTH)))
    return share


def _information(left: IntArray, right: IntArray, curvature: FloatArray, n: int) -> FloatArray:
    out = np.zeros(n * n)
    for row, column, sign in ((left, left, 1.0), (right, right, 1.0), (left, right, -1.0), (right, left, -1.0)):
        out += sign * np.bincount(row * n + column, curvature, minlength=n * n)
    return out.reshape(n, n)


def anchored_information(information: FloatArray) -> FloatArray:
    """Return the information made invertible: the sum of strengths is fixed."""
    n = len(information)
    size = float(np.trace(information)) / max(n, 1) ** 2
    anchored: FloatArray = information + (size if size > 0.0 else 1.0)
    return anchored


def jackknife_influence(games: Games, fit: WeightedStrengths, weight: FloatArray, score: FloatArray) -> FloatArray:
    """Return the influence of each cluster on the strengths (CR3, the jackknife).

    Args:
        games: who met whom.
        fit: strengths of all rows.
        weight: of each row in `fit`, shape [n].
        score: of each row, its weighted outcome less what was expected, shape [n].

    Returns:
        Shape [n_clusters, n_players]; of sums 0 over the players.
    """
    n = games.n_players
    sums = games.cluster_sums(score)
    anchored = anchored_information(fit.information)
    curvature = weight * fit.expected * (1.0 - fit.expected)
    moved = np.zeros_like(sums)
    order = np.argsort(games.cluster, kind="stable")
    at_once = max(1, _NUMBERS_AT_ONCE // max(n * n, 1))
    starts = np.searchsorted(games.cluster[order], np.arange(0, games.n_clusters, at_once))
    for number, rows in enumerate(np.split(order, starts[1:])):
        first = number * at_once
        last = min(first + at_once, games.n_clusters)
        place = (games.cluster[rows] - first) * n * n
        left, right, value = games.left[rows], games.right[rows], curvature[rows]
        own = np.zeros((last - first) * n * n)
        for row, column, sign in ((left, left, 1.0), (right, right, 1.0), (left, right, -1.0), (right, left, -1.0)):
            own += sign * np.bincount(place + row * n + column, value, minlength=len(own))
        remaining = anchored - own.reshape(last - first, n, n)
        moved[first:last] = np.linalg.solve(remaining, sums[first:last, :, np.newaxis])[:, :, 0]
    centred: FloatArray = moved - moved.sum(axis=1, keepdims=True) / max(n, 1)
    return centred


def has_finite_strength(games: Games, outcome: FloatArray, known: BoolArray) -> BoolArray:
    """Return which players have finite strengths, given the known outcomes (Ford 1957), shape [n_players].

    These are the only largest set in which everyone can be reached from everyone by going from a player to one against
    whom it scored; none where two sets are equally large.
    """
    left, right, scored = games.left[known], games.right[known], outcome[known]
    winner = np.concatenate([left[scored > 0.0], right[scored < 1.0]])
    loser = np.concatenate([right[scored > 0.0], left[scored < 1.0]])
    n = games.n_players
    if not len(left):
        return np.zeros(n, dtype=np.bool_)
    ring = strong_components(winner, loser, n)
    played = np.zeros(n, dtype=np.bool_)
    played[left] = played[right] = True
    found = np.zeros(n, dtype=np.bool_)
    found[played] = only_largest(ring[played])
    return found


def correlation_design_effects(
    scores: FloatArray, human: FloatArray, known: BoolArray, r: FloatArray, sizes: IntArray, n_clusters: IntArray
) -> FloatArray:
    """Return the design effect of Pearson's correlation of many judges and dimensions with people.

    The influence of an item on r is (x y - r (x^2 + y^2) / 2) / n, with x and y its standardised values.

    Args:
        scores: shape [n_judges, n_dimensions, n_items], the items cluster by cluster.
        human: shape [n_dimensions, n_items].
        known: whether an item has both, shape [n_judges, n_dimensions, n_items].
        r: the correlations, shape [n_judges, n_dimensions].
        sizes: items of each cluster, shape [n_clusters].
        n_clusters: clusters of the known items, shape [n_judges, n_dimensions].

    Returns:
        Shape [n_judges, n_dimensions]; 1 where each item is a cluster of its own; NaN where it is not defined.
    """
    if len(sizes) == scores.shape[2]:
        return np.where(np.isnan(r) | (n_clusters < 2), np.nan, 1.0)
    n = np.maximum(known.sum(axis=2), 1)[:, :, np.newaxis]

    def standardised(values: FloatArray) -> FloatArray:
        scaled = np.where(known, values, 0.0)
        scaled -= scaled.sum(axis=2, keepdims=True) / n
        scaled *= known
        spread = np.sqrt(_squares(scaled)[:, :, np.newaxis] / n)
        scaled /= np.where(spread > 0.0, spread, 1.0)
        return scaled

    x, y = standardised(scores), standardised(np.broadcast_to(human, scores.shape))
    moves = x * y
    x *= x
    y *= y
    x += y
    x *= 0.5 * r[:, :, np.newaxis]
    moves -= x
    alone = _squares(moves) * (n[:, :, 0] / np.maximum(n[:, :, 0] - 1, 1))
    together = _squares(sums_by_cluster(moves, sizes)) * (n_clusters / np.maximum(n_clusters - 1, 1))
    usable = (alone > 1e-12) & (n_clusters > 1)
    return np.asarray(np.divide(together, alone, out=np.full(r.shape, np.nan), where=usable), dtype=np.float64)


def _squares(values: FloatArray) -> FloatArray:
    """Return the sums of squares over the last axis."""
    return np.asarray(np.einsum("jdn,jdn->jd", values, values), dtype=np.float64)


def sums_by_cluster(values: FloatArray | BoolArray, sizes: IntArray) -> FloatArray:
    """Return the sums over the last axis, whose items lie cluster by cluster, shape [..., n_clusters]."""
    if not len(sizes):
        return np.zeros((*values.shape[:-1], 0))
    if len(sizes) == values.shape[-1]:
        return np.asarray(values, dtype=np.float64)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return np.asarray(np.add.reduceat(values, starts, axis=-1), dtype=np.float64)


def strength_design_effects(
    counts: ClusterTable, strength: FloatArray, pair_weight: FloatArray | None = None
) -> FloatArray:
    """Return the design effect of each rated player's Bradley-Terry strength.

    The influence of a comparison on the strengths is the pseudo-inverse of the information matrix times the score: y -
    p for the comparison's first player, and p - y for its second.

    Args:
        counts: comparisons by cluster and type.
        strength: natural-log strengths, shape [n_rated].
        pair_weight: what a comparison of each pair weighs, shape [n_pairs]; None where all weigh the same.

    Returns:
        Shape [n_rated]; NaN where it is not defined.
    """
    from scipy.sparse import csr_array  # loaded where comparisons are rated, as in `linked`

    comparisons = counts.comparisons
    n, n_rows = comparisons.n_rated, len(counts.cluster)
    if counts.n_clusters < 2 or n_rows < 2:
        return np.full(n, np.nan)
    if counts.is_unclustered:
        return np.ones(n)
    first, second = comparisons.first, comparisons.second
    p = 1.0 / (1.0 + np.exp(np.clip(strength[second] - strength[first], -700.0, 700.0)))
    table = comparisons.table()
    of_pair = np.ones(len(p)) if pair_weight is None else pair_weight
    residual = of_pair[:, np.newaxis] * (np.array([1.0, 0.5, 0.0]) - p[:, np.newaxis])
    information = pair_laplacian(comparisons, of_pair * table.sum(axis=1) * p * (1.0 - p))
    # A group's common level has no information; given some, it does not blow up what rounding leaves of it.
    group = comparisons.groups()
    inverse = np.linalg.pinv(information + (group[:, np.newaxis] == group), hermitian=True)
    of_rows = pair_laplacian(comparisons, (table * residual**2).sum(axis=1))
    types = np.arange(residual.size)
    scores_of_types = sparse_table(
        np.concatenate([residual.ravel(), -residual.ravel()]),
        np.tile(types, 2),
        np.concatenate([np.repeat(first, N_RESULTS), np.repeat(second, N_RESULTS)]),
        (len(types), n),
    )
    scores = csr_array(counts.counts) @ scores_of_types
    of_clusters = (scores.T @ scores).toarray()

    def variance(of_scores: FloatArray) -> FloatArray:
        return np.asarray((inverse @ of_scores * inverse).sum(axis=1), dtype=np.float64)

    alone = variance(of_rows) * (n_rows / (n_rows - 1.0))
    together = variance(of_clusters) * (counts.n_clusters / (counts.n_clusters - 1.0))
    return np.asarray(np.divide(together, alone, out=np.full(n, np.nan), where=alone > 0.0), dtype=np.float64)
