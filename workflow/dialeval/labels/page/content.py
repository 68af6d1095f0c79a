"""What the page holds of a sheet: every string once, and rows of places in them."""

from __future__ import annotations

from typing import Any

from dialeval.labels.sheet import Sheet, SheetQuestion, ShownTurn


def content(sheet: Sheet) -> dict[str, Any]:
    """Returns a sheet as the page's scripts read it (`sheet.js`).

    A dialogue is one flat list, three numbers for each turn: the places of speaker and text among the strings, and 1
    where the turn is judged.
    """
    places: dict[str, int] = {}
    things = [[thing.key, [_numbers(dialogue, places) for dialogue in thing.dialogues]] for thing in sheet.things]
    return {
        "protocol": sheet.protocol,
        "annotator": sheet.annotator,
        "draw": sheet.draw,
        "kind": sheet.kind,
        "level": sheet.level,
        "language": sheet.language,
        "questions": [_question(question) for question in sheet.questions],
        "strings": list(places),
        "things": things,
    }


def _numbers(dialogue: tuple[ShownTurn, ...], places: dict[str, int]) -> list[int]:
    numbers = []
    for turn in dialogue:
        for text in (turn.speaker, turn.text):
            numbers.append(places.setdefault(text, len(places)))
        numbers.append(int(turn.judged))
    return numbers


def _question(question: SheetQuestion) -> dict[str, Any]:
    return {
        "criterion": question.criterion,
        "text": question.text,
        "options": [[option.label, option.meaning] for option in question.options],
        "low": question.low,
        "high": question.high,
    }
