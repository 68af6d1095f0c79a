"""Cascades: which items the expensive judge is asked, and estimates of what it would say of all.

What is asked together stays together: the two orders of a pair, the repeats of a question, the criteria of one prompt.
Such a unit is asked of the second judge wholly or not at all.

The expensive judge's answers take the place of people's labels, and the cheap judge's scores help as any judge's do
(prediction-powered inference). A plain mean of the two judges' answers is an estimate of neither.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy.special import stdtr

from dialeval.labels.correction import DIFFERENCE, corrected_numbers
from dialeval.labels.joined_judgements import (
    CHECKLIST,
    JUDGEMENT_COLUMNS,
    LOSS,
    MEAN,
    RATE,
    RATING,
    WIN,
    WIN_OR_TIE,
    WIN_RATE,
    WINS,
    LabelledDesign,
    Terms,
)
from dialeval.measures.design import Design, Row
from dialeval.measures.differences import HEAD_TO_HEAD, about, corrected
from dialeval.tables.dialogues import Form
from dialeval.tables.schema import scope

# Cascades of two judges: which requests the second is asked, how probably, and the answers of the two as one.

CASCADE_COLUMNS = (
    "request_id", "corpus", "language", "item_id", "case_id", "left", "right", "n_utterances", "criterion", "outcome",
    "value", "scale_min", "scale_max",
)  # fmt: skip
"""Columns of the table `judgements` that are looked at."""
_SLACK = 1e-9
_ALIKE = 0.5
"""Share from which sure and unsure units are drawn alike."""
_OUTCOMES = {"left": 1.0, "tie": 0.5, "right": 0.0}
_UNREAD = -1.0
"""How sure a judge is whose answer could not be read: less than of anything else."""


def drawn(judgements: pa.Table, form: Form, share: float) -> dict[str, float]:
    """Returns the requests that the second judge is asked, each with its inclusion probability.

    Half of the share is drawn from the units of which the first judge is least sure, which make up a share of all
    units, and half from the others; from a share of a half on it is drawn from all alike. The order of the draw is that
    of hashes, spread evenly over systems or pairs, so that the same judgements always give the same requests, and a
    larger share nearly the same and more.

    Args:
        judgements: the columns `CASCADE_COLUMNS` of the first judge's judgements.
        form: the question's.
        share: of the requests; never more are drawn, but at least one unit.
    """
    rows = judgements.select(CASCADE_COLUMNS).to_pandas()
    if rows.empty:
        return {}
    rows["unit"] = _units(rows, paired=form == "pair")
    unsure = least_sure(judgements, form, share) if share < _ALIKE else frozenset()
    sides = np.sort(rows[["left", "right"]].fillna("").to_numpy(dtype=str), axis=1)
    rows["about"] = pd.Series(sides[:, 0]).str.cat(sides[:, 1], sep="\0").to_numpy()
    grouped = rows.groupby("unit", sort=False)
    units = grouped.agg(about=("about", "first"), request=("request_id", "first"), size=("request_id", "nunique"))
    units["hash"] = [hashlib.sha256(f"drawn\0{unit}".encode()).digest() for unit in units.index]
    units = units.sort_values("hash")
    of_one = units.groupby("about")["hash"]
    units["order"] = (of_one.cumcount() + 0.5) / of_one.transform("size")
    units = units.sort_values(["order", "hash"])
    room = share * float(units["size"].sum()) + _SLACK
    is_unsure = units["request"].isin(unsure)
    n_unsure = _fitting(units[is_unsure], room / 2.0)
    n_others = _fitting(units[~is_unsure], room - float(units[is_unsure]["size"].iloc[:n_unsure].sum()))
    parts = [(units[is_unsure], n_unsure), (units[~is_unsure], n_others)]
    if not (n_unsure and n_others):  # what has no chance is in no estimate
        parts = [(units, max(1, _fitting(units, room)))]
    chances = {unit: n / len(part) for part, n in parts for unit in part.index[:n]}
    asked = rows[rows["unit"].isin(list(chances))]
    return dict(zip(asked["request_id"], asked["unit"].map(chances), strict=True))


def _fitting(units: pd.DataFrame, room: float) -> int:
    """Returns how many units, the first ones, have no more requests than there is room for."""
    return int(np.searchsorted(units["size"].cumsum().to_numpy(), room, side="right"))


def least_sure(judgements: pa.Table, form: Form, share: float) -> frozenset[str]:
    """Returns the requests about the units of which the first judge is least sure.

    There are as many as make up the share of all requests that the first judge answered, and no more; at least one
    unit. Which of equally sure units are taken is decided by hashes of what they are about.

    Args:
        judgements: the columns `CASCADE_COLUMNS` of the first judge's judgements.
        form: the question's.
        share: of the requests.
    """
    rows = judgements.select(CASCADE_COLUMNS).to_pandas()
    if rows.empty:
        return frozenset()
    rows["unit"] = _units(rows, paired=form == "pair")
    sure = _sureness(rows, form)
    sizes = rows.groupby("unit")["request_id"].nunique()
    order = sorted(sizes.index, key=lambda unit: (sure[unit], hashlib.sha256(unit.encode()).digest()))
    asked = np.cumsum([sizes[unit] for unit in order])
    n = max(1, int(np.searchsorted(asked, share * asked[-1] + _SLACK, side="right")))
    return frozenset(rows.loc[rows["unit"].isin(order[:n]), "request_id"])


def as_one(first: pa.Table, then: pa.Table, name: str) -> pa.Table:
    """Returns the judgements of a cascade, in the order of the first judge's.

    Where the second judge was asked, what it said counts, even if it cannot be read: that is no reason to believe the
    first.

    Args:
        first: judgements of the first judge.
        then: judgements of the second.
        name: of the cascade, as a judge.
    """
    asked = frozenset(then["request_id"].to_pylist())
    mask = pa.array([request not in asked for request in first["request_id"].to_pylist()])
    both = pa.concat_tables([part.replace_schema_metadata() for part in (first.filter(mask), then)])
    places = {request: place for place, request in reversed(list(enumerate(first["request_id"].to_pylist())))}
    order = np.argsort([places.get(request, len(places)) for request in both["request_id"].to_pylist()], kind="stable")
    result = both.take(pa.array(order))
    return result.set_column(0, "judge", pa.array([name] * len(result), pa.string()))


def _units(rows: pd.DataFrame, *, paired: bool) -> pd.Series:
    """Returns the name of each row's unit."""
    together = rows["criterion"].fillna("").groupby(rows["request_id"]).agg(lambda names: "+".join(sorted(set(names))))
    about = ["corpus", "language", "item_id", "case_id", "n_utterances"] + ([] if paired else ["left", "right"])
    parts = [rows[column].astype("string").fillna("") for column in about]
    if paired:
        left, right = rows["left"].fillna(""), rows["right"].fillna("")
        parts += [left.where(left <= right, right), right.where(left <= right, left)]
    named: pd.Series = rows["request_id"].map(together).str.cat(pd.concat(parts, axis=1), sep="\0")
    return named


