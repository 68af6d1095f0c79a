"""Statistics of dialogues: word frequencies, openers, replies, trigrams and topics.

They look perfect on the dialogues that they were counted on, so a judge never describes those with them: see `judge.py`
for the cross-fitting.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from dialeval.corpora.clusters import generator_for
from dialeval.engines.embedded.texts import Floats, Integers, Texts, distinct, rounded
from dialeval.engines.requests import Dialogue
from dialeval.text import is_word

UNKNOWN = 0
BOUNDARY = 1
"""The number of the edges of an utterance."""
_FIRST_WORD = 2
_NONE = -1
N_UNKNOWN = 1 << 16
"""Numbers for unknown words: a repeated one counts as repeated."""

OPENING_TURNS = 2
"""The first turns of a dialogue: greetings and the first subject."""
N_OPENERS = 60
"""First words of an utterance with a number of their own."""
MOSTLY = 0.6
"""The share of questions from which on a first word marks a question."""


class Words(NamedTuple):
    """The words of some texts, one after the other: the number of each, and of the text that it is in."""

    word: Integers
    of: Integers


class Statistics:
    """Counts over dialogues, and the measures that need nothing else.

    Attributes:
        size: number of known tokens; unknown ones have numbers from here on.
        topics: places words of the same subject near each other.
        language: scores fluency.
        reply: scores how well an utterance fits as a reply.
    """

    def __init__(self, dialogues: Sequence[Dialogue]) -> None:
        texts = Texts([utterance for dialogue in dialogues for utterance in dialogue])
        n_texts = len(texts.n)
        known = sorted(texts.vocabulary)
        self._number = {token: index for index, token in enumerate(known, start=_FIRST_WORD)}
        self._is_word = np.array([False, False, *map(is_word, known), True])
        self.size = len(known) + _FIRST_WORD

        presence = self.presence(self.words(texts), n_texts)
        frequency = np.asarray(presence.sum(axis=0)).ravel()
        idf = rounded(np.log((n_texts + 1) / (frequency + 1)))
        self._idf, self._idf_of_unknown = idf[: self.size], float(idf[-1])
        self._idf[[UNKNOWN, BOUNDARY]] = 0.0

        first = np.cumsum([0, *map(len, dialogues)])[:-1]
        turn = np.concatenate([np.arange(len(dialogue)) for dialogue in dialogues])
        left = np.concatenate([np.arange(len(dialogue))[::-1] for dialogue in dialogues])
        is_reply = np.ones(n_texts, dtype=np.bool_)
        is_reply[first] = False
        replies = np.flatnonzero(is_reply)
        self.topics = Topics(self.known(presence), np.repeat(np.arange(len(dialogues)), [*map(len, dialogues)]))
        self.language = LanguageModel(texts)
        self.reply = ReplyModel(texts, replies)
        self._opening = _log_odds(presence, turn < OPENING_TURNS)[: self.size]
        self._closing = _log_odds(presence, left == 0)[: self.size]
        self._count_openers(texts, replies)

    @property
    def idf(self) -> Floats:
        """Weight of each token; that of unknown ones is the greatest."""
        return _and_unknown(self._idf, self._idf_of_unknown)

    def words(self, texts: Texts) -> Words:
        """Return the words of texts; an unknown token is one, too, with the number of its hash."""
        known = texts.numbers(self._number, UNKNOWN)
        numbers = np.where(known == UNKNOWN, self.size + texts.hashes % N_UNKNOWN, known)
        words = self._is_word[np.minimum(numbers, self.size)]
        return Words(numbers[words], texts.of[words])

    def presence(self, words: Words, n_texts: int) -> sparse.csr_array:
        """Return which words occur in which text: a matrix of 0 and 1, texts by known and unknown words."""
        n_columns = self.size + N_UNKNOWN
        return _presence(distinct(words.of * n_columns + words.word), (n_texts, n_columns))

    def known(self, presence: sparse.csr_array) -> sparse.csr_array:
        """Return the columns of known words."""
        return sparse.csr_array(presence[:, : self.size])

    def rarity(self, utterances: Sequence[str]) -> Floats:
        """Return the idf of each utterance's rarest word."""
        words = self.words(Texts(utterances))
        rarest = np.zeros(len(utterances))
        np.maximum.at(rarest, words.of, self.idf[words.word])
        return rarest

    def opening(self, presence: sparse.csr_array) -> Floats:
        """Return the mean log-odds of the words for the first turns of a dialogue."""
        return _mean_over_words(presence, _and_unknown(self._opening, 0.0))

    def closing(self, presence: sparse.csr_array) -> Floats:
        """Return the mean log-odds of the words for the last utterance of a dialogue."""
        return _mean_over_words(presence, _and_unknown(self._closing, 0.0))

    def opener(self, texts: Texts) -> Integers:
        """Return a number for how each text begins: one for each frequent first word, 0 for all others."""
        return texts.first(texts.numbers(self._openers, 0), missing=0)

    def question(self, texts: Texts, opener: Integers) -> Floats:
        """Return 1 for each text that asks: by its mark, or if it ends with no mark at all, by its first word."""
        return np.asarray(texts.asks | (texts.ends_in_word & self._asks[opener]), dtype=np.float64)

    def opener_fit(self, last: Integers, kind: Integers, opener: Integers) -> Floats:
        """Return how much likelier a reply begins as it does because of how the last utterance begins and ends.

        Args:
            last: opener of the last utterance.
            kind: 1 where the last utterance is a question, else 0.
            opener: opener of the reply.
        """
        return self._opener_after_opener[last, opener] + self._opener_after_kind[kind, opener]

    def _count_openers(self, texts: Texts, replies: Integers) -> None:
        first = texts.first(texts.token, missing=_NONE)
        counted = np.bincount(first[first >= 0], minlength=len(texts.vocabulary)).tolist()
        frequent = sorted((-n, texts.vocabulary[place]) for place, n in enumerate(counted) if n)[:N_OPENERS]
        self._openers = {token: number for number, (_, token) in enumerate(frequent, start=1)}
        opener = self.opener(texts)
        kind = texts.asks.astype(np.int64)
        n = np.bincount(opener, minlength=N_OPENERS + 1)
        self._asks = np.bincount(opener, weights=kind, minlength=N_OPENERS + 1) > MOSTLY * np.maximum(n, 1)
        self._asks[0] = False
        self._opener_after_opener = _dependence(opener[replies - 1], opener[replies], N_OPENERS + 1, N_OPENERS + 1)
        self._opener_after_kind = _dependence(kind[replies - 1], opener[replies], 2, N_OPENERS + 1)


