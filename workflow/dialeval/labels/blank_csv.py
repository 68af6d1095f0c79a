"""A sheet as a CSV file that can be filled in with any spreadsheet program, and the texts of one that comes back.

Programs change how a text is written: its line ends, quotes, blanks and encoding. They never change its words.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterator, Sequence

from dialeval.labels.sheet import Sheet, SheetQuestion, ShownTurn
from dialeval.tables import escaped_cell

BYTE_ORDER_MARK = "\ufeff"
"""Without it spreadsheet programs take UTF-8 for something else."""
SHOWN = ("first", "second", "dialogue", "turn")
"""Columns of which a sheet has those that hold its dialogues."""
_MARK = "> "
"""Before the utterances that are asked about, where not all are."""
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
    """Returns the text of the file: a row for each dialogue or pair and question, its label empty."""
    text = io.StringIO()
    shown = shown_columns(sheet.kind, sheet.level)
    place = ["place"] if sheet.kind == "detect" else []
    rows = csv.writer(text, lineterminator="\r\n")
    columns = ["protocol", "annotator", "draw", "key", "criterion", "question", "options"]
    rows.writerow([*columns, *shown, "label", *place, "comment"])
    for thing in sheet.things:
        dialogues = shown_texts(sheet.kind, thing.dialogues)
        for question in sheet.questions:
            asked = [question.criterion, question.text, options_text(question)]
            texts = [sheet.protocol, sheet.annotator, sheet.draw, thing.key, *asked, *dialogues]
            rows.writerow([*map(escaped_cell, texts), "", *("" for _ in place), ""])
    return BYTE_ORDER_MARK + text.getvalue()


def shown_columns(kind: str, level: str) -> list[str]:
    """Returns the columns of a sheet that hold its dialogues."""
    return ["first", "second"] if kind == "pair" else [level]


def shown_texts(kind: str, dialogues: Sequence[tuple[ShownTurn, ...]]) -> list[str]:
    """Returns dialogues as the cells of a sheet have them."""
    return ["\n".join(_lines(said, numbered=kind == "detect")) for said in dialogues]


def is_same_text(cell: str, text: str) -> bool:
    """Returns whether a cell has the words of a text, whichever program saved it.

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
    """Returns the letters and digits of a text that every encoding has."""
    return _NOT_PLAIN.sub("", text.lower())


def comparable(text: str) -> str:
    """Returns a text without what spreadsheet programs write in another way."""
    plain = unicodedata.normalize("NFKC", text.replace("…", "...")).casefold()
    return _DASHES.sub("-", _WRITTEN_OTHERWISE.sub("", plain))


def _decodings(cell: str) -> Iterator[str]:
    """Yields what a cell may have been before it was read as Windows-1252."""
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
