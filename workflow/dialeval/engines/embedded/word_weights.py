"""Texts as weighted words: TF-IDF over the tokens of the embedded models.

A word weighs 1 + log(its count in the text), times 1 + log((1 + texts) / (1 + texts with it)); rows have length 1. Sums
are taken one term after the other, as scikit-learn's TfidfVectorizer takes them, whose numbers these are: it checks its
input and its own settings at every call, which for one utterance is most of the work.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from dialeval.text.tokens import tokens

Floats = npt.NDArray[np.float64]
Row = tuple[npt.NDArray[np.int32], Floats]
"""The columns of a text's words, in order, and their weights."""

_KEPT = 8192
"""How many texts' rows are kept: in a chat, every utterance is read again at each turn that follows."""


class WordWeights:
    """Turns texts into rows of length 1 over the words that it learned.

    Attributes:
        row: returns the row of one text.

    Args:
        number: of each word.
        idf: weight of each word by its number.
        split: what makes a text into words.
    """

    def __init__(self, number: Mapping[str, int], idf: Floats, split: Callable[[str], Sequence[str]] = tokens) -> None:
        self._number, self._idf, self._split = number, idf, split
        self.row: Callable[[str], Row] = lru_cache(_KEPT)(self._row)

    @classmethod
    def learned_from(
        cls,
        texts: Sequence[str],
        number: Mapping[str, int] | None = None,
        split: Callable[[str], Sequence[str]] = tokens,
    ) -> tuple[WordWeights, sparse.csr_matrix]:
        """Returns what was learned from some texts, and the texts by words, as they came up first or are numbered.

        Args:
            texts: at least one.
            number: of each word; those of the texts in alphabetical order, if there is none.
            split: what makes a text into words.
        """
        found = [split(text) for text in texts]
        first = {word: place for place, word in enumerate(dict.fromkeys(chain.from_iterable(found)))}
        if number is None:
            number = {word: place for place, word in enumerate(sorted(first))}
            order = dict(zip(map(number.__getitem__, first), first.values(), strict=True))
        else:
            order = {place: place for place in number.values()}
        frequency = np.zeros(len(number))
        for word, n in Counter(chain.from_iterable(map(set, found))).items():
            frequency[number[word]] = n
        weights = cls(number, np.log((len(texts) + 1) / (frequency + 1.0)) + 1.0, split)
        return weights, joined([weights._row(text, order.__getitem__) for text in texts], len(number))

    def rows(self, texts: Sequence[str]) -> sparse.csr_matrix:
        """Returns texts by words."""
        return joined([self.row(text) for text in texts], len(self._number))

    def dense(self, row: Row) -> Floats:
        """Returns a row with its zeros."""
        dense = np.zeros(len(self._number))
        dense[row[0]] = row[1]
        return dense

    def _row(self, text: str, order: Callable[[int], int] | None = None) -> Row:
        number = self._number
        counted = Counter(number[word] for word in self._split(text) if word in number)
        columns = np.array(sorted(counted, key=order), dtype=np.int32)
        values = np.log(np.array([counted[column] for column in columns.tolist()], dtype=np.float64))
        values += 1.0
        values *= self._idf[columns]
        return columns, unit(values)

    def __getstate__(self) -> dict[str, Any]:
        return {"words": list(self._number), "idf": self._idf}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__({word: number for number, word in enumerate(state["words"])}, state["idf"])  # type: ignore[misc]


def unit(values: Floats) -> Floats:
    """Returns values over the root of the sum of their squares; none where that is 0."""
    total = 0.0
    for value in values.tolist():
        total += value * value
    return values / math.sqrt(total) if total else values


def joined(rows: Sequence[Row], n_columns: int) -> sparse.csr_matrix:
    """Returns rows as a matrix."""
    ends = np.cumsum([0, *(len(columns) for columns, _ in rows)]).astype(np.int32)
    columns = np.concatenate([np.zeros(0, dtype=np.int32), *(columns for columns, _ in rows)])
    values = np.concatenate([np.zeros(0), *(values for _, values in rows)])
    return sparse.csr_matrix((values, columns, ends), shape=(len(rows), n_columns))
