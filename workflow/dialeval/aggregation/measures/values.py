"""What each system got on each item, by every number that is a mean over items: what differences and plans rest on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from dialeval.aggregation.differences import Row, about
from dialeval.aggregation.measures.checklist import listed
from dialeval.aggregation.measures.design import Design
from dialeval.aggregation.measures.grouping import by_criterion, groups, item_means, lengths_of, systems_of
from dialeval.aggregation.measures.passes import at_human_length, long_enough, passed
from dialeval.aggregation.measures.rates import answers, given
from dialeval.aggregation.measures.scores import labels_of, read_values, scores_of
from dialeval.aggregation.pairwise import cases, comparisons
from dialeval.schemas.differences import scope
from dialeval.stats.arrays import FloatArray, IntArray


class Values(NamedTuple):
    """One number of all systems, item by item.

    Attributes:
        shared: table, measure, judge and scope, as in tables of differences.
        criterion: what was judged, where the question names it.
        n_utterances: the length N, where there is one.
        value: means over repeats, NaN where a system has no such item, shape [n_systems, n_items].
        cluster: what items may hang together by, shape [n_items].
        graded: whether they are scores of any scale, and not shares between 0 and 1.
    """

    shared: Row
    criterion: str | None
    n_utterances: int | None
    value: FloatArray
    cluster: IntArray
    graded: bool


def values_of(
    measure: str, judgements: pd.DataFrame, design: Design, human_lengths: dict[str, int]
) -> Iterator[Values]:
    """Yields what a measure is the mean of; nothing of one that is no mean over items.

    Args:
        measure: its name.
        judgements: the protocol's table `judgements`, with the columns of `differences.COLUMNS`.
        design: the protocol's design.
        human_lengths: cases with a human dialogue that is long enough -> number of its utterances.
    """
    if measure == "win_rates" and design.reference is not None:
        yield from _wins(judgements, design, design.reference)
    elif measure == "pass_rates":
        for group, of in by_criterion(judgements, design):
            for n in lengths_of(design):
                yield _passes({**group, "n_utterances": n}, *long_enough(of, n), judgements, design)
    elif measure == "pass_rates_at_gt_length":
        yield from _at_human_length(judgements, design, human_lengths)
    elif measure == "means":
        systems = systems_of(judgements, design)
        for group, of in groups(judgements, design):
            found = scores_of(of, systems, read_values(of))
            yield _values("means", "mean", group, found.value, found.cluster, graded=True)
    elif measure == "rates":
        yield from _rates(judgements, design)
    elif measure == "checklist":
        for group, found, _ in listed(judgements, design, systems_of(judgements, design)):
            yield _values("checklist", "share of yes", group, found.value, found.cluster, graded=True)


def _values(
    table: str, measure: str, group: Row, value: FloatArray, cluster: IntArray, *, graded: bool = False
) -> Values:
    shared = about(table, measure, scope(group), group["judge"])
    return Values(shared, group.get("criterion"), group.get("n_utterances"), value, cluster, graded)


def _wins(judgements: pd.DataFrame, design: Design, reference: str) -> Iterator[Values]:
    """Yields who wins or ties with the one that all are shown beside."""
    systems = systems_of(judgements, design)
    for group, of in groups(judgements, design):
        games = comparisons(of, [*systems, reference])
        first = games.left < len(systems)
        outcome = np.where(first, games.outcome, 1.0 - games.outcome)
        held = np.where(np.isnan(outcome), 0.0, outcome >= 0.5)
        system = np.where(first, games.left, games.right)
        found = item_means(held, system, len(systems), 2 * games.cluster + first, games.cluster)
        yield _values("win_rates", "win_or_tie", group, *found)


def _passes(
    group: Row, judgements: pd.DataFrame, limits: pd.Series[int], of_all: pd.DataFrame, design: Design
) -> Values:
    """Returns the passes; `limits` is the N of each judgement."""
    systems = systems_of(of_all, design)
    code = {system: number for number, system in enumerate(systems)}
    case = pd.factorize(cases(judgements))[0].astype(np.int64)
    held = np.nan_to_num(passed(judgements, limits))  # what could not be read does not pass
    system = np.array([code[name] for name in judgements["left"]], dtype=np.int64)
    return _values("pass_rates", "pass_rate", group, *item_means(held, system, len(systems), case, case))


def _at_human_length(judgements: pd.DataFrame, design: Design, human_lengths: dict[str, int]) -> Iterator[Values]:
    for group, of in by_criterion(judgements, design):
        found = _passes(group, *at_human_length(of, human_lengths), judgements, design)
        words = [group["criterion"]] if group["criterion"] else []
        where = ", ".join([*words, "human length"])
        shared = about("pass_rates_at_gt_length", "pass_rate", where, group["judge"])
        yield found._replace(shared=shared)


def _rates(judgements: pd.DataFrame, design: Design) -> Iterator[Values]:
    """Yields to what each answer was given; what could not be read is not the answer."""
    systems = systems_of(judgements, design)
    for group, of in groups(judgements, design.of_answers()):
        if of.empty:
            continue
        label = labels_of(of)
        for name in answers(label):
            found = scores_of(of, systems, given(label, name))
            value = np.where(found.asked, np.nan_to_num(found.value), np.nan)
            yield _values("rates", f"rate of {name}", group, value, found.cluster)
