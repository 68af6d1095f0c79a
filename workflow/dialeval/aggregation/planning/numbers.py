"""By what numbers systems are compared, and how much one case says of them: from what is stored, or as assumed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from pydantic import BaseModel

from dialeval.aggregation.measures.design import Design
from dialeval.aggregation.measures.grouping import groups, systems_of
from dialeval.aggregation.measures.ratings import players
from dialeval.aggregation.measures.values import values_of
from dialeval.aggregation.pairwise import comparisons
from dialeval.schemas.judgements import Form
from dialeval.stats.arrays import FloatArray
from dialeval.stats.power import contributions_of_means, contributions_of_ratings
from dialeval.tables import HUMAN

RATING, MEAN, PASS_RATE, RATE, CHECKLIST = "rating", "mean", "pass_rate", "rate of Yes", "share of yes"
WIN_OR_TIE = "win_or_tie"
_SHARE_SPREAD = 0.25
_SCORE_SPREAD = 0.25**2
"""Variance of a score on a scale from 0 to 1: its standard deviation is a quarter of the scale."""
_HALF = "assumed: shares near one half"
ROUNDS = "as if all pairs were asked about on all cases"
NO_DIFFERENCE = "all that is stored is the same"


class PlannedDesign(BaseModel, defer_build=True):
    """A protocol about systems.

    Attributes:
        design: how its judgements come about.
        form: of its questions.
        repeats: how often the same is asked.
        ends: lowest and highest score of each criterion.
        labelled: whether people label what it is about.
    """

    design: Design
    form: Form
    repeats: int = 1
    ends: dict[str, tuple[float, float]] = {}
    labelled: bool = False


class Size(NamedTuple):
    """How many systems and cases a protocol is about."""

    n_systems: int
    n_cases: int

    @property
    def n_pairs(self) -> int:
        """Pairs of systems."""
        return self.n_systems * (self.n_systems - 1) // 2

    def for_all_pairs(self, confidence: float) -> float:
        """Confidence that a pair must have by itself to be claimed whatever the others show (Holm's first step)."""
        return 1.0 - (1.0 - confidence) / self.n_pairs


class Number(NamedTuple):
    """One number by which systems are compared.

    Attributes:
        measure: what it is called.
        criterion, n_utterances: what it is of.
        contribution: of each stored case to each difference, shape [cases, pairs]; None where nothing is stored.
        spread: variance of what one case says of a difference.
        apart: the same where the two systems are told by cases of their own.
        note: what to know of it.
    """

    measure: str
    criterion: str | None
    n_utterances: int | None
    contribution: FloatArray | None
    spread: float
    apart: float
    note: str | None = None

    @property
    def is_share(self) -> bool:
        """Whether it is a share of items, of which differences have a test of their own."""
        return self.measure in (PASS_RATE, WIN_OR_TIE) or self.measure.startswith("rate of ")


def numbers(planned: PlannedDesign, judge: str, size: Size, judgements: pd.DataFrame) -> list[Number]:
    """Returns what a judge's stored judgements tell, or else what is assumed.

    Args:
        planned: the protocol.
        judge: whose judgements.
        size: how many systems and cases the protocol will be about.
        judgements: what is stored of it, with the columns of `measures.differences.COLUMNS` and `repeat`.
    """
    of_judge = judgements[(judgements["judge"] == judge) & (judgements["repeat"] < planned.repeats)]
    design = planned.design.model_copy(update={"judges": [judge]})
    assumed = list(_assumed(planned, size))
    stored = list(_stored(design, of_judge, planned.repeats)) if len(of_judge) else []
    return [number if number.contribution is not None else _instead(number, assumed) for number in stored] or assumed


def _instead(number: Number, assumed: list[Number]) -> Number:
    """Returns what is assumed of a number of which all that is stored is the same."""
    of_measure = [one for one in assumed if one.measure == number.measure]
    alike = [one for one in of_measure if one.criterion == number.criterion] or of_measure or assumed
    note = f"{NO_DIFFERENCE}; {alike[0].note}"
    return alike[0]._replace(
        measure=number.measure, criterion=number.criterion, n_utterances=number.n_utterances, note=note
    )


def _stored(design: Design, judgements: pd.DataFrame, repeats: int) -> Iterator[Number]:
    """Yields the numbers at the greatest length."""
    longest = max(design.lengths, default=None)
    there = int(judgements["repeat"].max()) + 1
    note = f"as with the {there} repeats that are stored" if there < repeats else None
    own = [place for place, name in enumerate(systems_of(judgements, design)) if name != HUMAN]
    for measure in design.measures:
        if measure == "pass_rates_at_gt_length":  # one length of its own
            continue
        if measure == "ratings":
            yield from _ratings(design, judgements, note)
        for found in values_of(measure, judgements, design, {}):
            if longest in (None, found.n_utterances):
                contribution = contributions_of_means(found.value[own], found.cluster)
                of = (found.shared["measure"], found.criterion, found.n_utterances)
                yield _number(of, contribution, _apart(found.value[own]), note)


def _ratings(design: Design, judgements: pd.DataFrame, note: str | None) -> Iterator[Number]:
    who = players(judgements, design)
    for group, of in groups(judgements, design):
        if group["n_utterances"] == max(design.lengths, default=None):
            games = comparisons(of, who).readable()
            note = "; ".join(filter(None, [note, ROUNDS if design.equal_pairs else None])) or None
            found = contributions_of_ratings(*games, len(who), design.elo.scale)
            yield _number((RATING, group["criterion"], group["n_utterances"]), found, None, note)


def _number(
    of: tuple[str, str | None, int | None], contribution: FloatArray, apart: float | None, note: str | None
) -> Number:
    there = len(contribution) > 1 and contribution.shape[1] > 0
    spread = float(np.median(contribution.var(axis=0, ddof=1))) if there else 0.0
    if not spread > 0.0:
        return Number(*of, None, math.nan, math.nan, note)
    return Number(*of, contribution, spread, spread if apart is None else apart, note)


def _apart(value: FloatArray) -> float:
    """Returns the variance of a difference of one item of a system and one of another."""
    known = [row[~np.isnan(row)] for row in value]
    return 2.0 * float(np.mean([row.var(ddof=1) for row in known if len(row) > 1] or [math.nan]))


def _assumed(planned: PlannedDesign, size: Size) -> Iterator[Number]:
    """Yields what is compared where nothing is stored, with the spread that is assumed of it."""
    design = planned.design
    longest = max(design.lengths, default=None)

    def number(measure: str, spread: float, note: str, criterion: str | None = None) -> Number:
        return Number(measure, criterion, longest, None, spread, spread, note)

    share = 2.0 * _SHARE_SPREAD
    criteria: list[str | None] = [*design.criteria] or [None]
    if "ratings" in design.measures:
        points = design.elo.scale / math.log(10.0)
        spread = points**2 * 2.0 / (size.n_systems * _SHARE_SPREAD)
        yield number(RATING, spread, "assumed: systems of nearly the same strength")
    if "win_rates" in design.measures and design.reference is not None:
        yield number(WIN_OR_TIE, share, _HALF)
    if "pass_rates" in design.measures:
        yield number(PASS_RATE, share, _HALF)
    for criterion in criteria if "means" in design.measures else []:
        low, high = planned.ends.get(criterion or "", (0.0, 1.0))
        note = f"assumed: scores that spread by {0.25 * (high - low):g} within a system"
        yield number(MEAN, 2.0 * _SCORE_SPREAD * (high - low) ** 2, note, criterion)
    for criterion in criteria if "rates" in design.measures else []:
        yield number(RATE, share, _HALF, criterion)
    if "checklist" in design.measures:
        yield number(CHECKLIST, 2.0 * _SCORE_SPREAD, "assumed: scores that spread by 0.25 within a system")