def _log_odds(presence: sparse.csr_array, chosen: npt.NDArray[np.bool_]) -> Floats:
    """Return for each word log(p(word | chosen) / p(word | others)), smoothed."""
    inside = np.asarray(presence[np.flatnonzero(chosen)].sum(axis=0)).ravel()
    outside = np.asarray(presence[np.flatnonzero(~chosen)].sum(axis=0)).ravel()
    odds = np.log((inside + 1) / (chosen.sum() + 2)) - np.log((outside + 1) / ((~chosen).sum() + 2))
    odds[inside + outside == 0] = 0.0
    return rounded(odds)


def _and_unknown(known: Floats, unknown: float) -> Floats:
    """Return a number for each token, known or unknown; all unknown ones share one."""
    return np.concatenate([known, np.full(N_UNKNOWN, unknown)])


def _mean_over_words(presence: sparse.csr_array, weight: Floats) -> Floats:
    n_words = np.diff(presence.indptr)
    return np.asarray((presence @ weight) / np.maximum(n_words, 1), dtype=np.float64)


def _dependence(first: Integers, second: Integers, n_first: int, n_second: int) -> Floats:
    """Return log(p(second | first) / p(second)), shrunk towards 0 where counts are small."""
    counts = np.zeros((n_first, n_second))
    np.add.at(counts, (first, second), 1.0)
    share = (counts.sum(axis=0) + 1.0) / (counts.sum() + n_second)
    given = (counts + 4.0 * share) / (counts.sum(axis=1, keepdims=True) + 4.0)
    return rounded(np.log(given / share))


# How well a reply fits the utterance before it: a logistic regression on pairs of frequent words, such as you and I.

N_FREQUENT = 120
N_FALSE = 3
"""Random replies for each true one."""
STRENGTH = 0.02
"""Inverse strength of the penalty."""
_RARE = -1


