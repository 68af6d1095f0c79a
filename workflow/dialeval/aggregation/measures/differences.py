"""Is one system better than another? Every number that a protocol's other measures give, compared pair by pair.

Systems that met the same cases are compared case by case, others as two samples; `note` says which where it is the
latter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd

from dialeval.aggregation.differences import Row, about, corrected, mean_rows
from dialeval.aggregation.head_to_head import HEAD_TO_HEAD, head_to_head
from dialeval.aggregation.measures.checklist import listed
from dialeval.aggregation.measures.design import Design
from dialeval.aggregation.measures.grouping import by_criterion, groups, item_means, lengths_of, systems_of
from dialeval.aggregation.measures.passes import at_human_length, long_enough, passed
from dialeval.aggregation.measures.rates import answers, given
from dialeval.aggregation.measures.ratings import players, rated
from dialeval.aggregation.measures.scores import Scores, labels_of, read_values, scores_of
from dialeval.aggregation.pairwise import cases, comparisons
from dialeval.aggregation.ratings import rating_differences
from dialeval.aggregation.words import Words
from dialeval.schemas.differences import scope
from dialeval.stats.differences import paired_differences
from dialeval.stats.means import MeanDifference, paired_mean_difference, unpaired_mean_difference
from dialeval.stats.unpaired import Side, UnpairedDifference, unpaired_difference

COLUMNS = (
    "judge", "case_id", "corpus", "language", "item_id", "left", "right", "n_utterances", "criterion", "choice",
    "outcome", "place", "value", "scale_min", "scale_max", "status",
)  # fmt: skip
"""Columns of the table `judgements` that are needed."""
UNPAIRED = "the systems met different cases: compared as two samples"
_FEWEST_COMMON = 2
"""Cases that two systems must share to be compared case by case, unless all that one of them met are shared."""


def differences(judgements: pd.DataFrame, design: Design, words: Words, human_lengths: dict[str, int]) -> list[Row]:
    """Returns the rows of a table `differences`, p-values corrected within each family of pairs.

    Args:
        judgements: the protocol's table `judgements`, with the columns of `COLUMNS`.
        design: the protocol's design, whose other measures say what is compared.
        words: lengths of the dialogues, for ratings that hold length fixed.
        human_lengths: cases with a human dialogue that is long enough -> number of its utterances.
    """
    kinds: dict[str, Callable[[], Iterator[Row]]] = {
        "ratings": lambda: _of_ratings(judgements, design, words),
        "win_rates": lambda: _of_win_rates(judgements, design),
        "pass_rates": lambda: _of_pass_rates(judgements, design),
        "pass_rates_at_gt_length": lambda: _at_human_length(judgements, design, human_lengths),
        "means": lambda: _of_means(judgements, design),
        "rates": lambda: _of_rates(judgements, design),
        "checklist": lambda: _of_checklists(judgements, design),
    }
    return corrected(row for measure, rows in kinds.items() if measure in design.measures for row in rows())


def _of_ratings(judgements: pd.DataFrame, design: Design, words: Words) -> Iterator[Row]:
    systems = players(judgements, design)
    for group, of in groups(judgements, design):
        found = rated(of, systems, design, words)
        yield from rating_differences(found, systems, "ratings", scope(group), group["judge"])


def _of_win_rates(judgements: pd.DataFrame, design: Design) -> Iterator[Row]:
    """Yields head-to-head differences, or, of systems that are shown beside one, those of winning or tying with it."""
    systems = systems_of(judgements, design)
    for group, of in groups(judgements, design):
        if design.reference is None:
            shared = about("win_rates", HEAD_TO_HEAD, scope(group), group["judge"])
            yield from head_to_head(comparisons(of, systems), systems, shared)
            continue
        games = comparisons(of, [*systems, design.reference])
        first = games.left < len(systems)
        outcome = np.where(first, games.outcome, 1.0 - games.outcome)
        held = np.where(np.isnan(outcome), 0.0, outcome >= 0.5)
        system = np.where(first, games.left, games.right)
        values, cluster = item_means(held, system, len(systems), 2 * games.cluster + first, games.cluster)
        shared = about("win_rates", "win_or_tie", scope(group), group["judge"])
        yield from _shares(values, cluster, systems, shared, design.confidence)


def _of_pass_rates(judgements: pd.DataFrame, design: Design) -> Iterator[Row]:
    for group, of in by_criterion(judgements, design):
        for n in lengths_of(design):
            shared = about("pass_rates", "pass_rate", scope({**group, "n_utterances": n}), group["judge"])
            yield from _passes(*long_enough(of, n), systems_of(judgements, design), shared, design.confidence)


def _at_human_length(judgements: pd.DataFrame, design: Design, human_lengths: dict[str, int]) -> Iterator[Row]:
    for group, of in by_criterion(judgements, design):
        words = [group["criterion"]] if group["criterion"] else []
        where = ", ".join([*words, "human length"])
        shared = about("pass_rates_at_gt_length", "pass_rate", where, group["judge"])
        chosen = at_human_length(of, human_lengths)
        yield from _passes(*chosen, systems_of(judgements, design), shared, design.confidence)


def _of_means(judgements: pd.DataFrame, design: Design) -> Iterator[Row]:
    systems = systems_of(judgements, design)
    for group, of in groups(judgements, design):
        shared = about("means", "mean", scope(group), group["judge"])
        yield from _graded(scores_of(of, systems, read_values(of)), systems, shared, design.confidence)


def _of_checklists(judgements: pd.DataFrame, design: Design) -> Iterator[Row]:
    systems = systems_of(judgements, design)
    for group, found, _ in listed(judgements, design, systems):
        shared = about("checklist", "share of yes", scope(group), group["judge"])
        yield from _graded(found, systems, shared, design.confidence)


def _of_rates(judgements: pd.DataFrame, design: Design) -> Iterator[Row]:
    """Yields the differences of rates; what could not be read is not the answer."""
    systems = systems_of(judgements, design)
    for group, of in groups(judgements, design.of_answers()):
        label = labels_of(of)
        for name in answers(label):
            found = scores_of(of, systems, given(label, name))
            values = np.where(found.asked, np.nan_to_num(found.value), np.nan)
            shared = about("rates", f"rate of {name}", scope(group), group["judge"])
            yield from _shares(values, found.cluster, systems, shared, design.confidence)


def _passes(
    judgements: pd.DataFrame, limits: pd.Series[int], systems: Sequence[str], shared: Row, confidence: float
) -> Iterator[Row]:
    """Yields the differences of pass rates; `limits` is the N of each judgement."""
    code = {system: number for number, system in enumerate(systems)}
    case = pd.factorize(cases(judgements))[0].astype(np.int64)
    held = np.nan_to_num(passed(judgements, limits))  # what could not be read does not pass
    system = np.array([code[name] for name in judgements["left"]], dtype=np.int64)
    values, cluster = item_means(held, system, len(systems), case, case)
    yield from _shares(values, cluster, systems, shared, confidence)


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


def _graded(found: Scores, systems: Sequence[str], shared: Row, confidence: float) -> Iterator[Row]:
    """Yields a row per two systems whose mean scores are compared."""
    for one, other, first, second, common in _pairs(found.value, found.cluster, systems):
        here, there = (~np.isnan(found.value[k]) for k in (one, other))
        if common:
            both = here & there
            values = (found.value[one, both], found.value[other, both])
            row = paired_mean_difference(*values, found.cluster[both], confidence=confidence)
            yield {**shared, "first": first, "second": second, **row._asdict(), "note": row.note or None}
            continue
        sides = [(found.value[k, side], found.cluster[side]) for k, side in ((one, here), (other, there))]
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


def _unpaired(found: UnpairedDifference | MeanDifference, first: str, second: str, shared: Row) -> Row:
    note = "; ".join(filter(None, (UNPAIRED, found.note)))
    return {**shared, "first": first, "second": second, **found._asdict(), "note": note}
