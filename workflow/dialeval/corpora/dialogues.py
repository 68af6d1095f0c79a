"""Human dialogues: their speakers, checks, the table `utterances`, and the plain JSON Lines format.

    {"dialogue_id": "kitchen-1", "language": "en",
     "utterances": [{"speaker": "A", "text": "Is there any milk?"}, {"speaker": "B", "text": "Behind the jam."}]}

`language` is optional; other fields are ignored. Blank lines are skipped. Ids and speakers are texts or whole numbers.
Utterances may be plain texts, of two speakers in turn. The objects may also be a list, or the rows of a Parquet file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from dialeval.corpora.json_records import RecordFields, name_of, optional_text, records_of, required
from dialeval.corpora.text_files import JsonLine
from dialeval.errors import UserError
from dialeval.tables.dialogues import UTTERANCES
from dialeval.tables.files import to_table
from dialeval.text import counted, noted


class Utterance(NamedTuple):
    """An utterance of one speaker."""

    speaker: str
    text: str


@dataclass(frozen=True)
class HumanDialogue:
    """One dialogue between people.

    Attributes:
        dialogue_id: readable and unique within its corpus.
        utterances: in order; two or more.
        language: language code.
        place: where in the source it stands, for messages.
    """

    dialogue_id: str
    utterances: tuple[Utterance, ...]
    language: str
    place: str


@dataclass
class Reading:
    """The result of a reader: the dialogues, and counts of left-out records by reason."""

    source: str
    dialogues: list[HumanDialogue] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)

    def summary(self) -> str:
        """Returns one line: counts of read and left-out records, with reasons."""
        n_utterances = sum(len(dialogue.utterances) for dialogue in self.dialogues)
        line = (
            f"{self.source}: {counted(len(self.dialogues), 'dialogue')} with {counted(n_utterances, 'utterance')} read"
        )
        if self.skipped:
            reasons = "; ".join(f"{count} {reason}" for reason, count in self.skipped.most_common())
            line += f", {sum(self.skipped.values())} records left out ({reasons})"
        return line


def check(reading: Reading) -> Reading:
    """Refuses a reading that no later stage could use.

    Raises:
        UserError: no dialogue at all, a repeated id, an empty utterance, or fewer than two utterances, each with its
            place in the source.
    """
    if not reading.dialogues:
        raise UserError(f"{reading.source} has no dialogues")
    first_place: dict[str, str] = {}
    for dialogue in reading.dialogues:
        name = f"{reading.source}, {dialogue.place}: dialogue '{dialogue.dialogue_id:.60}'"
        if not dialogue.dialogue_id:
            raise UserError(f"{reading.source}, {dialogue.place}: the dialogue has no id; give every dialogue one")
        if dialogue.dialogue_id in first_place:
            where = first_place[dialogue.dialogue_id]
            raise UserError(f"{name} repeats the id of {where}; ids must be unique")
        first_place[dialogue.dialogue_id] = dialogue.place
        if len(dialogue.utterances) < 2:
            raise UserError(f"{name} has {counted(len(dialogue.utterances), 'utterance')}; a ChatSEED needs two")
        for number, utterance in enumerate(dialogue.utterances, start=1):
            if not utterance.text.strip():
                raise UserError(f"{name}: utterance {number} is empty; add its text or remove the dialogue")
    return reading


def utterance_table(corpus: str, reading: Reading) -> pa.Table:
    """Returns the table `utterances` of a corpus, one row per utterance."""
    rows = [
        {
            "corpus": corpus,
            "dialogue_id": dialogue.dialogue_id,
            "turn": turn,
            "speaker": utterance.speaker,
            "text": utterance.text,
            "language": dialogue.language,
        }
        for dialogue in reading.dialogues
        for turn, utterance in enumerate(dialogue.utterances)
    ]
    return to_table(UTTERANCES, rows)


# Who speaks in a dialogue, and which dialogues are two speakers in turn, as self-chat and GTEval need them.

_SHOWN = 10


def speakers_of(utterances: pa.Table) -> dict[str, tuple[str, ...]]:
    """Returns the speakers of each dialogue of a table `utterances`, by dialogue_id, in the table's order."""
    speakers: dict[str, list[str]] = {}
    columns = utterances.select(["dialogue_id", "speaker"]).to_pydict()
    for dialogue_id, speaker in zip(columns["dialogue_id"], columns["speaker"], strict=True):
        speakers.setdefault(dialogue_id, []).append(speaker)
    return {dialogue_id: tuple(names) for dialogue_id, names in speakers.items()}


def are_two_in_turn(speakers: Sequence[str]) -> bool:
    """Returns whether exactly two speakers alternate."""
    return len(set(speakers)) == 2 and all(one != other for one, other in pairwise(speakers))


def left_out(what: str, dialogue_ids: Sequence[str], why: str) -> str:
    """Returns a line for the log that names the left-out dialogues and the reason."""
    return f"{noted(len(dialogue_ids), what)} left out, {why}: {_names(dialogue_ids)}"


def _names(names: Iterable[str]) -> str:
    names = list(names)
    more = len(names) - _SHOWN
    return ", ".join(islice(names, _SHOWN)) + (f" and {more} more" if more > 0 else "")


# The plain format for anyone's dialogues: JSON Lines, one dialogue per line.

_FIELD = "utterances"


def read_json_lines_dialogues(path: Path, language: str) -> Reading:
    """Reads a JSON Lines file.

    Args:
        path: the file.
        language: language of the dialogues that do not name theirs.

    Raises:
        UserError: invalid data; the message has the file, the line and the remedy.
    """
    reading = Reading(str(path))
    for line in records_of(path, RecordFields([_FIELD])):
        reading.dialogues.append(_dialogue(line, path, language))
    return check(reading)


def _dialogue(line: JsonLine, path: Path, language: str) -> HumanDialogue:
    where = line.where
    dialogue_id = name_of(required(line.record, "dialogue_id", where), "dialogue_id", where)
    entries = required(line.record, _FIELD, where)
    if not isinstance(entries, list):
        raise UserError(f"{where}: 'utterances' must be a list of objects with 'speaker' and 'text'")
    utterances = tuple(_utterance(item, i, where) for i, item in enumerate(entries, start=1))
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
