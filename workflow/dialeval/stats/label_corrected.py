"""Human-corrected estimates of systems and of their differences, with intervals from the influence of each cluster.

`prediction_powered` returns them for means and rates, `corrected_ratings` for Bradley-Terry ratings.

The influence of a cluster on an estimate is adjusted for its leverage (CR2; Bell and McCaffrey 2002). Sums of squared
influences are variances, and sums of products are covariances, so systems with the same clusters are paired. Clusters
with labels and clusters without labels have separate degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from dialeval.stats.arrays import BoolArray, FloatArray, IntArray, inverse
from dialeval.stats.clustered import satterthwaite_df

ROUNDING = 1e-24
_OF_ROUNDING = 1e-14
_EQUAL = 1e-9
_PAIRS_AT_ONCE = 256
Target = Literal["new_cases", "given_cases"]
WIDEST = 1.05
"""Largest width of a corrected interval relative to the interval of human labels only. A wider one is replaced by the
latter."""
NOT_CORRECTED = "the judge's scores would widen the interval, so the estimate uses labels only"
ALIKE = "the labels of the two are equal on every item, so the variance of their difference is not known"


@dataclass(frozen=True)
class Contributions:
    """Estimates of K systems with the influence of S clusters.

    Attributes:
        estimate: shape [K]; NaN if undefined.
        psi: influence of each cluster, shape [S, K].
        labelled: clusters that the first degrees of freedom count, such as those with labels, shape [S, K].
        present: clusters in which a system has any row, shape [S, K].
        leverage: of each cluster; the sum of squares is one over the degrees of freedom, shape [S, K].
        added: variance added for few labels, shape [K].
        certain: estimates without an error, since every row is labelled, shape [K].
        fixed: whether the interval is about these clusters, of which a part was drawn, and not about new ones.
        down, up: distance to the limits of an interval that is not Student's (Wilson's); else NaN, shape [K].
        bounds: smallest and largest value that an estimate can have.
        annotators: influence of each annotator (or pair of players), shape [E, K]; None for none.
        annotator_df: degrees of freedom of their variance.
    """

    estimate: FloatArray
    psi: FloatArray
    labelled: BoolArray
    present: BoolArray
    leverage: FloatArray
    added: FloatArray
    certain: BoolArray
    fixed: bool
    down: FloatArray
    up: FloatArray
    bounds: tuple[float, float]
    annotators: FloatArray | None = None
    annotator_df: float = np.inf

    def with_reach(self, down: FloatArray, up: FloatArray) -> Contributions:
        """Return the estimates with other distances to the limits; NaN for Student's."""
        return replace(self, down=down, up=up)

    def with_shape_of(self, other: Contributions) -> Contributions:
        """Return the estimates with another estimate's distances to limits, scaled by the ratio of standard errors."""
        own, theirs = (labelled + others for labelled, others, *_ in (self._parts(), other._parts()))
        scale = np.sqrt(np.divide(own, theirs, out=np.ones(len(own)), where=theirs > 0.0))
        return self.with_reach(scale * other.down, scale * other.up)

    def intervals(self, confidence: float) -> Intervals:
        """Return the estimates with their intervals, shape [K]."""
        labelled, others, annotators, df = self._parts()
        variance = labelled + others + annotators
        known = np.isfinite(self.estimate) & (df > 0.0) & (labelled + others > _of_rounding(self.estimate))
        quantile = stdtrit(np.where(known, df, 1.0), 0.5 + 0.5 * confidence)
        reach = np.where(known, quantile * np.sqrt(variance), np.nan)
        reach = np.where(self.certain, 0.0, reach)
        more = (
            stdtrit(self.annotator_df, 0.5 + 0.5 * confidence) * np.sqrt(annotators)
            if self.annotators is not None
            else 0.0
        )
        down = np.where(np.isnan(self.down), reach, np.hypot(self.down, more))
        up = np.where(np.isnan(self.up), reach, np.hypot(self.up, more))
        low = np.maximum(self.estimate - down, self.bounds[0])
        high = np.minimum(self.estimate + up, self.bounds[1])
        return Intervals(self.estimate, low, high, 0.5 * (down + up) / quantile, np.where(df > 0.0, df, np.nan))

    def differences(self, first: IntArray, second: IntArray, confidence: float) -> tuple[Intervals, FloatArray]:
        """Return the differences of systems, first minus second, and two-sided p-values, shape [n_pairs]."""
        parts = [
            self._differences(first[start : start + _PAIRS_AT_ONCE], second[start : start + _PAIRS_AT_ONCE], confidence)
            for start in range(0, len(first), _PAIRS_AT_ONCE)
        ]
        if not parts:
            empty = np.zeros(0)
            return Intervals(empty, empty, empty, empty, empty), empty
        intervals = Intervals(
            *(np.concatenate(column) for column in zip(*(intervals for intervals, _ in parts), strict=True))
        )
        return intervals, np.concatenate([p for _, p in parts])

    def _parts(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the variance from labelled clusters, from the others, from annotators, and the df, shape [K]."""
        square = self.psi**2
        labelled = np.where(self.labelled, square, 0.0).sum(axis=0) + self.added
        others = np.where(self.labelled, 0.0, square).sum(axis=0)
        annotators = np.zeros(len(labelled)) if self.annotators is None else (self.annotators**2).sum(axis=0)
        n_others = (self.present & ~self.labelled).sum(axis=0)
        df = self._df(labelled, (self.leverage**2).sum(axis=0), others, n_others, annotators)
        return labelled, others, annotators, df

    def _differences(self, first: IntArray, second: IntArray, confidence: float) -> tuple[Intervals, FloatArray]:
        labelled, _, _, freedom = self._parts()
        one, other = self.psi[:, first], self.psi[:, second]
        either = self.labelled[:, first] | self.labelled[:, second]
        shared = self._shared(first, second)
        own = one**2 + other**2 - 2.0 * shared * one * other
        from_labelled = np.maximum(np.where(either, own, 0.0).sum(axis=0), 0.0) + self.added[first] + self.added[second]
        from_others = np.maximum(np.where(either, 0.0, own).sum(axis=0), 0.0)
        # Welch's degrees of freedom for systems with different clusters, n - 1 for systems with the same clusters.
        total = labelled[first] + labelled[second]
        share = np.divide(labelled[first], total, out=np.full(len(first), 0.5), where=total > 0.0)
        mixed = share * self.leverage[:, first] + (1.0 - share) * self.leverage[:, second]
        n_others = ((self.present[:, first] | self.present[:, second]) & ~either).sum(axis=0)
        annotators = np.zeros(len(first))
        if self.annotators is not None:
            annotators = ((self.annotators[:, first] - self.annotators[:, second]) ** 2).sum(axis=0)
        df = self._df(from_labelled, (mixed**2).sum(axis=0), from_others, n_others, annotators)
        variance = from_labelled + from_others + annotators
        estimate = self.estimate[first] - self.estimate[second]
        known = np.isfinite(estimate) & (freedom[first] > 0.0) & (freedom[second] > 0.0)
        quantile = stdtrit(np.where(known, df, 1.0), 0.5 + 0.5 * confidence)
        of_rounding = np.maximum(_of_rounding(self.estimate[first]), _of_rounding(self.estimate[second]))
        some = from_labelled + from_others > np.maximum(of_rounding, _OF_ROUNDING * total)
        reach = np.where(known & some, quantile * np.sqrt(variance), np.nan)
        certain = self.certain[first] & self.certain[second]
        reach = np.where(certain, 0.0, reach)
        down, up = self._square_and_add(
            first, second, reach, shared * (one * other).sum(axis=0), annotators, confidence
        )
        span = self.bounds[1] - self.bounds[0]
        low, high = np.maximum(estimate - down, -span), np.minimum(estimate + up, span)
        towards_none = np.where(estimate > 0.0, down, up)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(towards_none > 0.0, np.abs(estimate) / towards_none * quantile, np.nan)
        p = np.where(np.isfinite(ratio), 2.0 * stdtr(np.where(known, df, 1.0), -np.nan_to_num(ratio)), np.nan)
        p = np.where(certain, np.abs(estimate) <= _EQUAL, p)  # without sampling error the difference is known exactly
        return Intervals(estimate, low, high, 0.5 * (down + up) / quantile, np.where(known, df, np.nan)), p

    def _df(
        self, labelled: FloatArray, inverse: FloatArray, others: FloatArray, n_others: IntArray, annotators: FloatArray
    ) -> FloatArray:
        """Return Satterthwaite's degrees of freedom of a sum of variances; NaN without labelled clusters."""
        first = np.divide(1.0, inverse, out=np.full(len(inverse), np.nan), where=inverse > 0.0)
        second = np.maximum(n_others - 1.0, 1.0)
        below = labelled**2 / first + others**2 / second + annotators**2 / self.annotator_df
        out: FloatArray = np.asarray(first, dtype=np.float64)
        np.divide((labelled + others + annotators) ** 2, below, out=out, where=below > 0.0)
        return out

    def _shared(self, first: IntArray, second: IntArray) -> FloatArray:
        """Return the share of the products of two systems' influence that is their covariance, shape [n_pairs].

        The share is 1 if clusters are a sample. If the interval is about these clusters, it is 0 for systems whose
        labels were drawn separately, and 1 if the same clusters are labelled.
        """
        if not self.fixed:
            return np.ones(len(first))
        both = self.present[:, first] & self.present[:, second]
        there = np.maximum(both.sum(axis=0), 1)
        one, other = ((self.labelled[:, side] & both).sum(axis=0) for side in (first, second))
        together = np.maximum((self.labelled[:, first] & self.labelled[:, second]).sum(axis=0), 1)
        room = np.sqrt((1.0 - one / there) * (1.0 - other / there))
        drawn = 1.0 - one * other / (there * together)
        together_only: FloatArray = np.clip(np.divide(drawn, room, out=np.ones(len(first)), where=room > 0.0), 0.0, 1.0)
        return together_only

    def _square_and_add(
        self,
        first: IntArray,
        second: IntArray,
        reach: FloatArray,
        covariance: FloatArray,
        annotators: FloatArray,
        confidence: float,
    ) -> tuple[FloatArray, FloatArray]:
        """Return the distances to a difference's limits: Student's, or Newcombe's (1998, method 10)."""
        other_target = np.isfinite(self.down)[first] | np.isfinite(self.down)[second]
        if not other_target.any():
            return reach, reach
        intervals = replace(self, annotators=None).intervals(confidence)
        down = np.where(np.isnan(self.down), intervals.estimate - intervals.ci_low, self.down)
        up = np.where(np.isnan(self.up), intervals.ci_high - intervals.estimate, self.up)
        more = (
            stdtrit(self.annotator_df, 0.5 + 0.5 * confidence) ** 2 * annotators if self.annotators is not None else 0.0
        )
        variance = (self.psi**2).sum(axis=0) + self.added
        scale = np.sqrt(variance[first] * variance[second])
        alike = np.clip(np.divide(covariance, scale, out=np.zeros(len(first)), where=scale > ROUNDING), -1.0, 1.0)
        below = down[first] ** 2 + up[second] ** 2 - 2.0 * alike * down[first] * up[second]
        above = up[first] ** 2 + down[second] ** 2 - 2.0 * alike * up[first] * down[second]
        return (
            np.where(other_target, np.sqrt(np.maximum(below, 0.0) + more), reach),
            np.where(other_target, np.sqrt(np.maximum(above, 0.0) + more), reach),
        )


def _of_rounding(estimate: FloatArray) -> FloatArray:
    """Return the largest variance by rounding errors if all rows equal the estimate."""
    return np.maximum(ROUNDING, ROUNDING * estimate**2)


def leverages(weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the leverage of each cluster in a weighted mean, and the same scaled to the degrees of freedom.

    Args:
        weight: total weight of each cluster's rows, shape [S, K].

    Returns:
        Shares of the weight, and leverages whose sum of squares is one over Satterthwaite's degrees of freedom. Shape
        [S, K]; the latter 0 for a system without two clusters, which has no degrees of freedom.
    """
    total = weight.sum(axis=0)
    share = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0.0)
    n_clusters, n_systems = weight.shape
    df = satterthwaite_df(share.ravel(), np.tile(np.arange(n_systems), n_clusters), n_systems)
    plain = (share**2).sum(axis=0)
    scale = np.divide(1.0 / df, plain, out=np.ones_like(plain), where=plain > 0.0)
    return share, np.where(share.max(axis=0, initial=0.0) < 1.0 - 1e-12, share * np.sqrt(scale), 0.0)


class Difference(NamedTuple):
    """A difference of two systems, the first minus the second; fields as in `Corrected`.

    Attributes:
        p: two-sided p-value of no difference.
        weight: mean lambda of the two systems; 0 for human labels only.
        n_labelled, n_labelled_clusters: numbers of labels of both systems, and of their clusters.
    """

    estimate: float
    ci_low: float
    ci_high: float
    p: float
    se: float
    df: float
    human_only: float
    human_only_ci_low: float
    human_only_ci_high: float
    judge_only: float
    judge_only_ci_low: float
    judge_only_ci_high: float
    judge_bias: float
    judge_bias_ci_low: float
    judge_bias_ci_high: float
    weight: float
    n_effective_labels: float
    n_labelled: int
    n_labelled_clusters: int
    note: str


@dataclass(frozen=True)
class Corrected:
    """Human-corrected estimates of systems; arrays have shape [n_systems] in the order of `systems`.

    Attributes:
        systems: the systems, sorted; for ratings, the indices of the players.
        estimate, ci_low, ci_high: human-corrected estimate with its interval; NaN with a note.
        se, df: standard error and degrees of freedom of Student's t.
        human_only, human_only_ci_low, human_only_ci_high: estimate from human labels only.
        judge_only, judge_only_ci_low, judge_only_ci_high: estimate from the judge's scores of all rows that it scored.
            The interval is about new cases and does not include the judge's bias.
        judge_bias, judge_bias_ci_low, judge_bias_ci_high: judge minus annotators, on rows with both.
        weight: lambda, the weight of the judge's scores, from 0 (human labels only) to 1.
        rho_within: correlation of judge and annotators over the labelled rows of each system.
        n, n_scored, n_labelled, n_labelled_clusters: numbers of rows, of rows with a score, of rows with a label, and
            of the clusters of labelled rows.
        n_effective_labels: number of labels that would give the same standard error without a judge.
        note: why a number is undefined, or a caveat, or empty.
        rho: `rho_within`, pooled over systems.
        target: target population, "new_cases" or "given_cases".
        corrected, people, judge, bias: the four estimates with the influence of each cluster.
    """

    systems: tuple[object, ...]
    estimate: FloatArray
    ci_low: FloatArray
    ci_high: FloatArray
    se: FloatArray
    df: FloatArray
    human_only: FloatArray
    human_only_ci_low: FloatArray
    human_only_ci_high: FloatArray
    judge_only: FloatArray
    judge_only_ci_low: FloatArray
    judge_only_ci_high: FloatArray
    judge_bias: FloatArray
    judge_bias_ci_low: FloatArray
    judge_bias_ci_high: FloatArray
    weight: FloatArray
    rho_within: FloatArray
    n: IntArray
    n_scored: IntArray
    n_labelled: IntArray
    n_labelled_clusters: IntArray
    n_effective_labels: FloatArray
    note: tuple[str, ...]
    rho: float
    target: Target
    confidence: float
    corrected: Contributions
    people: Contributions
    judge: Contributions
    bias: Contributions

    def place(self, system: object) -> int:
        """Return the number of a system, given its number or its name.

        Raises:
            ValueError: if there is no such system.
        """
        if isinstance(system, (int, np.integer)):
            if 0 <= system < len(self.systems):
                return int(system)
        elif system in self.systems:
            return self.systems.index(system)
        raise ValueError(f"there is no system {system!r}; there are {len(self.systems)}, numbered from 0")

    def difference(self, i: object, j: object) -> Difference:
        """Return the human-corrected difference of system `i` minus system `j` (numbers, or names).

        Raises:
            ValueError: if there is no such system.
        """
        (found,) = self.differences(np.array([self.place(i)]), np.array([self.place(j)]))
        return found

    def all_differences(self) -> tuple[IntArray, IntArray, list[Difference]]:
        """Return the numbers of every two systems, and their differences: the first with all later ones, and so on."""
        first, second = (side.astype(np.int64) for side in np.triu_indices(len(self.systems), 1))
        return first, second, self.differences(first, second)

    def differences(self, first: IntArray, second: IntArray) -> list[Difference]:
        """Return the differences of pairs of systems, first minus second; numbers of shape [n_pairs].

        If the correction widens an interval by more than `WIDEST`, the difference is that of human labels only.
        """
        intervals, p = self.corrected.differences(first, second, self.confidence)
        human, human_p = self.people.differences(first, second, self.confidence)
        judge, _ = self.judge.differences(first, second, self.confidence)
        bias, _ = self.bias.differences(first, second, self.confidence)
        with np.errstate(invalid="ignore"):
            alone = intervals.width > WIDEST * human.width
        intervals = Intervals(*(np.where(alone, theirs, ours) for ours, theirs in zip(intervals, human, strict=True)))
        p = np.where(alone, human_p, p)
        weight = np.where(alone, 0.0, 0.5 * (self.weight[first] + self.weight[second]))
        labelled = self.n_labelled[first] + self.n_labelled[second]
        clusters = (self.people.labelled[:, first] | self.people.labelled[:, second]).sum(axis=0)
        total = self.n[first] + self.n[second]
        effective = n_effective_labels(intervals.std_error, human.std_error, labelled, total, self.target)
        columns = (
            intervals.estimate, intervals.ci_low, intervals.ci_high, p, intervals.std_error, intervals.df,
            *human[:3], *judge[:3], *bias[:3], weight, effective,
        )  # fmt: skip
        found = []
        for pair, (i, j) in enumerate(zip(first, second, strict=True)):
            notes = [*self._notes_of(i, j), NOT_CORRECTED if alone[pair] else ""]
            if not any(notes) and np.isnan(intervals.ci_low[pair]) and np.isfinite(intervals.estimate[pair]):
                notes = [ALIKE]
            numbers = zip(Difference._fields, (float(column[pair]) for column in columns), strict=False)
            found.append(
                Difference(
                    **dict(numbers),
                    n_labelled=int(labelled[pair]),
                    n_labelled_clusters=int(clusters[pair]),
                    note="; ".join(dict.fromkeys(part for part in notes if part)),
                )
            )
        return found

    def _notes_of(self, i: int, j: int) -> list[str]:
        """Return the notes of two systems; the note that every row is labelled is omitted unless both have it."""
        certain = self.corrected.certain
        both = certain[i] == certain[j]
        return [self.note[k] for k in (i, j) if both or not certain[k]]


def n_effective_labels(
    error: FloatArray, human_error: FloatArray, labelled: IntArray, total: IntArray, target: Target
) -> FloatArray:
    """Return the number of labels with the same standard error without a judge; NaN if undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (error / human_error) ** 2
        if target == "new_cases":
            return np.asarray(labelled / ratio, dtype=np.float64)
        # For the given rows, the variance is that of a draw without replacement: 1 / n minus 1 / N.
        return np.asarray(1.0 / (ratio * (1.0 / labelled - 1.0 / total) + 1.0 / total), dtype=np.float64)


class Intervals(NamedTuple):
    """Estimates with confidence intervals, each of one shape; NaN where undefined.

    Attributes:
        estimate: the estimates.
        ci_low, ci_high: limits of the intervals.
        std_error: standard error; of an interval that is not Student's, half its width over the quantile.
        df: degrees of freedom of Student's t.
    """

    estimate: FloatArray
    ci_low: FloatArray
    ci_high: FloatArray
    std_error: FloatArray
    df: FloatArray

    @property
    def width(self) -> FloatArray:
        """Return the width of each interval."""
        return self.ci_high - self.ci_low


def agreement_guard(psi: FloatArray, leverage: FloatArray) -> FloatArray:
    """Return the variance to add if a system's few labels vary less than the other systems' labels, shape [K].

    The variance of one cluster is shrunk towards the pooled variance, with the weight of two more clusters, and only
    upwards.
    """
    freedom = inverse((leverage**2).sum(axis=0))
    size = freedom + 1.0
    single = size * (psi**2).sum(axis=0)
    total = freedom.sum()
    if total <= 0.0:
        return np.zeros(psi.shape[1])
    pooled = float((freedom * single).sum() / total)
    believed = (2.0 * pooled + freedom * single) / (size + 1.0)
    return np.where(freedom > 0.0, np.maximum(believed - single, 0.0) / size, 0.0)
