"""Labels as numbers, choices or winners on their scale."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dialeval.corpora.text_files import listed, number_in
from dialeval.criteria import NO, YES, YES_NO, Criterion
from dialeval.labels.exports import RawLabel
from dialeval.labels.sheets import pair_options
from dialeval.labels.units import Unit
from dialeval.protocols.questions import Question
from dialeval.protocols.score_values import score_of_label
from dialeval.tables.dialogues import Outcome
from dialeval.tables.files import escaped_cell

_YES, _NO = ("yes", "y", "true", "1", "1.0"), ("no", "n", "false", "0", "0.0")
_TIES = ("tie", "draw", "both", "neither", "equal", "none")
_POINTS: Mapping[str, Outcome] = {"1": "left", "1.0": "left", "0.5": "tie", "0": "right", "0.0": "right"}
_OTHER_SIDE: Mapping[Outcome, Outcome] = {"left": "right", "right": "left", "tie": "tie"}
_MEANT = re.compile(r"(?<=\w) \(.*\)$", re.DOTALL)
"""As in `5 (excellent)`, copied from a sheet's answers."""
_LIKE_A_DATE = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{1,4}|\d[. -]+[^\W\d_]{3}|[^\W\d_]{3}[. -]+\d")
_A_DATE = "spreadsheet programs turn 4.5 and 3-4 into dates unless cells are formatted as text"
_COMMA = re.compile(r"[-+]?[0-9]+,[0-9]+")


class UnreadableLabelError(Exception):
    """A label is none of the possible answers; the message says why."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The systems of a pair in the order shown (left first); without names it is a single dialogue.

    Attributes:
        left, right: the systems.
    """

    left: str = ""
    right: str = ""


def read_label(
    raw: RawLabel, question: Question, criterion: Criterion | None, unit: Unit, shown: Shown = Shown()
) -> dict[str, Any]:
    """Return the columns of the table `labels` with the answer.

    Args:
        raw: the label.
        question: the protocol.
        criterion: its criterion; None if the question has none.
        unit: its unit.
        shown: of a pair, the systems in the order shown.

    Raises:
        UnreadableLabelError: it is none of the possible answers.
    """
    form = question.protocol.form
    scale = {} if form in ("pair", "locate") or criterion is None else _scale_limits(form, criterion)
    if raw.skipped:
        return scale
    if form == "pair":
        outcome = _outcome(raw, question, shown)
        return {"outcome": outcome if shown.left <= shown.right else _OTHER_SIDE[outcome]}
    if form == "locate":
        return _detected(raw, unit)
    assert criterion is not None
    return {**scale, **_score(raw.label, form, criterion)}


def is_on_numbers(form: str, criterion: Criterion) -> bool:
    """Return whether a label is a number on the criterion's scale, not an answer with a name."""
    return form in ("scale", "probability") and not criterion.scale.labels and not _is_yes_or_no(form, criterion)


def _scale_limits(form: str, criterion: Criterion) -> dict[str, float]:
    scale = YES_NO if _is_yes_or_no(form, criterion) else criterion.scale
    return {"scale_min": scale.low, "scale_max": scale.high}


def _is_yes_or_no(form: str, criterion: Criterion) -> bool:
    return criterion.scale.is_yes_no or (form == "probability" and criterion.is_yes_no)


def _score(text: str, form: str, criterion: Criterion) -> dict[str, Any]:
    number, scale = _number(text), criterion.scale
    if _is_yes_or_no(form, criterion):
        chosen = _yes_or_no(text)
        if chosen is None and (number is None or not 0 <= number <= 1):
            raise UnreadableLabelError(f"'{text:.40}' is neither Yes nor No; write one of them")
        return {"value": float(chosen == YES), "choice": chosen} if chosen else {"value": number}
    if scale.labels:
        raw = score_of_label(text, criterion)
        label = raw.label if raw else next((one for one, value in scale.points().items() if value == number), None)
        if label is None:
            raise UnreadableLabelError(
                f"'{text:.40}' is not one of {', '.join(scale.labels)}; write one of them{_hint(text)}"
            )
        return {"value": scale.value_of(label), "choice": label}
    if number is None:
        raise UnreadableLabelError(
            f"'{text:.40}' is not a number; write one from {scale.low:g} to {scale.high:g}, or leave it "
            f"empty{_hint(text)}"
        )
    if not scale.low <= number <= scale.high:
        raise UnreadableLabelError(
            f"{number:g} is outside the scale of {criterion.name}, {scale.low:g} to {scale.high:g}; convert the "
            f"labels to this scale, or set their scale under criteria"
        )
    return {"value": number}


