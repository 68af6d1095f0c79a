"""The plain format for anyone's dialogues: JSON Lines, one dialogue per line.

    {"dialogue_id": "kitchen-1", "language": "en",
     "utterances": [{"speaker": "A", "text": "Is there any milk?"}, {"speaker": "B", "text": "Behind the jam."}]}

`language` is optional; other fields are ignored. Blank lines are skipped.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dialeval.corpora.dialogues import HumanDialogue, Reading, Utterance, check, parse_json, read_text
from dialeval.errors import UserError


def read(path: Path, language: str) -> Reading:
    """Reads a JSON Lines file.

    Args:
        path: the file.
        language: language of the dialogues that do not name theirs.

    Raises:
        UserError: the file, the line, and what is wrong there.
    """
    reading = Reading(str(path))
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            reading.dialogues.append(_dialogue(line, f"line {number}", f"{path}, line {number}", language))
    return check(reading)


def _dialogue(line: str, place: str, where: str, language: str) -> HumanDialogue:
    record = parse_json(line, where)
    if not isinstance(record, dict):
        raise UserError(f"{where}: a line must hold one JSON object, not {type(record).__name__}")
    for field in ("dialogue_id", "utterances"):
        if field not in record:
            raise UserError(f"{where}: the field '{field}' is missing; present: {', '.join(record) or 'none'}")
    if not isinstance(record["utterances"], list):
        raise UserError(f"{where}: 'utterances' must be a list of objects with 'speaker' and 'text'")
    utterances = tuple(_utterance(item, i, where) for i, item in enumerate(record["utterances"], start=1))
    own_language = record.get("language") or language
    return HumanDialogue(str(record["dialogue_id"]).strip(), utterances, str(own_language), place)


def _utterance(item: Any, number: int, where: str) -> Utterance:
    if not isinstance(item, dict) or not isinstance(item.get("text"), str) or "speaker" not in item:
        raise UserError(f"{where}: utterance {number} must be an object with 'speaker' and 'text', not {item!r:.80}")
    return Utterance(str(item["speaker"]), item["text"].strip())
