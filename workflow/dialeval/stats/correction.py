"""What a correction by labels gives, and what each cluster contributes to it.

A contribution is a cluster's part of the estimate's error, already divided by the root of one less its leverage (CR2;
Bell and McCaffrey 2002). Sums of squares are variances, sums of products covariances: so differences of systems that
met the same clusters are paired. Clusters with people's labels and the others have degrees of freedom of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from dialeval.stats.arrays import BoolArray, FloatArray, IntArray

# Estimates of several systems with what each cluster (seed, case) contributes to them, from which intervals follow.

ROUNDING = 1e-24
_OF_ROUNDING = 1e-14
_EQUAL = 1e-9
_PAIRS_AT_ONCE = 256


class Spans(NamedTuple):
    """Estimates with their intervals, each of one shape; NaN where unknown.

    Attributes:
        estimate: the numbers.
        low, high: ends of the intervals.
        se: standard error; of an interval that is not Student's, half its width over the quantile.
        df: degrees of freedom of Student's t.
    """

    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    se: FloatArray
    df: FloatArray

    @property
    def width(self) -> FloatArray:
        """Width of each interval."""
        return self.high - self.low


@dataclass(frozen=True)
class Contributions:
    """Estimates of K systems from S clusters.

    Attributes:
        estimate: shape [K]; NaN where there is none.
        psi: contribution of each cluster, shape [S, K].
        told: clusters that the first degrees of freedom count, such as those with labels, shape [S, K].
        present: clusters in which a system has any row, shape [S, K].
        leverage: of each cluster; the sum of squares is one over the degrees of freedom, shape [S, K].
        added: variance beyond that of the contributions, where few labels are not believed alone, shape [K].
        certain: estimates without an error, since all is known, shape [K].
        fixed: whether the clusters are the ones that the interval is about, of which a part was drawn.
        down, up: how far an interval of another kind (Wilson's) reaches; NaN where it is Student's, shape [K].
        bounds: least and greatest value that an estimate can have.
        beside: contributions that are of no cluster, such as those of annotators; None for none, shape [E, K].
        beside_df: degrees of freedom of their variance.
    """

    estimate: FloatArray
    psi: FloatArray
    told: BoolArray
    present: BoolArray
    leverage: FloatArray
    added: FloatArray
    certain: BoolArray
    fixed: bool
    down: FloatArray
    up: FloatArray
    bounds: tuple[float, float]
    beside: FloatArray | None = None
    beside_df: float = np.inf

    def reaching(self, down: FloatArray, up: FloatArray) -> Contributions:
        """The same with intervals of another kind, where these are not NaN."""
        return replace(self, down=down, up=up)

    def shaped_as(self, other: Contributions) -> Contributions:
        """The same with another's intervals of another kind, as much wider or narrower as the standard errors are."""
        own, theirs = (told + others for told, others, *_ in (self._parts(), other._parts()))
        scale = np.sqrt(np.divide(own, theirs, out=np.ones(len(own)), where=theirs > 0.0))
        return self.reaching(scale * other.down, scale * other.up)

    def spans(self, confidence: float) -> Spans:
        """The estimates' own intervals, shape [K]."""
        told, others, beside, df = self._parts()
        variance = told + others + beside
        known = np.isfinite(self.estimate) & (df > 0.0) & (told + others > _of_rounding(self.estimate))
        quantile = stdtrit(np.where(known, df, 1.0), 0.5 + 0.5 * confidence)
        reach = np.where(known, quantile * np.sqrt(variance), np.nan)
        reach = np.where(self.certain, 0.0, reach)
        more = stdtrit(self.beside_df, 0.5 + 0.5 * confidence) * np.sqrt(beside) if self.beside is not None else 0.0
        down = np.where(np.isnan(self.down), reach, np.hypot(self.down, more))
        up = np.where(np.isnan(self.up), reach, np.hypot(self.up, more))
        low = np.maximum(self.estimate - down, self.bounds[0])
        high = np.minimum(self.estimate + up, self.bounds[1])
        return Spans(self.estimate, low, high, 0.5 * (down + up) / quantile, np.where(df > 0.0, df, np.nan))

    def differences(self, first: IntArray, second: IntArray, confidence: float) -> tuple[Spans, FloatArray]:
        """Differences of systems, first less second, and two-sided p-values, shape [n_pairs]."""
        parts = [
            self._differences(first[start : start + _PAIRS_AT_ONCE], second[start : start + _PAIRS_AT_ONCE], confidence)
            for start in range(0, len(first), _PAIRS_AT_ONCE)
        ]
        if not parts:
            nothing = np.zeros(0)
            return Spans(nothing, nothing, nothing, nothing, nothing), nothing
        spans = Spans(*(np.concatenate(column) for column in zip(*(spans for spans, _ in parts), strict=True)))
        return spans, np.concatenate([p for _, p in parts])

    def _parts(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Variance from the clusters that tell, from the others and beside them, and degrees of freedom, shape [K]."""
        square = self.psi**2
        told = np.where(self.told, square, 0.0).sum(axis=0) + self.added
        others = np.where(self.told, 0.0, square).sum(axis=0)
        beside = np.zeros(len(told)) if self.beside is None else (self.beside**2).sum(axis=0)
        n_others = (self.present & ~self.told).sum(axis=0)
        df = self._freedom(told, (self.leverage**2).sum(axis=0), others, n_others, beside)
        return told, others, beside, df

    def _differences(self, first: IntArray, second: IntArray, confidence: float) -> tuple[Spans, FloatArray]:
        told, _, _, freedom = self._parts()
        one, other = self.psi[:, first], self.psi[:, second]
        either = self.told[:, first] | self.told[:, second]
        shared = self._shared(first, second)
        own = one**2 + other**2 - 2.0 * shared * one * other
        from_told = np.maximum(np.where(either, own, 0.0).sum(axis=0), 0.0) + self.added[first] + self.added[second]
        from_others = np.maximum(np.where(either, 0.0, own).sum(axis=0), 0.0)
        # Welch's degrees of freedom where the two have clusters of their own, n - 1 where they have the same ones.
        total = told[first] + told[second]
        share = np.divide(told[first], total, out=np.full(len(first), 0.5), where=total > 0.0)
        mixed = share * self.leverage[:, first] + (1.0 - share) * self.leverage[:, second]
        n_others = ((self.present[:, first] | self.present[:, second]) & ~either).sum(axis=0)
        beside = np.zeros(len(first))
        if self.beside is not None:
            beside = ((self.beside[:, first] - self.beside[:, second]) ** 2).sum(axis=0)
        df = self._freedom(from_told, (mixed**2).sum(axis=0), from_others, n_others, beside)
        variance = from_told + from_others + beside
        estimate = self.estimate[first] - self.estimate[second]
        known = np.isfinite(estimate) & (freedom[first] > 0.0) & (freedom[second] > 0.0)
        quantile = stdtrit(np.where(known, df, 1.0), 0.5 + 0.5 * confidence)
        of_rounding = np.maximum(_of_rounding(self.estimate[first]), _of_rounding(self.estimate[second]))
        some = from_told + from_others > np.maximum(of_rounding, _OF_ROUNDING * total)
        reach = np.where(known & some, quantile * np.sqrt(variance), np.nan)
        certain = self.certain[first] & self.certain[second]
        reach = np.where(certain, 0.0, reach)
        down, up = self._square_and_add(first, second, reach, shared * (one * other).sum(axis=0), beside, confidence)
        span = self.bounds[1] - self.bounds[0]
        low, high = np.maximum(estimate - down, -span), np.minimum(estimate + up, span)
        towards_none = np.where(estimate > 0.0, down, up)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(towards_none > 0.0, np.abs(estimate) / towards_none * quantile, np.nan)
        p = np.where(np.isfinite(ratio), 2.0 * stdtr(np.where(known, df, 1.0), -np.nan_to_num(ratio)), np.nan)
        p = np.where(certain, np.abs(estimate) <= _EQUAL, p)  # all is known: they differ or they do not
        return Spans(estimate, low, high, 0.5 * (down + up) / quantile, np.where(known, df, np.nan)), p

    def _freedom(
        self, told: FloatArray, inverse: FloatArray, others: FloatArray, n_others: IntArray, beside: FloatArray
    ) -> FloatArray:
        """Satterthwaite's degrees of freedom of the parts of a variance; NaN without clusters that tell."""
        first = np.divide(1.0, inverse, out=np.full(len(inverse), np.nan), where=inverse > 0.0)
        second = np.maximum(n_others - 1.0, 1.0)
        below = told**2 / first + others**2 / second + beside**2 / self.beside_df
        out: FloatArray = np.asarray(first, dtype=np.float64)
        np.divide((told + others + beside) ** 2, below, out=out, where=below > 0.0)
        return out

    def _shared(self, first: IntArray, second: IntArray) -> FloatArray:
        """How much of the products of two systems' contributions is their covariance, shape [n_pairs].

        All of it where clusters are a sample. Of these very clusters only what was drawn together: systems whose
        labels were drawn apart have none, however alike the clusters make them.
        """
        if not self.fixed:
            return np.ones(len(first))
        both = self.present[:, first] & self.present[:, second]
        there = np.maximum(both.sum(axis=0), 1)
        one, other = ((self.told[:, side] & both).sum(axis=0) for side in (first, second))
        together = np.maximum((self.told[:, first] & self.told[:, second]).sum(axis=0), 1)
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
        beside: FloatArray,
        confidence: float,
    ) -> tuple[FloatArray, FloatArray]:
        """How far a difference reaches: Student's, or Newcombe's (1998, method 10) where one is not Student's."""
        other_kind = np.isfinite(self.down)[first] | np.isfinite(self.down)[second]
        if not other_kind.any():
            return reach, reach
        spans = replace(self, beside=None).spans(confidence)
        down = np.where(np.isnan(self.down), spans.estimate - spans.low, self.down)
        up = np.where(np.isnan(self.up), spans.high - spans.estimate, self.up)
        more = stdtrit(self.beside_df, 0.5 + 0.5 * confidence) ** 2 * beside if self.beside is not None else 0.0
        variance = (self.psi**2).sum(axis=0) + self.added
        scale = np.sqrt(variance[first] * variance[second])
        alike = np.clip(np.divide(covariance, scale, out=np.zeros(len(first)), where=scale > ROUNDING), -1.0, 1.0)
        below = down[first] ** 2 + up[second] ** 2 - 2.0 * alike * down[first] * up[second]
        above = up[first] ** 2 + down[second] ** 2 - 2.0 * alike * up[first] * down[second]
        return (
            np.where(other_kind, np.sqrt(np.maximum(below, 0.0) + more), reach),
            np.where(other_kind, np.sqrt(np.maximum(above, 0.0) + more), reach),
        )


def _of_rounding(estimate: FloatArray) -> FloatArray:
    """The variance that rounding may leave of rows that all have a system's estimate."""
    return np.maximum(ROUNDING, ROUNDING * estimate**2)


def leverages(weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Leverage of each cluster in a weighted mean, and the same scaled to the degrees of freedom (Satterthwaite).

    Args:
        weight: total weight of each cluster's rows, shape [S, K].

    Returns:
        Shares of the weight, and leverages whose sum of squares is one over the degrees of freedom: their number
        less 1 where clusters are of one size. Shape [S, K]; the latter 0 for a system without two clusters, which
        has no degrees of freedom.
    """
    total = weight.sum(axis=0)
    share = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0.0)
    square = share**2 / np.where(share < 1.0, 1.0 - share, 1.0)
    plain = (share**2).sum(axis=0)
    inverse = plain + square.sum(axis=0) ** 2 - (square**2).sum(axis=0)
    scale = np.divide(inverse, plain, out=np.ones_like(plain), where=plain > 0.0)
    return share, np.where(share.max(axis=0, initial=0.0) < 1.0 - 1e-12, share * np.sqrt(scale), 0.0)


# What a correction gives: people's numbers from labels of a part and a judge's scores of all, beside either alone.

Target = Literal["new", "these"]

WIDEST = 1.05
"""How much wider than people's alone a corrected interval may be before people's labels stand alone."""

NOT_CORRECTED = "the judge's scores would widen the interval: people's labels stand alone"
ALIKE = "the two were labelled alike throughout, which tells nothing of how far apart others may be"


class Difference(NamedTuple):
    """A difference of two systems, the first less the second; fields as in `Corrected`.

    Attributes:
        p: two-sided, of no difference in what people would say.
        weight: lambda of the two (their mean); 0 where people's labels stand alone.
        n_labelled, n_labelled_clusters: labels of both, and clusters that these are of.
    """

    estimate: float
    low: float
    high: float
    p: float
    se: float
    df: float
    people_only: float
    people_low: float
    people_high: float
    judge_only: float
    judge_low: float
    judge_high: float
    judge_bias: float
    bias_low: float
    bias_high: float
    weight: float
    effective_labels: float
    n_labelled: int
    n_labelled_clusters: int
    note: str


@dataclass(frozen=True)
class Corrected:
    """Numbers of systems as people would give them; arrays have shape [n_systems] in the order of `systems`.

    Attributes:
        systems: the systems, sorted; players are numbers from 0.
        estimate, low, high: what people would say, with its interval; NaN with a note.
        se, df: standard error and degrees of freedom of Student's t.
        people_only, people_low, people_high: from people's labels alone.
        judge_only, judge_low, judge_high: from the judge's scores alone, of all rows that it scored. The interval is
            the usual one, about new cases, and knows nothing of how far the judge is from people.
        judge_bias, bias_low, bias_high: the judge less people, on rows with both.
        weight: lambda, how much of the judge's difference between all and the labelled is taken; 0 leaves people alone.
        rho_within: correlation of judge and people over the labelled rows of each system.
        n, n_scored, n_labelled, n_labelled_clusters: rows, rows with a score, with a label, clusters of the latter.
        effective_labels: labels that would say as much without a judge.
        note: why a number is missing, or what to know of it; mostly empty.
        rho: correlation of judge and people within systems, pooled over them.
        target: new (people on new cases) or these (people on these very rows).
    """

    systems: tuple[object, ...]
    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    se: FloatArray
    df: FloatArray
    people_only: FloatArray
    people_low: FloatArray
    people_high: FloatArray
    judge_only: FloatArray
    judge_low: FloatArray
    judge_high: FloatArray
    judge_bias: FloatArray
    bias_low: FloatArray
    bias_high: FloatArray
    weight: FloatArray
    rho_within: FloatArray
    n: IntArray
    n_scored: IntArray
    n_labelled: IntArray
    n_labelled_clusters: IntArray
    effective_labels: FloatArray
    note: tuple[str, ...]
    rho: float
    target: Target
    confidence: float
    corrected: Contributions
    people: Contributions
    judge: Contributions
    bias: Contributions

    def place(self, system: object) -> int:
        """Number of a system: its own, or where its name is.

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
        """What people would say of system `i` less what they would say of system `j` (numbers, or names).

        Raises:
            ValueError: if there is no such system.
        """
        (found,) = self.differences(np.array([self.place(i)]), np.array([self.place(j)]))
        return found

    def all_differences(self) -> tuple[IntArray, IntArray, list[Difference]]:
        """Every two systems, the first's with all later ones first: the two numbers, and the differences."""
        first, second = (side.astype(np.int64) for side in np.triu_indices(len(self.systems), 1))
        return first, second, self.differences(first, second)

    def differences(self, first: IntArray, second: IntArray) -> list[Difference]:
        """Differences of pairs of systems, first less second; numbers of shape [n_pairs].

        Where the correction would widen an interval by more than `WIDEST`, people's labels stand alone, as they do for
        single systems: that difference is then people's.
        """
        spans, p = self.corrected.differences(first, second, self.confidence)
        people, people_p = self.people.differences(first, second, self.confidence)
        judge, _ = self.judge.differences(first, second, self.confidence)
        bias, _ = self.bias.differences(first, second, self.confidence)
        with np.errstate(invalid="ignore"):
            alone = spans.width > WIDEST * people.width
        spans = Spans(*(np.where(alone, theirs, ours) for ours, theirs in zip(spans, people, strict=True)))
        p = np.where(alone, people_p, p)
        weight = np.where(alone, 0.0, 0.5 * (self.weight[first] + self.weight[second]))
        labelled = self.n_labelled[first] + self.n_labelled[second]
        clusters = (self.people.told[:, first] | self.people.told[:, second]).sum(axis=0)
        total = self.n[first] + self.n[second]
        effective = effective_labels(spans.se, people.se, labelled, total, self.target)
        columns = (
            spans.estimate, spans.low, spans.high, p, spans.se, spans.df, *people[:3], *judge[:3], *bias[:3], weight,
            effective,
        )  # fmt: skip
        found = []
        for pair, (i, j) in enumerate(zip(first, second, strict=True)):
            words = [*self._notes_of(i, j), NOT_CORRECTED if alone[pair] else ""]
            if not any(words) and np.isnan(spans.low[pair]) and np.isfinite(spans.estimate[pair]):
                words = [ALIKE]
            numbers = zip(Difference._fields, (float(column[pair]) for column in columns), strict=False)
            found.append(
                Difference(
                    **dict(numbers),
                    n_labelled=int(labelled[pair]),
                    n_labelled_clusters=int(clusters[pair]),
                    note="; ".join(dict.fromkeys(part for part in words if part)),
                )
            )
        return found

    def _notes_of(self, i: int, j: int) -> list[str]:
        """What is to be known of two systems; that of one nothing is left to chance says nothing of the other."""
        certain = self.corrected.certain
        both = certain[i] == certain[j]
        return [self.note[k] for k in (i, j) if both or not certain[k]]


def effective_labels(
    error: FloatArray, people_error: FloatArray, labelled: IntArray, total: IntArray, target: Target
) -> FloatArray:
    """Labels that would give people alone the corrected standard error; NaN where there is none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (error / people_error) ** 2
        if target == "new":
            return np.asarray(labelled / ratio, dtype=np.float64)
        # Of these rows, the variance is the one of a draw without replacement: 1 / n less 1 / N.
        return np.asarray(1.0 / (ratio * (1.0 / labelled - 1.0 / total) + 1.0 / total), dtype=np.float64)
