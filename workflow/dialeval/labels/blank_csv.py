"""A sheet as a CSV file that can be filled in with any spreadsheet program, and is read back as it is."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from dialeval.labels.sheet import Sheet, SheetQuestion, ShownTurn

BYTE_ORDER_MARK = "\ufeff"
"""Without it spreadsheet programs take UTF-8 for something else."""
_MARK = "> "
"""Before the utterances that are asked about, where not all are."""


def blank_csv(sheet: Sheet) -> str:
    """Returns the text of the file: a row for each dialogue or pair and question, its label empty."""
    text = io.StringIO()
    shown = ["first", "second"] if sheet.kind == "pair" else [sheet.level]
    place = ["place"] if sheet.kind == "detect" else []
    rows = csv.writer(text, lineterminator="\r\n")
    columns = ["protocol", "annotator", "draw", "key", "criterion", "question", "options"]
    rows.writerow([*columns, *shown, "label", *place, "comment"])
    for thing in sheet.things:
        dialogues = ["\n".join(_lines(said, numbered=bool(place))) for said in thing.dialogues]
        for question in sheet.questions:
            asked = [question.criterion, question.text, options_text(question)]
            rows.writerow(
                [
                    sheet.protocol,
                    sheet.annotator,
                    sheet.draw,
                    thing.key,
                    *asked,
                    *dialogues,
                    "",
                    *("" for _ in place),
                    "",
                ]
            )
    return BYTE_ORDER_MARK + text.getvalue()


def _lines(said: tuple[ShownTurn, ...], *, numbered: bool) -> Iterator[str]:
    all_judged = all(turn.judged for turn in said)
    for number, turn in enumerate(said, start=1):
        mark = _MARK if turn.judged and not all_judged else ""
        yield f"{mark}{f'{number}. ' if numbered else ''}{turn.speaker}: {turn.text}"


def options_text(question: SheetQuestion) -> str:
    """Return the answers to a question, with what they mean, as a sheet has them."""
    if not question.options:
        return f"a number from {question.low:g} to {question.high:g}"
    return "; ".join(f"{one.label} ({one.meaning})" if one.meaning else one.label for one in question.options)