def _sureness(rows: pd.DataFrame, form: Form) -> pd.Series:
    """Returns how sure the judge is of each unit, from -1 (unread) to 1; of several criteria the least sure one counts.

    A probability is sure as far as it is from the middle of its scale, a pair as far as all its answers favour one
    side, and a number as little as its repeats differ.
    """
    criterion = rows["criterion"].fillna("")
    if form == "pair":
        score = rows["outcome"].map(_OUTCOMES).fillna(0.5)
        score = score.where(rows["left"].fillna("") <= rows["right"].fillna(""), 1.0 - score)
        each = (2.0 * (score.groupby([rows["unit"], criterion]).mean() - 0.5)).abs()
        return each.groupby(level="unit").min()
    width = rows["scale_max"] - rows["scale_min"]
    by = [rows["unit"], criterion]
    position: pd.Series = (rows["value"] - rows["scale_min"]) / width
    found = position.groupby(by)
    each = (2.0 * (found.mean() - 0.5)).abs() if form == "probability" else -found.std(ddof=0)
    unread = position.isna().groupby(by).any()
    return each.mask(unread, _UNREAD).groupby(level="unit").min()


# What the expensive judge of a cascade would say of everything, by a sample of its answers and all of the cheap one's.

COLUMNS = tuple(dict.fromkeys((*JUDGEMENT_COLUMNS, *CASCADE_COLUMNS)))
"""Columns of the table `judgements` that are needed."""
OF_THEN = "what {then} would say, by its answers to a sample and those of {first} to all"
NOT_ESTIMATED = "not estimated for a cascade"
_ASKED_FOR = {"win_rates": (WINS,), "differences": ("means", "rates", "checklist", "win_rates", WINS)}
_COMPARED = {
    MEAN: ("means", "mean"), CHECKLIST: ("checklist", "share of yes"), WIN_OR_TIE: ("win_rates", "win_or_tie"),
    RATING: ("ratings", "bradley_terry"),
}  # fmt: skip
_NUMBERS = (
    "estimate", "low", "high", "win", "tie", "lose", "unparsed", "win_or_tie", "elo_sd", "p_above_next",
    "design_effect", "effective_n",
)  # fmt: skip


