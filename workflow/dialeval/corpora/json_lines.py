"""The plain format for anyone's dialogues: JSON Lines, one dialogue per line.

    {"dialogue_id": "kitchen-1", "language": "en",
     "utterances": [{"speaker": "A", "text": "Is there any milk?"}, {"speaker": "B", "text": "Behind the jam."}]}

`language` is optional; other fields are ignored. Blank lines are skipped. Ids and speakers are texts or whole numbers.
Utterances may be plain texts, of two speakers in turn. The objects may also be a list, or the rows of a Parquet file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dialeval.corpora.dialogues import HumanDialogue, Reading, Utterance, check
from dialeval.corpora.json_fields import name_of, optional_text, required
from dialeval.corpora.json_records import Wanted, records_of
from dialeval.corpora.text_files import JsonLine
from dialeval.errors import UserError

_FIELD = "utterances"


def read(path: Path, language: str) -> Reading:
    """Reads a JSON Lines file.

    Args:
        path: the file.
        language: language of the dialogues that do not name theirs.

    Raises:
        UserError: the file, the line, and what is wrong there.
    """
    reading = Reading(str(path))
    for line in records_of(path, Wanted([_FIELD])):
        reading.dialogues.append(_dialogue(line, path, language))
    return check(reading)


def _dialogue(line: JsonLine, path: Path, language: str) -> HumanDialogue:
    where = line.where
    dialogue_id = name_of(required(line.record, "dialogue_id", where), "dialogue_id", where)
    said = required(line.record, _FIELD, where)
    if not isinstance(said, list):
        raise UserError(f"{where}: 'utterances' must be a list of objects with 'speaker' and 'text'")
    utterances = tuple(_utterance(item, i, where) for i, item in enumerate(said, start=1))
    own_language = optional_text(line.record, "language", where) or language
    return HumanDialogue(dialogue_id, utterances, own_language, where.removeprefix(f"{path}, "))


def _utterance(item: Any, number: int, where: str) -> Utterance:
    if isinstance(item, str):
        return Utterance("AB"[(number - 1) % 2], item.strip())
    if not isinstance(item, dict) or not isinstance(item.get("text"), str) or "speaker" not in item:
        raise UserError(
            f"{where}: utterance {number} must be a text or an object with 'speaker' and 'text', not {item!r:.60}"
        )
    speaker = name_of(item["speaker"], "speaker", f"{where}, utterance {number}")
    if not speaker:
        raise UserError(f"{where}, utterance {number}: 'speaker' is empty; name who speaks")
    return Utterance(speaker, item["text"].strip())
