"""Dialogues that training examples are made of: domains, parts, shared text, and draws.

Dialogues that hold the same passages, and translations of one dialogue, are a cluster and never in two parts. The part
follows from the text of a cluster's first dialogue, so that further dialogues leave those before where they were.

A passage is what two dialogues do not share by chance: two utterances that follow each other, together long enough, or
a long one by itself. Case, blanks, marks and a name with a colon before an utterance make no difference.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from dialeval.corpora.clusters import sharing_clusters
from dialeval.tables.dialogues import UTTERANCES
from dialeval.tables.files import iterate_rows
from dialeval.text import is_unspaced, normalised


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
        """Return the name that the dialogue and its translations share."""
        return f"{self.corpus}/{self.dialogue_id}"


def read_dialogues(tables: Iterable[Path], domain_of: Mapping[str, str]) -> list[HumanDialogue]:
    """Read tables `utterances`, originals and translations, in their order.

    Args:
        tables: the files.
        domain_of: corpus -> domain.
    """
    found = []
    for path in tables:
        rows = iterate_rows(path, UTTERANCES)
        for (corpus, dialogue_id, language), turns in groupby(rows, itemgetter("corpus", "dialogue_id", "language")):
            utterances = [(row["speaker"], row["text"]) for row in turns]
            speakers, texts = zip(*utterances, strict=True)
            found.append(HumanDialogue(corpus, dialogue_id, language, domain_of[corpus], speakers, texts))
    return found


def roles(speakers: tuple[str, ...], judged: str) -> tuple[str, ...]:
    """Return the speakers under the names in judged items: the evaluated speaker is the chatbot.

    Where more than two speak, or one, they keep their names.
    """
    names = set(speakers)
    if len(names) != 2 or judged not in names:
        return speakers
    return tuple("chatbot" if name == judged else "human" for name in speakers)


# Which dialogues judges learn from, which stop the learning, and which are held out.

Part = Literal["train", "development", "held_out"]
HELD_OUT: Part = "held_out"
PARTS: tuple[Part, ...] = ("train", "development", HELD_OUT)
FORMULA = 50
"""A passage that more dialogues than this hold is a formula, such as a greeting: it makes them no cluster."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a dialogue belongs.

    Attributes:
        cluster: name of the first dialogue of its cluster.
        part: of the cluster.
    """

    cluster: str
    part: Part


def split(dialogues: Sequence[HumanDialogue], *, development: float, held_out: float, random_seed: int) -> list[Placed]:
    """Return cluster and part of each dialogue.

    Args:
        dialogues: in an order in which new ones come last.
        development: share of the clusters that stop the training.
        held_out: share of the clusters that are never learned from.
        random_seed: of the draw.
    """
    clusters = clusters_of(dialogues)
    part_of: dict[int, Part] = {}
    for first in set(clusters):
        drawn = share_of(random_seed, "part", *map(plain, dialogues[first].utterances))
        part_of[first] = part_at(drawn, development, held_out)
    return [Placed(dialogues[first].name, part_of[first]) for first in clusters]


def part_at(drawn: float, development: float, held_out: float) -> Part:
    """Return the part for a random number from 0 to 1: held_out first, then development, then train."""
    if drawn < held_out:
        return "held_out"
    return "development" if drawn < held_out + development else "train"


def clusters_of(dialogues: Sequence[HumanDialogue]) -> list[int]:
    """Return for each dialogue the position of the first one of its cluster."""
    found = [{dialogue_number(one.utterances), *passages(one.utterances, singles=False)} for one in dialogues]
    holders = Counter(passage for own in found for passage in own)
    keys: list[list[Hashable]] = [
        [one.name, dialogue_number(one.utterances), *(passage for passage in own if holders[passage] <= FORMULA)]
        for one, own in zip(dialogues, found, strict=True)
    ]
    return sharing_clusters(keys)


# Which dialogues hold the same text: in another corpus, cut elsewhere, tokenised or with speakers' names before it.

PAIR_LETTERS = 40
"""Letters that two utterances in a row need together: some ten words. Without blanks, a character is three."""
SINGLE_LETTERS = 48
"""Letters that an utterance needs to be a passage by itself."""
DIALOGUE_LETTERS = 24
"""Letters that a whole dialogue needs for another one like it to be no chance."""
_UNSPACED_LETTERS = 3
_NAME = re.compile(r"^\s*[^\W\d_]{1,12}(?:[ _-]?[\w]{1,2})?\s*[:：]\s+")

Texts = tuple[str, str, Sequence[str]]
"""Corpus and id of what is judged, and its utterances."""


@lru_cache(maxsize=65536)
def plain(text: str) -> str:
    """Return an utterance for comparison: its letters and digits, without a speaker's name."""
    return normalised(_NAME.sub("", text, count=1)) or normalised(text)