def with_cascade(rows: Sequence[Row], measure: str, judgements: pa.Table, design: Design) -> list[Row]:
    """Returns the rows of a measure's table, those of a cascade with what the expensive judge would say.

    Args:
        rows: rows of the table, of all judges.
        measure: means, rates, checklist, win_rates or ratings.
        judgements: the protocol's table `judgements` of all judges, of whatever is judged, with the columns `COLUMNS`.
        design: the protocol's design.
    """
    if design.cascade is None:
        return list(rows)
    numbers, _ = _numbers(judgements, design, _ASKED_FOR.get(measure, (measure,)))
    found = {
        tuple(row[name] for name in ("measure", "criterion", "n_utterances", "answer", "system", "versus")): row
        for row in numbers
    }
    return [
        {**row, **_replaced(row, measure, found, design)} if row["judge"] == design.cascade.name else row
        for row in rows
    ]


def differences_with_cascade(rows: Sequence[Row], measure: str, judgements: pa.Table, design: Design) -> list[Row]:
    """Returns the rows of a table of differences, those of a cascade between what the expensive judge would say.

    Args:
        rows: rows of the table, of all judges.
        measure: ratings, or differences for all others.
        judgements: as for `with_cascade`.
        design: the protocol's design.
    """
    if design.cascade is None:
        return list(rows)
    wanted = _ASKED_FOR.get(measure, (measure,))
    measures = [name for name in wanted if name in (*design.measures, WINS, "ratings")]
    numbers, compared = _numbers(judgements, design, measures)
    found = [*_differences(numbers, compared, design), *_head_to_head(numbers, design)]
    others = [row for row in rows if row["judge"] != design.cascade.name]
    return [*others, *corrected(found)]


def _numbers(judgements: pa.Table, design: Design, measures: Sequence[str]) -> tuple[list[Row], list[Row]]:
    """Returns the rows of the tables `labels/corrected` and `labels/differences` with the judges as annotators."""
    cascade, form = design.cascade, design.form
    assert cascade is not None
    assert form is not None
    rows: pd.DataFrame = judgements.to_pandas()
    is_first = rows["judge"] == cascade.first
    chances = drawn(judgements.filter(pa.array(is_first)), form, cascade.share)
    rows = rows.dropna(subset=["left"])
    of_then = rows[(rows["judge"] == cascade.name) & rows["request_id"].isin(list(chances))]
    labels = of_then.rename(columns={"judge": "annotator", "left": "system", "right": "versus", "repeat": "round"})
    labels = labels.assign(
        probability=of_then["request_id"].map(chances), simulated=False, skipped=of_then["status"] != "ok"
    )
    settings = design.model_dump() | {"judges": [cascade.first], "measures": list(measures), "members": []}
    labelled = LabelledDesign(**settings, labels_of_judge=True)
    found, compared = corrected_numbers(rows, labels, labelled, Terms(panel=None, confidence=design.confidence))
    for row in [*found, *compared]:
        row["note"] = _note(row["note"], design)
    return found, compared


def _note(note: str | None, design: Design) -> str:
    assert design.cascade is not None
    then, first = design.cascade.then, design.cascade.first
    words = (note or "").replace("people's labels stand", f"{then}'s answers stand").replace("labelled ", "sampled ")
    words = words.replace("what people would say", f"what {then} would say").replace("label", "answer")
    return "; ".join(filter(None, (OF_THEN.format(then=then, first=first), words)))


