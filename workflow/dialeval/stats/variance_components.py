"""Variance components of scores, and the generalizability of systems' means.

A score of a system on a case by a judge in one repeat is a mean plus independent effects of the system, the case, the
judge, their interactions and the repeat. `variance_components` estimates the variance of each effect;
`power.StudyDesign` returns the variance of means and differences from them.

Sources: Koch (1968) for the estimators; Brennan (2001), "Generalizability Theory", and Shavelson and Webb (1991) for
the coefficients and the planning of designs (D studies).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri, ndtri, stdtrit

from dialeval.stats.arrays import FloatArray, IntArray, as_floats, check_confidence, dense_codes, distinct_codes
from dialeval.stats.estimates import Estimate
from dialeval.stats.power import (
    CASE,
    CASE_JUDGE,
    DIALOGUE,
    JUDGE,
    REPEAT,
    SYSTEM,
    SYSTEM_CASE,
    SYSTEM_JUDGE,
    THREE_WAY,
    StudyDesign,
)
from dialeval.stats.resampling import cluster_counts, percentile_interval

TERMS = (SYSTEM, CASE, JUDGE, SYSTEM_CASE, SYSTEM_JUDGE, CASE_JUDGE, DIALOGUE, THREE_WAY, REPEAT)
"""The components of a score; `dialogue` are several dialogues of a system on one case."""
FEWEST_CASES = 5
"""Smallest number of cases for an interval of a component."""

NEGATIVE = "a negative estimate counts as 0 in sums"
FEW_CASES = "no interval: fewer than {} cases contribute to the component"
ONE_LEVEL = "one {}"
NO_VARIANCE = "not identifiable: the means of the systems have neither a variance nor an error"

_ROUNDING = 1e-12  # of the largest squared value
_RANK = 1e-9  # of the largest singular value


def variance_components(
    value: ArrayLike,
    system: ArrayLike,
    case: ArrayLike,
    judge: ArrayLike,
    dialogue: ArrayLike | None = None,
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    random_seed: int = 0,
) -> Components:
    """Return the variance components of scores, crossed and possibly unbalanced, each with a bootstrap interval.

    Let i be a grouping of the scores: by a component, such as the case, or all scores in one group. Summed over all
    pairs of scores a, b within a group,

        E sum (y_a - y_b)^2 = 2 sum_k s_k (sum_g n_g^2 - sum_gh N_gh^2),

    with s_k the variance of component k, n_g the size of a group g of i, and N_gh the number of scores that it shares
    with a group h of k (Koch 1968). One equation for each i gives unbiased estimates, which may be negative. In a
    balanced design, they equal those of the analysis of variance. Scores are weighted so that every combination of a
    system and a judge contributes equally; n_g and N_gh are sums of weights.

    The interval resamples cases; systems and judges are fixed. Its limits are percentiles of replicates, corrected for
    the bootstrap's bias. If the lower percentile is positive, each limit is the wider of the percentile and that of the
    chi-square interval with Satterthwaite's degrees of freedom (1946).

    Args:
        value: scores, NaN if missing, shape [n].
        system, case, judge: system, case and judge of each score, numbers or text, shape [n]; scores equal in
            all of these, and in the dialogue, are repeats.
        dialogue: dialogue of each score, unique within a system and case; None for one dialogue on each case.
        resamples: bootstrap resamples of cases.
        confidence: nominal coverage.
        random_seed: seed of the resampling.

    Raises:
        ValueError: if shapes differ or confidence is not between 0 and 1.
    """
    check_confidence(confidence)
    values = as_floats("value", value)
    n = len(values)
    given = {SYSTEM: system, CASE: case, JUDGE: judge}
    codes = {name: dense_codes(name, part, n)[0] for name, part in given.items()}
    codes[DIALOGUE] = np.zeros(n, np.int64) if dialogue is None else dense_codes(DIALOGUE, dialogue, n)[0]
    known = ~np.isnan(values)
    values = values[known]
    codes = {name: np.unique(part[known], return_inverse=True)[1] for name, part in codes.items()}
    partitions = _partitions(codes)
    kept, joined = _identifiable(partitions)
    clusters, n_cases = codes[CASE], int(codes[CASE].max(initial=-1)) + 1
    negligible = _ROUNDING * np.square(values).max(initial=0.0)
    values = values - values.mean() if len(values) else values
    pairs = _Pairs([partitions[name] for name in kept], clusters, n_cases, values, partitions[SYSTEM_JUDGE])
    estimate = pairs.components(np.ones((1, n_cases)))[0] if kept else np.zeros(0)
    estimate = np.where(np.abs(estimate) <= negligible, 0.0, estimate)
    counts = cluster_counts(n_cases, resamples, np.random.default_rng(random_seed))
    replicates = pairs.components(counts) if kept else np.zeros((resamples, 0))
    with np.errstate(invalid="ignore"):
        known_replicates = np.where(np.isfinite(replicates), replicates, np.nan)
        mean = np.nansum(known_replicates, axis=0) / np.maximum(np.isfinite(known_replicates).sum(axis=0), 1)
    replicates = known_replicates - mean + estimate
    informative = pairs.informative()
    low, high = _interval(estimate, replicates, informative, confidence)
    too_few = informative < FEWEST_CASES
    return Components(
        names=tuple(kept),
        estimate=estimate,
        ci_low=np.where(too_few, np.nan, low),
        ci_high=np.where(too_few, np.nan, high),
        n_groups=np.array([len(np.unique(partitions[name])) for name in kept], dtype=np.int64),
        n_informative=informative,
        joined={name: tuple(others) for name, others in joined.items()},
        design=_design_of(codes),
        n=len(values),
        confidence=confidence,
        replicates=replicates,
    )


@dataclass(frozen=True)
class Components:
    """Variance components of scores.

    Attributes:
        names: the identifiable components, a subset of `TERMS`.
        estimate: variance of each, possibly negative, shape [n_components].
        ci_low, ci_high: limits of the intervals; NaN if fewer than five cases contribute to a component.
        n_groups: number of levels of each component.
        n_informative: number of cases that contribute to each component.
        joined: for each of `names`, the components that the design cannot separate from it; its estimate contains them.
            The key "" has components with a single level.
        design: numbers of cases, judges and repeats of the scores.
        n: number of scores.
        confidence: nominal coverage.
        replicates: bootstrap replicates, shape [resamples, n_components].
    """

    names: tuple[str, ...]
    estimate: FloatArray
    ci_low: FloatArray
    ci_high: FloatArray
    n_groups: IntArray
    n_informative: IntArray
    joined: Mapping[str, tuple[str, ...]]
    design: StudyDesign
    n: int
    confidence: float
    replicates: FloatArray

    def variances(self) -> dict[str, float]:
        """Return the variance of each component, negative estimates as 0."""
        return {name: max(float(value), 0.0) for name, value in zip(self.names, self.estimate, strict=True)}

    def planning_variances(self) -> dict[str, float]:
        """Return the variances for `StudyDesign.difference`.

        Negative estimates count as 0. The others are scaled, so that the error variance of the scores' own design with
        one judge does not change.
        """
        design = self.design._replace(n_judges=1)
        raw = design.error_variance(dict(zip(self.names, self.estimate.tolist(), strict=True)), judges_fixed=True)
        found = self.variances()
        positive = design.error_variance(found, judges_fixed=True)
        scale = raw / positive if raw > 0.0 else 1.0
        scaled = design.divisors(judges_fixed=True)
        return {name: value * scale if name in scaled else value for name, value in found.items()}

    def few_cases(self, place: int) -> str:
        """Return why a component has no interval; empty if it has one."""
        return "" if self.n_informative[place] >= FEWEST_CASES else FEW_CASES.format(FEWEST_CASES)

    def generalizability(self, design: StudyDesign | None = None) -> Estimate:
        """Return the generalizability coefficient of systems' means, for relative decisions.

        E rho^2 = s_system / (s_system + relative error variance), see `StudyDesign.error_variance`.
        """
        return self._coefficient(design or self.design, absolute=False)

    def dependability(self, design: StudyDesign | None = None) -> Estimate:
        """Return the dependability coefficient (Phi) of systems' means, for absolute decisions.

        Phi = s_system / (s_system + absolute error variance), see `StudyDesign.error_variance`.
        """
        return self._coefficient(design or self.design, absolute=True)

    def _coefficient(self, design: StudyDesign, *, absolute: bool) -> Estimate:
        lacking = next((name for name in (SYSTEM, CASE) if name in self.joined.get("", ())), None)
        if lacking or SYSTEM not in self.names:
            note = ONE_LEVEL.format(lacking or SYSTEM)
            return Estimate.missing(self.confidence, note, design.n_cases)
        variance = np.maximum(np.vstack([self.estimate, self.replicates]), 0.0)
        of_term = dict(zip(self.names, variance.T, strict=True))
        error = np.zeros(len(variance))
        for name, divisor in design.divisors(absolute=absolute).items():
            error = error + of_term.get(name, 0.0) / divisor
        with np.errstate(invalid="ignore"):
            share = of_term[SYSTEM] / (of_term[SYSTEM] + error)
        low, high = percentile_interval(share[1:], self.confidence, design.n_cases)
        known = design.n_cases >= FEWEST_CASES
        ends = (float(low), float(high)) if known else (math.nan, math.nan)
        note = NO_VARIANCE if math.isnan(share[0]) else "" if known else FEW_CASES.format(FEWEST_CASES)
        return Estimate(float(share[0]), *ends, self.confidence, len(share) - 1, note, design.n_cases, n_items=self.n)


def _interval(
    estimate: FloatArray, replicates: FloatArray, n_cases: IntArray, confidence: float
) -> tuple[FloatArray, FloatArray]:
    """Return the limits of components' intervals, shape [n_components] each."""
    low, high = percentile_interval(replicates, confidence, n_cases)
    if len(replicates) < 2:
        return low, high
    upper = 0.5 + 0.5 * confidence
    n = np.maximum(n_cases, 2)
    spread = n / (n - 1.0) * (stdtrit(n - 1.0, upper) / ndtri(upper)) ** 2
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        df = 2.0 * estimate**2 / (np.nanvar(replicates, axis=0) * spread)
        ends = [df * estimate / chdtri(df, tail) for tail in (1.0 - upper, upper)]
    positive = (low > 0.0) & (df >= 1.0)
    return np.where(positive, np.minimum(low, ends[0]), low), np.where(positive, np.maximum(high, ends[1]), high)


