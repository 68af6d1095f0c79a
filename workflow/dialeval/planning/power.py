"""Power of a protocol before it is run: smallest detectable differences by a judge and by human labels.

The judge's opinion is planned from its stored judgements, drawn anew with as many cases as are configured; people's,
which labels of a part tell with the judge's help, from earlier labels. Where nothing is stored, assumptions stand in.
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
from scipy.special import stdtrit

from dialeval.config.protocol_settings import EACH_OTHER
from dialeval.measures.design import Design, comparisons, groups, systems_of
from dialeval.measures.item_values import item_values
from dialeval.measures.ratings import players
from dialeval.measures.variance_components import cheapest_columns, planned_population, stored_components
from dialeval.stats.alternative_annotator import EPSILONS, FEWEST_ANNOTATORS, FEWEST_ITEMS, items_needed
from dialeval.stats.arrays import FloatArray
from dialeval.stats.differences import FEWEST_JUDGES
from dialeval.stats.power import (
    CASE,
    SYSTEM_JUDGE,
    Cost,
    Detectable,
    HumanLabelDesign,
    LabelStudy,
    StudyDesign,
    cheapest_labels,
    clusters_to_halve,
    contributions_of_means,
    contributions_of_ratings,
    detectable,
    fewest,
    for_pilot,
    more_to_halve,
    simulated,
)
from dialeval.stats.variance_components import Components
from dialeval.tables.dialogues import REQUESTS, Form
from dialeval.tables.files import HUMAN, read_table
from dialeval.text import counted

RATING, MEAN, PASS_RATE, RATE, CHECKLIST = "rating", "mean", "pass_rate", "rate of Yes", "share of yes"
WIN_OR_TIE = "win_or_tie"
_SHARE_SPREAD = 0.25
_SCORE_SPREAD = 0.25**2
"""Variance of a score on a scale from 0 to 1: its standard deviation is a quarter of the scale."""
_HALF = "assumed: shares near one half"
ROUNDS = "assuming that all pairs are compared on all cases"
NO_DIFFERENCE = "all stored scores are equal"
Row = dict[str, Any]
PEOPLE = "people"
STORED, LABELLED, ASSUMED = "stored judgements", "labels", "assumptions"
DECIDED = 0.4
"""Share of items on which judge and annotator are not equally close to the others, where nothing is known."""
CORRELATION = 0.5
"""Of judge and people within a system, where no label tells it: that of a useful judge."""
_CORRECTED = {"share of yes": "checklist"}
NEVER_BY_LABELS = "more labels without more cases cannot halve the interval: too few dialogues or pairs"
NEVER_BY_SEEDS = "more cases without more labels cannot halve the interval: too few labels"
JUDGE, JUDGES, ANNOTATORS = "judge", "judges", "annotators"
OTHER_ANNOTATORS = "over a population of annotators, of whom these are a sample"
MOST_CASES, MOST_CASES_OF_PEOPLE = 1_000_000, 100_000
_SMALL = 1e-6
"""Price of a label where the fewest cases are sought, and among these the fewest labels."""
MOST_ANSWERS, MOST_ANNOTATORS = 3, 12
"""Of the designs among which the cheapest is sought: annotators of a dialogue, and in all."""
NO_PRICES: Mapping[str, float | None] = MappingProxyType({})


def plans(
    planned: PlannedDesign,
    size: Size,
    judgements: pd.DataFrame,
    corrected: Sequence[Row],
    labels: LabelPlan | None,
    cost_of_case: Mapping[str, float | None],
    judging_of_case: Mapping[str, float | None] = NO_PRICES,
    earlier: EarlierLabels | None = None,
) -> list[Row]:
    """Returns the rows of a table `planning` on one protocol; none without two systems or two cases.

    Args:
        planned: the protocol.
        size: how many systems and cases it will be about.
        judgements: what is stored of it, with the columns of `measures.item_values.COLUMNS` and `repeat`.
        corrected: rows of the table `corrected` about it, of an earlier run.
        labels: how much people label, or None.
        cost_of_case: by judge, what a case more costs with all requests about it.
        judging_of_case: by judge, the part of this that is the judge's.
        earlier: rows of further tables on labels of an earlier run.
    """
    if size.n_systems < 2 or size.n_cases < 2:
        return []
    rows = []
    for judge in planned.design.judges:
        found = _components(planned, [judge], judgements)
        for number in numbers(planned, judge, size, judgements):
            shared = {
                "protocol": planned.design.protocol,
                "criterion": number.criterion,
                "n_utterances": number.n_utterances,
                "judge": judge,
                "measure": number.measure,
                "n_systems": size.n_systems,
                "n_seeds": size.n_cases,
                "n_judges": 1,
            }
            one = found.get((number.measure, number.criterion, number.n_utterances))
            cost = _cost(planned, [judge], cost_of_case, judging_of_case)
            now = None if one is None else _design(one, size, planned, 1)
            row = shared | _of_judge(number, size, planned.design.confidence, cost_of_case.get(judge))
            if one and now:
                row |= cheapest_columns(one, now, cost, planned.design.confidence, planned.target_difference)
            elif planned.target_difference is not None:
                row |= _fewest_cases(number, size, planned, cost_of_case.get(judge))
            rows.append(row)
            if labels is not None and planned.labelled:
                about = planned, number, shared, size, corrected, labels, cost_of_case, earlier or EarlierLabels()
                rows += [shared | row for row in of_people(*about)]
    judges = [one for one in planned.design.judges if one not in planned.design.derived_judges]
    cost = _cost(planned, judges, cost_of_case, judging_of_case)
    return [*rows, *_of_population(planned, size, judgements, judges, cost)]


def _components(
    planned: PlannedDesign, judges: Sequence[str], judgements: pd.DataFrame
) -> dict[tuple[str, str | None, int | None], Components]:
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


def _cost(
    planned: PlannedDesign,
    judges: Sequence[str],
    cost_of_case: Mapping[str, float | None],
    judging_of_case: Mapping[str, float | None],
) -> Cost | None:
    """Return the prices of a case and of a mean judge's scores of it; None if one is unknown, or all are free."""
    every, own = ([costs.get(judge) for judge in judges] for costs in (cost_of_case, judging_of_case))
    known = [(one, other) for one, other in zip(every, own, strict=True) if one is not None and other is not None]
    if not judges or len(known) < len(judges) or not any(one for one, _ in known):
        return None
    score = sum(other for _, other in known) / len(known) / planned.repeats
    return Cost(known[0][0] - known[0][1], score)