def _replaced(row: Row, measure: str, found: dict[tuple[Any, ...], Row], design: Design) -> Row:
    """Returns the columns of a row of a cascade that are other than those of the mixture."""
    assert design.cascade is not None
    nothing = dict.fromkeys(name for name in _NUMBERS if name in row)
    nothing |= dict.fromkeys(
        name for name in row if name.startswith(("bradley_terry", "davidson", "win_or_tie_")) or name == "published"
    )
    group = (row.get("criterion"), row["n_utterances"])
    system = row["system"]
    nothing["note"] = NOT_ESTIMATED
    if measure == "win_rates":
        return nothing | _wins(system, row["opponent"], group, found)
    name = {"means": MEAN, "rates": RATE, "checklist": CHECKLIST, "ratings": RATING}[measure]
    number = found.get((name, *group, row.get("label"), system, None))
    if number is None:
        return nothing
    if measure == "ratings":
        ends = {"bradley_terry": "estimate", "bradley_terry_low": "low", "bradley_terry_high": "high"}
        return nothing | {column: number[of] for column, of in ends.items()} | {"note": number["note"]}
    return nothing | {column: number[column] for column in ("estimate", "low", "high", "note")}


def _wins(system: str, opponent: str, group: tuple[Any, ...], found: dict[tuple[Any, ...], Row]) -> Row:
    """Returns how often a system wins, ties and loses against another, from whichever side the pair was counted."""
    win, loss = (found.get((name, *group, None, system, opponent)) for name in (WIN, LOSS))
    if win is None:
        loss, win = (found.get((name, *group, None, opponent, system)) for name in (WIN, LOSS))
    if win is None or loss is None or win["estimate"] is None:
        return {}
    return {
        "estimate": win["estimate"],
        "low": win["low"],
        "high": win["high"],
        "win": win["estimate"],
        "lose": loss["estimate"],
        "tie": max(0.0, 1.0 - win["estimate"] - loss["estimate"]),
        "win_or_tie": 1.0 - loss["estimate"],
        "win_or_tie_low": 1.0 - loss["high"],
        "win_or_tie_high": 1.0 - loss["low"],
        "note": win["note"],
    }


def _differences(numbers: Sequence[Row], compared: Sequence[Row], design: Design) -> Iterator[Row]:
    """Yields the differences of systems under the names that a protocol's tables give them."""
    assert design.cascade is not None
    rows = [row for row in numbers if row["measure"].endswith(f" {DIFFERENCE}")]
    for row, one in zip(rows, compared, strict=True):
        measure = row["measure"].removesuffix(f" {DIFFERENCE}")
        if measure == WIN_RATE or measure in (WIN, LOSS):
            continue
        table, name = ("rates", f"rate of {row['answer']}") if measure == RATE else _COMPARED[measure]
        yield one | about(table, name, scope(row | {"answer": None}), design.cascade.name)


def _head_to_head(numbers: Sequence[Row], design: Design) -> Iterator[Row]:
    """Yields of every two systems how much more often the first wins than it loses."""
    assert design.cascade is not None
    if design.reference is not None:
        return
    shares = {(row["measure"], scope(row), row["system"], row["versus"]): row for row in numbers if row["versus"]}
    for (measure, where, first, second), row in shares.items():
        if measure != WIN_RATE:
            continue
        won, lost = (shares[name, where, first, second]["estimate"] for name in (WIN, LOSS))
        lead = 2.0 * row["estimate"] - 1.0
        with np.errstate(divide="ignore", invalid="ignore"):
            p = 2.0 * stdtr(row["df"], -abs(lead) / (2.0 * row["se"]))
        yield about("win_rates", HEAD_TO_HEAD, where, design.cascade.name) | {
            "first": first,
            "second": second,
            "first_value": won,
            "second_value": lost,
            "difference": lead,
            "low": 2.0 * row["low"] - 1.0,
            "high": 2.0 * row["high"] - 1.0,
            "p": float(p),
            "n": row["n_labelled"],
            "n_clusters": row["n_labelled_seeds"],
            "note": row["note"] or None,
        }
