"""A human dialogue as read from a source, and what every source must obey."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from dialeval.errors import UserError
from dialeval.schemas.shared import UTTERANCES
from dialeval.tables import to_table
from dialeval.text.counting import counted


class Utterance(NamedTuple):
    """What one speaker says in one turn."""

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
    """What a reader found: the dialogues, and how many records it left out for which reason."""

    source: str
    dialogues: list[HumanDialogue] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)

    def summary(self) -> str:
        """Returns one line: what was read and what was left out, and why."""
        n_utterances = sum(len(dialogue.utterances) for dialogue in self.dialogues)
        line = (
            f"{self.source}: {counted(len(self.dialogues), 'dialogue')} with {counted(n_utterances, 'utterance')} read"
        )
        if self.skipped:
            reasons = "; ".join(f"{count} {reason}" for reason, count in self.skipped.most_common())
            line += f", {sum(self.skipped.values())} records left out ({reasons})"
        return line


def check(reading: Reading) -> Reading:
    """Refuses what no later stage could use.

    Raises:
        UserError: no dialogue at all, a repeated id, an empty utterance, or fewer than two utterances, each with its
            place in the source.
    """
    if not reading.dialogues:
        raise UserError(f"{reading.source}: there is no dialogue in it")
    first_place: dict[str, str] = {}
    for dialogue in reading.dialogues:
        name = f"{reading.source}, {dialogue.place}: dialogue '{dialogue.dialogue_id:.60}'"
        if not dialogue.dialogue_id:
            raise UserError(f"{reading.source}, {dialogue.place}: the dialogue has no id; give every dialogue one")
        if dialogue.dialogue_id in first_place:
            where = first_place[dialogue.dialogue_id]
            raise UserError(f"{name} has an id that is used before, at {where}; ids must be unique")
        first_place[dialogue.dialogue_id] = dialogue.place
        if len(dialogue.utterances) < 2:
            raise UserError(f"{name} has {counted(len(dialogue.utterances), 'utterance')}; a ChatSEED needs two")
        for number, utterance in enumerate(dialogue.utterances, start=1):
            if not utterance.text.strip():
                raise UserError(f"{name}: utterance {number} is empty; write what was said or remove the dialogue")
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
