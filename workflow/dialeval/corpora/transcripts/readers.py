"""Which reader reads which kind of transcripts, and which kind a file is by its looks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from dialeval.corpora.text_files import listed
from dialeval.corpora.transcripts import folder, json_lines, openai_messages, sharegpt, turns
from dialeval.corpora.transcripts.records import first_mark, records_of
from dialeval.corpora.transcripts.transcript import Transcript
from dialeval.errors import UserError

AUTO, FOLDER, CSV = "auto", "folder", "csv"
_OF_JSON: dict[str, tuple[str, Callable[[Path, Counter[str]], Iterator[Transcript]]]] = {
    "jsonl": (json_lines.FIELD, json_lines.read),
    "sharegpt": (sharegpt.FIELD, sharegpt.read),
    "messages": (openai_messages.FIELD, openai_messages.read),
}
"""The formats of JSON, each with the field that tells it apart."""


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
    yield from turns.read(path, notes, columns) if kind == CSV else _OF_JSON[kind][1](path, notes)


def looks_of(path: Path) -> str:
    """Returns which kind a file or folder is.

    Raises:
        UserError: it cannot be read, is empty, or is none of them.
    """
    if path.is_dir():
        return FOLDER
    if first_mark(path) not in ("{", "[", ""):
        return CSV
    first = next((line.record for line in records_of(path)), None)
    if first is None:
        raise UserError(f"{path}: there is no dialogue in it")
    for kind, (field, _) in _OF_JSON.items():
        if field in first:
            return kind
    fields = ", ".join(f"'{field}'" for field, _ in _OF_JSON.values())
    raise UserError(
        f"{path}: the first object has none of the fields {fields} that hold a dialogue; present: {listed(first)}"
    )


def source_files(reader: str, path: Path) -> list[Path]:
    """Returns the files that transcripts are read from, so that a change in one of them is noticed."""
    return folder.files_in(path) if path.is_dir() and reader in (AUTO, FOLDER) else [path]
