"""The objects of a JSON file: one on each line, or a list of them; and the fields that every format of JSON has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dialeval.corpora.json_fields import name_of, optional_text, text_of
from dialeval.corpora.text_files import JsonLine, parse_json, read_json_lines, read_lines, read_text
from dialeval.errors import UserError

ID_FIELDS = ("dialogue_id", "conversation_id", "id")


def records_of(path: Path) -> Iterator[JsonLine]:
    """Yields the objects of a file, JSON Lines or one JSON list.

    Raises:
        UserError: as of `read_json_lines`; or an entry of the list is no object.
    """
    if first_mark(path) != "[":
        yield from read_json_lines(path)
        return
    for number, record in enumerate(parse_json(read_text(path), str(path)), start=1):
        where = f"{path}, record {number}"
        if not isinstance(record, dict):
            raise UserError(f"{where}: an entry of the list must be an object, not {type(record).__name__}")
        yield JsonLine(number, where, record)


def first_mark(path: Path) -> str:
    """Returns the first character of a file that is not blank; empty where there is none."""
    return next((line.lstrip()[:1] for line in read_lines(path) if line.strip()), "")


def named(record: dict[str, Any], fields: Sequence[str], where: str) -> str:
    """Returns the name that the first of some fields gives; empty where none is there.

    Raises:
        UserError: it is neither a text nor a whole number.
    """
    field = next((field for field in fields if record.get(field) is not None), None)
    return "" if field is None else name_of(record[field], field, where)


def about(record: dict[str, Any], where: str) -> dict[str, Any]:
    """Returns what every format of JSON may say of a dialogue: its id, its case, its prompt and its language.

    Raises:
        UserError: one of them is of the wrong kind.
    """
    prompt = record.get("prompt")
    return {
        "dialogue_id": named(record, ID_FIELDS, where),
        "case_id": named(record, ["case_id"], where),
        "prompt": "" if prompt is None else text_of(prompt, "prompt", where),
        "language": optional_text(record, "language", where),
    }
