"""The plain format for anyone's dialogues: JSON Lines, one dialogue per line.

    {"dialogue_id": "kitchen-1", "language": "en",
     "utterances": [{"speaker": "A", "text": "Is there any milk?"}, {"speaker": "B", "text": "Behind the jam."}]}

`language` is optional; other fields are ignored. Blank lines are skipped. Ids and speakers are texts or whole numbers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dialeval.corpora.dialogues import HumanDialogue, Reading, Utterance, check
from dialeval.corpora.json_fields import name_of, optional_text, required
from dialeval.corpora.text_files import JsonLine, read_json_lines
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
    for line in read_json_lines(path):
        reading.dialogues.append(_dialogue(line, language))
    return check(reading)


def _dialogue(line: JsonLine, language: str) -> HumanDialogue:
    where = line.where
    dialogue_id = name_of(required(line.record, "dialogue_id", where), "dialogue_id", where)
    said = required(line.record, "utterances", where)
    if not isinstance(said, list):
        raise UserError(f"{where}: 'utterances' must be a list of objects with 'speaker' and 'text'")
    utterances = tuple(_utterance(item, i, where) for i, item in enumerate(said, start=1))
    own_language = optional_text(line.record, "language", where) or language
    return HumanDialogue(dialogue_id, utterances, own_language, f"line {line.number}")


def _utterance(item: Any, number: int, where: str) -> Utterance:
    if not isinstance(item, dict) or not isinstance(item.get("text"), str) or "speaker" not in item:
        raise UserError(f"{where}: utterance {number} must be an object with 'speaker' and 'text', not {item!r:.80}")
    speaker = name_of(item["speaker"], "speaker", f"{where}, utterance {number}")
    if not speaker:
        raise UserError(f"{where}, utterance {number}: 'speaker' is empty; name who speaks")
    return Utterance(speaker, item["text"].strip())
