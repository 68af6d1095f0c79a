"""Power of a protocol by a judge: the smallest differences between systems that it detects.

They follow from stored judgements, drawn anew with as many cases as are configured. Where nothing is stored, they rest
on assumptions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel

from dialeval.config.protocol_settings import EACH_OTHER
from dialeval.measures.design import Design, comparisons, groups, systems_of
from dialeval.measures.item_values import item_values
from dialeval.measures.ratings import players
from dialeval.measures.variance_components import (
    cheapest_columns,
    detectable_columns,
    planned_population,
    stored_components,
)
from dialeval.stats.arrays import FloatArray
from dialeval.stats.differences import FEWEST_JUDGES
from dialeval.stats.power import (
    SYSTEM_JUDGE,
    Cost,
    Detectable,
    StudyDesign,
    clusters_to_halve,
    contributions_of_means,
    contributions_of_ratings,
    detectable,
    fewest,
    for_pilot,
    simulated,
)
from dialeval.stats.variance_components import Components
from dialeval.tables.dialogues import REQUESTS, Form
from dialeval.tables.files import HUMAN, read_table

RATING, MEAN, PASS_RATE, RATE, CHECKLIST = "rating", "mean", "pass_rate", "rate of Yes", "share of yes"
WIN_OR_TIE = "win_or_tie"
_SHARE_SPREAD = 0.25
_SCORE_SPREAD = 0.25**2
"""Variance of a score on a scale from 0 to 1: its standard deviation is a quarter of the scale."""
_HALF = "assumed: shares near one half"
ROUNDS = "assuming that all pairs are compared on all cases"
NO_DIFFERENCE = "all stored scores are equal"
Row = dict[str, Any]
STORED, ASSUMED = "stored judgements", "assumptions"
JUDGE, JUDGES = "judge", "judges"
Key = tuple[str, str | None, int | None]
"""Measure, criterion and n_utterances of a number."""
MOST_CASES = 1_000_000


def judge_rows(
    planned: PlannedDesign, size: Size, judgements: pd.DataFrame, costs: CaseCosts
) -> Iterator[tuple[Number, Row]]:
    """Yield each number to plan and its row of the table `planning`, judge by judge.

    Args:
        planned: the protocol.
        size: how many systems and cases it will be about.
        judgements: what is stored of it, with the columns of `measures.item_values.COLUMNS` and `repeat`.
        costs: of a case more.
    """
    confidence, target = planned.design.confidence, planned.target_difference
    for judge in planned.design.judges:
        found = _components(planned, [judge], judgements)
        cost = costs.of([judge], planned.repeats)
        for number in numbers(planned, judge, size, judgements):
            key = number.measure, number.criterion, number.n_utterances
            row = _about(planned, size, judge, 1, key)
            row |= _of_judge(number, size, confidence, costs.whole.get(judge))
            one = found.get(key)
            if one:
                row |= cheapest_columns(one, _design(one, size, planned, 1), cost, confidence, target)
            elif target is not None:
                row |= _fewest_cases(number, planned, target, costs.whole.get(judge))
            yield number, row


def _about(planned: PlannedDesign, size: Size, judge: str, n_judges: int, key: Key) -> Row:
    """Return the columns that say what a row is about."""
    measure, criterion, n_utterances = key
    return {
        "protocol": planned.design.protocol,
        "criterion": criterion,
        "n_utterances": n_utterances,
        "judge": judge,
        "measure": measure,
        "n_systems": size.n_systems,
        "n_seeds": size.n_cases,
        "n_judges": n_judges,
    }


def population_rows(planned: PlannedDesign, size: Size, judgements: pd.DataFrame, costs: CaseCosts) -> Iterator[Row]:
    """Yield a row for each number whose stored scores are of enough judges to be a sample of them."""
    confidence = planned.design.confidence
    judges = [one for one in planned.design.judges if one not in planned.design.derived_judges]
    cost = costs.of(judges, planned.repeats)
    for key, one in _components(planned, judges, judgements).items():
        if one.design.n_judges < FEWEST_JUDGES or SYSTEM_JUDGE not in one.names:
            continue
        name, n = f"population of {len(judges)} judges", len(judges)
        shared = _about(planned, size, name, n, key)
        now, of_all = _design(one, size, planned, n), size.for_all_pairs(confidence)
        found = planned_population(one, now, cost, confidence, of_all, planned.target_difference)
        yield shared | {"estimand": JUDGES, "basis": STORED} | found


def _components(planned: PlannedDesign, judges: Sequence[str], judgements: pd.DataFrame) -> dict[Key, Components]:
    """Return the variance components of stored scores at the greatest length, by measure, criterion and length."""
    design = planned.design.model_copy(update={"judges": list(judges), "resamples": 0})
    stored = judgements[judgements["judge"].isin(judges) & (judgements["repeat"] < planned.repeats)]
    return {
        (measure, about["criterion"], about["n_utterances"]): found
        for measure, about, found in stored_components(stored, design)
    }


def _design(one: Components, size: Size, planned: PlannedDesign, n_judges: int) -> StudyDesign:
    pilot = one.design
    return StudyDesign(size.n_cases, n_judges, float(planned.repeats), pilot.n_dialogues, pilot.shared_cases)


def numbers(planned: PlannedDesign, judge: str, size: Size, judgements: pd.DataFrame) -> list[Number]:
    """Return the numbers to plan, from a judge's stored judgements, or else assumed.

    Args:
        planned: the protocol.
        judge: whose judgements.
        size: how many systems and cases the protocol will be about.
        judgements: what is stored of it, with the columns of `measures.item_values.COLUMNS` and `repeat`.
    """
    of_judge = judgements[(judgements["judge"] == judge) & (judgements["repeat"] < planned.repeats)]
    design = planned.design.model_copy(update={"judges": [judge]})
    assumed = list(_assumed(planned, size))
    stored = list(_stored(design, of_judge, planned.repeats)) if len(of_judge) else []
    return [number if number.contribution is not None else _instead(number, assumed) for number in stored] or assumed


class Number(NamedTuple):
    """One measure for comparing systems.

    Attributes:
        measure: what it is called.
        criterion, n_utterances: what it is of.
        contribution: of each stored case to each difference, shape [cases, pairs]; None where nothing is stored.
        spread: variance of what one case says of a difference.
        unpaired: the same if the two systems have different cases.
        note: what to know of it.
    """

    measure: str
    criterion: str | None
    n_utterances: int | None
    contribution: FloatArray | None
    spread: float
    unpaired: float
    note: str | None = None

    @property
    def is_share(self) -> bool:
        """Return whether it is a share of items, whose differences have their own test."""
        return self.measure in (PASS_RATE, WIN_OR_TIE) or self.measure.startswith("rate of ")


def _assumed(planned: PlannedDesign, size: Size) -> Iterator[Number]:
    """Yield the numbers to plan without stored judgements, with assumed spreads."""
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
        note = f"assumed: scores with standard deviation {0.25 * (high - low):g} within a system"
        yield number(MEAN, 2.0 * _SCORE_SPREAD * (high - low) ** 2, note, criterion)
    for criterion in criteria if "rates" in design.measures else []:
        yield number(RATE, share, _HALF, criterion)
    if "checklist" in design.measures:
        yield number(CHECKLIST, 2.0 * _SCORE_SPREAD, "assumed: scores with standard deviation 0.25 within a system")


def _stored(design: Design, judgements: pd.DataFrame, repeats: int) -> Iterator[Number]:
    """Yield the numbers at the greatest length."""
    longest = max(design.lengths, default=None)
    there = int(judgements["repeat"].max()) + 1
    note = f"as with the {there} repeats that are stored" if there < repeats else None
    own = [place for place, name in enumerate(systems_of(judgements, design)) if name != HUMAN]
    for measure in design.measures:
        if measure == "pass_rates_at_gt_length":  # one length of its own
            continue
        if measure == "ratings":
            yield from _ratings(design, judgements, note)
        for found in item_values(measure, judgements, design, {}):
            n_utterances = found.group.get("n_utterances")
            if longest in (None, n_utterances):
                value = found.complete()[own]
                contribution = contributions_of_means(value, found.cluster)
                key = (found.measure, found.group.get("criterion"), n_utterances)
                yield _number(key, contribution, _unpaired_variance(value), note)


def _ratings(design: Design, judgements: pd.DataFrame, note: str | None) -> Iterator[Number]:
    who = players(judgements, design)
    for group, rows in groups(judgements, design):
        if group["n_utterances"] == max(design.lengths, default=None):
            games = comparisons(rows, who).readable()
            note = "; ".join(filter(None, [note, ROUNDS if design.equal_pairs else None])) or None
            found = contributions_of_ratings(*games, len(who), design.elo.scale)
            yield _number((RATING, group["criterion"], group["n_utterances"]), found, None, note)


def _number(of: Key, contribution: FloatArray, unpaired: float | None, note: str | None) -> Number:
    there = len(contribution) > 1 and contribution.shape[1] > 0
    spread = float(np.median(contribution.var(axis=0, ddof=1))) if there else 0.0
    if not spread > 0.0:
        return Number(*of, None, math.nan, math.nan, note)
    return Number(*of, contribution, spread, spread if unpaired is None else unpaired, note)


def _unpaired_variance(value: FloatArray) -> float:
    """Return the variance of a difference of one item of a system and one of another."""
    known = [row[~np.isnan(row)] for row in value]
    return 2.0 * float(np.mean([row.var(ddof=1) for row in known if len(row) > 1] or [math.nan]))


def _instead(number: Number, assumed: list[Number]) -> Number:
    """Return assumptions for a number whose stored values are all equal."""
    of_measure = [one for one in assumed if one.measure == number.measure]
    alike = [one for one in of_measure if one.criterion == number.criterion] or of_measure or assumed
    note = f"{NO_DIFFERENCE}; {alike[0].note}"
    return alike[0]._replace(
        measure=number.measure, criterion=number.criterion, n_utterances=number.n_utterances, note=note
    )


def _of_judge(number: Number, size: Size, confidence: float, cost_of_case: float | None) -> Row:
    found, of_all = (_detectable(number, size, one) for one in (confidence, size.for_all_pairs(confidence)))
    more = clusters_to_halve(size.n_cases, confidence)
    return {
        "estimand": JUDGE,
        "n_labels": 0,
        **detectable_columns(found, of_all),
        "seeds_to_halve": more,
        "cost_of_seeds": None if more is None or cost_of_case is None else more * cost_of_case,
        "basis": ASSUMED if number.contribution is None else STORED,
        "note": number.note,
    }


def _detectable(number: Number, size: Size, confidence: float) -> Detectable:
    if number.contribution is None:
        return detectable(math.sqrt(number.spread / size.n_cases), size.n_cases - 1.0, confidence)
    each = simulated(number.contribution, size.n_cases, shares=number.is_share, confidence=confidence)
    return Detectable(*(np.asarray(np.nanmedian(one)) for one in each))


def _fewest_cases(number: Number, planned: PlannedDesign, target: float, cost_of_case: float | None) -> Row:
    """Return the fewest cases that detect the target difference by a judge of whose scores no components are known."""
    confidence = planned.design.confidence
    pilot = math.inf if number.contribution is None else len(number.contribution) - 1.0

    def smallest(n: int) -> float:
        found = detectable(math.sqrt(number.spread / n), n - 1.0, confidence)
        return float(found.smallest * for_pilot(pilot, n - 1.0, confidence))

    row: Row = {"target_difference": target}
    if not smallest(MOST_CASES) <= target:
        return row
    n = fewest(lambda n: smallest(n) <= target, 2, MOST_CASES)
    cost = None if cost_of_case is None else n * cost_of_case
    return row | {
        "cheapest_seeds": n,
        "cheapest_judges": 1,
        "cheapest_repeats": planned.repeats,
        "cost_of_cheapest": cost,
    }


class CaseCosts(NamedTuple):
    """What one more case costs, by judge; None if unknown.

    Attributes:
        whole: with all requests about it.
        judging: the part of this that is the judge's.
    """

    whole: Mapping[str, float | None] = MappingProxyType({})
    judging: Mapping[str, float | None] = MappingProxyType({})

    def of(self, judges: Sequence[str], repeats: int) -> Cost | None:
        """Return the prices of a case and of a mean judge's score of it; None if one is unknown, or all are free."""
        every, own = ([costs.get(judge) for judge in judges] for costs in self)
        known = [(one, other) for one, other in zip(every, own, strict=True) if one is not None and other is not None]
        if not judges or len(known) < len(judges) or not any(one for one, _ in known):
            return None
        score = sum(other for _, other in known) / len(known) / repeats
        return Cost(known[0][0] - known[0][1], score)


