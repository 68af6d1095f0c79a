"""Values of judgements under every measure that is a mean, and the mean of each system and item.

Tables of means and rates, differences, plans and comparisons of runs use the item values of one judge at a time.
Variance components and differences over judges use the values of all judges, repeat by repeat.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from dialeval.measures.design import (
    Design,
    Row,
    at_lengths,
    by_criterion,
    cases,
    comparisons,
    groups,
    lengths_of,
    systems_of,
)
from dialeval.protocols.locate import passes
from dialeval.stats.arrays import BoolArray, FloatArray, IntArray, cell_means
from dialeval.tables.schema import scope

COLUMNS = (
    "judge", "case_id", "corpus", "language", "item_id", "left", "right", "n_utterances", "criterion", "choice",
    "outcome", "place", "value", "scale_min", "scale_max", "status",
)  # fmt: skip
"""Columns of the table `judgements` that item values need."""
YES, NO = "yes", "no"
MEASURED = ("win_rates", "pass_rates", "means", "rates", "checklist")
"""Measures whose scores are analysed, in the order of the table."""
_ALL_JUDGES = "all judges"


class Scores(NamedTuple):
    """The values of one measure, criterion, answer and length, one for each row.

    Attributes:
        table, measure: the table of their means, and the name of the measure in tables of differences.
        group: judge, criterion and n_utterances, as far as the table has these columns.
        scope: the same in words, as in tables of differences.
        columns: further columns of the table that describe the values.
        rows: judgements, or what they are joined to. `left` is the system, and `item`, where it is there, what two
            systems have in common on a case (a dialogue, an order).
        value: of each row, NaN if undefined or unparsed, shape [n].
        is_score: whether they are scores on any scale, and not proportions.
    """

    table: str
    measure: str
    group: Row
    scope: str
    columns: Row
    rows: pd.DataFrame
    value: FloatArray
    is_score: bool

    def about(self) -> Row:
        """Return criterion and length, as columns."""
        return {name: self.group[name] for name in ("criterion", "n_utterances")}


class ItemValues(NamedTuple):
    """The values of one measure of all systems, item by item.

    Attributes:
        table, measure, group, scope, columns, is_score: as in `Scores`.
        value: mean over repeats, NaN if undefined or unparsed, shape [n_systems, n_items].
        has_item: whether the system has the item, of the same shape.
        cluster: cluster (case) of each item, shape [n_items].
    """

    table: str
    measure: str
    group: Row
    scope: str
    columns: Row
    value: FloatArray
    has_item: BoolArray
    cluster: IntArray
    is_score: bool

    def complete(self) -> FloatArray:
        """Return the values, with 0 for items of a proportion that are unparsed."""
        return self.value if self.is_score else np.where(self.has_item, np.nan_to_num(self.value), np.nan)


def item_values(
    measure: str, judgements: pd.DataFrame, design: Design, human_lengths: dict[str, int]
) -> Iterator[ItemValues]:
    """Yield the item values of a measure for each judge, criterion and length; none if it is not a mean over items.

    Args:
        measure: its name.
        human_lengths: number of utterances of the human dialogue of each case that has a long enough one.
    """
    if measure == "checklist":
        yield from _checklist(judgements, design)
    systems = systems_of(judgements, design)
    for found in _scores(measure, judgements, design, human_lengths):
        values = values_by_item(found.rows, systems, found.value)
        yield ItemValues(*found[:5], *values, found.is_score)


def scores(judgements: pd.DataFrame, design: Design) -> Iterator[Scores]:
    """Yield the scores by all judges that are a sample, repeat by repeat; an unparsed answer of a proportion is 0.

    Args:
        judgements: the protocol's table `judgements`, with the columns of `item_values.COLUMNS` and `repeat`.
        design: the protocol's design; its measures say which scores there are.

    Yields:
        The judge is `who` in the rows.
    """
    frame, one_judge = as_one_judge(judgements, design)
    if frame.empty:
        return
    frame = frame.assign(item=common_items(frame).to_numpy())
    for measure in MEASURED:
        if measure not in design.measures:
            continue
        if measure == "checklist":
            yield from _scores_of_checklist(frame, one_judge)
        for found in _scores(measure, frame, one_judge, {}):
            if len(found.rows) or measure == "pass_rates":
                yield found if found.is_score else found._replace(value=np.nan_to_num(found.value))


def as_one_judge(judgements: pd.DataFrame, design: Design) -> tuple[pd.DataFrame, Design]:
    """Return the judgements of all judges that are a sample under one name, their names in `who`, and a design."""
    own = [judge for judge in design.judges if judge not in design.derived_judges]
    frame = judgements[judgements["judge"].isin(own)]
    frame = frame.assign(who=frame["judge"], judge=_ALL_JUDGES)
    return frame, design.model_copy(update={"judges": [_ALL_JUDGES], "systems": systems_of(judgements, design)})


def _scores(measure: str, judgements: pd.DataFrame, design: Design, human_lengths: dict[str, int]) -> Iterator[Scores]:
    """Yield the scores of a measure for each judge, criterion, answer and length; none of a checklist."""
    if measure == "win_rates" and design.reference is not None:
        yield from _wins(judgements, design, design.reference)
    elif measure == "pass_rates":
        for group, rows in by_criterion(judgements, design):
            for n in lengths_of(design):
                at_n = {**group, "n_utterances": n}
                yield _passes("pass_rates", at_n, scope(at_n), *long_enough(rows, n))
    elif measure == "pass_rates_at_gt_length":
        for group, rows in by_criterion(judgements, design):
            place = ", ".join(filter(None, [group["criterion"], "human length"]))
            yield _passes("pass_rates_at_gt_length", group, place, *at_human_length(rows, human_lengths))
    elif measure == "means":
        for group, rows in groups(judgements, design):
            scale = {name: _first(rows[name]) for name in ("scale_min", "scale_max")}
            yield Scores("means", "mean", group, scope(group), scale, rows, scores_of(rows), is_score=True)
    elif measure == "rates":
        for group, rows in groups(judgements, design.of_answers()):
            label = labels_of(rows)  # rules, for example, judge a part of the criteria
            for name in answers(label) if len(rows) else []:
                value, columns = given(label, name), {"label": name}
                yield Scores("rates", f"rate of {name}", group, scope(group), columns, rows, value, is_score=False)


def _wins(judgements: pd.DataFrame, design: Design, reference: str) -> Iterator[Scores]:
    """Yield wins and ties against the reference; each order is an item of the case."""
    systems = systems_of(judgements, design)
    for group, rows in groups(judgements, design):
        games = comparisons(rows, [*systems, reference])
        first = games.left < len(systems)
        outcome = np.where(first, games.outcome, 1.0 - games.outcome)
        held = np.where(np.isnan(outcome), 0.0, outcome >= 0.5).astype(np.float64)
        side = np.where(first, "left", "right").astype(object)
        left, item = np.where(first, rows["left"], rows["right"]), cases(rows).astype(object) + "\x1f" + side
        shown = rows.assign(left=left, item=item)
        yield Scores("win_rates", "win_or_tie", group, scope(group), {}, shown, held, is_score=False)


def _passes(table: str, group: Row, place: str, rows: pd.DataFrame, limits: pd.Series[int]) -> Scores:
    """Return passes; `limits` is the N of each judgement."""
    held = np.nan_to_num(passed(rows, limits))  # an unparsed verdict is no pass
    shown = rows if "item" in rows else rows.assign(item=cases(rows))  # dialogues of one case are repeats
    return Scores(table, "pass_rate", group, place, {}, shown, held, is_score=False)


def _checklist(judgements: pd.DataFrame, design: Design) -> Iterator[ItemValues]:
    """Yield each item's share of yes, NaN if an answer is missing."""
    systems = systems_of(judgements, design)
    criteria = list(judgements["criterion"].dropna().unique())
    for judge in design.of_answers().judges:
        for length, rows in at_lengths(judgements[judgements["judge"] == judge], design):
            group = {"judge": judge, **length}
            yes = is_yes(labels_of(rows))
            value, has_item, cluster = values_by_item(rows, systems, np.ones(len(yes)))
            parts = []
            for criterion in criteria:
                of_criterion = (rows["criterion"] == criterion).to_numpy()
                parts.append(values_by_item(rows, systems, np.where(of_criterion, yes, np.nan))[0])
            share = np.mean(parts, axis=0) if parts else value
            columns = {"n_criteria": len(criteria)}
            yield ItemValues(
                "checklist", "share of yes", group, scope(group), columns, share, has_item, cluster, is_score=True
            )


