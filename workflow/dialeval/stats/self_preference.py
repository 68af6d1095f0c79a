"""Self-preference: how a judge scores models of its own family, corrected for the sharpness of judges.

Judge j shows left and right; left wins with log-odds

    s_j (theta_left - theta_right) + d_j,

where theta is a system's strength, s_j the judge's slope (its sharpness) and d_j its position bias. A tie is half a
win. The slope of the judge under test is relative to the others': the logarithms of theirs average 0. Logarithms of
slopes, and position biases, have a normal prior: a judge is between a sixth and six times as sharp as the others in 95%
of cases. The prior counts as an observation with that error, so a slope that the comparisons do not determine stays
uncertain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, log_expit

from dialeval.stats.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    as_codes,
    as_outcomes,
    check_confidence,
    dense_codes,
)
from dialeval.stats.clustered import clustered_proportion
from dialeval.stats.comparisons import blocks_of, sparse_table
from dialeval.stats.estimates import Estimate
from dialeval.stats.resampling import cluster_counts, interval, ratio_replicates

_RIDGE = 1e-3  # on strengths, of which only differences are identified
_MAX_SLOPE_ITERATIONS = 200
_SLOPE_STEP_TOLERANCE = 1e-9
_HALVINGS = 30
_PRIOR = 1.25  # precision; twice the standard deviation is a factor of six
_UNIT = 1e4  # precision with which the others' slopes average 0
_STEEPEST = 10.0  # logarithm of a slope beyond which verdicts are certain

NO_OTHER_FAMILY = "no comparison has a verdict of a judge of another family"
ONLY_OPPONENTS = (
    "every other judge of these comparisons belongs to the opponent's family; add a judge of neither family"
)
SLOPE_UNKNOWN = (
    "the difference is not corrected for the judges' sensitivity: the judges have no common comparison of two systems "
    "within the family, or of two systems outside it"
)


def self_preference(
    judge: ArrayLike,
    left: ArrayLike,
    right: ArrayLike,
    outcome: ArrayLike,
    cluster: ArrayLike,
    judge_family: ArrayLike,
    player_family: ArrayLike,
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    random_seed: int = 0,
) -> tuple[SelfPreference, ...]:
    """Compare each judge's verdicts on its own family with those of judges of neither family.

    Judges of the opponent's family are left out, since they may favour the opponent. A sharp judge gives a better
    family more wins than a noisy judge, without any preference. If judges also compared two systems within the family,
    or two outside it, a slope per judge is fitted (`fit_slopes`), and the difference that slopes and position biases
    explain is subtracted.

    Args:
        judge: judge of each verdict, shape [n].
        left, right: models shown first and second, shape [n].
        outcome: 1 where left wins, 0.5 for a tie, 0 where right wins, NaN if unparsed, shape [n].
        cluster: seed of each verdict, shape [n].
        judge_family: family of each judge, names or numbers, shape [n_judges].
        player_family: family of each model, names or numbers, shape [n_players].
        resamples: bootstrap resamples of the clusters.
        confidence: nominal coverage.
        random_seed: seed of the resampling.

    Returns:
        One entry per judge whose family has a model; where nothing can be compared its numbers are missing, with
        the reason.

    Raises:
        ValueError: if shapes differ, a judge or model has no family, or an outcome is none of the four.
    """
    judge_families, player_families = np.asarray(judge_family), np.asarray(player_family)
    judge = as_codes("judge", judge, below=len(judge_families))
    n = len(judge)
    left = as_codes("left", left, length=n, below=len(player_families))
    right = as_codes("right", right, length=n, below=len(player_families))
    outcome = as_outcomes(outcome, n)
    codes, n_clusters = dense_codes("cluster", cluster, n)
    check_confidence(confidence)
    weights = cluster_counts(n_clusters, resamples, np.random.default_rng(random_seed))
    n_models = len(player_families)
    _, comparison = np.unique((codes * n_models + left) * n_models + right, return_inverse=True)
    parsed = ~np.isnan(outcome)
    of_judge = judge_families[judge]
    neither = parsed & (of_judge != player_families[left]) & (of_judge != player_families[right])

    results = []
    for number, family in enumerate(judge_families):
        if not (player_families == family).any():
            continue
        left_is_own, right_is_own = player_families[left] == family, player_families[right] == family
        across = left_is_own != right_is_own
        mine, others = parsed & (judge == number), neither & (of_judge != family)
        score = np.where(left_is_own, outcome, 1.0 - outcome)
        own_mean, own_cluster = _comparison_means(comparison, score, mine & across, codes)
        other_mean, _ = _comparison_means(comparison, score, others & across, codes)
        both = ~np.isnan(own_mean) & ~np.isnan(other_mean)
        own, other, place = own_mean[both], other_mean[both], own_cluster[both]
        reason = caveat = ""
        if not len(own):
            kin, _ = _comparison_means(comparison, score, parsed & across & (of_judge != family), codes)
            reason = ONLY_OPPONENTS if (~np.isnan(own_mean) & ~np.isnan(kin)).any() else NO_OTHER_FAMILY
        elsewhere = mine & ~across
        by_sharpness = _SharpnessEffect(0.0, np.zeros(resamples))
        if len(own) and elsewhere.any() and (others & ~across).any():
            fit = fit_slopes(
                *(values[elsewhere | others] for values in (judge, left, right, outcome, codes)),
                apart=number,
                n_systems=n_models,
                n_judges=len(judge_families),
                n_clusters=n_clusters,
            )
            share = _share_of_row(comparison, both, mine & across) - _share_of_row(comparison, both, others & across)
            share = np.where(left_is_own, share, -share)
            in_cluster = np.bincount(place, minlength=n_clusters)
            by_sharpness = _sharpness_effect(fit, share, (judge, left, right), codes, in_cluster, weights, random_seed)
        elif len(own):
            caveat = SLOPE_UNKNOWN
        found = _mean_difference(own - other, place, weights, confidence, reason or caveat, by_sharpness)
        results.append(
            SelfPreference(
                judge=number,
                n=len(own),
                own=clustered_proportion(own, place, confidence=confidence, note=reason),
                others=clustered_proportion(other, place, confidence=confidence, note=reason),
                difference=found,
                from_sharpness=by_sharpness.difference if len(own) else math.nan,
            )
        )
    return tuple(results)


@dataclass(frozen=True)
class SelfPreference:
    """Verdicts of a judge on its own family, and of judges of neither family on the same comparisons.

    Attributes:
        judge: number of the judge.
        n: comparisons of its family with another one that both it and a judge of neither family read.
        own: score (wins and half the ties) of the family in the judge's own verdicts.
        others: the same in the others' verdicts, averaged over judges of each comparison.
        difference: own - others, less `from_sharpness`; above 0 where the judge favours its family.
        from_sharpness: the part of own - others that a judge without a preference would show, because it is sharper or
            duller than the others; 0 where the comparisons do not tell, which `difference.reason` then says.
    """

    judge: int
    n: int
    own: Estimate
    others: Estimate
    difference: Estimate
    from_sharpness: float


def _comparison_means(
    comparison: IntArray, score: FloatArray, rows: BoolArray, cluster: IntArray
) -> tuple[FloatArray, IntArray]:
    """Return the mean score of the chosen rows of each comparison, NaN without any, and its cluster."""
    size = int(comparison.max(initial=-1)) + 1
    count = np.bincount(comparison[rows], minlength=size)
    total = np.bincount(comparison[rows], score[rows], minlength=size)
    of_comparison = np.zeros(size, dtype=np.int64)
    of_comparison[comparison] = cluster
    return np.divide(total, count, out=np.full(size, np.nan), where=count > 0), of_comparison


class _SharpnessEffect(NamedTuple):
    """The mean difference that judges' slopes explain, and that of each resample, shape [resamples]."""

    difference: float
    replicates: FloatArray