def _hint(text: str) -> str:
    return f"; {_A_DATE}" if _LIKE_A_DATE.search(text) else ""


def _detected(raw: RawLabel, unit: Unit) -> dict[str, Any]:
    choice = _yes_or_no(raw.label)
    if choice is None:
        raise UnreadableLabelError(f"'{raw.label:.40}' is neither Yes nor No; write one of them")
    if not raw.place:
        return {"choice": choice}
    place, turns = _number(raw.place), unit.dialogues[0]
    if place is None or not place.is_integer() or not 1 <= place <= len(turns):
        raise UnreadableLabelError(
            f"place '{raw.place:.40}' is not an utterance; write a whole number from 1 to {len(turns)}"
        )
    if choice == NO:
        raise UnreadableLabelError(f"the label is {NO}, but place is {place:g}; correct one of the two")
    if not turns[int(place) - 1].judged:
        raise UnreadableLabelError(
            f"place {place:g} is not an utterance of the evaluated speaker; write the number of one"
        )
    return {"choice": choice, "place": int(place)}


def _outcome(raw: RawLabel, question: Question, shown: Shown) -> Outcome:
    """Return the outcome of the pair as shown.

    Raises:
        UnreadableLabelError: the label is no answer, or has two meanings.
    """
    text, options = _folded(raw.label), pair_options(question)
    sided: tuple[tuple[str, Outcome], ...] = ((shown.left, "left"), (shown.right, "right"))
    named = {_folded(escaped_cell(name)): side for name, side in sided}  # as a CSV file of ours has the name
    named |= {_folded(name): side for name, side in sided}
    chosen: dict[str, Outcome] = {_folded(label): outcome for label, outcome in options.items()}
    sides: dict[str, Outcome] = {"left": "left", "right": "right", "tie": "tie", **_POINTS}
    ties: dict[str, Outcome] = dict.fromkeys(_TIES, "tie")
    other_ties = {word: outcome for word, outcome in ties.items() if word not in chosen}
    if raw.exported or (raw.key and raw.column == "label"):
        readings: list[dict[str, Outcome]] = [chosen]
    else:
        by_column = {"winner": [named, ties], "outcome": [chosen, sides, other_ties], "value": [sides]}
        readings = by_column.get(raw.column, [named, chosen, sides, other_ties])
    found = {reading[text] for reading in readings if text in reading}
    if not found:
        known = listed([*options, *([] if raw.exported else [shown.left, shown.right, "left", "right", "tie"])])
        raise UnreadableLabelError(f"'{raw.label:.40}' is not an answer; choose from: {known}")
    if len(found) > 1:
        raise UnreadableLabelError(
            f"'{raw.label:.40}' could be an answer or a system's name; rename the column to outcome or winner"
        )
    return found.pop()


def _yes_or_no(text: str) -> str | None:
    folded = _folded(text)
    return YES if folded in _YES else NO if folded in _NO else None


def _number(text: str) -> float | None:
    """Return the number in a text, in digits of any script; a meaning after it is ignored; None if there is none."""
    plain = "".join(str(unicodedata.decimal(mark, mark)) for mark in _MEANT.sub("", text))
    number = number_in(plain.replace(",", ".") if _COMMA.fullmatch(plain) else plain)
    return number if number is None or math.isfinite(number) else None


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