def _scores_of_checklist(frame: pd.DataFrame, design: Design) -> Iterator[Scores]:
    """Yield each dialogue's share of yes by judge and repeat, NaN if an answer is missing."""
    criteria = list(frame["criterion"].dropna().unique())
    keys = ["who", "left", "case_id", "item_id", "item", "repeat"]
    for length, rows in at_lengths(frame, design):
        if rows.empty:
            continue
        answered = rows.assign(yes=is_yes(labels_of(rows)), case_id=cases(rows), item_id=rows["item_id"].fillna(""))
        table = answered.pivot_table(index=keys, columns="criterion", values="yes", aggfunc="mean", dropna=True)
        table = table.reindex(columns=criteria)
        shares = table.index.to_frame(index=False)
        value = table.to_numpy(dtype=np.float64).mean(axis=1) if criteria else np.full(len(shares), np.nan)
        group = {"judge": _ALL_JUDGES, "criterion": None, **length}
        yield Scores("checklist", "share of yes", group, scope(group), {}, shares, value, is_score=True)


def values_by_item(
    judgements: pd.DataFrame, systems: list[str], value: FloatArray
) -> tuple[FloatArray, BoolArray, IntArray]:
    """Return values by system and item; systems share the items of a common case.

    Args:
        judgements: the judgements of one judge; without a column `item`, the items are those of `common_items`.
        systems: the systems, which number the rows.
        value: of each judgement, NaN if unparsed, shape [n].

    Returns:
        Means over repeats, NaN if all are unparsed or there is no item, and whether the system has the item, shape
        [n_systems, n_items]; cluster of each item, shape [n_items].
    """
    cluster = pd.factorize(cases(judgements))[0].astype(np.int64)
    item = judgements["item"] if "item" in judgements else common_items(judgements)
    code, distinct = pd.factorize(np.asarray(item))
    first_row = np.unique(code, return_index=True)[1]
    mean, count = cell_means(value, (system_codes(judgements, systems), code), (len(systems), len(distinct)))
    return mean, count > 0, cluster[first_row]


