"""Utterances that are put where they do not belong: of other dialogues of one domain, language and part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from dialeval.perturbations.words import has_word, pieces
from dialeval.training.pairs.hashing import Ring, number_of
from dialeval.training.pairs.human_dialogues import HumanDialogue
from dialeval.training.pairs.shared_text import plain
from dialeval.training.pairs.splitting import Placed

TRIES = 60
"""Utterances that are looked at in search of one that may be lent."""
SHORTEST = 5
"""Words, or characters of a script without blanks, that an utterance needs to be lent: fewer fit in many places."""
LENGTH_TOLERANCE = 0.1
"""By how much a similar length may differ."""


class Lent(NamedTuple):
    """An utterance with its source.

    Attributes:
        text: as it was said.
        plain: what makes it the same elsewhere.
        cluster: of the dialogue.
        made_from: corpus and dialogue.
    """

    text: str
    plain: str
    cluster: str
    made_from: str


class Lender:
    """Lends utterances of some dialogues. What is short, or said in several clusters, fits in many places: it stays.

    Args:
        dialogues: of one domain, language and part, with their clusters.
        random_seed: of the draws.
    """

    def __init__(self, dialogues: Iterable[tuple[HumanDialogue, Placed]], random_seed: int) -> None:
        said: list[tuple[int, Lent]] = []
        clusters: Counter[str] = Counter()
        seen: set[tuple[str, str]] = set()
        for dialogue, placed in dialogues:
            for turn, text in enumerate(dialogue.utterances):
                own = plain(text)
                if not own or (own, placed.cluster) in seen:
                    continue
                seen.add((own, placed.cluster))
                clusters[own] += 1
                if length_of(text) < SHORTEST:
                    continue
                place = number_of(random_seed, "lent", dialogue.name, turn)
                said.append((place, Lent(text, own, placed.cluster, dialogue.name)))
        kept = [(place, lent) for place, lent in said if clusters[lent.plain] == 1]
        self.utterances: Sequence[Lent] = [lent for _, lent in kept]
        self._ring = Ring(kept)
        by_length: dict[int, list[tuple[int, Lent]]] = {}
        for place, lent in kept:
            by_length.setdefault(length_of(lent.text), []).append((place, lent))
        self._by_length = {length: Ring(these) for length, these in by_length.items()}

    def any(self, cluster: str, heard: set[str], place: int) -> Lent | None:
        """Returns an utterance of another cluster that was not heard; None where none of those tried is."""
        return _first(self._ring.from_place(place), cluster, heard)

    def of_length(self, length: int, cluster: str, heard: set[str], place: int) -> Lent | None:
        """Returns the same, as long as another or, where there is none, nearly as long."""
        for other in lengths_near(length):
            if other in self._by_length:
                lent = _first(self._by_length[other].from_place(place), cluster, heard)
                if lent:
                    return lent
        return None


def length_of(text: str) -> int:
    """Returns the length of an utterance in words, or in characters of a script without blanks."""
    return sum(map(has_word, pieces(text)[0]))


def lengths_near(length: int) -> Iterator[int]:
    """Yields the lengths that are similar to one, itself first."""
    yield length
    for step in range(1, max(1, int(length * LENGTH_TOLERANCE)) + 1):
        yield length + step
        if length > step:
            yield length - step


def _first(lent: Iterator[Lent], cluster: str, heard: set[str]) -> Lent | None:
    tried = islice(lent, TRIES)
    return next((one for one in tried if one.cluster != cluster and one.plain not in heard), None)
