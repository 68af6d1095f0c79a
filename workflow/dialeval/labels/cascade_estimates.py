"""Estimates for the expensive judge of a cascade over all requests, from a sample of its answers."""

from __future__ import annotations

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
from dialeval.measures.combined_judges import CASCADE_COLUMNS, drawn
from dialeval.measures.design import Design, Row
from dialeval.measures.differences import HEAD_TO_HEAD, family_columns, with_adjusted_p
from dialeval.tables.schema import scope

COLUMNS = tuple(dict.fromkeys((*JUDGEMENT_COLUMNS, *CASCADE_COLUMNS)))
"""Columns of the table `judgements` that are needed."""
OF_THEN = "estimate of {then}'s result on all items, from its responses to a sample and {first}'s to all"
NOT_ESTIMATED = "not estimated for a cascade"
_MEASURES_OF_TABLE = {"win_rates": (WINS,), "differences": ("means", "rates", "checklist", "win_rates", WINS)}
_COMPARED = {
    MEAN: ("means", "mean"), CHECKLIST: ("checklist", "share of yes"), WIN_OR_TIE: ("win_rates", "win_or_tie"),
    RATING: ("ratings", "bradley_terry"),
}  # fmt: skip
_NUMBERS = (
    "estimate", "ci_low", "ci_high", "win", "tie", "lose", "unparsed", "win_or_tie", "elo_sd", "p_above_next",
    "design_effect", "n_effective",
)  # fmt: skip


def with_cascade(rows: Sequence[Row], measure: str, judgements: pa.Table, design: Design) -> list[Row]:
    """Return the rows of a measure's table, a cascade's with estimates for its expensive judge.

    Args:
        rows: rows of the table, of all judges.
        measure: means, rates, checklist, win_rates or ratings.
        judgements: the protocol's table `judgements` of all judges, of whatever is judged, with the columns `COLUMNS`.
        design: the protocol's design.
    """
    if design.cascade is None:
        return list(rows)
    numbers, _ = _numbers(judgements, design, _MEASURES_OF_TABLE.get(measure, (measure,)))
    found = {
        tuple(row[name] for name in ("measure", "criterion", "n_utterances", "answer", "system", "opponent")): row
        for row in numbers
    }
    return [{**row, **_replaced(row, measure, found)} if row["judge"] == design.cascade.name else row for row in rows]


def differences_with_cascade(rows: Sequence[Row], measure: str, judgements: pa.Table, design: Design) -> list[Row]:
    """Return the rows of a table of differences, a cascade's between estimates for its expensive judge.

    Args:
        rows: rows of the table, of all judges.
        measure: ratings, or differences for all others.
        judgements: as for `with_cascade`.
        design: the protocol's design.
    """
    if design.cascade is None:
        return list(rows)
    wanted = _MEASURES_OF_TABLE.get(measure, (measure,))
    measures = [name for name in wanted if name in (*design.measures, WINS, "ratings")]
    numbers, compared = _numbers(judgements, design, measures)
    judge = design.cascade.name
    found = [
        *_differences(numbers, compared, judge),
        *(_head_to_head(numbers, judge) if design.reference is None else []),
    ]
    return [*(row for row in rows if row["judge"] != judge), *with_adjusted_p(found)]


def _numbers(judgements: pa.Table, design: Design, measures: Sequence[str]) -> tuple[list[Row], list[Row]]:
    """Return the rows of the tables `labels/estimates` and `labels/differences` with the judges as annotators."""
    cascade, form = design.cascade, design.form
    assert cascade is not None
    assert form is not None
    rows: pd.DataFrame = judgements.to_pandas()
    is_first = rows["judge"] == cascade.first
    chances = drawn(judgements.filter(pa.array(is_first)), form, cascade.share)
    rows = rows.dropna(subset=["left"])
    of_then = rows[(rows["judge"] == cascade.name) & rows["request_id"].isin(list(chances))]
    labels = of_then.rename(columns={"judge": "annotator", "left": "system", "right": "opponent", "repeat": "round"})
    labels = labels.assign(
        probability=of_then["request_id"].map(chances), simulated=False, skipped=of_then["status"] != "ok"
    )
    settings = design.model_dump() | {"judges": [cascade.first], "measures": list(measures), "members": []}
    labelled = LabelledDesign(**settings, labels_of_judge=True)
    found, compared = corrected_numbers(rows, labels, labelled, Terms(panel=None, confidence=design.confidence))
    source = OF_THEN.format(then=cascade.then, first=cascade.first)
    for row in [*found, *compared]:
        words = (row["note"] or "").replace("labelled ", "sampled ").replace("label", "answer")
        row["note"] = f"{source}; {words}" if words else source
    return found, compared


