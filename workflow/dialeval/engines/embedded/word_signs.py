"""What texts are compared by: beginnings of words, which inflected forms share, and how sentences begin.

Four letters tell most words apart and take most endings away, in any language with blanks; characters of scripts
without blanks are whole words here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain

import numpy as np
import numpy.typing as npt
from scipy import sparse

from dialeval.text.tokens import QUESTION_MARKS, telling_tokens

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

LETTERS = 4
"""So many letters of a word are looked at."""
LONGEST_OPENING = 3
"""With how many words a sentence is said to begin."""
AT_LEAST = 2
"""A sign that fewer texts have is not learned."""
_SENTENCE = re.compile(r"[^.?!。？！؟]+[.?!。？！؟]*")


@lru_cache(maxsize=65536)
def beginnings(text: str) -> tuple[str, ...]:
    """Returns the beginnings of a text's words, and its question marks."""
    return tuple(token[:LETTERS] for token in telling_tokens(text))


@lru_cache(maxsize=65536)
def signs_of_last(text: str) -> tuple[str, ...]:
    """Returns what a reply to the text may go by: its words, and how its last sentence begins and ends."""
    return _distinct(*_classes(text), *_form(_sentences(text)[-1]))


@lru_cache(maxsize=65536)
def signs_of_reply(text: str) -> tuple[str, ...]:
    """Returns what tells whether a text fits as a reply: its words, how it begins, whether it asks or gives numbers."""
    return _distinct(*_classes(text), *_form_of_reply(text))


@lru_cache(maxsize=65536)
def signs_of_last_sentence(text: str) -> tuple[str, ...]:
    """Returns the same as `signs_of_last` of the last sentence alone, which is the one that is replied to."""
    last = _sentences(text)[-1]
    return _distinct(*_classes(last), *_form(last))


@lru_cache(maxsize=65536)
def signs_of_first_sentence(text: str) -> tuple[str, ...]:
    """Returns the words of the first sentence, which is the one that replies, and the form of the whole."""
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
        self._idf: Floats = 1.0 + np.log((1 + len(texts)) / (1 + n))

    def rows(self, texts: Sequence[Sequence[str]]) -> sparse.csr_array:
        """Returns texts by known signs; a text without any is a row of zeros."""
        number = self._number
        found = [[number[sign] for sign in text if sign in number] for text in texts]
        ends = np.cumsum([0, *map(len, found)])
        columns = np.array([*chain.from_iterable(found)], dtype=np.int64)
        rows = sparse.csr_array((self._idf[columns], columns, ends), shape=(len(texts), len(number)))
        norm = np.sqrt(np.asarray((rows * rows).sum(axis=1)).ravel())
        return sparse.csr_array(sparse.diags_array(1.0 / np.maximum(norm, 1e-12)) @ rows)


def _sentences(text: str) -> list[str]:
    """Returns the sentences of a text that have a letter or digit; where there is none, the text."""
    return [sentence for sentence in _SENTENCE.findall(text) if any(map(str.isalnum, sentence))] or [text]


def _classes(text: str) -> tuple[str, ...]:
    """Returns the beginnings of words, and one sign for all numbers."""
    return tuple("#" if any(map(str.isdigit, word)) else word for word in beginnings(text))


def _form_of_reply(text: str) -> tuple[str, ...]:
    """Returns how a text begins, whether it and its first sentence ask, and whether there are numbers in it."""
    asks = "asks first" if _asks(_sentences(text)[0]) else "asks not first"
    return (*_form(text), asks, "numbers" if "#" in _classes(text) else "no numbers")


def _distinct(*signs: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(signs))


def _form(text: str) -> tuple[str, ...]:
    words = telling_tokens(text)
    openings = tuple("^" + " ".join(words[:n]) for n in range(1, LONGEST_OPENING + 1))
    return (*openings, "asks" if _asks(text) else "asks not")


def _asks(text: str) -> bool:
    return not QUESTION_MARKS.isdisjoint(telling_tokens(text))
