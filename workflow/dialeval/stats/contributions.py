"""Estimates of several systems with what each cluster (seed, case) contributes to them, from which intervals follow.

A contribution is a cluster's part of the estimate's error, already divided by the root of one less its leverage (CR2;
Bell and McCaffrey 2002). Sums of squares are variances, sums of products covariances: so differences of systems that
met the same clusters are paired. Clusters with people's labels and the others have degrees of freedom of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from dialeval.stats.arrays import BoolArray, FloatArray, IntArray

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
