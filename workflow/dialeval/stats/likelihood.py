"""Newton's method for the Bradley-Terry and Davidson likelihoods, on many count tables at once.

Both are exponential families in the strengths (and the logarithm of the tie parameter), so the log-likelihood is
concave and, with a ridge, strictly so. Steps are shortened by log(1 + r) / r, where r is how far the step stretches
the strengths; that keeps every step an ascent from any start (Bach 2010) and leaves the last ones quadratic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dialeval.stats.arrays import BoolArray, FloatArray, IntArray
from dialeval.stats.linked import groups, mostly_zeros

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MAX_ITERATIONS = 100
STEP_TOLERANCE = 1e-10
GRADIENT_TOLERANCE = 1e-12  # per comparison; what rounding leaves
_FARTHEST = 700.0  # exp() stays finite
_NUMBERS_PER_BLOCK = 2_000_000


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


def _bradley_terry_derivatives(
    table: FloatArray, strength: FloatArray, first: IntArray, second: IntArray, incidence: csr_array
) -> tuple[FloatArray, FloatArray]:
    """Gradient and negative Hessian of the Bradley-Terry log-likelihood, shapes [R, n] and [R, n, n]."""
    # Written without 1 - p, which would lose the few digits that count where a player nearly always wins.
    lead = np.clip(strength[:, first] - strength[:, second], -_FARTHEST, _FARTHEST)
    win, loss = 1.0 / (1.0 + np.exp(-lead)), 1.0 / (1.0 + np.exp(lead))
    half_ties = 0.5 * table[:, :, 1]
    gradient = ((table[:, :, 0] + half_ties) * loss - (table[:, :, 2] + half_ties) * win) @ incidence
    weight = table.sum(axis=2) * win * loss
    return gradient, _laplacian(weight, first, second, strength.shape[1])


def _davidson_derivatives(
    table: FloatArray, parameters: FloatArray, first: IntArray, second: IntArray, incidence: csr_array
) -> tuple[FloatArray, FloatArray]:
    """Gradient and negative Hessian of Davidson's log-likelihood; the last parameter is the log tie parameter."""
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


def _incidence(first: IntArray, second: IntArray, n_players: int) -> csr_array:
    """Matrix that takes leads of pairs to players, first less second, shape [n_pairs, n_players]; mostly zeros."""
    pairs = np.arange(len(first))
    signs, players = np.repeat([1.0, -1.0], len(pairs)), np.concatenate([first, second])
    return mostly_zeros(signs, np.tile(pairs, 2), players, (len(pairs), n_players))


def _laplacian(weight: FloatArray, first: IntArray, second: IntArray, n_players: int) -> FloatArray:
    """Weighted graph Laplacians, shape [R, n, n], of weights on pairs, shape [R, n_pairs]."""
    laplacian = np.zeros((len(weight), n_players, n_players))
    laplacian[:, first, second] = -weight
    laplacian[:, second, first] = -weight
    diagonal = np.arange(n_players)
    laplacian[:, diagonal, diagonal] = -(laplacian @ np.ones(n_players))
    return laplacian
