"""Tables of differences between systems, with adjusted p-values, and of ranks with confidence sets.

A family is the rows with the same table, measure, judge and scope, such as all pairs of chatbots under one judge at one
N. P-values are adjusted within a family.

Systems with common cases are compared case by case. Other systems are compared as two samples, and `note` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, groupby
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dialeval.measures.design import Comparisons, Design, Row, cases, comparisons, groups, systems_of
from dialeval.measures.item_values import ItemValues, Scores, as_one_judge, item_values, scores, system_codes
from dialeval.stats.arrays import FloatArray, cell_means
from dialeval.stats.differences import (
    FEW_JUDGES,
    FEWEST_JUDGES,
    Differences,
    JudgeSample,
    Sample,
    differences_over_judges,
    item_differences,
    two_sample_difference,
)
from dialeval.stats.estimates import t_interval
from dialeval.stats.significance import benjamini_hochberg, holm, order_claims, places
from dialeval.tables.files import HUMAN
from dialeval.tables.schema import scope
from dialeval.text import counted

FAMILY = ("table", "measure", "judge", "scope")
"""Columns whose values a family shares."""
NO_RATING = "one of the two systems has no rating"
NO_LIMIT = "not identifiable: the data do not bound the difference of the two ratings"
NOT_CONNECTED = "not identifiable: no chain of comparisons connects the two systems"
NO_ERROR = "the standard error of this difference cannot be computed from these data"
ONE_CLUSTER = "all comparisons are in one cluster"
HEAD_TO_HEAD = "head_to_head"
COMPARED = ("win_rates", "pass_rates", "pass_rates_at_gt_length", "means", "rates", "checklist")
"""Measures that are compared here, in the order of the table; `ratings` compares ratings."""
IN_ROUNDS = "sequential pairs: adaptive_rounds has the decision and its p-value; this p-value assumes a fixed design"
UNPAIRED = "the systems met different cases: compared as two samples"
_FEWEST_COMMON = 2
"""Smallest number of common cases for a comparison case by case, unless all cases of one system are common."""
CYCLIC = (
    "the pairs were compared on different cases and form a cycle (A beats B, B beats C, C beats A): the test of "
    "one pair says nothing about another pair"
)


def differences(judgements: pd.DataFrame, design: Design, human_lengths: dict[str, int]) -> list[Row]:
    """Return the rows of a table `differences` but for ratings, p-values corrected within each family of pairs.

    Args:
        design: the protocol's design, whose other measures say what is compared.
        human_lengths: cases with a human dialogue that is long enough -> number of its utterances.
    """
    return with_adjusted_p(
        row
        for measure in COMPARED
        if measure in design.measures
        for row in _of(measure, judgements, design, human_lengths)
    )


def _of(measure: str, judgements: pd.DataFrame, design: Design, human_lengths: dict[str, int]) -> Iterator[Row]:
    if measure == "win_rates" and design.reference is None:
        yield from _head_to_head(judgements, design)
    systems = systems_of(judgements, design)
    for found in item_values(measure, judgements, design, human_lengths):
        shared = family_columns(found.table, found.measure, found.scope, found.group["judge"])
        for row in _compared(found, systems, design.confidence):
            yield {**shared, **row}


def _compared(found: ItemValues, systems: Sequence[str], confidence: float) -> Iterator[Row]:
    """Yield a row for every two systems with values: paired on common items, else as two samples."""
    values, cluster = found.complete(), found.cluster
    known = ~np.isnan(values)
    for first, second in combinations(np.flatnonzero(known.any(axis=1)).tolist(), 2):
        names = {"system": systems[first], "opponent": systems[second]}
        both = known[first] & known[second]
        nested = both.any() and both.sum() == min(known[first].sum(), known[second].sum())
        if nested or len(np.unique(cluster[both])) >= _FEWEST_COMMON:
            common = values[first, both], values[second, both], cluster[both]
            yield names | item_differences(*common, confidence=confidence, scores=found.is_score).columns(0)
            continue
        samples = (Sample(values[k, known[k]], cluster[known[k]]) for k in (first, second))
        row = two_sample_difference(*samples, confidence=confidence, scores=found.is_score).columns(0)
        yield {**names, **row, "note": "; ".join(filter(None, (UNPAIRED, row["note"])))}


def _head_to_head(judgements: pd.DataFrame, design: Design) -> Iterator[Row]:
    systems = systems_of(judgements, design)
    for group, rows in groups(judgements, design):
        shared = family_columns("win_rates", HEAD_TO_HEAD, scope(group), group["judge"])
        for row in head_to_head(comparisons(rows, systems), systems, shared):
            notes = [row["note"], IN_ROUNDS if design.equal_pairs else None]
            yield {**row, "note": "; ".join(filter(None, notes)) or None}


def ranks(differences: Sequence[Row], confidence: float) -> list[Row]:
    """Return the rows of a table `ranks`, best first within each family of the table `differences`.

    Head-to-head differences give no ranks, since they can be cyclic.

    Args:
        differences: rows of a protocol's table `differences`.
        confidence: simultaneous confidence of all ranks of a family.
    """
    return [
        row
        for family, pairs in groupby(differences, lambda row: tuple(row[name] for name in FAMILY))
        if HEAD_TO_HEAD not in family
        for row in _of_family(dict(zip(FAMILY, family, strict=True)), list(pairs), confidence)
    ]


def _of_family(shared: Row, pairs: Sequence[Row], confidence: float) -> list[Row]:
    names = list(dict.fromkeys(row[side] for row in pairs for side in ("system", "opponent")))
    code = {name: number for number, name in enumerate(names)}
    claims = order_claims(
        len(names),
        [code[row["system"]] for row in pairs],
        [code[row["opponent"]] for row in pairs],
        _floats(row["difference"] for row in pairs),
        _floats(row["p"] for row in pairs),
        confidence=confidence,
    )
    estimate = _estimates(names, pairs)
    ranked = [number for number, name in enumerate(names) if name != HUMAN and not np.isnan(estimate[number])]
    found = places(estimate[ranked], claims.better[np.ix_(ranked, ranked)])
    rows = []
    for place, number in enumerate(ranked):
        of_system = [row for row in pairs if names[number] in (row["system"], row["opponent"])]
        untested = sum(row["p"] is None or np.isnan(row["p"]) for row in of_system) + len(names) - 1 - len(of_system)
        notes = [CYCLIC] if claims.cyclic else []
        notes += [f"{untested} of its {len(names) - 1} differences could not be tested"] if untested else []
        rows.append(
            {
                **shared,
                "system": names[number],
                "estimate": float(estimate[number]),
                "rank": int(found.rank[place]),
                "rank_ci_low": int(found.ci_low[place]),
                "rank_ci_high": int(found.ci_high[place]),
                "n_better": int(found.n_better[place]),
                "n_worse": int(found.n_worse[place]),
                "n_systems": len(ranked),
                "note": "; ".join(notes) or None,
            }
        )
    return sorted(rows, key=lambda row: row["rank"])


def _floats(values: Iterable[float | None]) -> FloatArray:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _estimates(names: Sequence[str], pairs: Sequence[Row]) -> FloatArray:
    """Return each system's value: the mean of its values in all pairs, weighted by items."""
    values: dict[str, list[float]] = {name: [] for name in names}
    items: dict[str, list[int]] = {name: [] for name in names}
    for row in pairs:
        for side in ("system", "opponent"):
            value = row[f"{side}_value"]
            if row["n"] and value is not None and not np.isnan(value):
                values[row[side]].append(value)
                items[row[side]].append(row["n"])
    return np.array([_mean(values[name], items[name]) for name in names], dtype=np.float64)


