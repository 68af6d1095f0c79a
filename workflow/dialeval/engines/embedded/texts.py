"""Texts as numbers: tokens, beginnings of words, TF-IDF weights, and topics.

Several models describe the same dialogues, each by its own counts: each looks up the different tokens of many texts
once.

"""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain, islice, repeat

import numpy as np
import numpy.typing as npt
from scipy import sparse

from dialeval.engines.requests import Dialogue
from dialeval.text import QUESTION_MARKS, is_word, telling_tokens, tokens

Floats = npt.NDArray[np.float64]
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
        """Return the number of every token of all texts; `missing` for unknown tokens."""
        return _looked_up(number, self.vocabulary, missing)[self.token]

    def numbers_by_ending(self, number: Mapping[str, int], letters: int, missing: int) -> Integers:
        """Return the same for the last letters of every token."""
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
        """Whether each token is a word or a question mark; see `text.telling_tokens`."""
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
        """Return the number of each text's first token.

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


DECIMALS = 5
"""Of learned numbers, and of features that classifiers see."""


def rounded(values: npt.ArrayLike, decimals: int = DECIMALS) -> Floats:
    """Return values without the last bits, in which processors differ: they sum in another order.

    So the same dialogues lead to the same learned file everywhere, but for a value that lies on the edge between two.
    """
    kept = np.round(np.asarray(values, dtype=np.float64), decimals)
    return np.asarray(kept + 0.0, dtype=np.float64)  # no negative zero


def distinct(codes: Integers) -> Integers:
    """Return the different codes in order; numpy's `unique` hashes them, which takes longer than to sort."""
    codes = np.sort(codes)
    return codes[np.flatnonzero(np.diff(codes, prepend=-1))]


class Batch:
    """Dialogues that are described together; each row depends on its own dialogue alone all the same.

    A row describes an utterance after the earlier ones: a beginning of a dialogue. Dialogues that begin alike, as an
    original and its perturbed copies, share their first rows.

    Attributes:
        texts: their different utterances.
        utterance: number of the utterance at each place of all dialogues in a row.
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
        self.utterance: Integers = np.array(said, dtype=np.int64)
        self.beginning: Integers = np.arange(len(n)) if only_ends else _beginnings(said, n.tolist())
        self.dialogue: Integers = np.arange(len(n)) if only_ends else np.repeat(np.arange(len(n)), n)
        first = np.flatnonzero(np.diff(np.maximum.accumulate(self.beginning), prepend=-1))
        self.place: Integers = ends - 1 if only_ends else first
        self.turn: Integers = self.place - (ends - n)[self.dialogue[first]]
        self.row: Integers = self.utterance[self.place]
        self.last: Integers = self.utterance[self.place - (self.turn > 0)]

    @cached_property
    def before(self) -> sparse.csr_array:
        """A matrix that sums over the earlier places of the same dialogue: places described by all places."""
        ends = np.cumsum([0, *self.turn])
        within = np.arange(ends[-1]) - np.repeat(ends[:-1], self.turn)
        columns = within + np.repeat(self.place - self.turn, self.turn)
        return sparse.csr_array((np.ones(len(columns)), columns, ends), shape=(len(self.turn), len(self.utterance)))


def _looked_up(number: Mapping[str, int], names: Sequence[str], missing: int) -> Integers:
    return np.fromiter(map(number.get, names, repeat(missing)), np.int64, len(names))


def _beginnings(said: Sequence[int], n: Sequence[int]) -> Integers:
    """Return for each place the number of the dialogue up to it; equal beginnings have the same number.

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


# Signs of texts: the first four letters of words, which inflected forms share, and the form of sentences.

LETTERS = 4
"""Letters of a word that count."""
LONGEST_OPENING = 3
"""Words of the longest opening of a sentence that is a sign."""
AT_LEAST = 2
"""Texts with a sign from which on it is learned."""
_SENTENCE = re.compile(r"[^.?!。？！؟]+[.?!。？！؟]*")


@lru_cache(maxsize=65536)
def beginnings(text: str) -> tuple[str, ...]:
    """Return the beginnings of a text's words, and its question marks."""
    return tuple(token[:LETTERS] for token in telling_tokens(text))


@lru_cache(maxsize=65536)
def signs_of_last(text: str) -> tuple[str, ...]:
    """Return the signs that a reply depends on: words, and how the last sentence begins and ends."""
    return _distinct(*_classes(text), *_form(_sentences(text)[-1]))


@lru_cache(maxsize=65536)
def signs_of_reply(text: str) -> tuple[str, ...]:
    """Return the signs of a reply: words, how it begins, whether it asks or has numbers."""
    return _distinct(*_classes(text), *_form_of_reply(text))


@lru_cache(maxsize=65536)
def signs_of_last_sentence(text: str) -> tuple[str, ...]:
    """Return `signs_of_last` of the last sentence."""
    last = _sentences(text)[-1]
    return _distinct(*_classes(last), *_form(last))


@lru_cache(maxsize=65536)
def signs_of_first_sentence(text: str) -> tuple[str, ...]:
    """Return the words of the first sentence, and the form of the text."""
    return _distinct(*_classes(_sentences(text)[0]), *_form_of_reply(text))


