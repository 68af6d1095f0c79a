"""What is translated: dialogues of whatever table, and each utterance of them once in the same context."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from dialeval.corpora.items import Item, iterate_items
from dialeval.schemas.shared import UTTERANCES
from dialeval.tables import iterate_rows


@dataclass(frozen=True, slots=True)
class Talk:
    """A dialogue, or a turn in its context.

    Attributes:
        talk_id: of the item, or of the dialogue.
        speakers: who says each utterance.
        utterances: in order.
        item: what it is in a table of items; None for a corpus of dialogues.
    """

    talk_id: str
    speakers: tuple[str, ...]
    utterances: tuple[str, ...]
    item: Item | None = None


class Passage(NamedTuple):
    """An utterance to be translated.

    Attributes:
        before: speaker and text of the utterances that are shown before it.
    """

    speaker: str
    text: str
    before: tuple[tuple[str, str], ...]

    @property
    def digest(self) -> str:
        """Returns what names it: the same for the same words by the same speaker in the same context."""
        told = "\0".join(part for pair in (*self.before, (self.speaker, self.text)) for part in pair)
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:20]


def talks_of_items(path: Path, source: str) -> Iterator[Talk]:
    """Yields the items in a language of a table `items`."""
    for item in iterate_items(path):
        if item.language == source:
            yield Talk(item.item_id, item.speakers, item.utterances, item)


def talks_of_dialogues(path: Path, source: str) -> Iterator[Talk]:
    """Yields the dialogues in a language of a table `utterances`."""
    rows: list[dict[str, str]] = []
    for row in iterate_rows(path, UTTERANCES):
        if rows and rows[0]["dialogue_id"] != row["dialogue_id"]:
            yield _talk(rows)
            rows = []
        if row["language"] == source:
            rows.append(row)
    if rows:
        yield _talk(rows)


def passages(talk: Talk, context: int) -> list[Passage]:
    """Returns the utterances of a talk, each with up to `context` of those before it."""
    said = list(zip(talk.speakers, talk.utterances, strict=True))
    return [Passage(*said[place], tuple(said[max(0, place - context) : place])) for place in range(len(said))]


def in_language(talk: Talk, utterances: Iterable[str], language: str) -> Talk:
    """Returns a talk with other words, in another language."""
    texts = tuple(utterances)
    item = talk.item and replace(talk.item, utterances=texts, language=language)
    return Talk(talk.talk_id, talk.speakers, texts, item)


def _talk(rows: list[dict[str, str]]) -> Talk:
    return Talk(rows[0]["dialogue_id"], tuple(row["speaker"] for row in rows), tuple(row["text"] for row in rows))