class ReplyModel:
    """Separates true replies from random ones.

    Args:
        texts: the utterances of all dialogues.
        replies: numbers of those that follow another one, which is the one before it in `texts`.
    """

    def __init__(self, texts: Texts, replies: Integers) -> None:
        from sklearn.linear_model import LogisticRegression  # only where something is learned

        counted = np.bincount(texts.token[texts.tells], minlength=len(texts.vocabulary))
        by_token = {token: n for token, n in zip(texts.vocabulary, counted.tolist(), strict=True) if n}
        frequent = sorted(by_token, key=lambda token: (-by_token[token], token))[:N_FREQUENT]
        self._number = {token: number for number, token in enumerate(frequent)}
        rng = generator_for(0, "strange replies")
        asked, answered = self.read(texts)
        candidates = np.concatenate([replies, *(rng.permutation(replies) for _ in range(N_FALSE))])
        pairs = _pairs(asked[np.tile(replies - 1, 1 + N_FALSE)], answered[candidates])
        is_true = np.repeat([1, 0], [len(replies), N_FALSE * len(replies)])
        weight = np.where(is_true == 1, float(N_FALSE), 1.0)
        regression = LogisticRegression(C=STRENGTH, solver="liblinear", tol=1e-2).fit(pairs, is_true, weight)
        self._weights = rounded(regression.coef_.reshape(asked.shape[1], answered.shape[1]))
        self._constant = float(rounded(regression.intercept_[0]))

    def read(self, texts: Texts) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Return the frequent words of texts, and a constant.

        Returns:
            Those of utterances that are replied to, and those of replies, with the frequent word that each begins with.
        """
        n = len(self._number)
        numbers = texts.numbers(self._number, _RARE)
        found = numbers != _RARE
        first = texts.first(numbers, _RARE, texts.tells)
        begins = np.flatnonzero(first != _RARE)
        width, every = 2 * n + 1, np.arange(len(texts.n))
        asked = distinct(np.concatenate([texts.of[found] * width + numbers[found], every * width + n]))
        answered = np.sort(np.concatenate([asked, begins * width + n + 1 + first[begins]]))
        return _presence(asked, (len(every), width))[:, : n + 1], _presence(answered, (len(every), width))

    def fit(self, asked: sparse.csr_array, answered: sparse.csr_array, last: Integers, reply: Integers) -> Floats:
        """Return log-odds for being a true reply.

        Args:
            asked: utterances as what is replied to.
            answered: the same utterances as replies; none is without a word, since a constant is one.
            last: numbers of utterances that are replied to.
            reply: numbers of the replies.
        """
        weights, replies = asked @ self._weights, answered[reply]
        each = weights[np.repeat(last, np.diff(replies.indptr)), replies.indices]
        return np.asarray(np.add.reduceat(each, replies.indptr[:-1]) + self._constant, dtype=np.float64)


def _pairs(asked: sparse.csr_array, answered: sparse.csr_array) -> sparse.csr_array:
    """Return which pairs of columns occur together, row by row: rows by (columns of asked x columns of answered)."""
    n_asked, n_answered = np.diff(asked.indptr), np.diff(answered.indptr)
    n = n_asked * n_answered
    row = np.repeat(np.arange(len(n)), n)
    within = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
    left = asked.indices[asked.indptr[row] + within // n_answered[row]].astype(np.int32)
    right = answered.indices[answered.indptr[row] + within % n_answered[row]]
    columns = left * answered.shape[1] + right
    shape = (len(n), asked.shape[1] * answered.shape[1])
    ends = np.concatenate([[0], np.cumsum(n)]).astype(np.int32)
    return sparse.csr_array((np.ones(len(columns)), columns.astype(np.int32), ends), shape=shape)


def _presence(codes: Integers, shape: tuple[int, int]) -> sparse.csr_array:
    """Return a matrix of 0 and 1 from where the ones are: in order, row by row."""
    row, columns = np.divmod(codes, shape[1])
    ends = np.searchsorted(row, np.arange(shape[0] + 1))
    return sparse.csr_array((np.ones(len(columns)), columns, ends), shape=shape)


# Kneser-Ney n-gram models over tokens and over classes of words.

ORDER = 3
DISCOUNT = 0.75
OTHER = 0
"""The number that rare tokens share."""
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
        """Return the codes of the trigrams of texts, one text after the other; the last one of each ends it."""
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
        """Return the unigram probability of the last token of each trigram."""
        return np.asarray(self._unigrams[grams % self._size], dtype=np.float64)

    def probability(self, grams: Integers) -> Floats:
        """Return the probability of the last token of each trigram, given the two before it."""
        probability = self.alone(grams)
        for order, counted in enumerate(self._orders, start=2):
            probability = _interpolate(counted, grams % self._size**order, self._size, probability)
        return probability


def _count_histories(codes: Integers, counts: Floats, size: int) -> Order:
    histories, first = np.unique(codes // size, return_index=True)
    types = np.diff([*first, len(codes)]).astype(np.float64)
    return Order(codes, counts, histories, np.add.reduceat(counts, first), types)


def _interpolate(counted: Order, code: Integers, size: int, lower: Floats) -> Floats:
    """Return the probabilities of one order, given those of the next lower one."""
    place = np.minimum(np.searchsorted(counted.codes, code), len(counted.codes) - 1)
    count = np.where(counted.codes[place] == code, counted.counts[place], 0.0)
    history = np.minimum(np.searchsorted(counted.histories, code // size), len(counted.histories) - 1)
    seen = counted.history_counts[history]
    interpolated = (np.maximum(count - DISCOUNT, 0.0) + DISCOUNT * counted.history_types[history] * lower) / seen
    return np.asarray(np.where(counted.histories[history] == code // size, interpolated, lower), dtype=np.float64)


# Fluency: a Kneser-Ney trigram model over classes of words. A few hundred dialogues are too few to separate rare words
# from wrong ones: frequent words are classes of their own, and all others share the class of their ending.

N_FREQUENT_NEXT = 150
"""Words with a class of their own."""
N_ENDINGS = 60
"""Endings with a class of their own."""
ENDING = 2


class LanguageModel:
    """Scores the fluency of utterances by trigrams of human ones."""

    def __init__(self, texts: Texts) -> None:
        place, n = np.unique(texts.token[texts.is_unfinished], return_counts=True)
        counted = {texts.vocabulary[number]: count for number, count in zip(place.tolist(), n.tolist(), strict=True)}
        frequent = _most_common(counted, N_FREQUENT_NEXT)
        self._of_word = {token: number for number, token in enumerate(frequent, start=FIRST_TOKEN)}
        rare = counted.keys() - self._of_word.keys()
        endings = _most_common(Counter(token[-ENDING:] for token in rare), N_ENDINGS)
        self._of_ending = {ending: number for number, ending in enumerate(endings, start=FIRST_TOKEN + N_FREQUENT_NEXT)}
        self._trigrams = KneserNey(*self._numbers(texts), FIRST_TOKEN + N_FREQUENT_NEXT + N_ENDINGS)

    def fluency(self, texts: Texts) -> tuple[Floats, Floats]:
        """Return the log-probability of each word in its context less that without a context, in nats.

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
        """Return the numbers of the tokens that do not end a text, and how many each text has."""
        of_word = texts.numbers(self._of_word, OTHER)
        of_ending = texts.numbers_by_ending(self._of_ending, ENDING, OTHER)
        numbers = np.where(of_word == OTHER, of_ending, of_word)
        used = texts.is_unfinished
        return numbers[used], np.bincount(texts.of[used], minlength=len(texts.n))


