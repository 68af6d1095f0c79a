"""Power of a protocol by human labels of a part, with the judge's help.

The spread of labels and their correlation with the judge follow from earlier labels. Where there are none, they rest on
assumptions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pydantic import BaseModel
from scipy.special import stdtrit

from dialeval.measures.variance_components import detectable_columns
from dialeval.planning.judge_power import (
    ASSUMED,
    RATING,
    STORED,
    CaseCosts,
    Number,
    PlannedDesign,
    Row,
    Size,
    judge_rows,
    population_rows,
)
from dialeval.stats.alternative_annotator import EPSILONS, FEWEST_ANNOTATORS, FEWEST_ITEMS, items_needed
from dialeval.stats.power import CASE, HumanLabelDesign, LabelStudy, cheapest_labels, more_to_halve
from dialeval.text import counted

PEOPLE, ANNOTATORS = "people", "annotators"
LABELLED = "labels"
DECIDED = 0.4
"""Share of items on which judge and annotator are not equally close to the others, where nothing is known."""
CORRELATION = 0.5
"""Of judge and people within a system, where no label tells it: that of a useful judge."""
_CORRECTED = {"share of yes": "checklist"}
NEVER_BY_LABELS = "more labels without more cases cannot halve the interval: too few dialogues or pairs"
NEVER_BY_SEEDS = "more cases without more labels cannot halve the interval: too few labels"
OTHER_ANNOTATORS = "over a population of annotators, of whom these are a sample"
MOST_CASES_OF_PEOPLE = 100_000
_SMALL = 1e-6
"""Price of a label where the fewest cases are sought, and among these the fewest labels."""
MOST_ANSWERS, MOST_ANNOTATORS = 3, 12
"""Of the designs among which the cheapest is sought: annotators of a dialogue, and in all."""


def plans(
    planned: PlannedDesign,
    size: Size,
    judgements: pd.DataFrame,
    costs: CaseCosts,
    labels: LabelPlan | None = None,
    earlier: EarlierLabels | None = None,
) -> Iterator[Row]:
    """Yield the rows of a table `planning` on one protocol; none without two systems or two cases.

    Args:
        planned: the protocol.
        size: how many systems and cases it will be about.
        judgements: what is stored of it, with the columns of `measures.item_values.COLUMNS` and `repeat`.
        costs: of a case more.
        labels: how much people label, or None.
        earlier: rows of tables on labels of an earlier run.
    """
    if size.n_systems < 2 or size.n_cases < 2:
        return
    for number, row in judge_rows(planned, size, judgements, costs):
        yield row
        if labels is not None and planned.labelled:
            case = costs.whole.get(row["judge"])
            for people in _of_people(planned, number, row["judge"], size, labels, case, earlier or EarlierLabels()):
                yield {name: row[name] for name in _SHARED} | people
    yield from population_rows(planned, size, judgements, costs)


_SHARED = ("protocol", "criterion", "n_utterances", "judge", "measure", "n_systems", "n_seeds", "n_judges")
"""Columns that say what a row is about."""


def _of_people(
    planned: PlannedDesign,
    number: Number,
    judge: str,
    size: Size,
    labels: LabelPlan,
    case: float | None,
    earlier: EarlierLabels,
) -> Iterator[Row]:
    """Yield columns of rows of the table `planning`: for these annotators, and for a population of annotators.

    The latter needs an earlier run in which three annotators labelled every dialogue. `case` is the cost of one more.
    """
    protocol = planned.design.protocol
    of_pairs = planned.form == "pair" and planned.design.reference is None
    per_case = size.n_pairs if of_pairs else size.n_systems
    total = per_case * size.n_cases
    n_labels = min(labels.n if planned.form == "pair" else labels.n * size.n_systems, total)
    annotated = _annotated([row for row in earlier.spread if row["protocol"] == protocol], number)
    corrected = [row for row in earlier.corrected if (row["protocol"], row["judge"]) == (protocol, judge)]
    people, basis, notes = _people(number, per_case, of_pairs, corrected, annotated)
    people = people._replace(fixed=labels.target == "given_cases", per_label=1.0 if of_pairs else float(size.n_systems))
    who: dict[str, Any] = {"answers": labels.answers, "n_annotators": labels.n_annotators} if annotated else {}

    def half_width(n: int, n_total: int) -> float:
        return people.detectable(n, n_total, labels.confidence, **who).half_width.item()

    for_all_pairs = size.for_all_pairs(labels.confidence)
    found = people.detectable(n_labels, total, labels.confidence, **who)
    of_all = people.detectable(n_labels, total, for_all_pairs, **who)
    more_labels = (
        more_to_halve(lambda n: half_width(n, total), n_labels, total - n_labels) if total > n_labels else None
    )
    more_seeds = None if people.fixed else more_to_halve(lambda n: half_width(n_labels, per_case * n), size.n_cases)
    notes += [_alternative_annotators(labels, n_labels, _decided(earlier.replacement, protocol, judge, number))]
    notes += [NEVER_BY_LABELS] if more_labels is None and total > n_labels else []
    notes += [NEVER_BY_SEEDS] if more_seeds is None and not people.fixed else []
    price = labels.price
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
        **detectable_columns(found, of_all),
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
            **detectable_columns(found, of_all),
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


def _annotated(rows: Sequence[Row], number: Number) -> HumanLabelDesign | None:
    """Return how labels of an earlier run spread, as parts of the variance of a dialogue's mean label within a system.

    `between` is the component system x annotator, divided by that variance; NaN if it is not identifiable. Spread and
    correlation are missing. None if the run has no such labels, or one annotator of each dialogue.

    Args:
        rows: of the protocol's table `labels/variance_components`.
        number: what is compared.
    """
    of_number = [row for row in rows if row["criterion"] == number.criterion]
    found = {row["component"]: row for row in of_number if row["statistic"] == "variance"}
    n_dialogues = max((row["n_levels"] for name, row in found.items() if name in _OF_DIALOGUES), default=0)
    if number.measure == RATING or not n_dialogues:
        return None
    variance = {name: max(row["estimate"] or 0.0, 0.0) for name, row in found.items()}
    first = next(iter(found.values()))
    answers, n_annotators = first["n"] / n_dialogues, max(float(first["n_annotators"]), 1.0)
    severity = sum(variance.get(name, 0.0) for name in _OF_ANNOTATORS)
    error = severity + sum(variance.get(name, 0.0) for name in _OF_LABELS)
    of_labels = error / answers - severity / max(n_annotators, answers)
    total = sum(variance.get(name, 0.0) for name in (CASE, *_OF_DIALOGUES)) + of_labels
    if not answers > 1.0 or not total > 0.0:
        return None
    shares = {"error": error / total, "severity_share": severity / total}
    between = variance.get(_OF_ANNOTATORS[1], math.nan) / total
    return HumanLabelDesign(math.nan, math.nan, answers=answers, annotators=n_annotators, **shares, between=between)


_OF_DIALOGUES = ("system x case", "dialogue")
_OF_ANNOTATORS = ("annotator", "system x annotator")
_OF_LABELS = ("case x annotator", "system x case x annotator", "repeat")
"""Components of the variance of a label within a system: of dialogues, annotators, and annotators on one dialogue."""


def _people(
    number: Number, per_case: int, of_pairs: bool, corrected: Sequence[Row], annotated: HumanLabelDesign | None
) -> tuple[HumanLabelDesign, str, list[str]]:
    """Return the variance of labels, their correlation with the judge, the source of both, and notes.

    `corrected` are the rows of `labels/estimates` of protocol and judge.
    """
    name, _, answer = _CORRECTED.get(number.measure, number.measure).partition(" of ")
    about = name, answer, None, number.criterion, number.n_utterances
    rows = [
        row
        for row in corrected
        if (row["measure"], row["answer"] or "", row["opponent"], row["criterion"], row["n_utterances"]) == about
    ]
    disagreement = annotated.of_labels(annotated.answers, annotated.annotators) if annotated else 0.0
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
    spread = 2.0 * square * labelled
    found = HumanLabelDesign(spread, correlation)
    if annotated is not None and not of_pairs:
        between = float(np.nan_to_num(annotated.between)) * spread / per_case
        found = annotated._replace(spread=spread, correlation=correlation, between=between)
    return found._replace(pilot_freedom=pilot), LABELLED, notes


def _decided(replacement: Sequence[Row], protocol: str, judge: str, number: Number) -> float | None:
    """Return the share of items that decide between judge and annotator in earlier labels; None if unknown."""
    about = protocol, judge, number.criterion
    found = [
        row["decided"]
        for row in replacement
        if (row["protocol"], row["judge"], row["criterion"]) == about and row["annotator"] is None
    ]
    return next((share for share in found if _known(share)), None)


def _alternative_annotators(labels: LabelPlan, n_labels: int, decided: float | None) -> str:
    """Return the annotators and items that the alternative annotator test needs, and whether the plan has them."""
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
        f"({source}). The design has {counted(labels.n_annotators, 'annotator')} with about {each:,} items each"
        + (f": enough for {', '.join(enough)}" if enough else ", too few")
    )


_KINDS = {"crowd": "crowd workers", "skilled": "skilled annotators", "expert": "experts"}


def _known(*numbers: float | None) -> bool:
    return all(number is not None and not math.isnan(number) for number in numbers)


def _left(row: Row, error: float = 0.0) -> float:
    """Return the factor of the variance that remains in a sample without replacement.

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
        corrected: of `labels/estimates`.
        spread: of `labels/variance_components`.
        replacement: of `labels/replacement`.
    """

    corrected: Sequence[Row] = ()
    spread: Sequence[Row] = ()
    replacement: Sequence[Row] = ()