def n_letters(plain_text: str) -> int:
    """Return the length of a plain text in letters of a script with blanks."""
    if plain_text.isascii():
        return len(plain_text)
    return sum(_UNSPACED_LETTERS if is_unspaced(letter) else 1 for letter in plain_text)


def dialogue_number(utterances: Sequence[str]) -> int:
    """Return a number that identifies a whole dialogue by its text."""
    return _number("whole", *map(plain, utterances))


def passages(utterances: Sequence[str], *, singles: bool) -> Iterator[int]:
    """Yield a number for every passage of a dialogue; equal passages have equal numbers.

    Args:
        utterances: of the dialogue.
        singles: whether long utterances count by themselves.
    """
    previous, previous_length = "", 0
    for text in filter(None, map(plain, utterances)):
        length = n_letters(text)
        if previous and previous_length + length >= PAIR_LETTERS:
            yield _number("two", previous, text)
        if singles and length >= SINGLE_LETTERS:
            yield _number("one", text)
        previous, previous_length = text, length


def judged_passages(utterances: Sequence[str]) -> set[int]:
    """Return hashes of a dialogue's passages, to find dialogues with common text."""
    found = set(passages(utterances, singles=True))
    if len(utterances) > 1 and sum(n_letters(plain(text)) for text in utterances) >= DIALOGUE_LETTERS:
        found.add(dialogue_number(utterances))
    return found


def judged_rows(judged: Iterable[Texts]) -> list[dict[str, Any]]:
    """Return the rows of the table `judged_texts`: each passage once, by its number, with the first that holds it."""
    found: dict[int, tuple[str, str]] = {}
    for corpus, item_id, utterances in judged:
        for passage in judged_passages(utterances):
            found.setdefault(passage, (corpus, item_id))
    return [{"passage": one, "corpus": found[one][0], "item_id": found[one][1]} for one in sorted(found)]


def _number(*parts: str) -> int:
    """Return a number that fits into a column of signed 64-bit numbers."""
    return number_of(*parts) >> 1


# Draws that depend on the random seed and on what is drawn for alone: more data leave old draws as they are.

Drawn = TypeVar("Drawn")
_RANGE = 2.0**64


def number_of(*parts: str | int) -> int:
    """Return a whole number from 0 to 2^64 - 1 that depends on the parts and on nothing else."""
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        content = str(part).encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(content) + content)
    return int.from_bytes(digest.digest())


def share_of(*parts: str | int) -> float:
    """Return a number from 0 to below 1 that depends on the parts and on nothing else."""
    return min(number_of(*parts) / _RANGE, 1 - 2**-53)


class Ring(Generic[Drawn]):
    """Elements on a circle, each at its own place; a draw gives the next one from the drawn place.

    A further thing takes draws from its neighbour alone; all others stay as they were.

    Args:
        placed: the things with their places, numbers that `number_of` gave for them.
    """

    def __init__(self, placed: Iterable[tuple[int, Drawn]]) -> None:
        ordered = sorted(placed, key=lambda one: one[0])
        self._places = [place for place, _ in ordered]
        self._things = [element for _, element in ordered]

    def __len__(self) -> int:
        return len(self._things)

    def from_place(self, place: int) -> Iterator[Drawn]:
        """Yield every element once, beginning with the first at a place or behind it."""
        n, start = len(self._things), bisect_left(self._places, place)
        return (self._things[(start + step) % n] for step in range(n))
