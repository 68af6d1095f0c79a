"""Texts as numbers of their tokens, read once for everything that is counted over them.

Several models describe the same dialogues, each by counts of its own: what is the same for all of them is found here,
and each then looks up the different tokens of many texts instead of all tokens of each.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain, islice, repeat

import numpy as np
import numpy.typing as npt
from scipy import sparse

from dialeval.engines.request import Dialogue
from dialeval.text.tokens import QUESTION_MARKS, is_word, tokens

Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]


class Texts:
    """Texts, one after the other.

    Attributes:
        texts: as they were given.
        vocabulary: their different tokens.
        token: place in the vocabulary of every token of all texts in a row.
        of: number of the text of every token.
        n: number of tokens of each text.

    Args:
        texts: any, equal ones as often as they count.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        found = [tokens(text) for text in texts]
        flat = [*chain.from_iterable(found)]
        place = {token: number for number, token in enumerate(dict.fromkeys(flat))}
        self.texts = texts
        self.vocabulary = [*place]
        self.token: Integers = np.fromiter(map(place.__getitem__, flat), np.int64, len(flat))
        self.n: Integers = np.fromiter(map(len, found), np.int64, len(found))
        self.of: Integers = np.repeat(np.arange(len(found)), self.n)

    def numbers(self, number: Mapping[str, int], missing: int) -> Integers:
        """Returns the number of every token of all texts, or what stands for one that has none."""
        return _looked_up(number, self.vocabulary, missing)[self.token]

    def numbers_by_ending(self, number: Mapping[str, int], letters: int, missing: int) -> Integers:
        """Returns the same for the last letters of every token."""
        return _looked_up(number, [token[-letters:] for token in self.vocabulary], missing)[self.token]

    @cached_property
    def hashes(self) -> Integers:
        """A checksum of every token, the same in every process."""
        found = (zlib.crc32(token.encode("utf-8", "surrogatepass")) for token in self.vocabulary)
        return np.fromiter(found, np.int64, len(self.vocabulary))[self.token]

    @cached_property
    def is_word(self) -> Booleans:
        """Whether each token is a word, and not punctuation."""
        return np.fromiter(map(is_word, self.vocabulary), np.bool_, len(self.vocabulary))[self.token]

    @cached_property
    def tells(self) -> Booleans:
        """Whether each token is a word or a question mark; see `tokens.telling_tokens`."""
        marks = np.fromiter((token in QUESTION_MARKS for token in self.vocabulary), np.bool_, len(self.vocabulary))
        return np.asarray(self.is_word | marks[self.token], dtype=np.bool_)

    @cached_property
    def is_unfinished(self) -> Booleans:
        """Whether each token stands before the marks that end its text; see `tokens.unfinished_tokens`."""
        place = np.arange(len(self.token))
        last = np.full(len(self.n), -1)
        last[self.of[self.is_word]] = place[self.is_word]  # of several, the last one stays
        return np.asarray(place <= last[self.of], dtype=np.bool_)

    @cached_property
    def asks(self) -> Booleans:
        """Whether each text has a question mark."""
        return np.fromiter((not QUESTION_MARKS.isdisjoint(text) for text in self.texts), np.bool_, len(self.texts))

    @cached_property
    def ends_in_word(self) -> Booleans:
        """Whether the last token of each text is a word; of a text without any, false."""
        ends = np.cumsum(self.n) - 1
        some = self.n > 0
        some[some] = self.is_word[ends[some]]
        return some

    def first(self, numbers: Integers, missing: int, where: Booleans | None = None) -> Integers:
        """Returns the number of each text's first token.

        Args:
            numbers: one for every token.
            missing: for a text without tokens.
            where: which tokens count; all if None.
        """
        places = np.arange(len(self.token)) if where is None else np.flatnonzero(where)
        first = places[np.flatnonzero(np.diff(self.of[places], prepend=-1))]
        found = np.full(len(self.n), missing, dtype=np.int64)
        found[self.of[first]] = numbers[first]
        return found


def distinct(codes: Integers) -> Integers:
    """Returns the different codes in order; numpy's `unique` hashes them, which takes longer than to sort."""
    codes = np.sort(codes)
    return codes[np.flatnonzero(np.diff(codes, prepend=-1))]


def _looked_up(number: Mapping[str, int], names: Sequence[str], missing: int) -> Integers:
    return np.fromiter(map(number.get, names, repeat(missing)), np.int64, len(names))


class Batch:
    """Dialogues that are described together; each row depends on its own dialogue alone all the same.

    What is described is an utterance and what came before it: a beginning of a dialogue. Dialogues that begin alike, as
    one and its spoiled copies do, share their first rows.

    Attributes:
        texts: their different utterances.
        said: number of the utterance at each place of all dialogues in a row.
        beginning: number of the row that describes each place; with `only_ends`, each last place.
        dialogue: number of the dialogue of the same places.
        place: a place that each row describes; what follows is of these.
        row: number of the utterance.
        last: number of the utterance before; of a first one, its own.
        turn: 0-based turn in the dialogue.

    Args:
        dialogues: of one utterance or more each.
        only_ends: whether only the last utterance of each is described, and not every one.
    """

    def __init__(self, dialogues: Sequence[Dialogue], *, only_ends: bool = False) -> None:
        number: dict[str, int] = {}
        said = [number.setdefault(utterance, len(number)) for dialogue in dialogues for utterance in dialogue]
        n = np.fromiter(map(len, dialogues), np.int64, len(dialogues))
        ends = np.cumsum(n)
        self.texts = Texts([*number])
        self.said: Integers = np.array(said, dtype=np.int64)
        self.beginning: Integers = np.arange(len(n)) if only_ends else _beginnings(said, n.tolist())
        self.dialogue: Integers = np.arange(len(n)) if only_ends else np.repeat(np.arange(len(n)), n)
        first = np.flatnonzero(np.diff(np.maximum.accumulate(self.beginning), prepend=-1))
        self.place: Integers = ends - 1 if only_ends else first
        self.turn: Integers = self.place - (ends - n)[self.dialogue[first]]
        self.row: Integers = self.said[self.place]
        self.last: Integers = self.said[self.place - (self.turn > 0)]

    @cached_property
    def before(self) -> sparse.csr_array:
        """A matrix that sums over the earlier places of the same dialogue: places described by all places."""
        ends = np.cumsum([0, *self.turn])
        within = np.arange(ends[-1]) - np.repeat(ends[:-1], self.turn)
        columns = within + np.repeat(self.place - self.turn, self.turn)
        return sparse.csr_array((np.ones(len(columns)), columns, ends), shape=(len(self.turn), len(self.said)))


def _beginnings(said: Sequence[int], n: Sequence[int]) -> Integers:
    """Returns for each place the number of what was said up to it; what is the same has the same number.

    Args:
        said: number of the utterance at each place.
        n: number of utterances of each dialogue.
    """
    number: dict[tuple[int, int], int] = {}
    utterances, found = iter(said), []
    for length in n:
        before = -1
        for utterance in islice(utterances, length):
            before = number.setdefault((before, utterance), len(number))
            found.append(before)
    return np.array(found, dtype=np.int64)
