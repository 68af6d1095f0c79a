"""What a design can show, before it is run: the smallest difference of two systems, and what would halve its interval.

The judge's opinion is planned from its stored judgements, drawn anew with as many cases as are configured; people's,
which labels of a part tell with the judge's help, from earlier labels. Where nothing is stored, assumptions stand in.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dialeval.aggregation.planning.numbers import Number, PlannedDesign, Size, numbers
from dialeval.aggregation.planning.people import ASSUMED, STORED, LabelPlan, of_people
from dialeval.stats.power import Detectable, clusters_to_halve, detectable, simulated

Row = dict[str, Any]
JUDGE = "judge"


def plans(
    planned: PlannedDesign,
    size: Size,
    judgements: pd.DataFrame,
    corrected: Sequence[Row],
    labels: LabelPlan | None,
    cost_of_case: Mapping[str, float | None],
) -> list[Row]:
    """Returns the rows of a table `planning` about one protocol; none where there are no two systems or cases.

    Args:
        planned: the protocol.
        size: how many systems and cases it will be about.
        judgements: what is stored of it, with the columns of `measures.differences.COLUMNS` and `repeat`.
        corrected: rows of the table `corrected` about it, of an earlier run.
        labels: how much people label, or None.
        cost_of_case: by judge, what a case more costs with all that is asked about it.
    """
    if size.n_systems < 2 or size.n_cases < 2:
        return []
    rows = []
    for judge in planned.design.judges:
        for number in numbers(planned, judge, size, judgements):
            shared = {
                "protocol": planned.design.protocol,
                "criterion": number.criterion,
                "n_utterances": number.n_utterances,
                "judge": judge,
                "measure": number.measure,
                "n_systems": size.n_systems,
                "n_seeds": size.n_cases,
            }
            rows.append(shared | _of_judge(number, size, planned.design.confidence, cost_of_case.get(judge)))
            if labels is not None and planned.labelled:
                rows.append(shared | of_people(planned, number, shared, size, corrected, labels, cost_of_case))
    return rows


def _of_judge(number: Number, size: Size, confidence: float, cost_of_case: float | None) -> Row:
    found, of_all = (_detectable(number, size, one) for one in (confidence, size.for_all_pairs(confidence)))
    more = clusters_to_halve(size.n_cases, confidence)
    return {
        "what": JUDGE,
        "n_labels": 0,
        "smallest_difference": float(found.smallest),
        "smallest_difference_holm": float(of_all.smallest),
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
