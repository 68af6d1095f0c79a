"""The alternative annotator test: whether a judge represents a group of annotators as well as one of them does.

Each annotator is left out in turn. On every item, the judge and the left-out annotator are compared with the remaining
annotators. The closer of the two has the advantage; in a tie both have it.

Source: Calderon, Reichart and Dror (2025), "The Alternative Annotator Test for LLM-as-a-Judge", ACL. One deviation: the
paper's t-test rejects too often where judge and annotators mostly tie (`benchmarks/coverage_judges.py`). Each annotator
is therefore tested by the score test of a paired difference (Tango 1998), with the design effect of the clusters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtr

from dialeval.stats.arrays import BoolArray, FloatArray, IntArray, dense_codes
from dialeval.stats.auc import midranks
from dialeval.stats.clustered import cluster_influence, clustered_proportions
from dialeval.stats.estimates import Estimate, Estimates
from dialeval.stats.significance import benjamini_yekutieli

Level = Literal["nominal", "ordinal", "interval"]
FEWEST_ANNOTATORS = 3
"""Annotators below which the remaining ones have no consensus (Calderon and others, FAQ)."""
FEWEST_ITEMS = 30
"""Items of an annotator below which the annotator is left out."""
EPSILONS = {"crowd": 0.1, "skilled": 0.15, "expert": 0.2}
"""Margins by the kind of annotator that the judge would replace (Calderon and others, section 3)."""
PASSING = 0.5
"""Winning rate from which a judge may replace annotators."""
FALSE_DISCOVERIES = 0.05

FEW_ANNOTATORS = "the test needs {} annotators, each with {} items that have the judge's score and another label; {}"
ONE_CLUSTER = "all items are in one cluster"

_EQUAL = 1e-9  # of the largest distance
_GRID = np.arange(0, 51) / 100.0
"""Margins that are tried for the smallest one that passes."""


def alternative_annotator_test(
    judge: ArrayLike, labels: ArrayLike, cluster: ArrayLike, *, level: Level, confidence: float = 0.95
) -> AnnotatorTest:
    """Return the alternative annotator test of a judge: its winning rate and its average advantage probability.

    Alignment with the remaining annotators depends on the level of measurement. Nominal: the share of equal labels.
    Interval: the negative root mean squared distance. Ordinal: this distance between midranks among all labels and
    scores. Items without a score or with fewer than two labels are left out.

    Args:
        judge: the judge's score or code of each item, NaN if missing, shape [n_items].
        labels: label of each annotator, NaN if missing, shape [n_annotators, n_items].
        cluster: cluster of each item, numbers or text, shape [n_items].
        level: level of measurement of the labels.
        confidence: nominal coverage.

    Raises:
        ValueError: if shapes differ.
    """
    scores, given = np.asarray(judge, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    if given.ndim != 2 or given.shape[1:] != scores.shape:
        raise ValueError(f"labels have shape {given.shape}; they must have shape [annotators, {len(scores)}]")
    clusters, _ = dense_codes("cluster", cluster, len(scores))
    known = ~np.isnan(given) & ~np.isnan(scores) & ((~np.isnan(given)).sum(axis=0) > 1)
    if level == "ordinal":
        scores, given = _as_ranks(scores, given)
    who, item = np.nonzero(known)
    ahead, behind = _advantages(scores, given, who, item, level)
    n = len(given)
    of_each = clustered_proportions(ahead, clusters[item], who, n, confidence=confidence)
    count = np.bincount(who, minlength=n)
    tested = (count >= FEWEST_ITEMS) & (of_each.n_clusters > 1)
    counted = tested[who]
    advantage = clustered_proportions(
        ahead[counted], clusters[item[counted]], stratum=who[counted], confidence=confidence
    ).one()
    note = ""
    if tested.sum() < FEWEST_ANNOTATORS:
        has_items = (count >= FEWEST_ITEMS).sum() >= FEWEST_ANNOTATORS
        note = ONE_CLUSTER if has_items else FEW_ANNOTATORS.format(FEWEST_ANNOTATORS, FEWEST_ITEMS, _so_far(known))
    return AnnotatorTest(
        n_annotators=int(tested.sum()),
        n_items=len(np.unique(item[counted])),
        advantage=advantage,
        of_annotator=of_each,
        lead=_Lead.of(behind - ahead, who, n, clusters[item]),
        tested=tested,
        note=note,
    )


@dataclass(frozen=True)
class AnnotatorTest:
    """The result of an alternative annotator test.

    The method `winning_rate(epsilon)` returns the share of tested annotators that the judge wins against at a margin.

    Attributes:
        n_annotators: number of tested annotators: those with at least 30 items (`FEWEST_ITEMS`) and two clusters.
        n_items: items of these annotators.
        advantage: advantage probability (rho), averaged over tested annotators: the probability that the judge is at
            least as close to the remaining annotators as the left-out annotator is.
        of_annotator: the advantage probability against each annotator, tested or not.
        lead: for each annotator, the shares of items on which the annotator, and on which the judge, is closer to the
            remaining annotators.
        tested: whether each annotator is tested, shape [n_annotators].
        note: why `winning_rate` is NaN, or empty.
    """

    n_annotators: int
    n_items: int
    advantage: Estimate
    of_annotator: Estimates
    lead: _Lead
    tested: BoolArray
    note: str

    def p_values(self, epsilon: float) -> FloatArray:
        """Return one-sided p-values of "the annotator's advantage exceeds the judge's by epsilon or more".

        They are adjusted by Benjamini and Yekutieli's method; NaN for annotators that are not tested.
        """
        return benjamini_yekutieli(np.where(self.tested, self.lead.p_values(epsilon), np.nan))

    def winning_rate(self, epsilon: float) -> float:
        """Return the share of tested annotators that the judge wins against (omega); NaN with fewer than three."""
        if self.note:
            return math.nan
        return float((self.p_values(epsilon)[self.tested] <= FALSE_DISCOVERIES).mean())

    def decided(self) -> float:
        """Return the share of items on which judge and annotator are not equally close to the others (`items_needed`).

        It is the mean over tested annotators, NaN without any.
        """
        shares = (self.lead.annotator + self.lead.judge)[self.tested]
        return float(shares.mean()) if len(shares) else math.nan

    def smallest_epsilon(self) -> float:
        """Return the smallest margin, in hundredths, from which the judge wins against half; NaN if above .5."""
        lost = [epsilon for epsilon in _GRID if not self.winning_rate(epsilon) >= PASSING]
        smallest = float(lost[-1]) + 0.01 if lost else 0.0
        return round(smallest, 2) if smallest <= _GRID[-1] else math.nan


def items_needed(epsilon: float, decided: float, n_annotators: int, *, power: float = 0.8) -> int:
    """Return the number of items per annotator at which a judge as good as the annotators passes with the given power.

    The judge passes if it wins against at least half of the annotators. All tests are assumed to have the same result.

    Args:
        epsilon: margin of the test, above 0.
        decided: share of items on which judge and annotator are not equally close to the others.
        n_annotators: number of annotators.
        power: probability of passing.
    """
    needed = math.ceil(PASSING * n_annotators)
    harmonic = sum(1.0 / rank for rank in range(1, n_annotators + 1))
    alpha = FALSE_DISCOVERIES * needed / n_annotators / harmonic
    half = np.array([decided / 2.0])
    null_variance = 2.0 * float(_under_null(half, half, epsilon)[0]) + epsilon * (1.0 - epsilon)
    reach = -float(ndtri(alpha)) * math.sqrt(null_variance) + float(ndtri(power)) * math.sqrt(decided)
    return max(FEWEST_ITEMS, math.ceil((reach / epsilon) ** 2))


@dataclass(frozen=True)
class _Lead:
    """How often annotators are closer to the others than the judge; arrays of shape [n_annotators].

    Attributes:
        annotator, judge: shares of items on which the annotator, or the judge, is closer.
        n_effective: items divided by the design effect.
        df: Satterthwaite's degrees of freedom.
    """

    annotator: FloatArray
    judge: FloatArray
    n_effective: FloatArray
    df: FloatArray

    @classmethod
    def of(cls, lead: FloatArray, who: IntArray, n: int, cluster: IntArray) -> _Lead:
        """Return the shares of leads of 1 and of -1.

        The design effect is at least 1. With few informative clusters it is mixed with that of clusters on which all
        items agree.
        """
        found = cluster_influence(lead, np.ones(len(lead)), who, n, cluster)
        with np.errstate(divide="ignore", invalid="ignore"):
            informative = np.nan_to_num(found.variance**2 / found.fourth_powers())
            most = found.cluster_weight / found.item_weight
            effect = np.maximum(np.nan_to_num(found.variance / found.independent, posinf=1.0), 1.0)
            effect = (informative * effect + most) / (informative + 1.0)
            count = np.bincount(who, minlength=n)
            annotator, judge = (np.bincount(who, lead == side, minlength=n) / count for side in (1.0, -1.0))
            return cls(annotator, judge, count / effect, found.df_satterthwaite)

    def p_values(self, epsilon: float) -> FloatArray:
        """Return the one-sided p-value of each annotator's score test; NaN without items."""
        restricted = _under_null(self.annotator, self.judge, epsilon)
        spread = 2.0 * restricted + epsilon * (1.0 - epsilon)
        with np.errstate(divide="ignore", invalid="ignore"):
            score = np.sqrt(self.n_effective / spread) * (self.annotator - self.judge - epsilon)
        score = np.where(spread > 0.0, score, 0.0)
        return np.where(np.isnan(self.annotator), np.nan, stdtr(np.maximum(self.df, 1.0), score))


