"""How fluent an utterance is: a Kneser-Ney trigram model over classes of words, computed for many utterances at once.

A few hundred dialogues are too few for a model of words that would tell a rare word from a wrong one. So frequent words
stand for themselves, and all others for the group with the same ending; what is left is mostly grammar.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dialeval.engines.embedded.tokens import unfinished_tokens

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

ORDER = 3
DISCOUNT = 0.75
N_FREQUENT = 150
"""How many words stand for themselves."""
N_ENDINGS = 60
"""How many endings are told apart."""
ENDING = 2

_OTHER = 0
_BOUNDARY = 1
_FIRST_CLASS = 2


class _Order(NamedTuple):
    """Counts of the n-grams of one order, sorted by code, and of their histories."""

    codes: Integers
    counts: Floats
    histories: Integers
    history_counts: Floats
    history_types: Floats


class LanguageModel:
    """Tells how well words fit after each other, from the utterances it learned from."""

    def __init__(self, utterances: Sequence[str]) -> None:
        found = [unfinished_tokens(utterance) for utterance in utterances]
        frequent = _most_common((token for utterance in found for token in utterance), N_FREQUENT)
        self._of_word = {token: number for number, token in enumerate(frequent, start=_FIRST_CLASS)}
        rare = {token for utterance in found for token in utterance} - self._of_word.keys()
        endings = _most_common((token[-ENDING:] for token in rare), N_ENDINGS)
        self._of_ending = {ending: number for number, ending in enumerate(endings, start=_FIRST_CLASS + N_FREQUENT)}
        self._size = _FIRST_CLASS + N_FREQUENT + N_ENDINGS

        grams = np.concatenate([np.zeros(0, dtype=np.int64), *(self._grams(utterance) for utterance in utterances)])
        codes, counts = np.unique(grams, return_counts=True)
        self._orders: list[_Order] = []
        for order in range(ORDER, 1, -1):
            self._orders.insert(0, _count_histories(codes, counts.astype(np.float64), self._size))
            codes, counts = np.unique(codes % self._size ** (order - 1), return_counts=True)
        unigrams = np.full(self._size, 0.5)
        unigrams[codes] += counts
        self._unigrams = unigrams / unigrams.sum()

    def fluency(self, utterances: Sequence[str]) -> tuple[Floats, Floats]:
        """Returns how much likelier each word is where it stands than anywhere, in nats.

        Args:
            utterances: at least one.

        Returns:
            The mean over the words and marks of each utterance, and the least of them.
        """
        grams = [self._grams(utterance) for utterance in utterances]
        starts = np.cumsum([0, *map(len, grams)])[:-1]
        code = np.concatenate(grams)
        alone = self._unigrams[code % self._size]
        probability = alone
        for order, counted in enumerate(self._orders, start=2):
            probability = _interpolate(counted, code % self._size**order, self._size, probability)
        gain = np.log(probability) - np.log(alone)
        n = np.array([len(gram) for gram in grams])
        return np.add.reduceat(gain, starts) / n, np.minimum.reduceat(gain, starts)

    def _grams(self, utterance: str) -> Integers:
        """Returns the codes of the trigrams of an utterance; the last one ends it."""
        numbers = [
            self._of_word.get(token) or self._of_ending.get(token[-ENDING:], _OTHER)
            for token in unfinished_tokens(utterance)
        ]
        bounded = np.array([_BOUNDARY] * (ORDER - 1) + numbers + [_BOUNDARY], dtype=np.int64)
        code = np.zeros(len(numbers) + 1, dtype=np.int64)
        for place in range(ORDER):
            code = code * self._size + bounded[place : place + len(code)]
        return code


def _most_common(elements: Iterable[str], n: int) -> list[str]:
    """Returns the most frequent elements; equally frequent ones in alphabetical order."""
    counted = sorted(Counter(elements).items(), key=lambda pair: (-pair[1], pair[0]))
    return [element for element, _ in counted[:n]]


def _count_histories(codes: Integers, counts: Floats, size: int) -> _Order:
    histories, first = np.unique(codes // size, return_index=True)
    types = np.diff([*first, len(codes)]).astype(np.float64)
    return _Order(codes, counts, histories, np.add.reduceat(counts, first), types)


def _interpolate(counted: _Order, code: Integers, size: int, lower: Floats) -> Floats:
    """Returns the probabilities of one order, given those of the next lower one."""
    place = np.minimum(np.searchsorted(counted.codes, code), len(counted.codes) - 1)
    count = np.where(counted.codes[place] == code, counted.counts[place], 0.0)
    history = np.minimum(np.searchsorted(counted.histories, code // size), len(counted.histories) - 1)
    seen = counted.history_counts[history]
    interpolated = (np.maximum(count - DISCOUNT, 0.0) + DISCOUNT * counted.history_types[history] * lower) / seen
    return np.asarray(np.where(counted.histories[history] == code // size, interpolated, lower), dtype=np.float64)
