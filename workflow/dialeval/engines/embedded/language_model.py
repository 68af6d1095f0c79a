"""Kneser-Ney n-gram models over tokens and over classes of words.

A few hundred dialogues are too few for a model of words that would tell a rare word from a wrong one. So frequent words
stand for themselves, and all others for the group with the same ending; what is left is mostly grammar.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dialeval.engines.embedded.texts import Texts

# Interpolated Kneser-Ney n-gram probabilities over numbered tokens, for many texts at once (Kneser and Ney, 1995).

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

ORDER = 3
DISCOUNT = 0.75
OTHER = 0
"""The number of all tokens that are not told apart."""
BOUNDARY = 1
"""The number of the edges of a text."""
FIRST_TOKEN = 2


class Order(NamedTuple):
    """Counts of the n-grams of one order, sorted by code, and of their histories."""

    codes: Integers
    counts: Floats
    histories: Integers
    history_counts: Floats
    history_types: Floats


class KneserNey:
    """A trigram model; lower orders count in how many different places a token follows.

    Args:
        tokens: number of every token of all texts in a row.
        n: number of tokens of each text.
        size: how many numbers there are; each is less.
    """

    def __init__(self, tokens: Integers, n: Integers, size: int) -> None:
        self._size = size
        grams = self.grams(tokens, n)
        codes, counts = np.unique(grams, return_counts=True)
        self._orders: list[Order] = []
        for order in range(ORDER, 1, -1):
            self._orders.insert(0, _count_histories(codes, counts.astype(np.float64), size))
            codes, counts = np.unique(codes % size ** (order - 1), return_counts=True)
        unigrams = np.full(size, 0.5)
        unigrams[codes] += counts
        self._unigrams = unigrams / unigrams.sum()

    def grams(self, tokens: Integers, n: Integers) -> Integers:
        """Returns the codes of the trigrams of texts, one text after the other; the last one of each ends it."""
        of = np.repeat(np.arange(len(n)), n)
        bounded = np.full(len(tokens) + ORDER * len(n), BOUNDARY, dtype=np.int64)
        bounded[np.arange(len(tokens)) + ORDER * of + ORDER - 1] = tokens  # between two edges before, and one after
        first = np.ones(len(bounded), dtype=np.bool_)  # whether a trigram begins here, within one text
        ends = np.cumsum(n + ORDER)
        for place in range(1, ORDER):
            first[ends - place] = False
        starts = np.flatnonzero(first)
        code = np.zeros(len(starts), dtype=np.int64)
        for place in range(ORDER):
            code = code * self._size + bounded[starts + place]
        return code

    def alone(self, grams: Integers) -> Floats:
        """Returns the probability of the last token of each trigram, whatever comes before it."""
        return np.asarray(self._unigrams[grams % self._size], dtype=np.float64)

    def probability(self, grams: Integers) -> Floats:
        """Returns the probability of the last token of each trigram, given the two before it."""
        probability = self.alone(grams)
        for order, counted in enumerate(self._orders, start=2):
            probability = _interpolate(counted, grams % self._size**order, self._size, probability)
        return probability


def _count_histories(codes: Integers, counts: Floats, size: int) -> Order:
    histories, first = np.unique(codes // size, return_index=True)
    types = np.diff([*first, len(codes)]).astype(np.float64)
    return Order(codes, counts, histories, np.add.reduceat(counts, first), types)


def _interpolate(counted: Order, code: Integers, size: int, lower: Floats) -> Floats:
    """Returns the probabilities of one order, given those of the next lower one."""
    place = np.minimum(np.searchsorted(counted.codes, code), len(counted.codes) - 1)
    count = np.where(counted.codes[place] == code, counted.counts[place], 0.0)
    history = np.minimum(np.searchsorted(counted.histories, code // size), len(counted.histories) - 1)
    seen = counted.history_counts[history]
    interpolated = (np.maximum(count - DISCOUNT, 0.0) + DISCOUNT * counted.history_types[history] * lower) / seen
    return np.asarray(np.where(counted.histories[history] == code // size, interpolated, lower), dtype=np.float64)


# How fluent an utterance is: a Kneser-Ney trigram model over classes of words, computed for many utterances at once.

N_FREQUENT = 150
"""How many words stand for themselves."""
N_ENDINGS = 60
"""How many endings are told apart."""
ENDING = 2


class LanguageModel:
    """Tells how well words fit after each other, from the utterances it learned from."""

    def __init__(self, texts: Texts) -> None:
        place, n = np.unique(texts.token[texts.is_unfinished], return_counts=True)
        counted = {texts.vocabulary[number]: count for number, count in zip(place.tolist(), n.tolist(), strict=True)}
        frequent = _most_common(counted, N_FREQUENT)
        self._of_word = {token: number for number, token in enumerate(frequent, start=FIRST_TOKEN)}
        rare = counted.keys() - self._of_word.keys()
        endings = _most_common(Counter(token[-ENDING:] for token in rare), N_ENDINGS)
        self._of_ending = {ending: number for number, ending in enumerate(endings, start=FIRST_TOKEN + N_FREQUENT)}
        self._trigrams = KneserNey(*self._numbers(texts), FIRST_TOKEN + N_FREQUENT + N_ENDINGS)

    def fluency(self, texts: Texts) -> tuple[Floats, Floats]:
        """Returns how much likelier each word is where it stands than anywhere, in nats.

        Args:
            texts: at least one.

        Returns:
            The mean over the words and marks of each text, and the least of them.
        """
        tokens, n = self._numbers(texts)
        grams = self._trigrams.grams(tokens, n)
        codes, place = np.unique(grams, return_inverse=True)
        gain = (np.log(self._trigrams.probability(codes)) - np.log(self._trigrams.alone(codes)))[place]
        starts = np.cumsum(n + 1) - (n + 1)
        return np.add.reduceat(gain, starts) / (n + 1), np.minimum.reduceat(gain, starts)

    def _numbers(self, texts: Texts) -> tuple[Integers, Integers]:
        """Returns the numbers of the tokens that do not end a text, and how many each text has."""
        of_word = texts.numbers(self._of_word, OTHER)
        of_ending = texts.numbers_by_ending(self._of_ending, ENDING, OTHER)
        numbers = np.where(of_word == OTHER, of_ending, of_word)
        used = texts.is_unfinished
        return numbers[used], np.bincount(texts.of[used], minlength=len(texts.n))


def _most_common(counted: Mapping[str, int], n: int) -> list[str]:
    """Returns the most frequent elements; equally frequent ones in alphabetical order."""
    return sorted(counted, key=lambda element: (-counted[element], element))[:n]