class Signs:
    """Texts as weighted signs: rows of inverse document frequencies, of length 1.

    Args:
        texts: the different signs of each text to learn from; signs of fewer than `AT_LEAST` are not known.
    """

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        frequency = Counter(sign for text in texts for sign in text)
        known = sorted(sign for sign, n in frequency.items() if n >= AT_LEAST)
        self._number = {sign: number for number, sign in enumerate(known)}
        n = np.array([frequency[sign] for sign in known], dtype=np.float64)
        self._idf = rounded(1.0 + np.log((1 + len(texts)) / (1 + n)))

    def rows(self, texts: Sequence[Sequence[str]]) -> sparse.csr_array:
        """Return texts by known signs; a text without any is a row of zeros."""
        number = self._number
        found = [[number[sign] for sign in text if sign in number] for text in texts]
        ends = np.cumsum([0, *map(len, found)])
        columns = np.array([*chain.from_iterable(found)], dtype=np.int64)
        rows = sparse.csr_array((self._idf[columns], columns, ends), shape=(len(texts), len(number)))
        norm = np.sqrt(np.asarray((rows * rows).sum(axis=1)).ravel())
        return sparse.csr_array(sparse.diags_array(1.0 / np.maximum(norm, 1e-12)) @ rows)


def _distinct(*signs: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(signs))


def _classes(text: str) -> tuple[str, ...]:
    """Return the beginnings of words, and one sign for all numbers."""
    return tuple("#" if any(map(str.isdigit, word)) else word for word in beginnings(text))


def _form(text: str) -> tuple[str, ...]:
    words = telling_tokens(text)
    openings = tuple("^" + " ".join(words[:n]) for n in range(1, LONGEST_OPENING + 1))
    return (*openings, "asks" if _asks(text) else "asks not")


def _asks(text: str) -> bool:
    return not QUESTION_MARKS.isdisjoint(telling_tokens(text))


def _sentences(text: str) -> list[str]:
    """Return the sentences of a text that have a letter or digit; where there is none, the text."""
    return [sentence for sentence in _SENTENCE.findall(text) if any(map(str.isalnum, sentence))] or [text]


def _form_of_reply(text: str) -> tuple[str, ...]:
    """Return how a text begins, whether it and its first sentence ask, and whether there are numbers in it."""
    asks = "asks first" if _asks(_sentences(text)[0]) else "asks not first"
    return (*_form(text), asks, "numbers" if "#" in _classes(text) else "no numbers")


# Texts as weighted words: TF-IDF over the tokens of the embedded models.

Row = tuple[npt.NDArray[np.int32], Floats]
"""The columns of a text's words, in order, and their weights."""

EXACT_DECIMALS = 12
"""Of logarithms, which differ between processors in their last bit alone."""
_CACHED = 8192
"""Texts whose rows are kept: every utterance of a chat is read again at each later turn."""


class WordWeights:
    """TF-IDF rows of length 1.

    A word weighs 1 + log(its count in the text), times 1 + log((1 + texts) / (1 + texts with it)). These are the
    numbers of scikit-learn's TfidfVectorizer, which takes a second to import and checks its input at every call.

    Attributes:
        n_words: number of columns.

    Args:
        texts: the tokens of each text to learn from, at least one text.
        vocabulary: the word of each column; by default those of the texts in alphabetical order.
    """

    def __init__(self, texts: Sequence[Sequence[str]], vocabulary: Sequence[str] | None = None) -> None:
        frequency = Counter(chain.from_iterable(map(set, texts)))
        self._words = sorted(frequency) if vocabulary is None else list(vocabulary)
        self.n_words = len(self._words)
        n_texts = np.array([frequency[word] for word in self._words], dtype=np.float64)
        self._idf = rounded(np.log((len(texts) + 1) / (n_texts + 1.0)) + 1.0, EXACT_DECIMALS)

    def matrix(self, texts: Sequence[Sequence[str]]) -> sparse.csr_array:
        """Return the rows of texts, given as tokens."""
        return joined([self._row(text) for text in texts], self.n_words)

    def rows(self, texts: Sequence[str]) -> sparse.csr_array:
        """Return the rows of texts."""
        return joined([self.row(text) for text in texts], self.n_words)

    @cached_property
    def row(self) -> Callable[[str], Row]:
        """A function that returns the row of a text."""
        return lru_cache(_CACHED)(lambda text: self._row(tokens(text)))

    def dense(self, row: Row) -> Floats:
        """Return a row with its zeros."""
        dense = np.zeros(self.n_words)
        dense[row[0]] = row[1]
        return dense

    def direction(self, texts: Iterable[str], weights: Iterable[float]) -> Row:
        """Return the weighted sum of the rows of texts, of length 1 unless it is zero."""
        total = np.zeros(self.n_words)
        for text, weight in zip(texts, weights, strict=False):
            columns, values = self.row(text)
            total[columns] += weight * values
        columns = np.flatnonzero(total).astype(np.int32)
        return columns, _unit(total[columns])

    @cached_property
    def _number(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self._words)}

    def _row(self, words: Sequence[str]) -> Row:
        number = self._number
        counted = Counter(number[word] for word in words if word in number)
        columns = np.array(sorted(counted), dtype=np.int32)
        counts = np.array([counted[column] for column in columns.tolist()], dtype=np.float64)
        return columns, _unit(rounded(np.log(counts) + 1.0, EXACT_DECIMALS) * self._idf[columns])


def _unit(values: Floats) -> Floats:
    """Return values over the root of the sum of their squares; as they are if it is 0."""
    length = math.sqrt(math.fsum((values * values).tolist()))
    return values / length if length else values


def joined(rows: Sequence[Row], n_columns: int) -> sparse.csr_array:
    """Return rows as a matrix."""
    ends = np.cumsum([0, *(len(columns) for columns, _ in rows)]).astype(np.int32)
    columns = np.concatenate([np.zeros(0, dtype=np.int32), *(columns for columns, _ in rows)])
    values = np.concatenate([np.zeros(0), *(values for _, values in rows)])
    return sparse.csr_array((values, columns, ends), shape=(len(rows), n_columns))