def common_items(judgements: pd.DataFrame) -> pd.Series[str]:
    """Return the identifier that two systems share: their case if each has one item on it, else the item.

    Items of a system on one case, such as two dialogues in one scenario, are compared in their order: the first of one
    system with the first of the other.
    """
    case = cases(judgements)
    systems = pd.DataFrame({"system": judgements["left"], "case": case, "item": judgements["item_id"].fillna("")})
    order = systems.drop_duplicates().groupby(["system", "case"], sort=False).cumcount()
    number = systems.merge(systems.drop_duplicates().assign(order=order), how="left")["order"].to_numpy()
    return case + "\x1f" + pd.Series(number.astype(str), index=case.index)


def system_codes(judgements: pd.DataFrame, systems: list[str]) -> IntArray:
    """Return the number of the system of each judgement, shape [n]."""
    code = {system: number for number, system in enumerate(systems)}
    return np.array([code[name] for name in judgements["left"]], dtype=np.int64)


def _first(column: pd.Series[float]) -> float | None:
    known = column.dropna()
    return float(known.iloc[0]) if len(known) else None


def labels_of(judgements: pd.DataFrame) -> pd.Series[str]:
    """Return the answer of each judgement, missing if unparsed: its choice, or Yes or No by the probability of yes."""
    choice = judgements["choice"].where(judgements["status"] == "ok")
    of_value = pd.Series(np.where(scores_of(judgements) > 0.5, "Yes", "No"), index=judgements.index)
    is_share = (judgements["scale_min"] == 0.0) & (judgements["scale_max"] == 1.0) & (judgements["status"] == "ok")
    return choice.where(choice.notna() | ~is_share, of_value)


def scores_of(judgements: pd.DataFrame) -> FloatArray:
    """Return the score of each judgement, NaN if unparsed, shape [n]."""
    return np.asarray(judgements["value"].where(judgements["status"] == "ok"), dtype=np.float64)


def is_yes(label: pd.Series[str]) -> FloatArray:
    """Return 1 for yes, 0 for another answer, NaN if missing, shape [n]."""
    return given(label, YES)


def given(label: pd.Series[str], name: str) -> FloatArray:
    """Return 1 where an answer was given, 0 for others, NaN if missing, shape [n]."""
    return np.where(label.isna(), np.nan, label.str.lower() == name.lower()).astype(np.float64)


def answers(label: pd.Series[str]) -> list[str]:
    """Return the answers that have a rate: all given answers, or only yes for yes-no questions."""
    found = sorted(label.dropna().unique())
    if {name.lower() for name in found} <= {YES, NO}:
        return ["Yes"]
    return found


def passed(judgements: pd.DataFrame, limits: pd.Series[int]) -> FloatArray:
    """Return 1 where a dialogue passes for human, 0 where not, NaN if unparsed, shape [n].

    Args:
        judgements: table `judgements`.
        limits: the N of each judgement.
    """
    return np.array(
        [
            float(passes(choice, None if pd.isna(place) else int(place), int(limit))) if status == "ok" else np.nan
            for choice, place, status, limit in zip(
                judgements["choice"], judgements["place"], judgements["status"], limits, strict=True
            )
        ],
        dtype=np.float64,
    )


def long_enough(judgements: pd.DataFrame, n: int | None) -> tuple[pd.DataFrame, pd.Series[int]]:
    """Return the judgements of dialogues that have N utterances or more, all for None, and the N of each."""
    if n is None:
        return judgements, judgements["n_utterances"]
    chosen = judgements[judgements["n_utterances"] >= n]
    return chosen, pd.Series(n, index=chosen.index)


def at_human_length(judgements: pd.DataFrame, human_lengths: dict[str, int]) -> tuple[pd.DataFrame, pd.Series[int]]:
    """Return the judgements on cases with a human dialogue, and the length of the human dialogue."""
    chosen = judgements[judgements["case_id"].isin(list(human_lengths))]
    return chosen, chosen["case_id"].map(human_lengths)