def _of_population(
    planned: PlannedDesign, size: Size, judgements: pd.DataFrame, judges: Sequence[str], cost: Cost | None
) -> Iterator[Row]:
    """Yield a row for each number whose stored scores are of enough judges to be a sample of them."""
    confidence = planned.design.confidence
    for (measure, criterion, n_utterances), one in _components(planned, judges, judgements).items():
        if one.design.n_judges < FEWEST_JUDGES or SYSTEM_JUDGE not in one.names:
            continue
        shared = {
            "protocol": planned.design.protocol,
            "criterion": criterion,
            "n_utterances": n_utterances,
            "judge": f"population of {len(judges)} judges",
            "measure": measure,
            "n_systems": size.n_systems,
            "n_seeds": size.n_cases,
            "n_judges": len(judges),
        }
        now, of_all = _design(one, size, planned, len(judges)), size.for_all_pairs(confidence)
        found = planned_population(one, now, cost, confidence, of_all, planned.target_difference)
        yield shared | {"estimand": JUDGES, "basis": STORED} | found


def numbers(planned: PlannedDesign, judge: str, size: Size, judgements: pd.DataFrame) -> list[Number]:
    """Returns the numbers to plan, from a judge's stored judgements, or else assumed.

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
    """Yields the numbers to plan without stored judgements, with assumed spreads."""
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


def _number(
    of: tuple[str, str | None, int | None], contribution: FloatArray, unpaired: float | None, note: str | None
) -> Number:
    there = len(contribution) > 1 and contribution.shape[1] > 0
    spread = float(np.median(contribution.var(axis=0, ddof=1))) if there else 0.0
    if not spread > 0.0:
        return Number(*of, None, math.nan, math.nan, note)
    return Number(*of, contribution, spread, spread if unpaired is None else unpaired, note)


def _unpaired_variance(value: FloatArray) -> float:
    """Returns the variance of a difference of one item of a system and one of another."""
    known = [row[~np.isnan(row)] for row in value]
    return 2.0 * float(np.mean([row.var(ddof=1) for row in known if len(row) > 1] or [math.nan]))


def _instead(number: Number, assumed: list[Number]) -> Number:
    """Returns assumptions for a number whose stored values are all equal."""
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
        "min_detectable_difference": float(found.smallest),
        "min_detectable_difference_holm": float(of_all.smallest),
        "half_width": float(found.half_width),
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


def _fewest_cases(number: Number, size: Size, planned: PlannedDesign, cost_of_case: float | None) -> Row:
    """Return the fewest cases that detect the target difference by a judge of whose scores no components are known."""
    confidence, target = planned.design.confidence, planned.target_difference
    pilot = math.inf if number.contribution is None else len(number.contribution) - 1.0

    def smallest(n: int) -> float:
        found = detectable(math.sqrt(number.spread / n), n - 1.0, confidence)
        return float(found.smallest * for_pilot(pilot, n - 1.0, confidence))

    row: Row = {"target_difference": target}
    if target is None or not smallest(MOST_CASES) <= target:
        return row
    n = fewest(lambda n: smallest(n) <= target, 2, MOST_CASES)
    cost = None if cost_of_case is None else n * cost_of_case
    return row | {
        "cheapest_seeds": n,
        "cheapest_judges": 1,
        "cheapest_repeats": planned.repeats,
        "cost_of_cheapest": cost,
    }


def of_people(
    planned: PlannedDesign,
    number: Number,
    shared: Row,
    size: Size,
    corrected: Sequence[Row],
    labels: LabelPlan,
    cost_of_case: Mapping[str, float | None],
    earlier: EarlierLabels,
) -> Iterator[Row]:
    """Yields columns of rows of the table `planning`: for these annotators, and for a population of annotators.

    The latter needs an earlier run in which three annotators labelled every dialogue.

    Args:
        planned: the protocol.
        number: what is compared.
        shared: the columns that say what the row is about.
        size: how many systems and cases the protocol will be about.
        corrected: rows of the table `corrected` of an earlier run.
        labels: how much people label.
        cost_of_case: by judge, what a case more costs with all requests about it.
        earlier: rows of further tables on labels of an earlier run.
    """
    of_pairs = planned.form == "pair" and planned.design.reference is None
    per_case = size.n_pairs if of_pairs else size.n_systems
    total = per_case * size.n_cases
    n_labels = min(labels.n if planned.form == "pair" else labels.n * size.n_systems, total)
    annotated = _Annotated.of(earlier.spread, number, shared)
    people, basis, notes = _people(number, shared, per_case, of_pairs, corrected, annotated)
    people = people._replace(fixed=labels.target == "given_cases", per_label=1.0 if of_pairs else float(size.n_systems))
    who: dict[str, Any] = {"answers": labels.answers, "n_annotators": labels.n_annotators} if annotated else {}

    def half_width(n: int, n_total: int) -> float:
        return people.detectable(n, n_total, labels.confidence, **who).half_width.item()

    def by_labels(n: int) -> float:
        return half_width(n, total)

    def by_seeds(n: int) -> float:
        return half_width(n_labels, per_case * n)

    for_all_pairs = size.for_all_pairs(labels.confidence)
    found = people.detectable(n_labels, total, labels.confidence, **who)
    of_all = people.detectable(n_labels, total, for_all_pairs, **who)
    more_labels = more_to_halve(by_labels, n_labels, total - n_labels) if total > n_labels else None
    more_seeds = None if people.fixed else more_to_halve(by_seeds, size.n_cases)
    notes += [_alternative_annotators(labels, n_labels, _decided(earlier.replacement, number, shared))]
    notes += [NEVER_BY_LABELS] if more_labels is None and total > n_labels else []
    notes += [NEVER_BY_SEEDS] if more_seeds is None and not people.fixed else []
    price, case = labels.price, cost_of_case.get(shared["judge"])
    cost_of_labels = None if more_labels is None or price is None else more_labels * labels.answers * price
    cost_of_seeds = None if more_seeds is None or case is None else more_seeds * case
    prices = price, case

    def cheapest(annotators: Sequence[int], *, of_population: bool) -> Row:
        each = range(1, MOST_ANSWERS + 1) if annotated is not None and annotated.error > 0.0 else (labels.answers,)
        among = each, annotators, of_population
        return _cheapest_labels(people, planned.target_difference, labels, among, prices, per_case, size)

    yield {
        **cheapest((max(labels.n_annotators, labels.answers),), of_population=False),
        "estimand": PEOPLE,
        "n_labels": n_labels,
        "min_detectable_difference": float(found.smallest),
        "min_detectable_difference_holm": float(of_all.smallest),
        "half_width": float(found.half_width),
        "seeds_to_halve": more_seeds,
        "labels_to_halve": more_labels,
        "cost_of_seeds": cost_of_seeds,
        "cost_of_labels": cost_of_labels,
        "cheaper": _cheaper(more_seeds, more_labels, cost_of_seeds, cost_of_labels),
        "basis": basis,
        "note": "; ".join(filter(None, [number.note, *notes])) or None,
    }
    if people.between > 0.0 and labels.n_annotators >= FEWEST_ANNOTATORS:
        found, of_all = (
            people.detectable(n_labels, total, level, **who, of_population=True)
            for level in (labels.confidence, for_all_pairs)
        )
        yield {
            **cheapest(range(FEWEST_ANNOTATORS, MOST_ANNOTATORS + 1), of_population=True),
            "estimand": ANNOTATORS,
            "n_labels": n_labels,
            "n_annotators": labels.n_annotators,
            "min_detectable_difference": float(found.smallest),
            "min_detectable_difference_holm": float(of_all.smallest),
            "half_width": float(found.half_width),
            "basis": basis,
            "note": OTHER_ANNOTATORS,
        }


def _cheapest_labels(
    people: HumanLabelDesign,
    target: float | None,
    labels: LabelPlan,
    among: tuple[Sequence[int], Sequence[int], bool],
    prices: tuple[float | None, float | None],
    per_case: int,
    size: Size,
) -> Row:
    """Return the columns about the cheapest labels and cases that detect the target difference.

    `among` are the numbers of annotators of a dialogue and in all, and whether they are a sample. Without
    both prices the number of cases stays as configured if it is enough, else it is the smallest one. If the interval is
    about these dialogues, it stays.
    """
    if target is None:
        return {}
    label, case = prices
    configured, unit = per_case * size.n_cases, int(people.per_label)
    any_number = 2 * unit, max(MOST_CASES_OF_PEOPLE * unit, configured)

    def cheapest(price_of_label: float, price_of_total: float, totals: tuple[int, int]) -> LabelStudy | None:
        return cheapest_labels(
            people,
            target,
            price_of_label=price_of_label,
            price_of_total=price_of_total,
            totals=totals,
            answers=among[0],
            annotators=among[1],
            of_population=among[2],
            unit=unit,
            confidence=labels.confidence,
        )

    if people.fixed or label is None or case is None:
        found = cheapest(1.0, 0.0, (configured, configured))
        if found is None and not people.fixed:
            found = cheapest(_SMALL, 1.0, any_number)
    else:
        found = cheapest(label, case / per_case, any_number)
    row: Row = {"target_difference": target}
    if found is None:
        return row
    n_cases = math.ceil(found.n_total / per_case)
    known = None if label is None or case is None else found.n_labels * found.answers * label + n_cases * case
    return row | {
        "cheapest_seeds": n_cases,
        "cheapest_labels": found.n_labels,
        "cheapest_answers": found.answers,
        "cheapest_annotators": found.n_annotators,
        "cost_of_cheapest": known,
    }


class _Annotated(NamedTuple):
    """How labels of an earlier run spread, as parts of the variance of a dialogue's mean label within a system.

    Attributes:
        answers, annotators: annotators of a dialogue (the mean), and in all.
        error, harshness: as of `HumanLabelDesign`.
        between: component system x annotator, divided by that variance; NaN if it is not identifiable.
    """

    answers: float
    annotators: float
    error: float
    harshness: float
    between: float

    @classmethod
    def of(cls, rows: Sequence[Row], number: Number, shared: Row) -> _Annotated | None:
        """Return the parts for a number; None if the run has no such labels, or one annotator of each dialogue."""
        about = shared["protocol"], number.criterion
        of_number = [row for row in rows if (row["protocol"], row["criterion"]) == about]
        found = {row["component"]: row for row in of_number if row["statistic"] == "variance"}
        n_dialogues = max((row["n_levels"] for name, row in found.items() if name in _OF_DIALOGUES), default=0)
        if number.measure == RATING or not n_dialogues:
            return None
        variance = {name: max(row["estimate"] or 0.0, 0.0) for name, row in found.items()}
        first = next(iter(found.values()))
        answers, n_annotators = first["n"] / n_dialogues, max(float(first["n_annotators"]), 1.0)
        harshness = sum(variance.get(name, 0.0) for name in _OF_ANNOTATORS)
        error = harshness + sum(variance.get(name, 0.0) for name in _OF_LABELS)
        of_labels = error / answers - harshness / max(n_annotators, answers)
        total = sum(variance.get(name, 0.0) for name in (CASE, *_OF_DIALOGUES)) + of_labels
        if not answers > 1.0 or not total > 0.0:
            return None
        between = variance.get(_OF_ANNOTATORS[1], math.nan)
        return cls(answers, n_annotators, error / total, harshness / total, between / total)

    @property
    def of_labels(self) -> float:
        """Return the variance of a dialogue's mean label among annotators, as a share of the variance."""
        return self.error / self.answers - self.harshness / max(self.annotators, self.answers)


