"""Which reader reads which kind of transcripts, and which kind a file is by its looks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from dialeval.corpora.json_records import is_table, records_of
from dialeval.corpora.row_files import rows_of
from dialeval.corpora.text_files import JsonLine, listed
from dialeval.corpora.transcripts import folder, json_lines, openai_messages, sharegpt, turns
from dialeval.corpora.transcripts.records import DIALOGUES, MESSAGES, PAIR, PLAIN, SHAREGPT, SURE_FIELDS
from dialeval.corpora.transcripts.transcript import Transcript
from dialeval.errors import UserError

AUTO, FOLDER, CSV = "auto", "folder", "csv"
_OF_JSON: dict[str, tuple[tuple[str, ...], Callable[[JsonLine, Counter[str]], Iterator[Transcript]]]] = {
    "jsonl": (PLAIN, json_lines.dialogues_of),
    "sharegpt": (SHAREGPT, sharegpt.dialogues_of),
    "messages": ((*MESSAGES, *PAIR), openai_messages.dialogues_of),
}
"""The formats of JSON, each with the fields that tell it apart."""


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
        notes[f"file(s) read as {kind}, by their looks"] += 1
    if kind == CSV:
        yield from turns.read(path, notes, columns)
        return
    for line in records_of(path, DIALOGUES):
        yield from _OF_JSON[kind][1](line, notes)


def looks_of(path: Path) -> str:
    """Returns which kind a file or folder is.

    Raises:
        UserError: it cannot be read, is empty, or is none of them.
    """
    if path.is_dir():
        return FOLDER
    if is_table(path) and not _has_lists(path):
        return CSV
    first = next((line.record for line in records_of(path, DIALOGUES)), None)
    if first is None:
        raise UserError(f"{path}: there is no dialogue in it")
    kinds = {field: kind for kind, (fields, _) in _OF_JSON.items() for field in fields}
    there = [field for field in (*SURE_FIELDS, *kinds) if field in first]
    if there:
        return kinds[next((field for field in there if isinstance(first[field], list)), there[0])]
    names = ", ".join(f"'{field}'" for field in DIALOGUES.holding)
    raise UserError(
        f"{path}: the first object has none of the fields {names} that hold a dialogue; present: {listed(first)}"
    )


def _has_lists(path: Path) -> bool:
    """Returns whether a table has a column that is called as dialogues are, with a list in its first row."""
    (_, header), (_, row) = (*islice(rows_of(path), 2), (1, []), (1, []))[:2]
    cells = zip(header, row, strict=False)
    return any(name.strip() in DIALOGUES.holding and cell.lstrip().startswith("[") for name, cell in cells)


def source_files(reader: str, path: Path) -> list[Path]:
    """Returns the files that transcripts are read from, so that a change in one of them is noticed."""
    return folder.files_in(path) if path.is_dir() and reader in (AUTO, FOLDER) else [path]