def _share_of_row(comparison: IntArray, counted: BoolArray, rows: BoolArray) -> FloatArray:
    """Return the share of each row in the mean over the counted comparisons of their rows' means, shape [n]."""
    count = np.bincount(comparison[rows], minlength=len(counted))[comparison]
    there = rows & counted[comparison]
    return np.where(there, 1.0 / np.maximum(count, 1), 0.0) / max(int(counted.sum()), 1)


def _sharpness_effect(
    fit: JudgeSlopes,
    share: FloatArray,
    verdict: tuple[IntArray, IntArray, IntArray],
    cluster: IntArray,
    in_cluster: IntArray,
    weights: FloatArray,
    random_seed: int,
) -> _SharpnessEffect:
    """Return the difference of scores without a preference, by the judges' slopes and position biases.

    Args:
        fit: their slopes.
        share: of each verdict that left wins in the mean difference over comparisons, shape [n].
        verdict: judge, left and right of each verdict.
        cluster: cluster of each verdict, shape [n].
        in_cluster: comparisons of each cluster, shape [n_clusters].
        weights: resamples of the clusters, shape [resamples, n_clusters].
        random_seed: seed of the prior's error.
    """
    rows = np.flatnonzero(share)
    cells, cell = np.unique(np.stack([values[rows] for values in verdict]), axis=1, return_inverse=True)
    n = int(in_cluster.sum())
    by_cluster = sparse_table(share[rows] * n, cluster[rows], cell.ravel(), (weights.shape[1], cells.shape[1]))
    judge, left, right = cells
    win = fit.expected(judge, left, right, fit.parameters)
    rng = np.random.default_rng([random_seed, 1])
    replicates = np.empty(len(weights))
    for block in blocks_of(len(weights), cells.shape[1]):
        moved = fit.expected(judge, left, right, fit.resampled(weights[block], rng))
        drawn = np.asarray(weights[block] @ by_cluster) * moved
        replicates[block] = drawn.sum(axis=1) / np.maximum(weights[block] @ in_cluster, 1)
    return _SharpnessEffect(float((by_cluster @ win).sum()) / n, replicates)


