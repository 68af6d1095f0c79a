"""Is one system better than another? Differences case by case as rows, and the ranks that they settle.

A family is the rows that share table, measure, judge and scope, such as all pairs of chatbots under one judge at one N.
P-values are corrected within it.

Systems that met the same cases are compared case by case, others as two samples; `note` says which where it is the
latter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from dialeval.measures.design import (
    Design,
    by_criterion,
    cases,
    comparisons,
    groups,
    item_means,
    lengths_of,
    systems_of,
)
from dialeval.measures.scores import (
    answers,
    at_human_length,
    given,
    labels_of,
    listed,
    long_enough,
    passed,
    read_values,
    scores_of,
)
from dialeval.stats.arrays import FloatArray, IntArray
from dialeval.stats.differences import MeanDifferences, contrast_interval, mean_differences, paired_differences
from dialeval.stats.means import (
    MeanDifference,
    Side,
    paired_mean_difference,
    unpaired_difference,
    unpaired_mean_difference,
)
from dialeval.stats.multiplicity import benjamini_hochberg, holm, order_claims, places
from dialeval.tables.files import HUMAN
from dialeval.tables.schema import scope

if TYPE_CHECKING:
    from dialeval.measures.design import Comparisons

# Differences become rows: is the first better than the second, and what is left of that after many such questions.

Row = dict[str, Any]
FAMILY = ("table", "measure", "judge", "scope")
"""Columns whose values a family shares."""

NO_RATING = "one of the two has no rating"
NO_LIMIT = "not identifiable: the data set no limit on the distance of the two ratings"
NOT_CONNECTED = "not identifiable: no chain of comparisons connects the two"
NO_ERROR = "the data give this difference no standard error"
ONE_CLUSTER = "all comparisons are of one cluster, which tells nothing of others"


def about(table: str, measure: str, scope: str, judge: str | None = None) -> Row:
    """Returns the columns that a family shares.

    Args:
        table: the table whose numbers are compared.
        measure: what is compared: the table's column, or what else it is called.
        scope: at what N, on which task, and so on.
        judge: whose verdicts these are, where judges are not what is compared.
    """
    return {"table": table, "measure": measure, "judge": judge, "scope": scope}


def mean_rows(found: MeanDifferences, names: Sequence[str], shared: Row) -> list[Row]:
    """Returns a row per pair of systems that have an item in common, without the corrections."""
    return [
        {
            **shared,
            "first": names[first],
            "second": names[second],
            "first_value": float(found.first_value[number]),
            "second_value": float(found.second_value[number]),
            "difference": float(found.difference[number]),
            "low": float(found.low[number]),
            "high": float(found.high[number]),
            "p": float(found.p[number]),
            "n": int(found.n[number]),
            "n_clusters": int(found.n_clusters[number]),
            "note": found.note[number] or None,
        }
        for number, (first, second) in enumerate(zip(found.first, found.second, strict=True))
        if found.n[number]
    ]


def rating_rows(
    rating: FloatArray,
    variance: FloatArray,
    degrees_of_freedom: float,
    n: int,
    n_clusters: int,
    names: Sequence[str],
    shared: Row,
    *,
    reason: Callable[[int, int], str] = lambda first, second: "",
    shown: bool = True,
) -> list[Row]:
    """Returns a row per pair of systems, without the corrections.

    Args:
        rating: rating of each system, NaN for an unrated one, shape [n_systems].
        variance: of every two ratings' difference; NaN where it is not known, shape [n_systems, n_systems].
        degrees_of_freedom: of Student's t.
        n: comparisons behind all ratings.
        n_clusters: clusters that these are of.
        names: names of the systems.
        shared: the columns that the family shares.
        reason: why the data do not determine the difference of two systems; such a row has no number.
        shown: whether systems can be put in an order by their ratings, which then stand in the rows.
    """
    value = rating if shown else np.full(len(rating), np.nan)
    first, second = np.triu_indices(len(rating), 1)
    why = [reason(one, other) for one, other in zip(first.tolist(), second.tolist(), strict=True)]
    difference = np.where([bool(words) for words in why], np.nan, rating[first] - rating[second])
    low, high, p = contrast_interval(difference, np.sqrt(variance[first, second]), degrees_of_freedom)
    rows = []
    for number, (one, other) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        note = None
        if np.isnan(rating[one]) or np.isnan(rating[other]):
            note = NO_RATING
        elif np.isnan(p[number]):
            note = why[number] or (ONE_CLUSTER if n_clusters < 2 else NO_ERROR)
        rows.append(
            {
                **shared,
                "first": names[one],
                "second": names[other],
                "first_value": float(value[one]),
                "second_value": float(value[other]),
                "difference": float(difference[number]),
                "low": float(low[number]),
                "high": float(high[number]),
                "p": float(p[number]),
                "n": n,
                "n_clusters": n_clusters,
                "note": note,
            }
        )
    return rows


def corrected(rows: Iterable[Row]) -> list[Row]:
    """Returns rows with `p_holm`, `q_bh` and the number of tests of their family."""
    rows = list(rows)
    families: dict[tuple[Any, ...], list[int]] = {}
    for place, row in enumerate(rows):
        families.setdefault(tuple(row[name] for name in FAMILY), []).append(place)
    out: list[Row] = [{}] * len(rows)
    for members in families.values():
        p = np.array([rows[place]["p"] for place in members], dtype=np.float64)
        tests = int(np.count_nonzero(~np.isnan(p)))
        for place, p_holm, q_bh in zip(members, holm(p), benjamini_hochberg(p), strict=True):
            out[place] = {**rows[place], "p_holm": float(p_holm), "q_bh": float(q_bh), "family_size": tests}
    return out


# Of two systems that met: how many of their comparisons the first wins, less those that it loses.

HEAD_TO_HEAD = "head_to_head"


def head_to_head(games: Comparisons, models: Sequence[str], shared: Row) -> list[Row]:
    """Returns a row per two models that met; a verdict that could not be read is won by neither."""
    swapped = games.left > games.right
    first, second = np.minimum(games.left, games.right), np.maximum(games.left, games.right)
    outcome = np.where(swapped, 1.0 - games.outcome, games.outcome)
    met, pair = np.unique(first * len(models) + second, return_inverse=True)
    found = mean_differences(
        (outcome == 1.0).astype(np.float64),
        (outcome == 0.0).astype(np.float64),
        pair,
        met // max(len(models), 1),
        met % max(len(models), 1),
        games.cluster,
    )
    return mean_rows(found, models, shared)


# Is one system better than another? Every number that a protocol's other measures give, compared pair by pair.

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


# What each system got on each item, by every number that is a mean over items: what differences and plans rest on.


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


# Differences become places: which can each system have, by every number that systems are compared by?

CYCLIC = "the pairs, compared on different cases, run in a circle: nothing is concluded from two of them together"


def ranks(differences: Sequence[Row], confidence: float) -> list[Row]:
    """Returns the rows of a table `ranks`, best first within each family of the table `differences`.

    Head-to-head differences give no places: of three systems each may beat the next.

    Args:
        differences: rows of a protocol's table `differences`.
        confidence: with which all places of a family hold together.
    """
    return [
        row
        for family, pairs in groupby(differences, lambda row: tuple(row[name] for name in FAMILY))
        if HEAD_TO_HEAD not in family
        for row in _of_family(dict(zip(FAMILY, family, strict=True)), list(pairs), confidence)
    ]


def _of_family(shared: Row, pairs: Sequence[Row], confidence: float) -> list[Row]:
    names = list(dict.fromkeys(row[side] for row in pairs for side in ("first", "second")))
    code = {name: number for number, name in enumerate(names)}
    claims = order_claims(
        len(names),
        [code[row["first"]] for row in pairs],
        [code[row["second"]] for row in pairs],
        _floats(row["difference"] for row in pairs),
        _floats(row["p"] for row in pairs),
        confidence=confidence,
    )
    estimate = _estimates(names, pairs)
    ranked = [number for number, name in enumerate(names) if name != HUMAN and not np.isnan(estimate[number])]
    found = places(estimate[ranked], claims.better[np.ix_(ranked, ranked)])
    rows = []
    for place, number in enumerate(ranked):
        of_system = [row for row in pairs if names[number] in (row["first"], row["second"])]
        untested = sum(row["p"] is None or np.isnan(row["p"]) for row in of_system) + len(names) - 1 - len(of_system)
        notes = [CYCLIC] if claims.cyclic else []
        notes += [f"{untested} of its {len(names) - 1} differences could not be tested"] if untested else []
        rows.append(
            {
                **shared,
                "system": names[number],
                "estimate": float(estimate[number]),
                "rank": int(found.rank[place]),
                "rank_low": int(found.low[place]),
                "rank_high": int(found.high[place]),
                "n_better": int(found.n_better[place]),
                "n_worse": int(found.n_worse[place]),
                "n_systems": len(ranked),
                "note": "; ".join(notes) or None,
            }
        )
    return sorted(rows, key=lambda row: row["rank"])


def _estimates(names: Sequence[str], pairs: Sequence[Row]) -> FloatArray:
    """Returns each system's value: the mean of those that stand beside the others, by the items that they rest on."""
    values: dict[str, list[float]] = {name: [] for name in names}
    items: dict[str, list[int]] = {name: [] for name in names}
    for row in pairs:
        for side in ("first", "second"):
            value = row[f"{side}_value"]
            if row["n"] and value is not None and not np.isnan(value):
                values[row[side]].append(value)
                items[row[side]].append(row["n"])
    return np.array([_mean(values[name], items[name]) for name in names], dtype=np.float64)


def _mean(values: Sequence[float], items: Sequence[int]) -> float:
    if len(set(values)) <= 1:  # as it is, so that equal systems stay equal
        return next(iter(values), np.nan)
    return float(np.average(values, weights=items))


def _floats(values: Iterable[float | None]) -> FloatArray:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
