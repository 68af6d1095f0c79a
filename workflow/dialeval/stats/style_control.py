"""Style control: ratings from a logistic regression of verdicts with length and position held fixed.

P(left wins) = 1 / (1 + exp(-(b_left - b_right + length slope * log(left length / right length) + position))). Ratings,
length and position are estimated together: a second regression on length, after the ratings, would bias the slope
towards 0. A tie is half a win for each player. The covariance is robust to dependence within clusters (seeds), with
the jackknife's correction for few of them (CR3); intervals are Student's t.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from dialeval.stats.arrays import BoolArray, FloatArray, IntArray, as_floats, check_confidence, dense_codes, refuse
from dialeval.stats.bradley_terry import determined_directions
from dialeval.stats.comparisons import N_RESULTS, compare, groups, pair_weights, sparse_table
from dialeval.stats.estimates import Estimate, t_interval
from dialeval.stats.likelihood import GRADIENT_TOLERANCE

DEFAULT_RIDGE = 1e-6
INSEPARABLE = "lengths and ratings are confounded"
SAME_LENGTHS = "every length ratio is the same"
NOT_FINITE = "not identifiable (separation): the regression has no finite solution"
NO_COMPARISON = "no comparison"
NO_SPREAD = "the fit predicts every verdict, so the variance is not known"
ONE_CLUSTER = "a robust interval needs two clusters or more"
_MAX_ITERATIONS = 100
_STEP_TOLERANCE = 1e-10
_FARTHEST = 30.0  # log-odds per root mean square of a covariate; beyond it the maximum is at infinity
_IDENTIFIED = 1e-8
_DETERMINED = 1e-6
_OVERLAPPING = 8.0  # log-odds; if all fitted log-odds are smaller, none diverges
_OF_ROUNDING = 1e-14  # of the largest variance
_LARGEST_ERROR = 1e4  # in log-odds; larger if a parameter depends on a single cluster
_NUMBERS_OF_CLUSTERS = 2e7
_WORK_OF_CLUSTERS = 2e9


@dataclass(frozen=True)
class ControlledRatings:
    """Ratings from one logit; arrays per player are in the caller's order.

    Attributes:
        rating: Elo points, shape [n_players]; those whom the data place at a finite distance average `initial`. NaN
            without a comparison, or for all where `reason` says why.
        part: number of the set of players at finite distances from each other that a player is in, shape [n_players];
            -1 without a comparison.
        identified: whether the data determine the rating: that of the only largest part, shape [n_players].
        ci_low, ci_high: ends of the clustered interval; NaN also where the rating is not identified.
        covariance: of the ratings, in points squared, each about the mean of the players that the data place at finite
            distances from it, shape [n_players, n_players]; NaN for two whose distance the data do not determine.
        slope: change of the log-odds that left wins per unit of log(left length / right length), models held fixed;
            missing without lengths, and where the comparisons do not determine it. `resamples` is 0.
        position: log-odds that left wins between equals; missing where the data do not tell it from the models.
        n: comparisons.
        degrees_of_freedom: of Student's t: the effective number of clusters, less one.
        reason: why there is no fit; empty where there is one.
    """

    rating: FloatArray
    part: IntArray
    identified: BoolArray
    ci_low: FloatArray
    ci_high: FloatArray
    covariance: FloatArray
    slope: Estimate
    position: Estimate
    n: int
    n_clusters: int
    degrees_of_freedom: float
    reason: str


def controlled_ratings(
    left: ArrayLike,
    right: ArrayLike,
    outcome: ArrayLike,
    n_players: int,
    cluster: ArrayLike,
    *,
    log_length_ratio: ArrayLike | None = None,
    position: bool = True,
    confidence: float = 0.95,
    scale: float = 400.0,
    initial: float = 1000.0,
    ridge: float = DEFAULT_RIDGE,
    equal_pairs: bool = False,
) -> ControlledRatings:
    """Fit models, length and position together.

    Time is linear in the comparisons, for any number of clusters.

    Args:
        left, right: players shown first and second, numbers in 0..n_players-1, shape [n].
        outcome: 1 where left wins, 0.5 for a tie, 0 where right wins, shape [n].
        n_players: number of players; some may have no comparison.
        cluster: seed of each comparison, numbers or text, shape [n].
        log_length_ratio: natural logarithm of left length / right length, shape [n]; None to leave length out, which
            with `position=False` gives plain Bradley-Terry.
        position: whether the place is in the model; it is left out where the data do not tell it from the models.
        confidence: nominal coverage.
        scale: rating difference for odds of 10 to 1.
        initial: mean rating of the players.
        ridge: penalty `ridge / 2 * sum(strength^2)` on the models' natural-log strengths, not on length or position.
        equal_pairs: whether all compared pairs have the same weight.

    Raises:
        ValueError: if shapes differ, a player is out of range or meets itself, an outcome is none of the three, a
            ratio is not finite, or a setting is out of range.
    """
    check_confidence(confidence)
    if ridge <= 0.0 or scale <= 0.0:
        raise ValueError(f"ridge ({ridge}) and scale ({scale}) must be above 0")
    comparisons = compare(left, right, outcome, n_players)
    first, second, won = np.asarray(left, np.int64), np.asarray(right, np.int64), np.asarray(outcome, np.float64)
    n = len(won)
    clusters, n_clusters = dense_codes("cluster", cluster, n)
    columns: list[FloatArray] = []
    if log_length_ratio is not None:
        ratio = as_floats("log_length_ratio", log_length_ratio, n)
        refuse("log_length_ratio", ratio, ~np.isfinite(ratio), "it must be finite")
        columns.append(ratio)
    has_length = bool(columns)

    row_weight = np.ones(n)
    if equal_pairs:
        row_weight = pair_weights(comparisons.table())[comparisons.type_of_row // N_RESULTS]
    sizes = np.bincount(clusters, row_weight, minlength=n_clusters).astype(np.float64)
    freedom = float(sizes.sum() ** 2 / (sizes**2).sum()) - 1.0 if n else math.nan

    missing = partial(Estimate.missing, confidence)

    def result(
        rating: FloatArray, covariance: FloatArray, slope: Estimate, place: Estimate, reason: str
    ) -> ControlledRatings:
        variance = np.diag(covariance)
        variance = np.where(variance <= _OF_ROUNDING * np.fmax.reduce(variance, initial=0.0), 0.0, variance)
        low, high, _ = t_interval(rating, np.sqrt(variance), freedom, confidence)
        low[~main] = high[~main] = np.nan
        return ControlledRatings(
            rating, part, main, low, high, covariance, slope, place, n, n_clusters, freedom, reason
        )

    main, part = np.zeros(n_players, dtype=np.bool_), np.full(n_players, -1)
    unrated = np.full(n_players, np.nan)
    unknown = np.full((n_players, n_players), np.nan)

    def no_fit(reason: str) -> ControlledRatings:
        return result(unrated, unknown, missing(reason), missing(reason), reason)

    if not n:
        return no_fit(NO_COMPARISON)
    games = _Games(first, second, won, n_players, ridge, row_weight)
    if has_length and np.ptp(columns[0]) == 0.0 and (not position or columns[0][0] != 0.0):
        return no_fit(SAME_LENGTHS)
    if has_length and not games.identify(np.column_stack(columns)):
        return no_fit(INSEPARABLE)
    if position and games.identify(np.column_stack([*columns, np.ones(n)])):
        columns.append(np.ones(n))
    has_position = len(columns) > int(has_length)
    covariates = np.column_stack(columns) if columns else np.zeros((n, 0))
    size = np.sqrt((covariates**2).mean(axis=0))
    parameters = games.fit(covariates / size)
    if parameters is None:
        return no_fit(NOT_FINITE)

    parameters[n_players:] /= size
    rated = comparisons.to_all_players(np.ones(comparisons.n_rated, dtype=np.bool_), missing=False)
    determined = games.determined(covariates, parameters) if has_length else None
    if determined is not None:
        part[rated] = _parts(determined[:n_players][rated])
    else:
        part[comparisons.players] = comparisons.groups() if has_length else comparisons.strong_components()
    parts, sizes_of_parts = np.unique(part[rated], return_counts=True)
    largest = parts[(sizes_of_parts == sizes_of_parts.max()) & (sizes_of_parts > 1)]
    main = rated & (part == largest[0]) if len(largest) == 1 else np.zeros(n_players, dtype=np.bool_)
    anchored = main if main.any() else comparisons.to_all_players(comparisons.anchored(), missing=False)
    points = scale / math.log(10.0)
    rating = np.where(rated, initial + points * (_centring(anchored) @ parameters[:n_players]), np.nan)
    if n_clusters < 2:
        return result(rating, unknown, missing(ONE_CLUSTER), missing(ONE_CLUSTER), "")
    spread = games.covariance(covariates, parameters, clusters, n_clusters)
    of_models = np.full((n_players, n_players), np.nan)
    for number in parts:
        members = np.flatnonzero(rated & (part == number))
        within = _centring(np.ones(len(members), dtype=np.bool_))
        of_models[np.ix_(members, members)] = points**2 * within @ spread[np.ix_(members, members)] @ within.T
        if len(members) == 1:
            of_models[members, members] = np.nan
    doubtful = ~(np.diag(of_models) < (points * _LARGEST_ERROR) ** 2)
    of_models[doubtful] = np.nan
    of_models[:, doubtful] = np.nan

    def coefficient(place: int) -> Estimate:
        value, variance = float(parameters[place]), float(spread[place, place])
        if not variance < _LARGEST_ERROR**2:
            return missing(NOT_FINITE)
        if determined is not None and (determined[place] ** 2).sum() < 1.0 - _DETERMINED:
            return missing(NOT_FINITE)
        if not variance > 0.0:
            return Estimate(value, math.nan, math.nan, confidence, 0, NO_SPREAD, n_clusters)
        low, high, _ = t_interval(value, math.sqrt(variance), freedom, confidence)
        return Estimate(value, float(low), float(high), confidence, 0, n_clusters=n_clusters)

    slope = coefficient(n_players) if has_length else missing("no lengths")
    place = coefficient(len(parameters) - 1) if has_position else missing("position and models are confounded")
    return result(rating, of_models, slope, place, "")


class _Games:
    """The likelihood of comparisons, whose design matrix is never written out."""

    def __init__(
        self, first: IntArray, second: IntArray, won: FloatArray, n_players: int, ridge: float, weight: FloatArray
    ) -> None:
        self.first, self.second, self.won, self.n_players, self.ridge = first, second, won, n_players, ridge
        self.weight = weight
        self.cell = first * n_players + second

    def identify(self, covariates: FloatArray) -> bool:
        """Return whether models and covariates are separable: none is a linear combination of the others."""
        scaled = covariates / np.sqrt(np.maximum((covariates**2).mean(axis=0), 1e-300))
        information = self.information(np.full(len(self.won), 1.0 / len(self.won)), scaled)
        k = self.n_players
        models = np.linalg.pinv(information[:k, :k], rcond=1e-12, hermitian=True)
        cross = information[:k, k:]
        left = information[k:, k:] - cross.T @ models @ cross
        return bool(np.linalg.eigvalsh(left).min(initial=1.0) > _IDENTIFIED)

    def determined(self, covariates: FloatArray, parameters: FloatArray) -> FloatArray | None:
        """Return the determined directions of each parameter, shape [P, rank]; None if all are determined.

        That is, the parameter's part of an orthonormal basis.
        """
        if np.abs(self.lead(parameters, covariates)).max(initial=0.0) <= _OVERLAPPING:
            return None
        # Of comparisons that are alike but for length, the least and the greatest ratio say everything.
        order = np.lexsort([covariates[:, 0], self.won, self.cell])
        cell = np.stack([self.cell, 2.0 * self.won])[:, order]
        new = np.flatnonzero(np.append(True, (np.diff(cell) != 0.0).any(axis=0)))
        rows = np.unique(order[np.concatenate([new, np.append(new[1:], len(order)) - 1])])
        design = np.zeros((len(rows), len(parameters)))
        places = np.arange(len(rows))
        design[places, self.first[rows]] = 1.0
        design[places, self.second[rows]] = -1.0
        design[:, self.n_players :] = covariates[rows] / np.sqrt((covariates**2).mean(axis=0))
        return determined_directions(design, self.won[rows])

    def information(self, weight: FloatArray, covariates: FloatArray) -> FloatArray:
        """Return the negative Hessian without the ridge, shape [P, P], of rows that weigh p (1 - p)."""
        k = self.n_players
        met = np.bincount(self.cell, weight, minlength=k * k).reshape(k, k)
        met = met + met.T
        out = np.empty((k + covariates.shape[1],) * 2)
        out[:k, :k] = np.diag(met.sum(axis=1)) - met
        weighted = weight[:, np.newaxis] * covariates
        out[:k, k:] = self.by_model(weighted)
        out[k:, :k] = out[:k, k:].T
        out[k:, k:] = covariates.T @ weighted
        return out

    def by_model(self, rows: FloatArray) -> FloatArray:
        """Return the sums over a model's comparisons, those on the right negative, shape [n_players, c]."""
        out = np.empty((self.n_players, rows.shape[1]))
        for place, values in enumerate(rows.T):
            out[:, place] = np.bincount(self.first, values, minlength=self.n_players)
            out[:, place] -= np.bincount(self.second, values, minlength=self.n_players)
        return out

    def lead(self, parameters: FloatArray, covariates: FloatArray) -> FloatArray:
        """Return the log-odds that left wins, shape [n]."""
        strength = parameters[: self.n_players]
        lead = strength[self.first] - strength[self.second] + covariates @ parameters[self.n_players :]
        return np.asarray(lead, dtype=np.float64)

    def fit(self, covariates: FloatArray) -> FloatArray | None:
        """Maximise the ridged likelihood by Newton's method, shape [P]; None where there is no finite maximum.

        Steps are shortened as those of `likelihood.fit_strengths`, which keeps every one of them an ascent.
        """
        k = self.n_players
        penalty = np.zeros(k + covariates.shape[1])
        penalty[:k] = self.ridge
        parameters = np.zeros(len(penalty))
        lead = np.zeros(len(self.won))
        for _ in range(_MAX_ITERATIONS):
            win = expit(lead)
            residual = self.weight * (self.won - win)
            gradient = np.concatenate([self.by_model(residual[:, np.newaxis])[:, 0], covariates.T @ residual])
            gradient -= penalty * parameters
            if np.abs(gradient).max() <= GRADIENT_TOLERANCE * self.weight.sum():  # a step is then rounding alone
                return parameters
            hessian = self.information(self.weight * win * expit(-lead), covariates) + np.diag(penalty)
            try:
                step = np.linalg.solve(hessian, gradient)
            except np.linalg.LinAlgError:
                return None
            change = self.lead(step, covariates)
            stretch = float(np.abs(change).max(initial=0.0))
            if not math.isfinite(stretch):
                return None
            factor = math.log1p(stretch) / stretch if stretch > 0.0 else 1.0
            parameters = parameters + factor * step
            lead = lead + factor * change
            if (np.abs(parameters[k:]) > _FARTHEST).any():
                return None
            if stretch <= _STEP_TOLERANCE:
                return parameters
        return None

    def covariance(
        self, covariates: FloatArray, parameters: FloatArray, cluster: IntArray, n_clusters: int
    ) -> FloatArray:
        """Return the cluster-robust covariance of the parameters, shape [P, P]; NaN if it depends on a single cluster.

        With few clusters, each cluster's score is multiplied by the inverse Hessian without this cluster (CR3, nearly
        the jackknife). With too many clusters for this, only their number is corrected for, and the correction is
        negligible.
        """
        k, size = self.n_players, len(parameters)
        win = expit(self.lead(parameters, covariates))
        weight, residual = self.weight * win * (1.0 - win), self.weight * (self.won - win)
        hessian = self.information(weight, covariates)
        hessian[np.arange(k), np.arange(k)] += self.ridge
        columns = np.concatenate([self.first, self.second, *(np.full(len(win), k + j) for j in range(size - k))])
        values = np.concatenate([residual, -residual, *(residual * row for row in covariates.T)])
        of_row = np.tile(cluster, 2 + size - k)
        scores = sparse_table(values, of_row, columns, (n_clusters, size))
        scale = n_clusters / (n_clusters - 1.0)
        if n_clusters * size**2 > _NUMBERS_OF_CLUSTERS or n_clusters * size**3 > _WORK_OF_CLUSTERS:
            inverse = np.linalg.inv(hessian)
            return np.asarray(scale * inverse @ (scores.T @ scores).toarray() @ inverse, dtype=np.float64)
        without = np.repeat(hessian[np.newaxis], n_clusters, axis=0)
        order = np.argsort(cluster, kind="stable")
        stops = np.cumsum(np.bincount(cluster, minlength=n_clusters))
        for number, rows in enumerate(np.split(order, stops[:-1])):
            own = _Games(self.first[rows], self.second[rows], self.won[rows], k, self.ridge, self.weight[rows])
            without[number] -= own.information(weight[rows], covariates[rows])
        try:
            moved = np.linalg.solve(without, scores.toarray()[:, :, np.newaxis])[:, :, 0]
        except np.linalg.LinAlgError:  # without one of the clusters, a parameter would not be identified
            return np.full((size, size), np.nan)
        return np.asarray(moved.T @ moved / scale, dtype=np.float64)


def _parts(determined: FloatArray) -> IntArray:
    """Return the number of the part of each player, shape [n_players]: in one part all distances are determined.

    Args:
        determined: what each player's strength has of the determined directions, shape [n_players, rank].
    """
    own = (determined**2).sum(axis=1)
    first, second = np.nonzero(
        np.triu(own[:, np.newaxis] + own - 2.0 * determined @ determined.T > 2.0 - _DETERMINED, 1)
    )
    return groups(first, second, len(determined))


def _centring(anchored: BoolArray) -> FloatArray:
    """Return the matrix that subtracts the anchored players' mean from every strength, shape [n_players, n_players]."""
    n = len(anchored)
    mean = anchored / max(int(anchored.sum()), 1)
    return np.asarray(np.eye(n) - mean[np.newaxis, :], dtype=np.float64)