def _partitions(codes: Mapping[str, IntArray]) -> dict[str, IntArray]:
    """Return the group of each score under each component, of `TERMS`."""
    system, case, judge, dialogue = (codes[name] for name in (SYSTEM, CASE, JUDGE, DIALOGUE))

    def cross(*parts: IntArray) -> IntArray:
        found = parts[0]
        for part in parts[1:]:
            found = distinct_codes(found * (int(part.max(initial=0)) + 1) + part, 0)[1] if len(found) else found
        return found

    own = cross(system, case, dialogue)
    return {
        SYSTEM: system,
        CASE: case,
        JUDGE: judge,
        SYSTEM_CASE: cross(system, case),
        SYSTEM_JUDGE: cross(system, judge),
        CASE_JUDGE: cross(case, judge),
        DIALOGUE: own,
        THREE_WAY: cross(own, judge),
        REPEAT: np.arange(len(system)),
    }


def _identifiable(partitions: Mapping[str, IntArray]) -> tuple[list[str], dict[str, list[str]]]:
    """Return the components that scores can separate, and those that are confounded with each of them."""
    kept: list[str] = []
    joined: dict[str, list[str]] = {}
    for name, part in partitions.items():
        n_groups = _n_groups(part)
        alike = (one for one in kept if _n_groups(partitions[one]) == n_groups == _n_groups(part, partitions[one]))
        same = "" if n_groups < 2 else next(alike, None)
        if same is None:
            kept.append(name)
        else:
            joined.setdefault(same, []).append(name)
    ones = np.zeros(len(partitions[REPEAT]), np.int64)
    while len(kept) > 1 and len(ones):
        pairs = _Pairs([partitions[name] for name in kept], ones, 1, np.zeros(len(ones)), ones)
        matrix = pairs.matrix(np.ones((1, 1)))[0]
        if not _singular(matrix[np.newaxis])[0]:
            break
        found = [place for place in reversed(range(1, len(kept))) if _refines(partitions, kept, place)]
        place = next((one for one in found if _rank(np.delete(matrix, one, axis=1)) == _rank(matrix)), len(kept) - 1)
        joined.setdefault(kept[place - 1], []).append(kept.pop(place))
    return kept, joined