def _most_common(counted: Mapping[str, int], n: int) -> list[str]:
    """Return the most frequent elements; equally frequent ones in alphabetical order."""
    return sorted(counted, key=lambda element: (-counted[element], element))[:n]


# Whether words belong to the same subject: latent semantic analysis of dialogues (Deerwester et al., 1990).

N_TOPICS = 60
OFTEN = 2
"""A word counts at most this many times in a dialogue."""
EMPTY = 1e-9
"""The square of a singular value up to which there is nothing in its direction."""


class Topics:
    """Places words that occur in the same dialogues near each other."""

    def __init__(self, presence: sparse.csr_array, dialogue: Integers) -> None:
        of = sparse.csr_array((np.ones(len(dialogue)), (dialogue, np.arange(len(dialogue)))))
        counts = np.minimum(sparse.csr_array(of @ presence).toarray(), OFTEN)
        frequency = np.count_nonzero(counts, axis=0)
        self._idf = rounded(np.where(frequency > 0, np.log(len(counts) / np.maximum(frequency, 1)), 0.0))
        rows = unit_rows(counts * self._idf)
        squares, combined = np.linalg.eigh(rows @ rows.T)  # far fewer dialogues than words
        leading = np.flatnonzero(squares > EMPTY)[-N_TOPICS:]
        place = rows.T @ (combined[:, leading] / np.sqrt(squares[leading]))
        greatest = place[np.abs(place).argmax(axis=0), np.arange(len(leading))]
        self._place = rounded(place * np.sign(greatest))

    def place(self, presence: sparse.csr_array) -> Floats:
        """Return the topic vectors of utterances, shape [utterances, topics]; zero without a known word."""
        return np.asarray(sparse.csr_array(presence * self._idf) @ self._place, dtype=np.float64)


def cosine(left: Floats, right: Floats) -> Floats:
    """Return the cosine of each pair of rows; 0 if a row is zero."""
    return np.asarray((unit_rows(left) * unit_rows(right)).sum(axis=1), dtype=np.float64)


def unit_rows(rows: Floats) -> Floats:
    """Return rows of length 1; a row of zeros stays one."""
    norm = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    return np.asarray(rows / np.maximum(norm, 1e-12), dtype=np.float64)
