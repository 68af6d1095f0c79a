"""The page on which one person labels: one HTML file that works from disk, and exports the labels."""

from __future__ import annotations

from typing import Any

from dialeval.html_pages import pack, page_head, templates
from dialeval.labels.units import Sheet, SheetQuestion, ShownTurn

FOLDER = "labels/page"
TEMPLATE = "labelling.html.j2"
STYLE = "labelling.css"
SCRIPTS = (
    "controls.js", "guidelines.js", "sheet.js", "kept.js", "dialogues.js", "questions.js", "shown.js", "files.js",
    "keys.js",
)  # fmt: skip
"""In the order in which they run; the last one starts the page."""


def page_html(sheet: Sheet) -> str:
    """Return the page of one annotator as the text of one HTML file.

    The same sheet always gives the same text. The page has no data but those of `sheet`.
    """
    head = page_head([f"{FOLDER}/{STYLE}"], [f"{FOLDER}/{name}" for name in SCRIPTS])
    return templates(FOLDER).get_template(TEMPLATE).render(sheet=sheet, packed=pack(content(sheet)), **head)


# The packed sheet: every string once, and rows of indices into the strings.


def content(sheet: Sheet) -> dict[str, Any]:
    """Return a sheet as the page's scripts read it (`sheet.js`).

    A dialogue is one flat list, three numbers for each turn: the places of speaker and text among the strings, and 1
    where the turn is judged.
    """
    places: dict[str, int] = {}
    units = [[unit.key, [_numbers(dialogue, places) for dialogue in unit.dialogues]] for unit in sheet.units]
    return {
        "protocol": sheet.protocol,
        "annotator": sheet.annotator,
        "draw": sheet.draw,
        "form": sheet.form,
        "level": sheet.level,
        "language": sheet.language,
        "guidelines": sheet.guidelines,
        "questions": [_question(question) for question in sheet.questions],
        "strings": list(places),
        "units": units,
    }


def _numbers(dialogue: tuple[ShownTurn, ...], places: dict[str, int]) -> list[int]:
    numbers = []
    for turn in dialogue:
        for text in (turn.role or turn.speaker, turn.text):
            numbers.append(places.setdefault(text, len(places)))
        numbers.append(int(turn.judged))
    return numbers


def _question(question: SheetQuestion) -> dict[str, Any]:
    return {
        "criterion": question.criterion,
        "text": question.text,
        "options": [[option.label, option.meaning, option.shown] for option in question.options],
        "low": question.low,
        "high": question.high,
    }