_OF_DIALOGUES = ("system x case", "dialogue")
_OF_ANNOTATORS = ("annotator", "system x annotator")
_OF_LABELS = ("case x annotator", "system x case x annotator", "repeat")
"""Components of the variance of a label within a system: of dialogues, annotators, and annotators on one dialogue."""


def _people(
    number: Number,
    shared: Row,
    per_case: int,
    of_pairs: bool,
    corrected: Sequence[Row],
    annotated: _Annotated | None = None,
) -> tuple[HumanLabelDesign, str, list[str]]:
    """Returns the variance of labels, their correlation with the judge, the source of both, and notes."""
    name, _, answer = _CORRECTED.get(number.measure, number.measure).partition(" of ")
    columns = ("protocol", "criterion", "n_utterances", "judge")
    rows = [
        row
        for row in corrected
        if (row["measure"], row["answer"] or "", row["opponent"]) == (name, answer, None)
        and all(row[column] == shared[column] for column in columns)
    ]
    disagreement = annotated.of_labels if annotated else 0.0
    known = [
        row
        for row in rows
        if _known(row["human_only_ci_low"], row["human_only_ci_high"]) and row["n_labelled_seeds"] > 1
    ]
    informative = [row for row in known if _left(row, disagreement) > 0.0]
    rho = [row["rho_within"] for row in rows if _known(row["rho_within"])]
    correlation = float(np.median(rho)) if rho else CORRELATION
    notes = [] if rho else [f"assumed: judge and annotators correlate by {CORRELATION:g} within a system"]
    if not informative:
        basis, freedom = (
            (ASSUMED, math.inf) if number.contribution is None else (STORED, len(number.contribution) - 1.0)
        )
        spread = number.unpaired * per_case
        notes += ["assumed: labels have the variance of the judge's scores"] if number.contribution is not None else []
        return HumanLabelDesign(spread, correlation, pilot_freedom=freedom), basis, notes
    half = np.array([row["human_only_ci_high"] - row["human_only_ci_low"] for row in informative]) / 2.0
    error = half / stdtrit(np.array([row["n_labelled_seeds"] - 1.0 for row in informative]), 0.975)
    labelled = sum(row["n_labelled"] for row in informative) / (2.0 if of_pairs else 1.0)
    square = float(np.mean(error**2 / np.array([_left(row, disagreement) for row in informative])))
    if of_pairs:  # ratings average one number over all systems, which takes its share of each one's variance
        square *= len(informative) / max(len(informative) - 1.0, 1.0)
    pilot = float(sum(row["n_labelled_seeds"] - 1.0 for row in informative))
    found = HumanLabelDesign(2.0 * square * labelled, correlation, pilot_freedom=pilot)
    if annotated is not None and not of_pairs:
        between = float(np.nan_to_num(annotated.between)) * found.spread / per_case
        found = found._replace(**annotated._asdict() | {"between": between})
    return found, LABELLED, notes


