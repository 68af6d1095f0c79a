"""Is one system better than another? Every number that a protocol's other measures give, compared pair by pair.

Systems that met the same cases are compared case by case, others as two samples; `note` says which where it is the
latter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from dialeval.aggregation.differences import Row, about, corrected, mean_rows
from dialeval.aggregation.head_to_head import HEAD_TO_HEAD, head_to_head
from dialeval.aggregation.measures.design import Design
from dialeval.aggregation.measures.grouping import groups, systems_of
from dialeval.aggregation.measures.values import values_of
from dialeval.aggregation.pairwise import comparisons
from dialeval.schemas.differences import scope
from dialeval.stats.differences import paired_differences
from dialeval.stats.means import MeanDifference, paired_mean_difference, unpaired_mean_difference
from dialeval.stats.unpaired import Side, unpaired_difference

COLUMNS = (
    "judge", "case_id", "corpus", "language", "item_id", "left", "right", "n_utterances", "criterion", "choice",
    "outcome", "place", "value", "scale_min", "scale_max", "status",
)  # fmt: skip
"""Columns of the table `judgements` that are needed."""
COMPARED = ("win_rates", "pass_rates", "pass_rates_at_gt_length", "means", "rates", "checklist")
"""Measures whose numbers are compared here, in the order of the table; ratings are compared where they are made."""
IN_ROUNDS = "asked until it was settled: adaptive_rounds says whether it is, and its p; this one is of a fixed design"
UNPAIRED = "the systems met different cases: compared as two samples"
_FEWEST_COMMON = 2
"""Cases that two systems must share to be compared case by case, unless all that one of them met are shared."""


def differences(judgements: pd.DataFrame, design: Design, human_lengths: dict[str, int]) -> list[Row]:
    """Returns the rows of a table `differences` but for ratings, p-values corrected within each family of pairs.

    Args:
        judgements: the protocol's table `judgements`, with the columns of `COLUMNS`.
        design: the protocol's design, whose other measures say what is compared.
        human_lengths: cases with a human dialogue that is long enough -> number of its utterances.
    """
    return corrected(
        row
        for measure in COMPARED
        if measure in design.measures
        for row in _of(measure, judgements, design, human_lengths)
    )


def _of(measure: str, judgements: pd.DataFrame, design: Design, human_lengths: dict[str, int]) -> Iterator[Row]:
    if measure == "win_rates" and design.reference is None:
        yield from _head_to_head(judgements, design)
    systems = systems_of(judgements, design)
    for found in values_of(measure, judgements, design, human_lengths):
        compared = _graded if found.graded else _shares
        yield from compared(found.value, found.cluster, systems, found.shared, design.confidence)


def _head_to_head(judgements: pd.DataFrame, design: Design) -> Iterator[Row]:
    systems = systems_of(judgements, design)
    for group, of in groups(judgements, design):
        shared = about("win_rates", HEAD_TO_HEAD, scope(group), group["judge"])
        for row in head_to_head(comparisons(of, systems), systems, shared):
            notes = [row["note"], IN_ROUNDS if design.equal_pairs else None]
            yield {**row, "note": "; ".join(filter(None, notes)) or None}


def _shares(
    values: np.ndarray, cluster: np.ndarray, systems: Sequence[str], shared: Row, confidence: float
) -> Iterator[Row]:
    """Yields a row per two systems whose shares are compared."""
    paired = {
        (row["first"], row["second"]): row
        for row in mean_rows(paired_differences(values, cluster, confidence=confidence), systems, shared)
    }
    for one, other, first, second, common in _pairs(values, cluster, systems):
        if common:
            yield paired[first, second]
            continue
        sides = [Side(values[k, here], cluster[here], np.zeros(here.sum())) for k in (one, other)
                 for here in [~np.isnan(values[k])]]  # fmt: skip
        yield _unpaired(unpaired_difference(*sides, confidence=confidence), first, second, shared)


def _graded(
    values: np.ndarray, cluster: np.ndarray, systems: Sequence[str], shared: Row, confidence: float
) -> Iterator[Row]:
    """Yields a row per two systems whose mean scores are compared."""
    for one, other, first, second, common in _pairs(values, cluster, systems):
        here, there = (~np.isnan(values[k]) for k in (one, other))
        if common:
            both = here & there
            scores = (values[one, both], values[other, both])
            row = paired_mean_difference(*scores, cluster[both], confidence=confidence)
            yield {**shared, "first": first, "second": second, **row._asdict(), "note": row.note or None}
            continue
        sides = [(values[k, side], cluster[side]) for k, side in ((one, here), (other, there))]
        yield _unpaired(unpaired_mean_difference(*sides, confidence=confidence), first, second, shared)


def _pairs(
    values: np.ndarray, cluster: np.ndarray, systems: Sequence[str]
) -> Iterator[tuple[int, int, str, str, bool]]:
    """Yields every two systems that have a value, and whether they have cases in common."""
    known = ~np.isnan(values)
    present = [number for number in range(len(systems)) if known[number].any()]
    for place, one in enumerate(present):
        for other in present[place + 1 :]:
            both = known[one] & known[other]
            n = int(both.sum())
            nested = n > 0 and n == min(int(known[one].sum()), int(known[other].sum()))
            yield one, other, systems[one], systems[other], nested or len(np.unique(cluster[both])) >= _FEWEST_COMMON


def _unpaired(found: MeanDifference, first: str, second: str, shared: Row) -> Row:
    note = "; ".join(filter(None, (UNPAIRED, found.note)))
    return {**shared, "first": first, "second": second, **found._asdict(), "note": note}
