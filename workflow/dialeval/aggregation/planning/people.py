"""What people's labels of a part will show with a judge's help, by earlier labels or as assumed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import BaseModel
from scipy.special import stdtrit

from dialeval.aggregation.planning.numbers import Number, PlannedDesign, Size
from dialeval.stats.power import PeopleDesign, more_to_halve

Row = dict[str, Any]
PEOPLE = "people"
STORED, LABELLED, ASSUMED = "stored judgements", "labels", "assumptions"
CORRELATION = 0.5
"""Of judge and people within a system, where no label tells it: that of a useful judge."""
_CORRECTED = {"share of yes": "checklist"}
NEVER_BY_LABELS = "labels alone cannot halve it: they would have to be more than there are dialogues or pairs"
NEVER_BY_SEEDS = "seeds alone cannot halve it: the labels are the limit"


class LabelPlan(BaseModel, defer_build=True):
    """How much people label.

    Attributes:
        n: dialogues of each system, or pairs in all, under each protocol.
        answers: how many annotators label each.
        price: of a label; None where nobody said it.
        target: new (cases) or these (dialogues).
        confidence: of the intervals.
    """

    n: int
    answers: int = 1
    price: float | None = None
    target: str = "new"
    confidence: float = 0.95


def of_people(
    planned: PlannedDesign,
    number: Number,
    shared: Row,
    size: Size,
    corrected: Sequence[Row],
    labels: LabelPlan,
    cost_of_case: Mapping[str, float | None],
) -> Row:
    """Returns what a row of the table `planning` says of people.

    Args:
        planned: the protocol.
        number: what is compared.
        shared: the columns that say what the row is about.
        size: how many systems and cases the protocol will be about.
        corrected: rows of the table `corrected` of an earlier run.
        labels: how much people label.
        cost_of_case: by judge, what a case more costs with all that is asked about it.
    """
    of_pairs = planned.form == "pair" and planned.design.reference is None
    per_case = size.n_pairs if of_pairs else size.n_systems
    total = per_case * size.n_cases
    n_labels = min(labels.n if planned.form == "pair" else labels.n * size.n_systems, total)
    people, basis, notes = _people(number, shared, per_case, of_pairs, corrected)
    people = people._replace(fixed=labels.target == "these", per_label=1.0 if of_pairs else float(size.n_systems))

    def by_labels(n: int) -> float:
        return people.half_width(n, total, labels.confidence)

    def by_seeds(n: int) -> float:
        return people.half_width(n_labels, per_case * n, labels.confidence)

    found = people.detectable(n_labels, total, labels.confidence)
    of_all = people.detectable(n_labels, total, size.for_all_pairs(labels.confidence))
    more_labels = more_to_halve(by_labels, n_labels, total - n_labels) if total > n_labels else None
    more_seeds = None if people.fixed else more_to_halve(by_seeds, size.n_cases)
    notes += [NEVER_BY_LABELS] if more_labels is None and total > n_labels else []
    notes += [NEVER_BY_SEEDS] if more_seeds is None and not people.fixed else []
    price, case = labels.price, cost_of_case.get(shared["judge"])
    cost_of_labels = None if more_labels is None or price is None else more_labels * labels.answers * price
    cost_of_seeds = None if more_seeds is None or case is None else more_seeds * case
    return {
        "what": PEOPLE,
        "n_labels": n_labels,
        "smallest_difference": float(found.smallest),
        "smallest_difference_holm": float(of_all.smallest),
        "half_width": float(found.half_width),
        "seeds_to_halve": more_seeds,
        "labels_to_halve": more_labels,
        "cost_of_seeds": cost_of_seeds,
        "cost_of_labels": cost_of_labels,
        "cheaper": _cheaper(more_seeds, more_labels, cost_of_seeds, cost_of_labels),
        "basis": basis,
        "note": "; ".join(filter(None, [number.note, *notes])) or None,
    }


def _people(
    number: Number, shared: Row, per_case: int, of_pairs: bool, corrected: Sequence[Row]
) -> tuple[PeopleDesign, str, list[str]]:
    """Returns how people's labels spread and how the judge goes with them, what that rests on, and what to know."""
    name, _, answer = _CORRECTED.get(number.measure, number.measure).partition(" of ")
    about = ("protocol", "criterion", "n_utterances", "judge")
    rows = [
        row
        for row in corrected
        if (row["measure"], row["answer"] or "", row["versus"]) == (name, answer, None)
        and all(row[column] == shared[column] for column in about)
    ]
    known = [row for row in rows if _known(row["people_low"], row["people_high"]) and row["n_labelled_seeds"] > 1]
    told = [row for row in known if _left(row) > 0.0]
    rho = [row["rho_within"] for row in rows if _known(row["rho_within"])]
    correlation = float(np.median(rho)) if rho else CORRELATION
    notes = [] if rho else [f"assumed: judge and people correlate by {CORRELATION:g} within a system"]
    if not told:
        basis, freedom = (
            (ASSUMED, math.inf) if number.contribution is None else (STORED, len(number.contribution) - 1.0)
        )
        spread = number.apart * per_case
        notes += ["people spread as the judge's scores do"] if number.contribution is not None else []
        return PeopleDesign(spread, correlation, pilot_freedom=freedom), basis, notes
    half = np.array([row["people_high"] - row["people_low"] for row in told]) / 2.0
    error = half / stdtrit(np.array([row["n_labelled_seeds"] - 1.0 for row in told]), 0.975)
    labelled = sum(row["n_labelled"] for row in told) / (2.0 if of_pairs else 1.0)
    square = float(np.mean(error**2 / np.array([_left(row) for row in told])))
    if of_pairs:  # ratings average one number over all systems, which takes its share of each one's variance
        square *= len(told) / max(len(told) - 1.0, 1.0)
    pilot = float(sum(row["n_labelled_seeds"] - 1.0 for row in told))
    return PeopleDesign(2.0 * square * labelled, correlation, pilot_freedom=pilot), LABELLED, notes


def _left(row: Row) -> float:
    """Returns what a draw without replacement leaves of the variance of labels drawn from no end of dialogues."""
    return 1.0 - row["n_labelled"] / row["n_total"] if row["target"] == "these" else 1.0


def _known(*numbers: float | None) -> bool:
    return all(number is not None and not math.isnan(number) for number in numbers)


def _cheaper(
    seeds: int | None, labels: int | None, cost_of_seeds: float | None, cost_of_labels: float | None
) -> str | None:
    if seeds is None or labels is None:
        return "labels" if labels is not None else "seeds" if seeds is not None else None
    if cost_of_seeds is None or cost_of_labels is None:
        return None
    return "labels" if cost_of_labels <= cost_of_seeds else "seeds"