def _decided(replacement: Sequence[Row], number: Number, shared: Row) -> float | None:
    """Return the share of items that decide between judge and annotator in earlier labels; None if unknown."""
    about = shared["protocol"], shared["judge"], number.criterion
    found = [
        row["decided"]
        for row in replacement
        if (row["protocol"], row["judge"], row["criterion"]) == about and row["annotator"] is None
    ]
    return next((share for share in found if _known(share)), None)


def _alternative_annotators(labels: LabelPlan, n_labels: int, decided: float | None) -> str:
    """Returns the annotators and items that the alternative annotator test needs, and whether the plan has them."""
    each = n_labels * labels.answers // max(labels.n_annotators, 1)
    most = max(labels.n_annotators, FEWEST_ANNOTATORS)
    share, source = (DECIDED, "assumed") if decided is None else (decided, "in earlier labels")
    items = {name: items_needed(epsilon, share, most) for name, epsilon in EPSILONS.items()}
    words = ", ".join(f"{n:,} ({_KINDS[name]}, margin {EPSILONS[name]:g})" for name, n in items.items())
    tested = labels.n_annotators >= FEWEST_ANNOTATORS and labels.answers > 1
    enough = [_KINDS[name] for name, n in items.items() if tested and each >= n]
    return (
        f"the alternative annotator test (may a judge replace annotators?) needs {FEWEST_ANNOTATORS} annotators "
        f"with {FEWEST_ITEMS} common items each. With {most} annotators, a judge as good as they are passes with 80% "
        f"probability if each annotator has at least this number of items: {words}; the items must be in different "
        f"cases. The number depends on the share of items that decide between judge and annotator, {share:.0%} "
        f"({source}). The design has "
        f"{counted(labels.n_annotators, 'annotator')} with about {each:,} items each"
        + (f": enough for {', '.join(enough)}" if enough else ", too few")
    )


