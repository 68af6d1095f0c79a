"""What the judge knows of a language from the dialogues it learned from: counts of words, neighbours, replies, places.

These counts look perfect on the dialogues they were taken from, so a judge must never describe those with them: see
`judge.py` for the cross-fitting.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse

from dialeval.engines.embedded.language_model import LanguageModel
from dialeval.engines.embedded.reply_model import ReplyModel
from dialeval.engines.embedded.retrieval import is_question
from dialeval.engines.embedded.topics import Topics
from dialeval.engines.request import Dialogue
from dialeval.text.tokens import is_word, tokens

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

UNKNOWN = 0
BOUNDARY = 1
"""Kept free for the edges of an utterance."""
_FIRST_WORD = 2
N_STRANGE = 1 << 16
"""How many unknown words are told apart: that one comes again in a dialogue matters, whatever it is."""

OPENING_TURNS = 2
"""The first turns of a dialogue, in which people greet and raise a subject."""
N_OPENERS = 60
"""How many first words of an utterance are told apart."""
MOSTLY = 0.6
"""The share of questions among the utterances that begin with a word, from which on the word begins a question."""


class Statistics:
    """Counts over dialogues, and the measures that need nothing else.

    Attributes:
        size: how many tokens are known; numbers from here on are those of strange ones.
        idf: weight of each token; that of strange ones is the greatest.
        topics: tells which words belong to the same subject.
        language: tells how fluent an utterance is.
        reply: tells how well it fits as a reply.
    """

    def __init__(self, dialogues: Sequence[Dialogue]) -> None:
        utterances = [utterance for dialogue in dialogues for utterance in dialogue]
        known = sorted({token for utterance in utterances for token in tokens(utterance)})
        self._number = {token: index for index, token in enumerate(known, start=_FIRST_WORD)}
        self._is_word = np.array([False, False, *map(is_word, known), True])
        self.size = len(known) + _FIRST_WORD

        presence = self.presence([self.encode(utterance) for utterance in utterances])
        frequency = np.asarray(presence.sum(axis=0)).ravel()
        self.idf: Floats = np.log((len(utterances) + 1) / (frequency + 1))
        self.idf[[UNKNOWN, BOUNDARY]] = 0.0

        first = np.cumsum([0, *map(len, dialogues)])[:-1]
        turn = np.concatenate([np.arange(len(dialogue)) for dialogue in dialogues])
        left = np.concatenate([np.arange(len(dialogue))[::-1] for dialogue in dialogues])
        is_reply = np.ones(len(utterances), dtype=np.bool_)
        is_reply[first] = False
        replies = np.flatnonzero(is_reply)
        self.topics = Topics(self.known(presence), np.repeat(np.arange(len(dialogues)), [*map(len, dialogues)]))
        self.language = LanguageModel(utterances)
        self.reply = ReplyModel(utterances, replies)
        self._opening = _log_odds(presence, turn < OPENING_TURNS)
        self._closing = _log_odds(presence, left == 0)
        self._count_openers(utterances, replies)

    def encode(self, utterance: str) -> Integers:
        """Returns the numbers of an utterance's tokens; a strange one has the number of its hash."""
        number, size = self._number, self.size
        return np.array(
            [number.get(token) or size + zlib.crc32(token.encode()) % N_STRANGE for token in tokens(utterance)],
            dtype=np.int64,
        )

    def words(self, encoded: Integers) -> Integers:
        """Returns the words among the tokens."""
        return np.asarray(encoded[self._is_word[np.minimum(encoded, self.size)]], dtype=np.int64)

    def words_of(self, encoded: Sequence[Integers]) -> tuple[Integers, Integers]:
        """Returns the words among the tokens of some utterances, and the number of the utterance of each."""
        of = np.repeat(np.arange(len(encoded)), [*map(len, encoded)])
        token = np.concatenate([*encoded, np.zeros(0, dtype=np.int64)])
        words = self._is_word[np.minimum(token, self.size)]
        return token[words], of[words]

    def presence(self, encoded: Sequence[Integers]) -> sparse.csr_array:
        """Returns which words occur in which utterance: a matrix of 0 and 1, utterances by known and strange words."""
        n_columns = self.size + N_STRANGE
        word, of = self.words_of(encoded)
        row, columns = np.divmod(np.unique(of * n_columns + word), n_columns)
        ends = np.searchsorted(row, np.arange(len(encoded) + 1))
        shape = (len(encoded), self.size + N_STRANGE)
        return sparse.csr_array((np.ones(len(columns)), columns, ends), shape=shape)

    def known(self, presence: sparse.csr_array) -> sparse.csr_array:
        """Returns the part of a presence matrix that is about known words."""
        return sparse.csr_array(presence[:, : self.size])

    def rarity(self, utterance: str) -> float:
        """Returns the idf of the rarest known word of an utterance; of a strange one, it is as great as can be."""
        words = self.words(self.encode(utterance))
        return float(self.idf[words].max(initial=0.0))

    def opening(self, presence: sparse.csr_array) -> Floats:
        """Returns how much more the words speak for an utterance at the beginning of a dialogue than elsewhere."""
        return _mean_over_words(presence, self._opening)

    def closing(self, presence: sparse.csr_array) -> Floats:
        """Returns how much more the words speak for the last utterance of a dialogue than for another."""
        return _mean_over_words(presence, self._closing)

    def opener(self, utterance: str) -> int:
        """Returns a number for how an utterance begins: one for each frequent first word, 0 for all others."""
        first = tokens(utterance)[:1]
        return self._openers.get(first[0], 0) if first else 0

    def question(self, utterance: str) -> bool:
        """Says whether an utterance asks: by its mark, or if it ends with no mark at all, by its first word."""
        if is_question(utterance):
            return True
        found = tokens(utterance)
        return bool(found) and is_word(found[-1]) and bool(self._asks[self.opener(utterance)])

    def opener_fit(self, last: Integers, kind: Integers, opener: Integers) -> Floats:
        """Returns how much likelier a reply begins as it does because of how the last utterance begins and ends.

        Args:
            last: opener of the last utterance.
            kind: 1 where the last utterance is a question, else 0.
            opener: opener of the reply.
        """
        return self._opener_after_opener[last, opener] + self._opener_after_kind[kind, opener]

    def _count_openers(self, utterances: Sequence[str], replies: Integers) -> None:
        first = [tokens(utterance)[:1] for utterance in utterances]
        frequent = Counter(token[0] for token in first if token).most_common()
        frequent.sort(key=lambda pair: (-pair[1], pair[0]))
        self._openers = {token: number for number, (token, _) in enumerate(frequent[:N_OPENERS], start=1)}
        opener = np.array([self._openers.get(token[0], 0) if token else 0 for token in first])
        kind = np.array([int(is_question(utterance)) for utterance in utterances])
        n = np.bincount(opener, minlength=N_OPENERS + 1)
        self._asks = np.bincount(opener, weights=kind, minlength=N_OPENERS + 1) > MOSTLY * np.maximum(n, 1)
        self._asks[0] = False
        self._opener_after_opener = _dependence(opener[replies - 1], opener[replies], N_OPENERS + 1, N_OPENERS + 1)
        self._opener_after_kind = _dependence(kind[replies - 1], opener[replies], 2, N_OPENERS + 1)


