"""Rated data sets as their own authors give them out: how their files are known, and who reads which."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from dialeval.corpora.json_records import Wanted, is_table, records_of
from dialeval.corpora.text_files import JsonLine, is_western, listed, read_lines
from dialeval.errors import UserError

KNOWN_BY: Mapping[str, Collection[str]] = {
    "fed_turn or fed_dialogue": ("context", "system", "annotations"),
    "usr": ("context", "responses", "fact"),
    "conture_turn or conture_dialogue": ("turns", "dialog_ratings"),
    "grade_convai2, grade_dailydialog or grade_empathetic": ("Context", "Response", "HumanScores"),
    "zhao": ("context", "reference", "responses"),
    "dstc10_json or dstc11_json": ("annotations",),
}
"""Readers, by the fields that all objects of their files have."""
_PARTS_OF_USR = ("response", "model", "Maintains Context")


def reader_of(record: Any) -> str:
    """Returns the readers that take a file with such an object; empty where none is known."""
    if not isinstance(record, dict):
        return ""
    if all(name in record for name in _PARTS_OF_USR):
        return "usr"
    for readers, fields in KNOWN_BY.items():
        if all(name in record for name in fields):
            return readers
    inner = next(iter(record.values()), None)
    return "zhao" if isinstance(inner, dict) and reader_of(inner) == "zhao" else ""


def advice(record: Any, tried: str) -> str:
    """Returns the end of a sentence that names the reader of such a file; empty where none other is known.

    Args:
        record: an object of the file.
        tried: the reader that could not take it.
    """
    readers = reader_of(record)
    if not readers or tried in readers:
        return ""
    return f"; a file with these fields is read by {readers}: name that as the reader"


def records(path: Path, reader: str, needed: Collection[str]) -> Iterator[JsonLine]:
    """Yields the objects of a file, each with the fields that are needed.

    Args:
        path: the file.
        reader: who reads it, for messages.
        needed: fields of every object.

    Raises:
        UserError: as of `records_of`, the file is no JSON, or an object lacks a field.
    """
    if is_table(path):
        beginning = next((line.strip() for line in read_lines(path, western=is_western(path)) if line.strip()), "")
        raise UserError(
            f"{path}: reader {reader} needs JSON objects, and the file begins with {beginning!r:.60}; fetch it anew, "
            "or name the reader that it is for"
        )
    for line in records_of(path, Wanted(needed)):
        for name in needed:
            if name not in line.record:
                raise UserError(
                    f"{line.where}: the field '{name}', which reader {reader} needs, is missing; present: "
                    f"{listed(line.record)}{advice(line.record, reader)}"
                )
        yield line
