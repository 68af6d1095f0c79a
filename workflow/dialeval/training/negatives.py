"""Utterances of other dialogues that negatives are made of.

TF-IDF over the utterances that may be lent: rows by words (pairs of characters in scripts without blanks), words that
many utterances have left out, so that a search looks at a short list for each word and not at all utterances.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np

from dialeval.corpora.items import Item
from dialeval.perturbations.strategy import Pool, build_pool
from dialeval.perturbations.words import has_word, pieces
from dialeval.text import is_unspaced, is_word, tokens
from dialeval.training.human_dialogues import HumanDialogue, Placed, Ring, number_of, plain

TRIES = 60
"""Utterances that are looked at in search of one that may be lent."""
SHORTEST = 5
"""Words, or characters of a script without blanks, that an utterance needs to be lent: fewer fit in many places."""
LENGTH_TOLERANCE = 0.1
"""By how much a similar length may differ."""


class Lent(NamedTuple):
    """An utterance with its source.

    Attributes:
        text: its words.
        plain: what makes it the same elsewhere.
        cluster: of the dialogue.
        made_from: corpus and dialogue.
    """

    text: str
    plain: str
    cluster: str
    made_from: str


class Lender:
    """Draws utterances of other dialogues; short ones and ones of several clusters are not drawn.

    Args:
        dialogues: of one domain, language and part, with their clusters.
        random_seed: of the draws.
    """

    def __init__(self, dialogues: Iterable[tuple[HumanDialogue, Placed]], random_seed: int) -> None:
        utterances: list[tuple[int, Lent]] = []
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
                utterances.append((place, Lent(text, own, placed.cluster, dialogue.name)))
        kept = [(place, lent) for place, lent in utterances if clusters[lent.plain] == 1]
        self.utterances: Sequence[Lent] = [lent for _, lent in kept]
        self._ring = Ring(kept)
        by_length: dict[int, list[tuple[int, Lent]]] = {}
        for place, lent in kept:
            by_length.setdefault(length_of(lent.text), []).append((place, lent))
        self._by_length = {length: Ring(these) for length, these in by_length.items()}

    def any(self, cluster: str, heard: set[str], place: int) -> Lent | None:
        """Return an utterance of another cluster that is not in `heard`; None if no tried one is."""
        return _first(self._ring.from_place(place), cluster, heard)

    def of_length(self, length: int, cluster: str, heard: set[str], place: int) -> Lent | None:
        """Return an utterance of the same length or, if there is none, of nearly the same."""
        for other in lengths_near(length):
            if other in self._by_length:
                lent = _first(self._by_length[other].from_place(place), cluster, heard)
                if lent:
                    return lent
        return None


def length_of(text: str) -> int:
    """Return the length of an utterance in words, or in characters of a script without blanks."""
    return sum(map(has_word, pieces(text)[0]))


def lengths_near(length: int) -> Iterator[int]:
    """Yield the lengths that are similar to one, itself first."""
    yield length
    for step in range(1, max(1, int(length * LENGTH_TOLERANCE)) + 1):
        yield length + step
        if length > step:
            yield length - step


def _first(lent: Iterator[Lent], cluster: str, heard: set[str]) -> Lent | None:
    tried = islice(lent, TRIES)
    return next((one for one in tried if one.cluster != cluster and one.plain not in heard), None)


# Utterances that share words with a context and its response, and belong to another dialogue.

MOST_HOLDERS = 1000
"""Utterances that may hold a word for it to be looked for."""
LARGEST_SHARE = 0.05
"""Share of the utterances that may hold a word, where that is fewer."""
NEAR_MISS_TRIES = 20
"""Of the most similar utterances, how many are looked at."""
MOST_SHARED = 0.5
"""Share of the response's words, or of the other utterance's, above which the two may say the same."""


class NearMisses:
    """Finds near misses among utterances.

    Args:
        utterances: those that may be lent.
    """

    def __init__(self, utterances: Sequence[Lent]) -> None:
        self._utterances = utterances
        number_of: dict[str, int] = {}
        words, holders = array("i"), array("i")
        for place, one in enumerate(utterances):
            for term in dict.fromkeys(terms_of(one.text)):
                words.append(number_of.setdefault(term, len(number_of)))
                holders.append(place)
        n_holders = np.bincount(np.frombuffer(words, np.int32), minlength=len(number_of))
        weights = np.log(len(utterances) / np.maximum(n_holders, 1))
        squares = np.bincount(holders, weights[np.frombuffer(words, np.int32)] ** 2, minlength=len(utterances))
        self._lengths = np.sqrt(np.maximum(squares, 1e-12))
        most = max(2, min(MOST_HOLDERS, int(len(utterances) * LARGEST_SHARE)))
        order = np.argsort(np.frombuffer(words, np.int32), kind="stable")
        self._holders = np.frombuffer(holders, np.int32)[order]
        stops = np.cumsum(n_holders)
        self._lists = {
            term: _List(int(stops[number] - n_holders[number]), int(stops[number]), float(weights[number]))
            for term, number in number_of.items()
            if n_holders[number] <= most
        }

    def find(self, previous: str, response: str, cluster: str, heard: set[str]) -> Lent | None:
        """Return the most similar utterance of another cluster that differs from the response.

        Args:
            previous: the utterance before the response.
            response: the true one.
            cluster: that may lend nothing.
            heard: plain texts that may not be lent.
        """
        lists = [
            self._lists[term] for term in sorted({*terms_of(previous), *terms_of(response)}) if term in self._lists
        ]
        if not lists:
            return None
        holders = np.concatenate([self._holders[one.start : one.end] for one in lists])
        weights = np.repeat([one.weight**2 for one in lists], [one.end - one.start for one in lists])
        found, where = np.unique(holders, return_inverse=True)
        scores = np.bincount(where, weights) / self._lengths[found]
        own = frozenset(terms_of(response))
        best = np.lexsort((found, -scores))[: NEAR_MISS_TRIES + len(heard)]
        for number in found[best]:
            lent = self._utterances[int(number)]
            if lent.cluster != cluster and lent.plain not in heard and not _is_similar_text(own, lent.text):
                return lent
        return None


def terms_of(text: str) -> list[str]:
    """Return the words of a text, and pairs of neighbouring characters of scripts without blanks."""
    found = [token for token in tokens(text) if is_word(token)]
    pairs = [one + other for one, other in pairwise(found) if is_unspaced(one) and is_unspaced(other)]
    return [token for token in found if not is_unspaced(token)] + pairs


class _List(NamedTuple):
    """The utterances that hold a word, and the word's weight."""

    start: int
    end: int
    weight: float