def _replaced(row: Row, measure: str, found: dict[tuple[Any, ...], Row]) -> Row:
    """Return the columns of a row of a cascade that are other than those of the mixture."""
    blank = dict.fromkeys(name for name in _NUMBERS if name in row)
    blank |= dict.fromkeys(
        name for name in row if name.startswith(("bradley_terry", "davidson", "win_or_tie_")) or name == "published"
    )
    group = (row.get("criterion"), row["n_utterances"])
    system = row["system"]
    blank["note"] = NOT_ESTIMATED
    if measure == "win_rates":
        return blank | _wins(system, row["opponent"], group, found)
    name = {"means": MEAN, "rates": RATE, "checklist": CHECKLIST, "ratings": RATING}[measure]
    number = found.get((name, *group, row.get("label"), system, None))
    if number is None:
        return blank
    if measure == "ratings":
        columns = {"bradley_terry": "estimate", "bradley_terry_ci_low": "ci_low", "bradley_terry_ci_high": "ci_high"}
        return blank | {column: number[of] for column, of in columns.items()} | {"note": number["note"]}
    return blank | {column: number[column] for column in ("estimate", "ci_low", "ci_high", "note")}


def _wins(system: str, opponent: str, group: tuple[Any, ...], found: dict[tuple[Any, ...], Row]) -> Row:
    """Return how often a system wins, ties and loses against another, from whichever side the pair was counted."""
    win, loss = (found.get((name, *group, None, system, opponent)) for name in (WIN, LOSS))
    if win is None:
        loss, win = (found.get((name, *group, None, opponent, system)) for name in (WIN, LOSS))
    if win is None or loss is None or win["estimate"] is None:
        return {}
    return {
        "estimate": win["estimate"],
        "ci_low": win["ci_low"],
        "ci_high": win["ci_high"],
        "win": win["estimate"],
        "lose": loss["estimate"],
        "tie": max(0.0, 1.0 - win["estimate"] - loss["estimate"]),
        "win_or_tie": 1.0 - loss["estimate"],
        "win_or_tie_ci_low": 1.0 - loss["ci_high"],
        "win_or_tie_ci_high": 1.0 - loss["ci_low"],
        "note": win["note"],
    }


def _differences(numbers: Sequence[Row], compared: Sequence[Row], judge: str) -> Iterator[Row]:
    """Yield the differences of systems under the names that a protocol's tables give them."""
    rows = [row for row in numbers if row["measure"].endswith(f" {DIFFERENCE}")]
    for row, one in zip(rows, compared, strict=True):
        measure = row["measure"].removesuffix(f" {DIFFERENCE}")
        if measure == WIN_RATE or measure in (WIN, LOSS):
            continue
        table, name = ("rates", f"rate of {row['answer']}") if measure == RATE else _COMPARED[measure]
        yield one | family_columns(table, name, scope(row | {"answer": None}), judge)


def _head_to_head(numbers: Sequence[Row], judge: str) -> Iterator[Row]:
    """Yield of every two systems how much more often the first wins than it loses."""
    shares = {(row["measure"], scope(row), row["system"], row["opponent"]): row for row in numbers if row["opponent"]}
    for (measure, where, first, second), row in shares.items():
        if measure != WIN_RATE:
            continue
        won, lost = (shares[name, where, first, second]["estimate"] for name in (WIN, LOSS))
        lead = 2.0 * row["estimate"] - 1.0
        with np.errstate(divide="ignore", invalid="ignore"):
            p = 2.0 * stdtr(row["df"], -abs(lead) / (2.0 * row["se"]))
        yield family_columns("win_rates", HEAD_TO_HEAD, where, judge) | {
            "system": first,
            "opponent": second,
            "system_value": won,
            "opponent_value": lost,
            "difference": lead,
            "ci_low": 2.0 * row["ci_low"] - 1.0,
            "ci_high": 2.0 * row["ci_high"] - 1.0,
            "p": float(p),
            "n": row["n_labelled"],
            "n_clusters": row["n_labelled_seeds"],
            "note": row["note"] or None,
        }