def _mean_difference(
    difference: FloatArray,
    cluster: IntArray,
    weights: FloatArray,
    confidence: float,
    reason: str,
    by_sharpness: _SharpnessEffect,
) -> Estimate:
    """Return the mean of differences between -1 and 1, minus the part that slopes explain.

    If all differences are equal and slopes explain nothing, the interval is that of the share (1 + d) / 2.
    """
    if len(difference) and np.ptp(difference) == 0.0 and not by_sharpness.replicates.any():
        share = clustered_proportion(0.5 * (1.0 + difference), cluster, confidence=confidence)
        low, high = (2.0 * limit - 1.0 for limit in (share.ci_low, share.ci_high))
        return replace(
            share,
            estimate=float(difference[0]),
            ci_low=low,
            ci_high=high,
            std_error=2.0 * share.std_error,
            note=share.note or reason,
        )
    found = interval(
        float(difference.mean()) - by_sharpness.difference if len(difference) else math.nan,
        ratio_replicates(difference, np.ones(len(difference)), cluster, weights) - by_sharpness.replicates,
        confidence,
        "" if len(difference) else reason,
        n_clusters=len(np.unique(cluster)),
    )
    return replace(found, note=found.note or reason)


@dataclass(frozen=True)
class JudgeSlopes:
    """Fitted strengths, slopes and position biases.

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
        """Return the probability that left wins under each judge, shape [..., n], for parameters of shape [..., P]."""
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
    """Fit strengths, slopes and position biases to verdicts, each of shape [n], by damped scoring.

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
    for _ in range(_MAX_SLOPE_ITERATIONS):
        information, gradient, _ = curvature(parameters)
        step = np.linalg.solve(information, gradient)
        for _ in range(_HALVINGS):
            if (found := objective(parameters + step)) >= value:
                break
            step *= 0.5
        else:
            break
        parameters, value = parameters + step, found
        if np.abs(step).max(initial=0.0) <= _SLOPE_STEP_TOLERANCE:
            break
    information, _, win = curvature(parameters)
    _, moved = _leads(parameters, *of_cell, n_systems, n_judges)
    by_cell = sparse_table(outcome - win[place], cluster, place, (n_clusters, len(cell)))
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