def _log_odds(presence: sparse.csr_array, chosen: npt.NDArray[np.bool_]) -> Floats:
    """Returns for each word log(p(word | chosen) / p(word | others)), smoothed."""
    inside = np.asarray(presence[np.flatnonzero(chosen)].sum(axis=0)).ravel()
    outside = np.asarray(presence[np.flatnonzero(~chosen)].sum(axis=0)).ravel()
    odds = np.log((inside + 1) / (chosen.sum() + 2)) - np.log((outside + 1) / ((~chosen).sum() + 2))
    odds[inside + outside == 0] = 0.0
    return np.asarray(odds, dtype=np.float64)


def _mean_over_words(presence: sparse.csr_array, weight: Floats) -> Floats:
    n_words = np.diff(presence.indptr)
    return np.asarray((presence @ weight) / np.maximum(n_words, 1), dtype=np.float64)


def _dependence(first: Integers, second: Integers, n_first: int, n_second: int) -> Floats:
    """Returns log(p(second | first) / p(second)), shrunk towards 0 where counts are small."""
    counts = np.zeros((n_first, n_second))
    np.add.at(counts, (first, second), 1.0)
    share = (counts.sum(axis=0) + 1.0) / (counts.sum() + n_second)
    given = (counts + 4.0 * share) / (counts.sum(axis=1, keepdims=True) + 4.0)
    return np.asarray(np.log(given / share), dtype=np.float64)
