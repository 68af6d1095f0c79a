"""Sheets of annotators: the items of each annotator, the questions, and the CSV file.

Programs change how a text is written: its line ends, quotes, blanks and encoding. They never change its words.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from dialeval.criteria import NO, YES, Criterion, Level
from dialeval.labels.ledger import digest
from dialeval.labels.units import Option, Sheet, SheetForm, SheetQuestion, ShownTurn, ShownUnit, Unit
from dialeval.protocols.pair import OPTIONS
from dialeval.protocols.questions import PromptCriterion, Question, prompt_criterion
from dialeval.tables.dialogues import Form, Outcome
from dialeval.tables.files import escaped_cell

# Assignment of units to annotators, their order, and the first dialogue of each pair.


class Drawn(NamedTuple):
    """A drawn unit: its key, stratum and place in the stratum's order."""

    key: str
    stratum: str
    place: int


FORM_OF_SHEET: Mapping[Form, SheetForm] = {"scale": "scale", "probability": "scale", "pair": "pair", "locate": "locate"}


def assigned(drawn: Iterable[Drawn], annotators: Sequence[str], each: int | None) -> dict[str, list[Drawn]]:
    """Return the units of every annotator: in turn along each stratum, so that all get equally many of each system.

    Args:
        drawn: the units that were drawn.
        annotators: their names.
        each: number of annotators of each unit; None for all.
    """
    found: dict[str, list[Drawn]] = {name: [] for name in annotators}
    n, shared = len(annotators), min(each or len(annotators), len(annotators))
    for entry in drawn:
        first = entry.place + _number("turn", entry.stratum)
        for annotator in range(shared):
            found[annotators[(first + annotator) % n]].append(entry)
    return found


def sheet_of(
    protocol: str,
    annotator: str,
    draw: str,
    form: Form,
    level: Level,
    units: Mapping[str, Unit],
    drawn: Sequence[Drawn],
    questions: tuple[SheetQuestion, ...],
    guidelines: str = "",
) -> Sheet:
    """Return an annotator's sheet.

    Args:
        protocol, annotator: their names.
        draw: id of the draw.
        form: form of the protocol.
        level: level of the units.
        units: units by key; drawn units that no longer exist are left out.
        drawn: units of the annotator.
        questions: questions about each unit.
        guidelines: Markdown beside the questions.
    """
    ordered = sorted(drawn, key=lambda entry: place_on_sheet(annotator, entry.key))
    there = [entry for entry in ordered if entry.key in units]
    return Sheet(
        protocol=protocol,
        annotator=annotator,
        draw=draw,
        form=FORM_OF_SHEET[form],
        level=level,
        questions=questions,
        units=tuple(_shown_unit(entry.key, units[entry.key], annotator) for entry in there),
        language=main_language(units[entry.key] for entry in there),
        guidelines=guidelines,
    )


def place_on_sheet(annotator: str, key: str) -> int:
    """Return a number by which an annotator's sheet is ordered: a hash, so that the order is random."""
    return _number("order", annotator, key)


def main_language(units: Iterable[Unit]) -> str:
    """Return the language of most dialogues."""
    return next((language for language, _ in Counter(unit.language for unit in units).most_common(1)), "en")


def other_order(key: str) -> str:
    """Return the key of a pair that is shown the other way round, its second system first."""
    return f"t{digest(key)[:16]}"


def _shown_unit(key: str, unit: Unit, annotator: str) -> ShownUnit:
    if unit.opponent and _number("side", annotator, key) % 2:
        return ShownUnit(other_order(key), unit.dialogues[::-1])
    return ShownUnit(key, unit.dialogues)


def _number(*parts: str) -> int:
    return int(digest(*parts)[:16], 16)


# A sheet as a CSV file that can be filled in with any spreadsheet program, and the texts of one that comes back.

BYTE_ORDER_MARK = "\ufeff"
"""Without it spreadsheet programs take UTF-8 for something else."""
SHOWN = ("first", "second", "dialogue", "turn")
"""Columns of dialogues; a sheet has those of its form."""
_MARK = "> "
"""Marks the evaluated utterances if there are others."""
_WRITTEN_OTHERWISE = re.compile(
    r"(?:_x000d_|[\s\0-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufe00-\ufe0f\ufeff]"
    r"|['\"`‘’‚‛“”„‟«»‹›′″\u0301])+"
)
"""Blanks, quotes and signs that are not seen, which programs exchange or leave out."""
_DASHES = re.compile(r"[-‐‑‒–—―−]+")
_CODE_PAGES = (
    "utf-8", "cp1250", "cp1251", "cp1253", "cp1254", "cp1257", "mac_roman", "cp437", "cp850", "gbk", "big5", "cp932",
    "cp949",
)  # fmt: skip
"""Encodings in which programs save CSV files, which are then read as Windows-1252."""
_WESTERN = {bytes([byte]).decode("cp1252", "ignore") or chr(byte): byte for byte in range(256)}
"""Bytes by the letters as which programs read them, those that Windows-1252 lacks by their numbers."""
_LOST_ONE = "\ufffd"
_LOST = re.compile(f"[?{_LOST_ONE}]")
_NO_LETTERS, _NOT_PLAIN = re.compile(r"[\W_]+"), re.compile("[^a-z0-9]+")
_LONGEST_OF_EXCEL = 32_700
"""Letters of a cell up to which Excel surely keeps it; it cuts off what is beyond 32,767."""


