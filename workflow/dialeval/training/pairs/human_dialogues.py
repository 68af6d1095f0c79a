"""People's dialogues that training examples are made of, with the domain of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from dialeval.schemas.shared import UTTERANCES
from dialeval.tables import iterate_rows


@dataclass(frozen=True, slots=True)
class HumanDialogue:
    """A dialogue between people in one language.

    Attributes:
        corpus: name of the corpus in the configuration.
        dialogue_id: unique within the corpus and language; a translation has that of its original.
        language: language code.
        domain: of the corpus, by the user's name.
        speakers: who says each utterance, as the source names them.
        utterances: in order.
    """

    corpus: str
    dialogue_id: str
    language: str
    domain: str
    speakers: tuple[str, ...]
    utterances: tuple[str, ...]

    @property
    def name(self) -> str:
        """Returns what the dialogue and its translations have in common."""
        return f"{self.corpus}/{self.dialogue_id}"


def read_dialogues(tables: Iterable[Path], domain_of: Mapping[str, str]) -> list[HumanDialogue]:
    """Reads tables `utterances`, originals and translations, in their order.

    Args:
        tables: the files.
        domain_of: corpus -> domain.
    """
    found = []
    for path in tables:
        rows = iterate_rows(path, UTTERANCES)
        for (corpus, dialogue_id, language), turns in groupby(rows, itemgetter("corpus", "dialogue_id", "language")):
            said = [(row["speaker"], row["text"]) for row in turns]
            speakers, texts = zip(*said, strict=True)
            found.append(HumanDialogue(corpus, dialogue_id, language, domain_of[corpus], speakers, texts))
    return found


def roles(speakers: tuple[str, ...], judged: str) -> tuple[str, ...]:
    """Returns the speakers as the items that judges score name them: the one who is judged is the chatbot.

    Where more than two speak, or one, they keep their names.
    """
    names = set(speakers)
    if len(names) != 2 or judged not in names:
        return speakers
    return tuple("chatbot" if name == judged else "human" for name in speakers)