class PlannedDesign(BaseModel, defer_build=True):
    """A protocol about systems.

    Attributes:
        design: how its judgements come about.
        form: of its questions.
        repeats: number of repeats of each request.
        ends: lowest and highest score of each criterion.
        labelled: whether people label what it is about.
        target_difference: difference of two systems for which the cheapest design is sought; None to halve the
            interval.
    """

    design: Design
    form: Form
    repeats: int = 1
    ends: dict[str, tuple[float, float]] = {}
    labelled: bool = False
    target_difference: float | None = None


class Size(NamedTuple):
    """How many systems and cases a protocol is about."""

    n_systems: int
    n_cases: int

    @property
    def n_pairs(self) -> int:
        """Return the pairs of systems."""
        return self.n_systems * (self.n_systems - 1) // 2

    def for_all_pairs(self, confidence: float) -> float:
        """Return the confidence that a single pair needs at Holm's first step."""
        return 1.0 - (1.0 - confidence) / self.n_pairs


def chats_size(form: Form, opponent: str, seeds: pa.Table, n_chatbots: int) -> Size:
    """Return how many chatbots there will be on how many of the table `seeds`."""
    if form != "pair":
        return Size(n_chatbots, len(seeds))
    serves = pc.sum(seeds["for_gteval" if opponent == HUMAN else "for_arena"]).as_py() or 0
    beside = opponent not in (EACH_OTHER, HUMAN)
    return Size(n_chatbots - beside, serves)


def planned_size(requests: Path) -> Size:
    """Return the numbers of systems and cases in a table of requests."""
    rows = read_table(requests, REQUESTS, ["case_id", "item_id", "left", "right"])
    case = pc.coalesce(pc.if_else(pc.equal(rows["case_id"], ""), None, rows["case_id"]), rows["item_id"])
    systems = pc.unique(pa.chunked_array([*rows["left"].chunks, *rows["right"].chunks], pa.string())).drop_null()
    return Size(len(systems), len(pc.unique(case).drop_null()))