def blank_csv(sheet: Sheet) -> str:
    """Return the text of the file: a row for each dialogue or pair and question, its label empty."""
    text = io.StringIO()
    shown = shown_columns(sheet.form, sheet.level)
    place = ["place"] if sheet.form == "locate" else []
    rows = csv.writer(text, lineterminator="\r\n")
    columns = ["protocol", "annotator", "draw", "key", "criterion", "question", "options"]
    rows.writerow([*columns, *shown, "label", *place, "comment"])
    for unit in sheet.units:
        dialogues = shown_texts(sheet.form, unit.dialogues)
        for question in sheet.questions:
            question_cells = [question.criterion, question.text, options_text(question)]
            texts = [sheet.protocol, sheet.annotator, sheet.draw, unit.key, *question_cells, *dialogues]
            rows.writerow([*map(escaped_cell, texts), "", *("" for _ in place), ""])
    return BYTE_ORDER_MARK + text.getvalue()


def shown_columns(form: str, level: str) -> list[str]:
    """Return the columns of a sheet with its dialogues."""
    return ["first", "second"] if form == "pair" else [level]


def shown_texts(form: str, dialogues: Sequence[tuple[ShownTurn, ...]], *, by_role: bool = False) -> list[str]:
    """Return dialogues as the cells of a sheet have them, or with User and Assistant as on the page.

    A null character is written out, since no spreadsheet can hold one.
    """
    texts = ["\n".join(_lines(turns, numbered=form == "locate", by_role=by_role)) for turns in dialogues]
    return [text.replace("\0", r"\x00") for text in texts]


def is_same_text(cell: str, text: str) -> bool:
    """Return whether a cell has the words of a text, whichever program saved it.

    Case, blanks, line ends, quotes and dashes may differ. Letters that an encoding lacks may be question marks, or have
    been read in another encoding; of a very long text the end may be cut off.
    """
    wanted = comparable(text)
    for one in _decodings(cell):
        found = comparable(one)
        if found == wanted or (found and len(cell) >= _LONGEST_OF_EXCEL and wanted.startswith(found)):
            return True
        if _LOST.search(one) and _NO_LETTERS.sub("", found) == _NO_LETTERS.sub("", wanted):
            return True
    is_western = all(letter in _WESTERN or letter == _LOST_ONE for letter in cell)
    return is_western and _LOST.search(cell) is not None and _plain(cell) == _plain(text)


def _plain(text: str) -> str:
    """Return the letters and digits of a text that every encoding has."""
    return _NOT_PLAIN.sub("", text.lower())


def comparable(text: str) -> str:
    """Return a text normalised for comparison: without changes that spreadsheet programs make."""
    plain = unicodedata.normalize("NFKC", text.replace("…", "...")).casefold()
    return _DASHES.sub("-", _WRITTEN_OTHERWISE.sub("", plain))


def _decodings(cell: str) -> Iterator[str]:
    """Yield possible original texts of a cell that was read as Windows-1252."""
    yield cell
    try:
        content = bytes(_WESTERN[letter] for letter in cell)
    except KeyError:
        return
    for page in _CODE_PAGES if not cell.isascii() else ():
        try:
            yield content.decode(page)
        except UnicodeDecodeError:
            continue


def _lines(turns: tuple[ShownTurn, ...], *, numbered: bool, by_role: bool) -> Iterator[str]:
    all_judged = all(turn.judged for turn in turns)
    for number, turn in enumerate(turns, start=1):
        mark = _MARK if turn.judged and not all_judged else ""
        speaker = turn.role or turn.speaker if by_role else turn.speaker
        yield f"{mark}{f'{number}. ' if numbered else ''}{speaker}: {turn.text}"


def options_text(question: SheetQuestion) -> str:
    """Return the answers to a question with their meanings, as a sheet shows them."""
    if not question.options:
        return f"a number from {question.low:g} to {question.high:g}"
    return "; ".join(f"{one.label} ({one.meaning})" if one.meaning else one.label for one in question.options)


# Questions for annotators: the criteria and scales of the judges, worded for people.

