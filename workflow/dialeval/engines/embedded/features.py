"""The features of an utterance, given the earlier ones.

Every feature looks back only, so that the beginning of a dialogue is described the same whatever follows, and every row
depends on its own dialogue alone, whatever else is described at the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy import sparse

from dialeval.engines.embedded.statistics import Statistics, cosine
from dialeval.engines.embedded.texts import Batch, Floats, Integers, Texts

NAMES = (
    "length",
    "length_change",
    "repetition",
    "similar_to_last",
    "similar_to_own",
    "similar_to_any",
    "similar_to_all",
    "seen_before",
    "topic",
    "topic_of_last",
    "reply_fit",
    "opener_fit",
    "fluency",
    "worst_word",
    "question",
    "question_unanswered",
    "question_to_question",
    "late_opening",
    "closing",
    "after_closing",
    "specificity",
    "unknown_words",
    "own_diversity",
)
N_FEATURES = len(NAMES)
ALONE = [
    NAMES.index(name)
    for name in (
        "length",
        "fluency",
        "worst_word",
        "question",
        "closing",
        "specificity",
        "unknown_words",
        "own_diversity",
    )
]
"""Columns of the utterance itself; the others are 0 for the first utterance of a dialogue."""
REPETITION = 0.6
"""Cosine with an earlier utterance from which on an utterance counts as its repetition."""
WORDS_TO_REPEAT = 5
"""A repetition of fewer words counts less."""
LOOK_BACK = 32
"""How many utterances back an utterance is compared with."""
PAIRS_AT_ONCE = 1 << 15
"""Pairs of utterances that are compared together, which bounds the memory."""


@dataclass(frozen=True)
class Described:
    """The features of utterances of several dialogues; equal beginnings of dialogues share a row.

    Attributes:
        values: rows by features (`NAMES`).
        turn: 0-based place of the utterance in its dialogue.
        nearest: how many utterances back the most similar one is; 0 where none has a word in common.
        beginning: number of the row of every utterance of all dialogues, one after the other.
        dialogue: number of the dialogue of the same.
    """

    values: Floats
    turn: Integers
    nearest: Integers
    beginning: Integers
    dialogue: Integers


def describe(batch: Batch, statistics: Statistics) -> Described:
    """Describe utterances of some dialogues with the statistics of others."""
    alone = _describe_alone(batch.texts, statistics)
    row, last, turn, replies = batch.row, batch.last, batch.turn, batch.turn > 0

    cosine_any, similar, nearest, first_two = _look_back(alone.tfidf, batch)
    repeats = cosine_any >= REPETITION
    is_new = 1.0 - repeats
    similar_to_all, seen_before = _compare_with_earlier(alone, statistics.idf, batch)
    question, asked = alone.question[row], alone.question[last] * replies
    length = np.log1p(alone.n_words)
    usual = (batch.before @ length[batch.utterance]) / np.maximum(turn, 1)
    values = np.column_stack(
        [
            length[row],
            np.where(replies, length[row] - usual, 0.0),
            repeats * np.minimum(cosine_any * alone.n_words[row] / WORDS_TO_REPEAT, 1.0),
            first_two[0],
            first_two[1],
            similar,
            is_new * similar_to_all,
            is_new * seen_before,
            cosine(batch.before @ alone.place[batch.utterance], alone.place[row]),
            replies * cosine(alone.place[last], alone.place[row]),
            replies * statistics.reply.fit(alone.asked, alone.answered, last, row),
            replies
            * statistics.opener_fit(alone.opener[last], alone.question[last].astype(np.int64), alone.opener[row]),
            alone.fluency[row],
            alone.worst_word[row],
            question,
            asked * (1 - question),
            asked * question,
            np.where(turn >= 2, alone.opening[row], 0.0),
            alone.closing[row],
            _greatest_before(alone.closing, batch),
            alone.specificity[row],
            alone.unknown[row],
            alone.diversity[row],
        ]
    )
    return Described(values=values, turn=turn, nearest=nearest, beginning=batch.beginning, dialogue=batch.dialogue)


def _describe_alone(texts: Texts, statistics: Statistics) -> _Alone:
    words = statistics.words(texts)
    presence = statistics.presence(words, len(texts.n))
    n_distinct = np.maximum(np.diff(presence.indptr), 1)
    n_words = np.bincount(words.of, minlength=len(texts.n)).astype(np.float64)
    n_unknown = np.bincount(words.of, words.word >= statistics.size, len(texts.n))
    fluency, worst_word = statistics.language.fluency(texts)
    asked, answered = statistics.reply.read(texts)
    opener = statistics.opener(texts)
    weighted = presence.copy()
    weighted.data *= statistics.idf[weighted.indices]
    weight = np.asarray(weighted.sum(axis=1), dtype=np.float64)
    tfidf = weighted.copy()
    tfidf.data /= np.repeat(_norms(weighted), np.diff(weighted.indptr))
    return _Alone(
        tfidf=tfidf,
        place=statistics.topics.place(statistics.known(presence)),
        asked=asked,
        answered=answered,
        n_words=n_words,
        weight=weight,
        fluency=fluency,
        worst_word=worst_word,
        question=statistics.question(texts, opener),
        opening=statistics.opening(presence),
        closing=statistics.closing(presence),
        specificity=weight / n_distinct,
        unknown=n_unknown / np.maximum(n_words, 1),
        diversity=n_distinct / np.maximum(n_words, 1),
        opener=opener,
    )


def _norms(rows: sparse.csr_array) -> Floats:
    """Return the length of each row, and of one at the origin next to nothing, so that it can be divided by."""
    return np.maximum(np.sqrt(rows.power(2).sum(axis=1)), 1e-12)


@dataclass(frozen=True)
class _Alone:
    """The features of each distinct utterance without its dialogue."""

    tfidf: sparse.csr_array
    place: Floats
    asked: sparse.csr_array
    answered: sparse.csr_array
    n_words: Floats
    weight: Floats
    fluency: Floats
    worst_word: Floats
    question: Floats
    opening: Floats
    closing: Floats
    specificity: Floats
    unknown: Floats
    diversity: Floats
    opener: Integers


def _look_back(tfidf: sparse.csr_array, batch: Batch) -> tuple[Floats, Floats, Integers, tuple[Floats, Floats]]:
    """Compare every utterance with those before it.

    Returns:
        The greatest cosine with an earlier utterance; the greatest that is no repetition; how many utterances back the
        most similar one is; the cosines one and two back, 0 for repetitions.
    """
    row, turn = batch.row, batch.turn
    greatest, similar = np.zeros(len(row)), np.zeros(len(row))
    nearest = np.zeros(len(row), dtype=np.int64)
    first_two = (np.zeros(len(row)), np.zeros(len(row)))
    steps = range(1, min(LOOK_BACK, int(turn.max(initial=0))) + 1)
    places = [np.flatnonzero(turn >= back) for back in steps]
    earlier = [batch.utterance[batch.place[here] - back] for back, here in zip(steps, places, strict=True)]
    cosines = _cosine_pairs(
        tfidf, np.concatenate([row[:0], *earlier]), np.concatenate([row[:0], *(row[h] for h in places)])
    )
    by_step = np.split(cosines, np.cumsum([*map(len, places)])[:-1]) if places else []
    for back, here, cosine_back in zip(steps, places, by_step, strict=True):
        better = cosine_back > greatest[here] + 1e-12
        greatest[here[better]] = cosine_back[better]
        nearest[here[better]] = back
        no_repetition = np.where(cosine_back < REPETITION, cosine_back, 0.0)
        similar[here] = np.maximum(similar[here], no_repetition)
        if back <= len(first_two):
            first_two[back - 1][here] = no_repetition
    return greatest, similar, nearest, first_two


def _cosine_pairs(rows: sparse.csr_array, left: Integers, right: Integers) -> Floats:
    """Return the cosine of each pair of rows of length 1; a dialogue and its perturbed copies share most pairs."""
    pairs, number = np.unique(left * rows.shape[0] + right, return_inverse=True)
    left, right = np.divmod(pairs, rows.shape[0])
    parts = [slice(start, start + PAIRS_AT_ONCE) for start in range(0, len(pairs), PAIRS_AT_ONCE)]
    cosines = [_products(rows[left[part]], rows[right[part]]) for part in parts]
    return np.concatenate([np.zeros(0), *cosines])[number]


def _products(left: sparse.csr_array, right: sparse.csr_array) -> Floats:
    """Return the inner product of each pair of rows."""
    return np.asarray(sparse.csr_array(left * right).sum(axis=1), dtype=np.float64)


def _compare_with_earlier(alone: _Alone, idf: Floats, batch: Batch) -> tuple[Floats, Floats]:
    """Compare every utterance with all earlier ones.

    Returns:
        The cosine with their sum, and the share of the utterance's words, weighted by idf, that occur in them.
    """
    before, here = sparse.csr_array(batch.before @ alone.tfidf[batch.utterance]), alone.tfidf[batch.row]
    common = sparse.csr_array(before * here)
    similar = np.asarray(common.sum(axis=1), dtype=np.float64) / _norms(before)
    common.data = idf[common.indices]
    share = np.asarray(common.sum(axis=1), dtype=np.float64) / np.maximum(alone.weight[batch.row], 1e-12)
    return similar, share


def _greatest_before(values: Floats, batch: Batch) -> Floats:
    """Return the greatest value among the earlier utterances of the dialogue, 0 for the first."""
    turn = batch.turn
    greatest = np.zeros(len(turn))
    for back in range(1, min(LOOK_BACK, int(turn.max(initial=0))) + 1):
        here = np.flatnonzero(turn >= back)
        value = values[batch.utterance[batch.place[here] - back]]
        greatest[here] = value if back == 1 else np.maximum(greatest[here], value)
    return greatest


# How a judge reads dialogues: by statistics of other dialogues.


class ReplyScorer(Protocol):
    """Scores how likely utterances are true replies."""

    def log_odds(self, batch: Batch, described: Described) -> Floats:
        """Return the log-odds of each described utterance, 0 at the first turn."""
        ...


class Reader:
    """Describes utterances by statistics of other dialogues.

    Args:
        statistics: of the other dialogues.
        replies: learned from others, too; its log-odds are one more feature, the last.
    """

    def __init__(self, statistics: Statistics, replies: ReplyScorer | None = None) -> None:
        self._statistics, self._replies = statistics, replies

    def describe(self, batch: Batch) -> Described:
        """Describe every utterance of the dialogues."""
        described = describe(batch, self._statistics)
        if self._replies is None:
            return described
        values = np.column_stack([described.values, self._replies.log_odds(batch, described)])
        return replace(described, values=values)

    def rarity(self, utterances: Sequence[str]) -> Floats:
        """Return the idf of the rarest word of each utterance."""
        return self._statistics.rarity(utterances)
