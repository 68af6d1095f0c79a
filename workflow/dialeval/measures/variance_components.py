"""Tables of variance components of scores, and of differences of systems over a population of judges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dialeval.measures.design import Design, Row, cases, comparisons, groups, lengths_of, systems_of
from dialeval.measures.differences import HEAD_TO_HEAD, IN_ROUNDS, family_columns, with_adjusted_p
from dialeval.measures.item_values import (
    answers,
    common_items,
    given,
    is_yes,
    labels_of,
    long_enough,
    passed,
    scores_of,
)
from dialeval.stats.arrays import FloatArray, IntArray, cell_means
from dialeval.stats.differences import FEW_JUDGES, FEWEST_JUDGES, JudgeSample, differences_over_judges
from dialeval.stats.generalizability import (
    DIALOGUE,
    NEGATIVE,
    REPEAT,
    SYSTEM_JUDGE,
    Components,
    StudyDesign,
)
from dialeval.stats.generalizability import variance_components as components_of
from dialeval.tables.files import HUMAN
from dialeval.tables.schema import scope
from dialeval.text import counted

MEASURED = ("win_rates", "pass_rates", "means", "rates", "checklist")
"""Measures whose scores are analysed, in the order of the table."""
VARIANCE, RELATIVE, ABSOLUTE, HALF_WIDTH = "variance", "generalizability", "dependability", "half-width"
NO_DESIGN = "not identifiable: the scores are of one case"
NO_SCORES = "no parsed score"
ALL_EQUAL = "all scores are equal"
THESE_JUDGES = "over cases, for this judge"
PAIRS_DIFFER = "mean variance of all pairs; `differences` tests each pair with its own variance"
_ALL_JUDGES = "all judges"


class Scores(NamedTuple):
    """Scores of systems by several judges under one measure, criterion and length; arrays of shape [n].

    Attributes:
        table, measure: the table of their means, and the name of the measure in tables of differences.
        about: criterion and n_utterances.
        value: score, NaN if unparsed; 0 for an unparsed answer of a proportion.
        system, judge: numbers of the system and of the judge.
        case, item: case, and what two systems have in common on it (a dialogue, an order).
        repeat: number of the repeat.
        is_score: whether they are scores on any scale, and not proportions.
    """

    table: str
    measure: str
    about: Row
    value: FloatArray
    system: IntArray
    judge: IntArray
    case: NDArray[np.object_]
    item: NDArray[np.object_]
    repeat: IntArray
    is_score: bool


def variance_components(judgements: pd.DataFrame, design: Design) -> list[Row]:
    """Return the rows of a table `variance_components`, at the greatest length.

    Args:
        judgements: the protocol's table `judgements`, with the columns of `item_values.COLUMNS` and `repeat`.
        design: the protocol's design.
    """
    longest = max(design.lengths, default=None)
    systems = systems_of(judgements, design)
    rows: list[Row] = []
    for found in scores(judgements, design):
        if found.about["n_utterances"] == longest:
            is_system = np.array([name != HUMAN for name in systems], dtype=np.bool_)[found.system]
            of_systems = found._replace(**{name: getattr(found, name)[is_system] for name in _ARRAYS})
            rows += _rows(of_systems, design)
    return rows


_ARRAYS = ("value", "system", "judge", "case", "item", "repeat")


def analysed(found: Scores, design: Design) -> Components:
    """Return the variance components of scores; both orders of a pair are one score."""
    frame = pd.DataFrame({name: getattr(found, name) for name in _ARRAYS}).dropna(subset=["value"])
    if found.table == "win_rates":
        cell = ["system", "judge", "case", "repeat"]
        frame = frame.groupby(cell, sort=False)["value"].mean().reset_index()
        frame = frame.assign(item=frame["case"])
    return components_of(
        frame["value"].to_numpy(dtype=np.float64),
        frame["system"].to_numpy(dtype=np.int64),
        frame["case"].to_numpy(dtype=np.str_),
        frame["judge"].to_numpy(dtype=np.int64),
        frame["item"].to_numpy(dtype=np.str_),
        resamples=design.resamples,
        confidence=design.confidence,
        random_seed=design.random_seed,
    )


def _rows(found: Scores, design: Design) -> Iterator[Row]:
    """Yield the components, the coefficients, and the half-widths of designs."""
    one = analysed(found, design)
    size = one.design
    shared = {"measure": found.measure, **found.about}
    run = _numbers(size, one.n)
    if not one.n or size.n_cases < 2:
        note = NO_DESIGN if one.n else NO_SCORES
        yield {**shared, "statistic": VARIANCE, "component": "all", **run, "note": note}
        return
    variances = one.variances()
    total = sum(variances.values())
    for place, name in enumerate(one.names):
        estimate = float(one.estimate[place])
        notes = [_includes(one, name), NEGATIVE if estimate < 0.0 else "", one.few_cases(place)]
        yield {
            **shared,
            "statistic": VARIANCE,
            "component": name,
            "estimate": estimate,
            "ci_low": float(one.ci_low[place]),
            "ci_high": float(one.ci_high[place]),
            "share": variances[name] / total if total > 0.0 else None,
            "n_levels": int(one.n_groups[place]),
            **run,
            "n_clusters": int(one.n_telling[place]),
            "note": "; ".join(filter(None, notes)) or (None if total > 0.0 else ALL_EQUAL),
        }
    n_systems = len(np.unique(found.system[~np.isnan(found.value)]))
    if n_systems < 2:
        return
    for statistic, coefficient in ((RELATIVE, one.generalizability()), (ABSOLUTE, one.dependability())):
        of_judge = THESE_JUDGES if size.n_judges == 1 else ""
        yield {
            **shared,
            "statistic": statistic,
            "component": "means of systems",
            "estimate": coefficient.estimate,
            "ci_low": coefficient.ci_low,
            "ci_high": coefficient.ci_high,
            **run,
            "note": "; ".join(filter(None, [coefficient.note, of_judge])) or None,
        }
    for words, planned, judges_fixed, remark in _designs(one) if total > 0.0 else ():
        half_width = planned.difference(
            one.planning_variances(), judges_fixed=judges_fixed, confidence=one.confidence
        ).half_width
        n = round(n_systems * planned.n_cases * planned.n_dialogues * planned.n_judges * planned.n_repeats)
        yield {
            **shared,
            "statistic": HALF_WIDTH,
            "component": words,
            "estimate": float(half_width),
            **_numbers(planned, n),
            "note": remark,
        }


def _designs(one: Components) -> Iterator[tuple[str, StudyDesign, bool, str | None]]:
    """Yield designs near the run's: their names, numbers, whether judges are fixed, and a note."""
    size = one.design
    single = size._replace(n_judges=1)
    yield "a judge", single, True, PAIRS_DIFFER
    yield "a judge, twice the cases", single._replace(n_cases=2 * size.n_cases), True, None
    if REPEAT in one.names:
        yield "a judge, twice the repeats", single._replace(n_repeats=2 * size.n_repeats), True, None
    if size.n_judges > 1:
        yield "mean of the judges", size, True, None
    if size.n_judges >= FEWEST_JUDGES and SYSTEM_JUDGE in one.names:
        yield "population of judges", size, False, None
        yield "population of judges, twice the judges", size._replace(n_judges=2 * size.n_judges), False, None
        yield "population of judges, twice the cases", size._replace(n_cases=2 * size.n_cases), False, None