def _refines(partitions: Mapping[str, IntArray], kept: Sequence[str], place: int) -> bool:
    """Return whether a component has its groups within those of another one, and is not the finest."""
    part = partitions[kept[place]]
    n_groups = _n_groups(part)
    return n_groups < len(part) and any(
        _n_groups(part, partitions[other]) == n_groups for other in kept if other != kept[place]
    )


def _n_groups(part: IntArray, other: IntArray | None = None) -> int:
    return len(np.unique(part if other is None else _joined(part, other)))


def _joined(part: IntArray, other: IntArray) -> IntArray:
    """Return a number for each combination of two groups."""
    return part * (int(other.max(initial=0)) + 1) + other


def _rank(matrix: FloatArray) -> int:
    return int(np.linalg.matrix_rank(_scaled(matrix[np.newaxis])[0], tol=_RANK))


def _scaled(matrix: FloatArray) -> FloatArray:
    """Return stacked matrices with rows, and then columns, of largest entry 1."""
    for axis in (2, 1):
        largest = matrix.max(axis=axis, keepdims=True)
        matrix = matrix / np.where(largest > 0.0, largest, 1.0)
    return matrix


def _singular(matrix: FloatArray) -> IntArray:
    """Return whether each of stacked matrices is singular."""
    if not matrix.size:
        return np.zeros(len(matrix), dtype=np.int64)
    singular = np.linalg.svd(_scaled(matrix), compute_uv=False)
    return (singular[:, -1] <= _RANK * singular[:, 0]).astype(np.int64)