def _mean(values: Sequence[float], items: Sequence[int]) -> float:
    if len(set(values)) <= 1:  # as it is, so that equal systems stay equal
        return next(iter(values), np.nan)
    return float(np.average(values, weights=items))


def family_columns(table: str, measure: str, scope: str, judge: str | None = None) -> Row:
    """Return the columns that a family shares.

    Args:
        table: the table whose numbers are compared.
        measure: what is compared: the table's column, or what else it is called.
        scope: at what N, on which task, and so on.
        judge: whose verdicts these are, where judges are not what is compared.
    """
    return {"table": table, "measure": measure, "judge": judge, "scope": scope}


def with_adjusted_p(rows: Iterable[Row]) -> list[Row]:
    """Return rows with `p_holm`, `q_bh` and the number of tests of their family."""
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


def mean_rows(found: Differences, names: Sequence[str], shared: Row) -> list[Row]:
    """Return a row per pair of systems that have an item in common, without the corrections."""
    return [
        {**shared, "system": names[first], "opponent": names[second], **found.columns(number)}
        for number, (first, second) in enumerate(zip(found.first, found.second, strict=True))
        if found.n_items[number]
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
    """Return a row per pair of systems, without the corrections.

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
    low, high, p = t_interval(difference, np.sqrt(variance[first, second]), degrees_of_freedom)
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
                "system": names[one],
                "opponent": names[other],
                "system_value": float(value[one]),
                "opponent_value": float(value[other]),
                "difference": float(difference[number]),
                "ci_low": float(low[number]),
                "ci_high": float(high[number]),
                "p": float(p[number]),
                "n": n,
                "n_clusters": n_clusters,
                "note": note,
            }
        )
    return rows


def head_to_head(games: Comparisons, models: Sequence[str], shared: Row) -> list[Row]:
    """Return a row per compared pair of models; an unparsed verdict counts for neither."""
    swapped = games.left > games.right
    first, second = np.minimum(games.left, games.right), np.maximum(games.left, games.right)
    outcome = np.where(swapped, 1.0 - games.outcome, games.outcome)
    met, pair = np.unique(first * len(models) + second, return_inverse=True)
    found = item_differences(
        (outcome == 1.0).astype(np.float64),
        (outcome == 0.0).astype(np.float64),
        games.cluster,
        pair=pair,
        first=met // max(len(models), 1),
        second=met % max(len(models), 1),
    )
    return mean_rows(found, models, shared)


# Differences over a population of judges.


def judge_differences(judgements: pd.DataFrame, design: Design) -> list[Row]:
    """Return the rows of a table `judge_differences`; of fewer than `FEWEST_JUDGES` judges, one row that says so.

    Args:
        judgements: the protocol's table `judgements`, with the columns of `item_values.COLUMNS` and `repeat`.
    """
    systems = systems_of(judgements, design)
    rows = [row for found in scores(judgements, design) for row in _over_judges(found, systems, design.confidence)]
    if "win_rates" in design.measures and design.reference is None:
        rows += _head_to_head_over_judges(judgements, design, systems)
    return with_adjusted_p(rows)


def _over_judges(found: Scores, systems: list[str], confidence: float) -> Iterator[Row]:
    shared = family_columns(found.table, found.measure, found.scope)
    judge, judges = pd.factorize(found.rows["who"])
    case = cases(found.rows).to_numpy(dtype=object)
    if len(judges) < FEWEST_JUDGES:
        if len(judges):
            yield _without_judges(shared, len(judges), case)
        return
    item, items = pd.factorize(found.rows["item"])
    case_of_item = case[np.unique(item, return_index=True)[1]]
    place = judge.astype(np.int64), system_codes(found.rows, systems), item.astype(np.int64)
    values = cell_means(found.value, place, (len(judges), len(systems), len(items)))[0]
    for first, second in combinations(range(len(systems)), 2):
        sides = values[:, first], values[:, second]
        sample = differences_over_judges(*sides, case_of_item, confidence=confidence, scores=found.is_score)
        if sample.n_items:
            yield _judge_sample_row(shared, systems[first], systems[second], sample, *_means(*sides))


def _means(first: FloatArray, second: FloatArray) -> tuple[float, float]:
    """Return the means over judges of the two systems' means on common items."""
    both = ~np.isnan(first) & ~np.isnan(second)
    used = both.any(axis=1)
    count = both[used].sum(axis=1)
    one, other = ((np.where(both, side, 0.0)[used].sum(axis=1) / count).mean() for side in (first, second))
    return float(one), float(other)


def _head_to_head_over_judges(judgements: pd.DataFrame, design: Design, systems: Sequence[str]) -> Iterator[Row]:
    """Yield the differences of the shares of comparisons that each of two systems wins."""
    frame, one_judge = as_one_judge(judgements, design)
    for group, rows in groups(frame, one_judge):
        shared = family_columns("win_rates", HEAD_TO_HEAD, scope(group))
        games = comparisons(rows, systems)
        who, judges = pd.factorize(rows["who"])
        if len(judges) < FEWEST_JUDGES:
            if len(judges):
                yield _without_judges(shared, len(judges), cases(rows).to_numpy())
            continue
        swapped = games.left > games.right
        low, high = np.minimum(games.left, games.right), np.maximum(games.left, games.right)
        outcome = np.where(swapped, 1.0 - games.outcome, games.outcome)
        item = 2 * games.cluster + swapped
        shape = len(judges), int(item.max(initial=-1)) + 1
        for first, second in combinations(range(len(systems)), 2):
            met = (low == first) & (high == second)
            place = who[met].astype(np.int64), item[met].astype(np.int64)
            won, lost = (cell_means((outcome[met] == end).astype(np.float64), place, shape)[0] for end in (1.0, 0.0))
            cluster = np.arange(shape[1]) // 2
            sample = differences_over_judges(won, lost, cluster, confidence=design.confidence, scores=False)
            if sample.n_items:
                row = _judge_sample_row(shared, systems[first], systems[second], sample)
                notes = [row["note"], IN_ROUNDS if design.equal_pairs else None]
                yield {**row, "note": "; ".join(filter(None, notes)) or None}


def _judge_sample_row(
    shared: Row, system: str, opponent: str, found: JudgeSample, value: float | None = None, other: float | None = None
) -> Row:
    return {
        **shared,
        "system": system,
        "opponent": opponent,
        "n_judges": found.n_judges,
        "system_value": value,
        "opponent_value": other,
        "difference": found.estimate,
        "ci_low": found.ci_low,
        "ci_high": found.ci_high,
        "p": found.p_value,
        "fixed_ci_low": found.fixed_ci_low,
        "fixed_ci_high": found.fixed_ci_high,
        "judge_sd": found.judge_sd,
        "n": found.n_items,
        "n_clusters": found.n_clusters,
        "note": found.note or None,
    }


def _without_judges(shared: Row, n_judges: int, case: NDArray[np.object_]) -> Row:
    """Return the row of a family with too few judges."""
    return {
        **shared,
        "n_judges": n_judges,
        "p": np.nan,
        "n": len(case),
        "n_clusters": len(np.unique(case.astype(np.str_))),
        "note": FEW_JUDGES.format(counted(n_judges, "judge"), FEWEST_JUDGES),
    }
