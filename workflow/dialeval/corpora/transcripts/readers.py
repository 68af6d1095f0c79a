"""Which reader reads which kind of transcripts, and which kind a file is by its looks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from dialeval.corpora.json_records import is_table, records_of
from dialeval.corpora.row_files import is_workbook, rows_of
from dialeval.corpora.text_files import JsonLine, listed
from dialeval.corpora.transcripts import (
    chatgpt,
    folder,
    json_lines,
    mt_bench,
    openai_messages,
    plain_text,
    preferences,
    rasa,
    replies,
    sharegpt,
    turns,
)
from dialeval.corpora.transcripts.records import DIALOGUES, MESSAGES, PAIR, PLAIN, SHAREGPT, SURE_FIELDS, TOGETHER
from dialeval.corpora.transcripts.transcript import Transcript
from dialeval.errors import UserError

AUTO, FOLDER, CSV, TEXT, MT_BENCH = "auto", "folder", "csv", "text", "mt_bench"
_FIELDS = {"jsonl": PLAIN, "sharegpt": SHAREGPT, "messages": (*MESSAGES, *PAIR)}
"""The fields each of which tells a format of JSON; `TOGETHER` has those that tell one only together."""
_OF_JSON: dict[str, Callable[[JsonLine, Counter[str]], Iterator[Transcript]]] = {
    "jsonl": json_lines.dialogues_of,
    "sharegpt": sharegpt.dialogues_of,
    "messages": openai_messages.dialogues_of,
    "chatgpt": chatgpt.dialogues_of,
    "rasa": rasa.dialogues_of,
    "preferences": preferences.dialogues_of,
    "replies": replies.dialogues_of,
    MT_BENCH: mt_bench.dialogues_of,
}


def read(path: Path, reader: str, columns: Mapping[str, str], notes: Counter[str]) -> Iterator[Transcript]:
    """Yields the dialogues of a file or folder.

    Args:
        path: the file or folder.
        reader: one of the kinds, or `auto`.
        columns: names of the columns of a table, by what they hold.
        notes: what is worth knowing is counted here.

    Raises:
        UserError: the file, the place, what is wrong there, and the remedy.
    """
    kind = looks_of(path) if reader == AUTO else reader
    if kind == FOLDER:
        yield from folder.read(path, notes, lambda file: read(file, AUTO, columns, notes))
        return
    if reader == AUTO:
        notes[f"files read as {kind}, by their looks"] += 1
    if kind == CSV:
        yield from turns.read(path, notes, columns)
    elif kind == TEXT:
        yield from plain_text.read(path, notes)
    elif kind == MT_BENCH and path.is_dir():
        yield from mt_bench.read(path)
    else:
        for line in records_of(path, DIALOGUES):
            yield from _OF_JSON[kind](line, notes)


def looks_of(path: Path) -> str:
    """Returns which kind a file or folder is.

    Raises:
        UserError: it cannot be read, is empty, or is none of them.
    """
    if path.is_dir():
        return MT_BENCH if mt_bench.is_one(path) else FOLDER
    if is_table(path) and not is_workbook(path) and plain_text.is_one(path):
        return TEXT
    if is_table(path) and not _has_lists(path):
        return CSV
    first = next((line.record for line in records_of(path, DIALOGUES)), None)
    if first is None:
        raise UserError(f"{path}: there is no dialogue in it")
    kinds = {field: kind for kind, fields in _FIELDS.items() for field in fields}
    there = [field for field in (*SURE_FIELDS, *kinds) if field in first]
    if there:
        return kinds[next((field for field in there if isinstance(first[field], list)), there[0])]
    for kind, sets in TOGETHER.items():
        if any(fields <= first.keys() for fields in sets):
            return kind
    names = ", ".join(f"'{field}'" for field in DIALOGUES.holding)
    raise UserError(
        f"{path}: the first object has none of the fields {names} that hold a dialogue, and is of no other format of "
        f"docs/transcripts.md; present: {listed(first)}"
    )


def _has_lists(path: Path) -> bool:
    """Returns whether a table has a column that is called as dialogues are, with a list in its first row."""
    (_, header), (_, row) = (*islice(rows_of(path), 2), (1, []), (1, []))[:2]
    cells = zip(header, row, strict=False)
    return any(name.strip() in DIALOGUES.holding and cell.lstrip().startswith("[") for name, cell in cells)


def source_files(reader: str, path: Path) -> list[Path]:
    """Returns the files that transcripts are read from, so that a change in one of them is noticed."""
    if not path.is_dir() or reader not in (AUTO, FOLDER, MT_BENCH):
        return [path]
    return mt_bench.files_in(path) if reader == MT_BENCH or mt_bench.is_one(path) else folder.files_in(path)
