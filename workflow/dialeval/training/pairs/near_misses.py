"""Utterances that share words with a context and its response, and belong to another dialogue.

TF-IDF over the utterances that may be lent: rows by words (pairs of characters in scripts without blanks), words that
many utterances have left out, so that a search looks at a short list for each word and not at all utterances.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from dialeval.text.tokens import is_unspaced, is_word, tokens
from dialeval.training.pairs.lending import Lent

MOST_HOLDERS = 1000
"""Utterances that may hold a word for it to be looked for."""
LARGEST_SHARE = 0.05
"""Share of the utterances that may hold a word, where that is fewer."""
TRIES = 20
"""Of the most similar utterances, how many are looked at."""
MOST_SHARED = 0.5
"""Share of the response's words, or of the other utterance's, above which the two may say the same."""


class _List(NamedTuple):
    """Where the utterances that hold a word stand, and how much the word tells."""

    start: int
    end: int
    weight: float


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
        ends = np.cumsum(n_holders)
        self._lists = {
            term: _List(int(ends[number] - n_holders[number]), int(ends[number]), float(weights[number]))
            for term, number in number_of.items()
            if n_holders[number] <= most
        }

    def find(self, previous: str, response: str, cluster: str, heard: set[str]) -> Lent | None:
        """Returns the most similar utterance of another cluster that does not say what the response says.

        Args:
            previous: what was said before the response.
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
        best = np.lexsort((found, -scores))[: TRIES + len(heard)]
        for number in found[best]:
            lent = self._utterances[int(number)]
            if lent.cluster != cluster and lent.plain not in heard and not _says_the_same(own, lent.text):
                return lent
        return None


def terms_of(text: str) -> list[str]:
    """Returns the words of a text, and pairs of neighbouring characters of scripts without blanks."""
    found = [token for token in tokens(text) if is_word(token)]
    pairs = [one + other for one, other in pairwise(found) if is_unspaced(one) and is_unspaced(other)]
    return [token for token in found if not is_unspaced(token)] + pairs


def _says_the_same(own: frozenset[str], other: str) -> bool:
    terms = frozenset(terms_of(other))
    shared = len(own & terms)
    return shared > MOST_SHARED * max(1, min(len(own), len(terms)))
