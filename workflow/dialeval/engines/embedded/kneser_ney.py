"""Interpolated Kneser-Ney n-gram probabilities over numbered tokens, for many texts at once (Kneser and Ney, 1995)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

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