def _is_similar_text(own: frozenset[str], other: str) -> bool:
    terms = frozenset(terms_of(other))
    shared = len(own & terms)
    return shared > MOST_SHARED * max(1, min(len(own), len(terms)))


# What a dialogue's negatives may be made of: the other dialogues of its domain, language and part.

Known = tuple[HumanDialogue, Placed]


class Surroundings:
    """Sources of negatives for dialogues of one domain, language and part; each is made on first use.

    Args:
        dialogues: these, with their clusters.
        random_seed: of all draws.
    """

    def __init__(self, dialogues: Sequence[Known], random_seed: int) -> None:
        self._dialogues = dialogues
        self._random_seed = random_seed
        self._pools: dict[str, Pool] = {}

    @cached_property
    def lender(self) -> Lender:
        """Return the source of random utterances."""
        return Lender(self._dialogues, self._random_seed)

    @cached_property
    def near_misses(self) -> NearMisses:
        """Return the source of near misses."""
        return NearMisses(self.lender.utterances)

    @cached_property
    def sources(self) -> dict[str, str]:
        """Return from which dialogue a text is, the first that has it."""
        found: dict[str, str] = {}
        for dialogue, _ in self._dialogues:
            for text in dialogue.utterances:
                found.setdefault(text.strip(), dialogue.name)
        return found

    def pool(self, corpus: str) -> Pool:
        """Return the material of perturbations of one corpus; other corpora do not change it."""
        if corpus not in self._pools:
            own = (known for known in self._dialogues if known[0].corpus == corpus)
            self._pools[corpus] = build_pool(_items(own))
        return self._pools[corpus]


def surroundings_of(known: Iterable[Known], random_seed: int) -> dict[tuple[str, str, str], Surroundings]:
    """Return them by domain, language and part."""
    groups: dict[tuple[str, str, str], list[Known]] = {}
    for dialogue, placed in known:
        groups.setdefault((dialogue.domain, dialogue.language, placed.part), []).append((dialogue, placed))
    return {key: Surroundings(group, random_seed) for key, group in groups.items()}


def _items(known: Iterable[Known]) -> Iterable[Item]:
    for one, placed in known:
        yield Item(one.corpus, one.dialogue_id, one.language, "dialogue", placed.cluster, one.speakers, one.utterances)