def _design_of(codes: Mapping[str, IntArray]) -> StudyDesign:
    """Return the numbers of scores as a balanced design: harmonic means of cases, dialogues and repeats."""
    system, case, judge, dialogue = (codes[name] for name in (SYSTEM, CASE, JUDGE, DIALOGUE))
    if not len(system):
        return StudyDesign(0, 0)

    def mean_number(inner: Sequence[IntArray], outer: Sequence[IntArray]) -> float:
        """Return the harmonic mean of the number of distinct inner codes within outer ones."""
        distinct = np.unique(np.stack([*outer, *inner]), axis=1)
        count = np.unique(distinct[: len(outer)], axis=1, return_counts=True)[1]
        return float(len(count) / (1.0 / count).sum())

    cases = mean_number([case], [system, judge])
    dialogues = mean_number([dialogue], [system, case])
    repeats = mean_number([np.arange(len(system))], [system, case, dialogue, judge])
    return StudyDesign(max(round(cases), 1), len(np.unique(judge)), repeats, dialogues, _shared_cases(system, case))


def _shared_cases(system: IntArray, case: IntArray) -> float:
    """Return the share of cases that two systems have in common, the mean over pairs.

    With n and m cases of two systems, of which they share k, the variance of the difference of their means has the
    part s_case (1 / n + 1 / m - 2 k / (n m)) = s_case (1 / n + 1 / m) (1 - h); h is the share.
    """
    there = np.zeros((int(system.max()) + 1, int(case.max()) + 1), np.float32)
    there[system, case] = 1.0
    common = (there @ there.T).astype(np.float64)
    one, other = np.triu_indices(len(common), 1)
    n = common.diagonal()
    return float(np.mean(2.0 * common[one, other] / (n[one] + n[other]))) if len(one) else 1.0


