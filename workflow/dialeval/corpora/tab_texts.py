"""The TAB-separated texts of comp-analysis: an id, then one utterance per field.

    FEDDIAL-000007<TAB>human: Hello?<TAB>model: Hello!        dialogues: each utterance with its speaker
    FEDTURN-000012<TAB>Hello?<TAB>Hello!                      turns: context, and the response in the last field

Records end with a line feed and fields with a TAB, nothing else does: quotes are ordinary text, and so are the other
characters at which Python would end a line.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from dialeval.corpora.text_files import read_text
from dialeval.errors import UserError

_LONGEST_TAG = 40
"""Characters of a speaker's name; what stands before a colon further on is text."""


class TabRecord(NamedTuple):
    """One record: its number in the file, counted from 1, its id, and its fields, without blanks around them."""

    row: int
    record_id: str
    fields: tuple[str, ...]


def read_records(path: Path) -> list[TabRecord]:
    """Reads a file; ratings refer to records by position, so nothing is passed over.

    Raises:
        UserError: the file cannot be read, is empty, or has a blank row or one without a TAB, with its number.
    """
    records = []
    for row, (record_id, *texts) in enumerate(read_fields(path), start=1):
        records.append(TabRecord(row, record_id.strip(), tuple(text.strip() for text in texts)))
    return records


def read_fields(path: Path) -> list[list[str]]:
    """Reads the fields of every row as they stand, with the blanks around them.

    Raises:
        UserError: as of `read_records`.
    """
    lines = read_text(path).split("\n")
    if not lines[-1].strip():
        lines.pop()
    if not lines:
        raise UserError(f"{path}: the file is empty")
    rows = []
    for row, line in enumerate(lines, start=1):
        fields = line.split("\t")
        if len(fields) < 2 or not line.strip():
            what = "is blank" if not line.strip() else f"has no TAB: {line!r:.60}"
            raise UserError(f"{path}, row {row} {what}; a row is an id and the utterances, with a TAB before each")
        rows.append(fields)
    return rows


def split_speaker(text: str, place: str) -> tuple[str, str]:
    """Returns the speaker and what is said in a field `speaker: text`.

    Raises:
        UserError: there is no speaker.
    """
    speaker, colon, said = text.partition(":")
    if not colon or not speaker.strip() or len(speaker) > _LONGEST_TAG:
        raise UserError(
            f"{place}: {text!r:.60} does not begin with a speaker and a colon; a TAB inside an utterance would "
            "part it, so replace such a TAB with a blank"
        )
    return speaker.strip(), said.strip()
