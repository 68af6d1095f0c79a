"""Judges that differ in sharpness: a slope per judge on strengths that all judges share.

Judge j shows left and right; left wins with log-odds

    s_j (theta_left - theta_right) + d_j,

where theta is a system's strength, s_j the judge's slope (its sharpness) and d_j its preference for a place. A tie is
half a win. One judge is set apart; the logarithms of the others' slopes average 0, which gives strengths their unit.
Logarithms of slopes, and places, have a normal prior: a judge is between a sixth and six times as sharp as the others
in 95% of cases. The prior counts as an observation with that error, so a slope that the comparisons do not tell stays
uncertain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_expit

from dialeval.stats.arrays import FloatArray, IntArray
from dialeval.stats.comparisons import mostly_zeros

_RIDGE = 1e-3  # on strengths, of which only differences are told
_MAX_ITERATIONS = 200
_STEP_TOLERANCE = 1e-9
_HALVINGS = 30
_PRIOR = 1.25  # precision; twice the standard deviation is a factor of six
_UNIT = 1e4  # precision with which the others' slopes average 0
_STEEPEST = 10.0  # logarithm of a slope beyond which verdicts are certain


@dataclass(frozen=True)
class JudgeSlopes:
    """Strengths, slopes and places that fit verdicts best.

    Attributes:
        parameters: strengths, logarithms of slopes, places, shape [P], P = n_systems + 2 * n_judges.
        inverse: of the information about these parameters, with the prior's, shape [P, P].
        scores: what each cluster adds to the gradient, shape [n_clusters, P].
        prior_sd: standard deviation of what the prior adds to the gradient, shape [P].
        n_systems, n_judges: how many there are.
    """

    parameters: FloatArray
    inverse: FloatArray
    scores: FloatArray
    prior_sd: FloatArray
    n_systems: int
    n_judges: int

    def expected(self, judge: IntArray, left: IntArray, right: IntArray, parameters: FloatArray) -> FloatArray:
        """Return how often left wins under each judge at some parameters, shape [..., P]; shape [..., n]."""
        slope = np.exp(np.minimum(parameters[..., self.n_systems + judge], _STEEPEST))
        apart = slope * (parameters[..., left] - parameters[..., right])
        win: FloatArray = expit(apart + parameters[..., self.n_systems + self.n_judges + judge])
        return win

    def resampled(self, weights: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return the parameters on resamples, to first order, with the prior's error drawn anew; shape [R, P].

        Args:
            weights: how often each resample has each cluster, shape [R, n_clusters].
            rng: source of the prior's error.
        """
        drawn = rng.standard_normal((len(weights), len(self.parameters))) * self.prior_sd
        moved: FloatArray = ((weights - 1.0) @ self.scores + drawn) @ self.inverse
        return self.parameters + moved


def fit_slopes(
    judge: IntArray,
    left: IntArray,
    right: IntArray,
    outcome: FloatArray,
    cluster: IntArray,
    *,
    apart: int,
    n_systems: int,
    n_judges: int,
    n_clusters: int,
) -> JudgeSlopes:
    """Fit strengths, slopes and places to verdicts, each of shape [n], by damped scoring.

    Args:
        judge: judge of each verdict.
        left, right: systems shown first and second.
        outcome: 1 where left wins, 0.5 for a tie, 0 where right wins.
        cluster: cluster of each verdict.
        apart: the judge whose slope is relative to the others'.
        n_systems, n_judges, n_clusters: how many there are; a judge without verdicts has the prior's slope.
    """
    cell, place = np.unique((judge * n_systems + left) * n_systems + right, return_inverse=True)
    of_cell = (cell // n_systems**2, cell // n_systems % n_systems, cell % n_systems)
    count = np.bincount(place, minlength=len(cell)).astype(np.float64)
    won = np.bincount(place, outcome, minlength=len(cell))
    slopes = slice(n_systems, n_systems + n_judges)
    precision = np.concatenate([np.full(n_systems, _RIDGE), np.full(2 * n_judges, _PRIOR)])
    prior = np.diag(precision)
    others = (np.arange(n_judges) != apart) & (np.bincount(judge, minlength=n_judges) > 0)
    prior[slopes, slopes] += _UNIT * np.outer(others, others)
    parameters = np.zeros(len(precision))

    def objective(at: FloatArray) -> float:
        lead, _ = _leads(at, *of_cell, n_systems, n_judges)
        return float((won * log_expit(lead) + (count - won) * log_expit(-lead)).sum() - 0.5 * at @ prior @ at)

    def curvature(at: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        lead, moved = _leads(at, *of_cell, n_systems, n_judges)
        win = expit(lead)
        information = (moved.T * (count * win * (1.0 - win))) @ moved + prior
        return information, moved.T @ (won - count * win) - prior @ at, win

    value = objective(parameters)
    for _ in range(_MAX_ITERATIONS):
        information, gradient, _ = curvature(parameters)
        step = np.linalg.solve(information, gradient)
        for _ in range(_HALVINGS):
            if (found := objective(parameters + step)) >= value:
                break
            step *= 0.5
        else:
            break
        parameters, value = parameters + step, found
        if np.abs(step).max(initial=0.0) <= _STEP_TOLERANCE:
            break
    information, _, win = curvature(parameters)
    _, moved = _leads(parameters, *of_cell, n_systems, n_judges)
    by_cell = mostly_zeros(outcome - win[place], cluster, place, (n_clusters, len(cell)))
    scores = np.asarray(by_cell @ moved, dtype=np.float64)
    prior_sd = np.sqrt(precision)
    prior_sd[:n_systems] = 0.0
    return JudgeSlopes(
        parameters, np.asarray(np.linalg.inv(information), dtype=np.float64), scores, prior_sd, n_systems, n_judges
    )


def _leads(
    parameters: FloatArray, judge: IntArray, left: IntArray, right: IntArray, n_systems: int, n_judges: int
) -> tuple[FloatArray, FloatArray]:
    """Return log-odds that left wins, shape [n], and their derivatives, shape [n, P]."""
    slope = np.exp(np.minimum(parameters[n_systems : n_systems + n_judges], _STEEPEST))[judge]
    apart = slope * (parameters[left] - parameters[right])
    moved = np.zeros((len(judge), len(parameters)))
    rows = np.arange(len(judge))
    moved[rows, left] += slope
    moved[rows, right] -= slope
    moved[rows, n_systems + judge] = apart
    moved[rows, n_systems + n_judges + judge] = 1.0
    return apart + parameters[n_systems + n_judges + judge], moved