class _Pairs:
    """Sums over pairs of scores in groups, for resamples of the cases.

    Sums over groups that lie within cases add up over cases. Those of other groups (systems, judges, all scores) follow
    from their sizes and sums of values, which add up.
    """

    def __init__(
        self, parts: Sequence[IntArray], case: IntArray, n_cases: int, value: FloatArray, cell: IntArray
    ) -> None:
        self._n_cases, self._parts = n_cases, [np.zeros(len(value), np.int64), *parts]
        size = np.bincount(cell, minlength=1)[cell]
        self._values, self._joint = [], []
        for part in self._parts:
            is_nested = _n_groups(part) == _n_groups(part, case)
            weight = 1.0 / np.sqrt(size) if is_nested else 1.0 / size  # the sums of a system and judge are then equal
            self._values.append(_Groups(part, case, n_cases, weight, value))
            joints = (np.unique(_joined(part, other), return_inverse=True)[1] for other in parts)
            self._joint.append([_Groups(joint, case, n_cases, weight) for joint in joints])
        most = [int(np.bincount(part).max(initial=0)) for part in self._parts]
        self._equations = [place for place, largest in enumerate(most) if largest > 1]

    def matrix(self, weights: FloatArray) -> FloatArray:
        """Return the coefficients of the components, shape [n_weights, n_equations, n_components]."""
        rows = []
        for one in self._equations:
            own = self._values[one].squares(weights)
            rows.append([own - joint.squares(weights) for joint in self._joint[one]])
        shape = len(weights), len(self._equations), len(self._parts) - 1
        return np.array(rows).transpose(2, 0, 1).reshape(shape) if rows else np.zeros(shape)

    def components(self, weights: FloatArray) -> FloatArray:
        """Return the variance components, NaN where they are not identifiable, shape [n_weights, n_components]."""
        matrix = self.matrix(weights)
        if matrix.shape[1] != matrix.shape[2]:
            return np.full((len(weights), matrix.shape[2]), np.nan)
        right = np.stack([self._values[one].differences(weights) for one in self._equations], axis=1)
        singular = _singular(matrix).astype(np.bool_)
        matrix[singular] = np.eye(matrix.shape[1])
        found = np.linalg.solve(matrix, right[..., np.newaxis])[..., 0]
        return np.where(singular[:, np.newaxis], np.nan, found)

    def informative(self) -> IntArray:
        """Return the number of cases that contribute to each component, shape [n_components].

        A case contributes if the component has more groups in it than each coarser component within cases.
        """
        count = [groups.per_case() for groups in self._values]
        size = [len(np.unique(part)) for part in self._parts]
        found = []
        for one in range(1, len(self._parts)):
            counts = [self._n_cases]
            for other in range(1, len(self._parts)):
                is_coarser = size[other] < size[one] == _n_groups(self._parts[one], self._parts[other])
                if is_coarser and self._values[one].nested and self._values[other].nested:
                    counts.append(int((count[one] > count[other]).sum()))
            found.append(min(counts))
        return np.array(found, dtype=np.int64)


class _Groups:
    """Weights and weighted sums of values of groups, by case."""

    def __init__(
        self, group: IntArray, case: IntArray, n_cases: int, weight: FloatArray, value: FloatArray | None = None
    ) -> None:
        n_groups = int(group.max(initial=-1)) + 1
        place, cell = np.unique(group * n_cases + case, return_inverse=True)
        self._case_of_cell, self._group_of_cell = place % max(n_cases, 1), place // max(n_cases, 1)
        self.nested = len(place) == n_groups
        self._shape = n_cases, n_groups
        self._size = self._by_case(cell, len(place), weight)
        if value is not None:
            self._sum = self._by_case(cell, len(place), weight * value)
            self._of_squares = self._by_case(cell, len(place), weight * value**2)

    def _by_case(self, cell: IntArray, n_cells: int, value: FloatArray) -> FloatArray:
        """Return sums by case and group, or by group alone where each group lies within a case."""
        total = np.bincount(cell, value, minlength=n_cells).astype(np.float64, copy=False)
        if self.nested:
            return total
        found = np.zeros(self._shape)
        found[self._case_of_cell, self._group_of_cell] = total
        return found

    def _total(self, cell: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the sum over groups within cases, shape [n_weights]."""
        return weights @ np.bincount(self._case_of_cell, cell, minlength=self._shape[0])

    def squares(self, weights: FloatArray) -> FloatArray:
        """Return the sum of the squared sizes of groups, shape [n_weights]."""
        if self.nested:
            return self._total(self._size**2, weights)
        return np.asarray(((weights @ self._size) ** 2).sum(axis=1))

    def differences(self, weights: FloatArray) -> FloatArray:
        """Return half the sum of the squared differences of all pairs within groups, shape [n_weights]."""
        if self.nested:
            return self._total(self._size * self._of_squares - self._sum**2, weights)
        size, total, squares = (weights @ part for part in (self._size, self._sum, self._of_squares))
        return np.asarray((size * squares - total**2).sum(axis=1))

    def per_case(self) -> IntArray:
        """Return the number of groups in each case, shape [n_cases]."""
        return np.bincount(self._case_of_cell, minlength=self._shape[0])