def _numbers(size: StudyDesign, n: int) -> Row:
    return {"n_judges": size.n_judges, "n_repeats": size.n_repeats, "n": n, "n_clusters": size.n_cases}


def _includes(one: Components, name: str) -> str:
    """Return which components an estimate contains, since they are confounded with it."""
    found = [other for other in one.joined.get(name, ()) if other != DIALOGUE or one.design.n_dialogues > 1.0]
    return f"includes {', '.join(found)}" if found else ""


def judge_differences(judgements: pd.DataFrame, design: Design) -> list[Row]:
    """Return the rows of a table `judge_differences`; of fewer than `FEWEST_JUDGES` judges, one row that says so.

    Args:
        judgements: the protocol's table `judgements`, with the columns of `item_values.COLUMNS` and `repeat`.
        design: the protocol's design.
    """
    systems = systems_of(judgements, design)
    rows = [row for found in scores(judgements, design) for row in _compared(found, systems, design.confidence)]
    if "win_rates" in design.measures and design.reference is None:
        rows += _head_to_head(judgements, design, systems)
    return with_adjusted_p(rows)


def _compared(found: Scores, systems: Sequence[str], confidence: float) -> Iterator[Row]:
    shared = family_columns(found.table, found.measure, scope(found.about))
    n_judges = len(np.unique(found.judge))
    if n_judges < FEWEST_JUDGES:
        if n_judges:
            yield _without_judges(shared, n_judges, found.case)
        return
    item, items = pd.factorize(found.item)
    case_of_item = found.case[np.unique(item, return_index=True)[1]] if len(items) else found.case
    shape = int(found.judge.max()) + 1, len(systems), len(items)
    values = cell_means(found.value, (found.judge, found.system, item.astype(np.int64)), shape)[0]
    for first, second in combinations(range(len(systems)), 2):
        sides = values[:, first], values[:, second]
        sample = differences_over_judges(*sides, case_of_item, confidence=confidence, scores=found.is_score)
        if sample.n_items:
            yield _row(shared, systems[first], systems[second], sample, *_means(*sides))