def _under_null(annotator: FloatArray, judge: FloatArray, epsilon: float) -> FloatArray:
    """Return the maximum-likelihood share of items on which the judge is closer, at difference epsilon (Tango 1998)."""
    linear = epsilon * (2.0 - annotator + judge) - annotator - judge
    constant = -judge * epsilon * (1.0 - epsilon)
    return np.asarray((np.sqrt(np.maximum(linear**2 - 8.0 * constant, 0.0)) - linear) / 4.0, dtype=np.float64)


def _advantages(
    scores: FloatArray, given: FloatArray, who: IntArray, item: IntArray, level: Level
) -> tuple[FloatArray, FloatArray]:
    """Return whether the judge, and the left-out annotator, is at least as close to the others, shape [n] each."""
    there = ~np.isnan(given)
    filled = np.where(there, given, 0.0)
    count = there.sum(axis=0)[item] - 1.0
    own = given[who, item]

    def distance(value: FloatArray, of_item: IntArray, own_value: FloatArray) -> FloatArray:
        """Return the mean distance of a value to the labels of the annotators that remain."""
        others = filled[:, of_item]
        far = (value != others) if level == "nominal" else (value - others) ** 2
        total = np.where(there[:, of_item], far, 0.0).sum(axis=0)
        left_out = (value != own_value) if level == "nominal" else (value - own_value) ** 2
        return np.asarray((total - left_out) / count, dtype=np.float64)

    judges, annotators = distance(scores[item], item, own), distance(own, item, own)
    slack = _EQUAL * max(float(judges.max(initial=0.0)), float(annotators.max(initial=0.0)))
    return (judges <= annotators + slack).astype(np.float64), (annotators <= judges + slack).astype(np.float64)


def _as_ranks(scores: FloatArray, given: FloatArray) -> tuple[FloatArray, FloatArray]:
    every = np.vstack([scores, given])
    there = ~np.isnan(every)
    ranked = np.full(every.shape, np.nan)
    ranked[there] = midranks(every[there])
    return ranked[0], ranked[1:]


def _so_far(known: BoolArray) -> str:
    """Return the numbers of annotators and of their items as text."""
    counts = sorted((int(n) for n in known.sum(axis=1) if n), reverse=True)
    if not counts:
        return "there are none"
    most = " and ".join(", ".join(map(str, counts[:FEWEST_ANNOTATORS])).rsplit(", ", 1))
    return f"the annotators have {most} such items"