_KINDS = {"crowd": "crowd workers", "skilled": "skilled annotators", "expert": "experts"}


def _known(*numbers: float | None) -> bool:
    return all(number is not None and not math.isnan(number) for number in numbers)


def _left(row: Row, error: float = 0.0) -> float:
    """Returns the factor of the variance that remains in a sample without replacement.

    The share `error` of the variance, which is disagreement of annotators, remains in full.
    """
    return 1.0 - (1.0 - error) * row["n_labelled"] / row["n_total"] if row["target"] == "given_cases" else 1.0


def _cheaper(
    seeds: int | None, labels: int | None, cost_of_seeds: float | None, cost_of_labels: float | None
) -> str | None:
    if seeds is None or labels is None:
        return "labels" if labels is not None else "seeds" if seeds is not None else None
    if cost_of_seeds is None or cost_of_labels is None:
        return None
    return "labels" if cost_of_labels <= cost_of_seeds else "seeds"


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


class LabelPlan(BaseModel, defer_build=True):
    """How much people label.

    Attributes:
        n: dialogues of each system, or pairs in all, under each protocol.
        answers: how many annotators label each.
        n_annotators: how many annotators there are.
        price: of a label; None if not configured.
        target: new_cases or given_cases.
        confidence: of the intervals.
    """

    n: int
    answers: int = 1
    n_annotators: int = 1
    price: float | None = None
    target: str = "new_cases"
    confidence: float = 0.95


class EarlierLabels(NamedTuple):
    """Rows of tables on labels of an earlier run.

    Attributes:
        spread: of `labels/variance_components`.
        replacement: of `labels/replacement`.
    """

    spread: Sequence[Row] = ()
    replacement: Sequence[Row] = ()


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
    """Returns how many chatbots there will be on how many of the table `seeds`."""
    if form != "pair":
        return Size(n_chatbots, len(seeds))
    serves = pc.sum(seeds["for_gteval" if opponent == HUMAN else "for_arena"]).as_py() or 0
    beside = opponent not in (EACH_OTHER, HUMAN)
    return Size(n_chatbots - beside, serves)


def planned_size(requests: Path) -> Size:
    """Returns the numbers of systems and cases in a table of requests."""
    rows = read_table(requests, REQUESTS, ["case_id", "item_id", "left", "right"])
    case = pc.coalesce(pc.if_else(pc.equal(rows["case_id"], ""), None, rows["case_id"]), rows["item_id"])
    systems = pc.unique(pa.chunked_array([*rows["left"].chunks, *rows["right"].chunks], pa.string())).drop_null()
    return Size(len(systems), len(pc.unique(case).drop_null()))