def _means(first: FloatArray, second: FloatArray) -> tuple[float, float]:
    """Return the means over judges of the two systems' means on common items."""
    both = ~np.isnan(first) & ~np.isnan(second)
    used = both.any(axis=1)
    count = both[used].sum(axis=1)
    one, other = ((np.where(both, side, 0.0)[used].sum(axis=1) / count).mean() for side in (first, second))
    return float(one), float(other)


def _head_to_head(judgements: pd.DataFrame, design: Design, systems: Sequence[str]) -> Iterator[Row]:
    """Yield the differences of the shares of comparisons that each of two systems wins."""
    frame, one_judge = _as_one_judge(judgements, design)
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
                row = _row(shared, systems[first], systems[second], sample)
                notes = [row["note"], IN_ROUNDS if design.equal_pairs else None]
                yield {**row, "note": "; ".join(filter(None, notes)) or None}


def _row(
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
    """Return the row of a family that too few judges answered."""
    return {
        **shared,
        "n_judges": n_judges,
        "p": np.nan,
        "n": len(case),
        "n_clusters": len(np.unique(case.astype(np.str_))),
        "note": FEW_JUDGES.format(counted(n_judges, "judge"), FEWEST_JUDGES),
    }


def scores(judgements: pd.DataFrame, design: Design) -> Iterator[Scores]:
    """Yield the scores of each measure, criterion, answer and length.

    Args:
        judgements: the protocol's table `judgements`, with the columns of `item_values.COLUMNS` and `repeat`.
        design: the protocol's design; its measures say which scores there are.
    """
    frame, one_judge = _as_one_judge(judgements, design)
    frame = frame.assign(item=common_items(frame).to_numpy() if len(frame) else None)
    systems = systems_of(judgements, design)
    for measure in MEASURED:
        if measure not in design.measures or (measure == "win_rates" and design.reference is None):
            continue
        if measure == "checklist":
            yield from _checklist(frame, one_judge, systems)
            continue
        lengths = one_judge.model_copy(update={"lengths": []}) if measure == "pass_rates" else one_judge
        for group, rows in groups(frame, lengths):
            if rows.empty:
                continue
            about = {"criterion": group["criterion"], "n_utterances": group["n_utterances"]}
            if measure == "means":
                yield _scores(measure, "mean", about, rows, systems, scores_of(rows), is_score=True)
            elif measure == "rates":
                label = labels_of(rows)
                for name in answers(label):
                    value = np.nan_to_num(given(label, name))
                    yield _scores(measure, f"rate of {name}", about, rows, systems, value, is_score=False)
            elif measure == "pass_rates":
                for n in lengths_of(design):
                    long, limits = long_enough(rows, n)
                    value = np.nan_to_num(passed(long, limits))
                    at_n = about | {"n_utterances": n}
                    yield _scores(measure, "pass_rate", at_n, long, systems, value, is_score=False)
            elif measure == "win_rates":
                yield _wins(about, rows, systems, design.reference or "")


def _as_one_judge(judgements: pd.DataFrame, design: Design) -> tuple[pd.DataFrame, Design]:
    """Return the judgements of all judges that are a sample under one name, their names in `who`, and a design."""
    own = [judge for judge in design.judges if judge not in design.derived_judges]
    frame = judgements[judgements["judge"].isin(own)]
    frame = frame.assign(who=frame["judge"], judge=_ALL_JUDGES)
    return frame, design.model_copy(update={"judges": [_ALL_JUDGES]})


def _scores(
    table: str,
    measure: str,
    about: Row,
    rows: pd.DataFrame,
    systems: Sequence[str],
    value: FloatArray,
    *,
    is_score: bool,
) -> Scores:
    code = {name: number for number, name in enumerate(systems)}
    return Scores(
        table=table,
        measure=measure,
        about=about,
        value=value,
        system=np.array([code[name] for name in rows["left"]], dtype=np.int64),
        judge=pd.factorize(rows["who"])[0].astype(np.int64),
        case=cases(rows).to_numpy(dtype=object),
        item=rows["item"].to_numpy(dtype=object),
        repeat=rows["repeat"].to_numpy(dtype=np.int64),
        is_score=is_score,
    )


def _wins(about: Row, rows: pd.DataFrame, systems: Sequence[str], reference: str) -> Scores:
    games = comparisons(rows, [*systems, reference])
    first = games.left < len(systems)
    outcome = np.where(first, games.outcome, 1.0 - games.outcome)
    side = np.where(first, "left", "right")
    with np.errstate(invalid="ignore"):
        value = np.where(np.isnan(outcome), 0.0, outcome >= 0.5).astype(np.float64)
    shown = rows.assign(
        left=np.where(first, rows["left"], rows["right"]), item=cases(rows).astype(object) + "\x1f" + side
    )
    return _scores("win_rates", "win_or_tie", about, shown, systems, value, is_score=False)


def _checklist(frame: pd.DataFrame, design: Design, systems: Sequence[str]) -> Iterator[Scores]:
    """Yield each dialogue's share of yes by judge and repeat, NaN if an answer is missing."""
    criteria = list(frame["criterion"].dropna().unique())
    keys = ["who", "left", "case_id", "item_id", "item", "repeat"]
    for n in lengths_of(design):
        rows = frame if n is None else frame[frame["n_utterances"] == n]
        if rows.empty:
            continue
        answered = rows.assign(yes=is_yes(labels_of(rows)), case_id=cases(rows), item_id=rows["item_id"].fillna(""))
        table = answered.pivot_table(index=keys, columns="criterion", values="yes", aggfunc="mean", dropna=True)
        table = table.reindex(columns=criteria)
        shares = table.index.to_frame(index=False)
        value = table.to_numpy(dtype=np.float64).mean(axis=1) if criteria else np.full(len(shares), np.nan)
        about = {"criterion": None, "n_utterances": n}
        yield _scores("checklist", "share of yes", about, shares, systems, value, is_score=True)
