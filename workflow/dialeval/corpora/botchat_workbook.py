"""BotChat's workbook of human dialogues (`MuTual_test.xlsx`): one row per dialogue.

Columns: `index` (the id, MT-<n>), `conv-GT` (JSON list of utterances, speakers A and B in turn), `nround` (how many).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from dialeval.corpora.dialogues import HumanDialogue, Reading, Utterance, check, parse_json
from dialeval.errors import UserError

COLUMNS = ("index", "conv-GT", "nround")


def read(path: Path, language: str) -> Reading:
    """Reads the first sheet of the workbook.

    Raises:
        UserError: the file or a column is missing, or a row is wrong; the message gives the row as the sheet counts it.
    """
    reading = Reading(str(path))
    for number, (index, conversation, n_rounds) in _rows(path):
        where = f"{path}, row {number}"
        if index is None and conversation is None:
            reading.skipped["blank rows"] += 1
            continue
        texts = parse_json(str(conversation), f"{where}, column conv-GT")
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise UserError(f"{where}, column conv-GT: a JSON list of strings is needed, not {texts!r:.80}")
        if n_rounds != len(texts):
            raise UserError(f"{where}: nround says {n_rounds}, but conv-GT has {len(texts)} utterances; correct one")
        utterances = tuple(Utterance("AB"[turn % 2], text.strip()) for turn, text in enumerate(texts))
        reading.dialogues.append(HumanDialogue(str(index or "").strip(), utterances, language, f"row {number}"))
    return check(reading)


def _rows(path: Path) -> Iterator[tuple[int, tuple[Any, Any, Any]]]:
    """Yields the row number of the sheet and the cells of the three columns, in the order of `COLUMNS`."""
    import openpyxl  # takes half a second, which a run without a workbook need not wait
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        workbook = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except (OSError, BadZipFile, InvalidFileException, KeyError) as error:
        raise UserError(f"{path} cannot be read as an xlsx workbook: {error}") from error
    try:
        rows = workbook.worksheets[0].iter_rows(values_only=True)
        header = [str(cell) for cell in next(rows, ())]
        missing = [column for column in COLUMNS if column not in header]
        if missing:
            raise UserError(f"{path}: the first sheet lacks the column(s) {', '.join(missing)}; it has {header}")
        places = [header.index(column) for column in COLUMNS]
        for number, row in enumerate(rows, start=2):
            cells = [row[place] if place < len(row) else None for place in places]
            yield number, (cells[0], cells[1], cells[2])
    finally:
        workbook.close()
