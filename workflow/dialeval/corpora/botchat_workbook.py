"""BotChat's workbook of human dialogues (`MuTual_test.xlsx`): one row per dialogue.

Columns: `index` (the id, MT-<n>), `conv-GT` (JSON list of utterances, speakers A and B in turn), `nround` (how many).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dialeval.corpora.dialogues import HumanDialogue, Reading, Utterance, check
from dialeval.corpora.json_fields import name_of
from dialeval.corpora.text_files import listed, parse_json
from dialeval.corpora.workbooks import sheet_rows
from dialeval.errors import UserError
from dialeval.text.counting import counted

COLUMNS = ("index", "conv-GT", "nround")


def read(path: Path, language: str) -> Reading:
    """Reads the first sheet of the workbook.

    Raises:
        UserError: the file or a column is missing, or a row is wrong; the message gives the row as the sheet counts it.
    """
    reading = Reading(str(path))
    last = 1
    for number, (index, conversation, n_rounds) in _rows(path):
        where = f"{path}, row {number}"
        blank = index is None and conversation is None
        if n_blank := number - last - 1 + blank:
            reading.skipped["blank rows"] += n_blank
        last = number
        if blank:
            continue
        texts = parse_json("" if conversation is None else str(conversation), f"{where}, column conv-GT")
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise UserError(f"{where}, column conv-GT: a JSON list of strings is needed, not {texts!r:.80}")
        if n_rounds != len(texts):
            raise UserError(
                f"{where}: nround says {n_rounds!s:.40}, but conv-GT has {len(texts)} utterances; correct one"
            )
        utterances = tuple(Utterance("AB"[turn % 2], text.strip()) for turn, text in enumerate(texts))
        dialogue_id = "" if index is None else name_of(index, "index", where)
        reading.dialogues.append(HumanDialogue(dialogue_id, utterances, language, f"row {number}"))
    return check(reading)


def _rows(path: Path) -> Iterator[tuple[int, tuple[Any, Any, Any]]]:
    """Yields the row number of the sheet and the cells of the three columns, in the order of `COLUMNS`."""
    rows = sheet_rows(path)
    _, first = next(rows, (1, []))
    header = [str(cell) for cell in first]
    missing = [column for column in COLUMNS if column not in header]
    if missing:
        raise UserError(
            f"{path}: the first sheet lacks {counted(len(missing), 'column')} ({', '.join(missing)}); it "
            f"has {listed(header)}"
        )
    places = [header.index(column) for column in COLUMNS]
    for number, row in rows:
        cells = [row[place] if place < len(row) else None for place in places]
        yield number, (cells[0], cells[1], cells[2])