_ENDS = (".", "?", "!", "。", "?", "!", "؟")  # of a sentence, which needs no full stop then
MOST_OPTIONS = 11
"""Points of a scale of numbers that are offered one by one; on a longer one any number is an answer."""
_WINS: dict[Outcome, str] = {
    "left": "the first dialogue is better", "right": "the second dialogue is better",
    "tie": "neither is better than the other",
}  # fmt: skip
_WINS_SHOWN: dict[Outcome, str] = {"left": "Left is better", "right": "Right is better", "tie": "Neither is better"}
_TURING = {
    "unieval": "Did an AI write any of these utterances? If so, say in which it first shows.",
    "arena": "An AI may have taken part in either of these dialogues, in both, or in neither. In which did it?",
    "gteval": "In one of these dialogues an AI took part; the other was written by people alone. In which did it?",
}
_AI = {
    "Conversation 1": "an AI took part in the first alone", "Conversation 2": "an AI took part in the second alone",
    "Both": "in both, or one cannot tell in which", "Neither": "in neither that one can tell",
}  # fmt: skip
_AI_SHOWN = {
    "Conversation 1": "Only in the left", "Conversation 2": "Only in the right",
    "Both": "In both, or you cannot tell in which", "Neither": "In neither, as far as you can tell",
}  # fmt: skip


def questions_of(
    question: Question,
    criteria: Sequence[Criterion],
    level: Level,
    language: str,
    instead: str | Mapping[str, str] = "",
) -> tuple[SheetQuestion, ...]:
    """Return the questions about every unit of a level.

    Args:
        question: the protocol.
        criteria: its criteria at this level; empty if the question has none.
        level: level of the units.
        language: language of most dialogues; translated criteria are worded in it.
        instead: text that replaces the default question; by criterion if there are several.
    """
    form = question.protocol.form
    if not criteria:
        text = (instead if isinstance(instead, str) else "") or _TURING.get(
            question.name if question.shipped else "", ""
        )
        if form == "pair":
            options = _pair_options(question)
            return (SheetQuestion("", text or "Which of the two dialogues is better?", options),)
        return (SheetQuestion("", text or _TURING["unieval"], _yes_no("an AI took part", "people wrote all of it")),)
    about = [_about(question, one, prompt_criterion(one, level, language)) for one in criteria]
    own = [instead if isinstance(instead, str) else instead.get(one.name, "") for one in criteria]
    return tuple(replace(one, text=text) if text else one for one, text in zip(about, own, strict=True))


def _about(question: Question, criterion: Criterion, shown: PromptCriterion) -> SheetQuestion:
    form, meaning = question.protocol.form, f" {_sentence(shown.meaning)}" if shown.meaning else ""
    described = dict(shown.rubric)
    if form == "pair":
        options = _pair_options(question)
        text = f"Which of the two is better in one respect, {criterion.name}, and in no other?{meaning}"
        return SheetQuestion(criterion.name, text, options)
    if form == "locate":
        own = criterion.in_language("").question.get("dialogue", "")
        text = own or f"Does this show {criterion.name}?{meaning}"
        return SheetQuestion(criterion.name, f"{text} If so, say where it first does.", _yes_no())
    if (form == "probability" and criterion.is_yes_no) or criterion.scale.is_yes_no:
        return SheetQuestion(criterion.name, shown.question, _yes_no(described.get(YES, ""), described.get(NO, "")))
    scale = criterion.scale
    text = f"{_sentence(criterion.name)}{meaning}"
    if scale.labels or 0 < len(scale.points()) <= MOST_OPTIONS:
        points = [one.value for one in shown.options] if shown.options else list(scale.points())
        options = tuple(Option(point, described.get(point, _end(point, points, criterion))) for point in points)
        return SheetQuestion(criterion.name, text, options, scale.low, scale.high)
    return SheetQuestion(criterion.name, text, (), scale.low, scale.high)


def pair_options(question: Question) -> dict[str, Outcome]:
    """Return the possible answers about a pair with their outcomes; left is the dialogue shown first."""
    return dict(question.protocol.options or OPTIONS)  # type: ignore[arg-type]


def _pair_options(question: Question) -> tuple[Option, ...]:
    outcomes = pair_options(question)
    if question.shipped:
        return tuple(Option(label, _AI.get(label, ""), _AI_SHOWN.get(label, "")) for label in outcomes)
    return tuple(Option(label, _WINS[outcome], _WINS_SHOWN[outcome]) for label, outcome in outcomes.items())


def _yes_no(yes: str = "", no: str = "") -> tuple[Option, ...]:
    return Option(YES, yes), Option(NO, no)


def _end(point: str, points: Sequence[str], criterion: Criterion) -> str:
    """Return the meaning of the lowest or highest point of a scale without a rubric, as in the judges' prompts."""
    if criterion.scale.labels or criterion.words.rubric:
        return ""
    return {points[0]: "very poor", points[-1]: "excellent"}.get(point, "")


def _sentence(text: str) -> str:
    words = f"{text[:1].upper()}{text[1:]}".rstrip(". ")
    return words if words.endswith(_ENDS) else f"{words}."
