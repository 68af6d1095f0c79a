"""A model that separates true replies from random ones, by repeated words and a predicted reply.

A logistic regression sees every true reply and several random ones in its place. The predicted reply is a ridge
regression between the leading singular vectors of utterances and those of replies.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from dialeval.corpora.clusters import generator_for
from dialeval.engines.embedded.features import Described, describe
from dialeval.engines.embedded.statistics import Statistics, unit_rows
from dialeval.engines.embedded.texts import (
    Batch,
    Floats,
    Signs,
    beginnings,
    rounded,
    signs_of_first_sentence,
    signs_of_last,
    signs_of_last_sentence,
    signs_of_reply,
)
from dialeval.engines.requests import Dialogue

N_RANDOM = 4
"""Random replies for each true one."""
MOST_TURNS = 5
"""The most turns of a dialogue that are learned from."""
STRENGTH = 0.1
"""Inverse strength of the penalty."""


@dataclass(frozen=True)
class Replies:
    """True and random replies of one inner fold, with features from the other folds.

    Attributes:
        values: replies by features.
        is_true: whether each is a true one.
    """

    values: Floats
    is_true: npt.NDArray[np.bool_]


class Selector:
    """Separates true replies from random ones.

    Args:
        replies: of some folds; without both sorts among them the log-odds are 0.
    """

    def __init__(self, replies: Sequence[Replies]) -> None:
        values = np.concatenate([one.values for one in replies])
        is_true = np.concatenate([one.is_true for one in replies])
        self._mean = rounded(values.mean(axis=0)) if len(values) else np.zeros(values.shape[1])
        self._scale = rounded(np.maximum(values.std(axis=0), 1e-4)) if len(values) else np.ones(values.shape[1])
        self._weights: Floats = np.zeros(values.shape[1])
        self._constant = 0.0
        if is_true.any() and not is_true.all():
            from sklearn.linear_model import LogisticRegression  # only where something is learned

            regression = LogisticRegression(C=STRENGTH, class_weight="balanced", solver="newton-cholesky")
            regression.fit((values - self._mean) / self._scale, is_true)
            self._weights, self._constant = rounded(regression.coef_[0]), float(rounded(regression.intercept_[0]))

    def log_odds(self, values: Floats) -> Floats:
        """Return the log-odds of a true reply, if true and random ones are equally frequent."""
        shares = (values - self._mean) / self._scale * self._weights
        return np.asarray(shares.sum(axis=1) + self._constant, dtype=np.float64)


class SelectedReplies:
    """Scores how likely utterances are true replies."""

    def __init__(self, fit: ReplyFit, selector: Selector) -> None:
        self._fit, self._selector = fit, selector

    def log_odds(self, batch: Batch, described: Described) -> Floats:
        """Return the log-odds of each described utterance, 0 at the first turn."""
        return (described.turn > 0) * self._selector.log_odds(self._fit.values(batch, described))


def describe_replies(dialogues: Sequence[Dialogue], statistics: Statistics, fit: ReplyFit, random_seed: int) -> Replies:
    """Return replies of one inner fold and random ones in their places, drawn from the same fold.

    Args:
        dialogues: those of the fold.
        statistics: of dialogues of other folds.
        fit: learned from the same dialogues of other folds.
        random_seed: of the random replies.
    """
    texts: list[Dialogue] = []
    is_true: list[bool] = []
    pool = [utterance for dialogue in dialogues for utterance in dialogue]
    for dialogue in dialogues:
        rng = generator_for(random_seed, "replies", *dialogue)
        for turn in sorted(rng.permutation(np.arange(1, len(dialogue)))[:MOST_TURNS]):
            drawn = [pool[int(number)] for number in rng.integers(len(pool), size=N_RANDOM)]
            random = [utterance for utterance in drawn if utterance not in dialogue]
            texts += [dialogue[: turn + 1], *((*dialogue[:turn], utterance) for utterance in random)]
            is_true += [True, *[False] * len(random)]
    batch = Batch(texts, only_ends=True)
    return Replies(fit.values(batch, describe(batch, statistics)), np.array(is_true))


# Uptake: the words that a reply repeats from its context, and new ones; sums over beginnings of words, by rarity.

UPTAKE_FEATURES = (
    "rarest_taken_up",
    "rarest_taken_up_from_last",
    "share_taken_up",
    "rarest_new",
    "turn",
    "taken_up",
    "taken_up_squared",
    "taken_up_from_last_squared",
    "new",
    "words_before",
    "words_of_last",
    "root_taken_up_squared",
    "root_taken_up_from_last_squared",
)
N_UNKNOWN = 1 << 16
"""Numbers for unknown beginnings of words."""


class Uptake:
    """Describes replies by counts of beginnings of words."""

    def __init__(self, utterances: Sequence[str]) -> None:
        frequency = Counter(word for utterance in utterances for word in set(beginnings(utterance)))
        known = sorted(frequency)
        self._number = {word: number for number, word in enumerate(known)}
        n = np.array([*(frequency[word] for word in known), *[0] * N_UNKNOWN])
        self._idf = rounded(np.log((len(utterances) + 1) / (n + 1)))

    def values(self, batch: Batch) -> Floats:
        """Describe replies.

        Returns:
            Places by `UPTAKE_FEATURES`; 0 at the first turn, except for new words.
        """
        presence, turn = self._presence(batch.texts.texts), batch.turn
        here = presence[batch.row]
        last = _rows_or_nothing(presence[batch.last], turn > 0)
        before = sparse.csr_array(batch.before @ presence[batch.utterance])
        before.data = np.minimum(before.data, 1.0)
        weighted = sparse.csr_array(here * self._idf)
        taken_up = sparse.csr_array(weighted * before)
        from_last = sparse.csr_array(weighted * last)
        new = sparse.csr_array(weighted - taken_up)
        squared, from_last_squared = _total(taken_up * taken_up), _total(from_last * from_last)
        total = _total(taken_up)
        return np.column_stack(
            [
                _greatest(taken_up),
                _greatest(from_last),
                total / np.maximum(_total(weighted), 1e-9),
                _greatest(new),
                turn.astype(np.float64),
                np.log1p(total),
                np.log1p(squared),
                np.log1p(from_last_squared),
                np.log1p(np.maximum(_total(new), 0.0)),
                np.log1p(np.diff(before.indptr)),
                np.log1p(np.diff(last.indptr)),
                np.sqrt(squared),
                np.sqrt(from_last_squared),
            ]
        )

    def _presence(self, utterances: Sequence[str]) -> sparse.csr_array:
        """Return which beginnings occur in which utterance: a matrix of 0 and 1."""
        number, size = self._number, len(self._number)
        found = [
            sorted(
                {
                    number.get(word, size + zlib.crc32(word.encode("utf-8", "surrogatepass")) % N_UNKNOWN)
                    for word in set(beginnings(utterance))
                }
            )
            for utterance in utterances
        ]
        ends = np.cumsum([0, *map(len, found)])
        columns = np.fromiter((column for row in found for column in row), np.int64, int(ends[-1]))
        return sparse.csr_array((np.ones(len(columns)), columns, ends), shape=(len(utterances), size + N_UNKNOWN))


def _rows_or_nothing(rows: sparse.csr_array, kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> sparse.csr_array:
    chosen = sparse.csr_array(sparse.diags_array(kept.astype(np.float64)) @ rows)
    chosen.eliminate_zeros()
    return chosen


def _total(rows: sparse.csr_array) -> Floats:
    return np.asarray(sparse.csr_array(rows).sum(axis=1), dtype=np.float64).ravel()


def _greatest(rows: sparse.csr_array) -> Floats:
    """Return the greatest value of each row, at least 0."""
    if not rows.nnz:
        return np.zeros(rows.shape[0])
    return np.maximum(np.asarray(rows.max(axis=1).todense(), dtype=np.float64).ravel(), 0.0)


# The features of a reply: the judge's, uptake, and the distance to the predicted reply.

REPLY_FEATURES = (*UPTAKE_FEATURES, "expected", "expected_by_sentence")


class ReplyFit:
    """Statistics of replies; they look perfect on the dialogues that they were learned from.

    Args:
        dialogues: at least one of two utterances or more.
    """

    def __init__(self, dialogues: Sequence[Dialogue]) -> None:
        self._taken_up = Uptake([utterance for dialogue in dialogues for utterance in dialogue])
        last = [utterance for dialogue in dialogues for utterance in dialogue[:-1]]
        reply = [utterance for dialogue in dialogues for utterance in dialogue[1:]]
        self._whole = ExpectedReply([*map(signs_of_last, last)], [*map(signs_of_reply, reply)])
        self._by_sentence = ExpectedReply([*map(signs_of_last_sentence, last)], [*map(signs_of_first_sentence, reply)])

    def values(self, batch: Batch, described: Described) -> Floats:
        """Return the features of each utterance: utterances by those of the judge and `REPLY_FEATURES`.

        Args:
            batch: dialogues.
            described: the same, by statistics of the same dialogues that this was learned from.
        """
        utterances, row, last, turn = batch.texts.texts, batch.row, batch.last, batch.turn
        whole = self._whole.expected([*map(signs_of_last, utterances)])[last]
        by_sentence = self._by_sentence.expected([*map(signs_of_last_sentence, utterances)])[last]
        replies = self._whole.place([*map(signs_of_reply, utterances)])[row]
        first_sentences = self._by_sentence.place([*map(signs_of_first_sentence, utterances)])[row]
        return np.column_stack(
            [
                described.values,
                self._taken_up.values(batch),
                (turn > 0) * (whole * replies).sum(axis=1),
                (turn > 0) * (by_sentence * first_sentences).sum(axis=1),
            ]
        )


# The predicted reply: a ridge regression from the signs of an utterance to those of its reply.

DIMENSIONS = 100
PENALTY = 3.0
"""Strength of the ridge, in mean variances of a dimension."""
PLACE_DECIMALS = 3
"""Of directions: the smallest of the singular vectors differ most between processors."""
_SEED = 0


class ExpectedReply:
    """Predicts replies."""

    def __init__(self, last: Sequence[Sequence[str]], reply: Sequence[Sequence[str]]) -> None:
        places, self._replies = Places(last), Places(reply)
        given, replies = places.of(last), self._replies.of(reply)
        product = given.T @ given
        ridge = PENALTY * np.trace(product) / max(len(product), 1)
        self._expected = places.mapped(
            np.linalg.solve(product + (ridge + 1e-9) * np.eye(len(product)), given.T @ replies)
        )

    def expected(self, last: Sequence[Sequence[str]]) -> Floats:
        """Return the predicted replies to utterances, as directions: utterances by dimensions."""
        return unit_rows(self._expected.of(last))

    def place(self, reply: Sequence[Sequence[str]]) -> Floats:
        """Return replies as directions: replies by dimensions."""
        return unit_rows(self._replies.of(reply))


class Places:
    """Texts in a few dimensions: the leading ones of those it learns from, centred and evened out.

    A dimension is divided by the square root of its standard deviation, which leaves it half as unlike the others.
    """

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self._signs = Signs(texts)
        rows = self._signs.rows(texts)
        n = min(DIMENSIONS, *rows.shape)
        directions = np.zeros((rows.shape[1], n))
        if n:
            from sklearn.utils.extmath import randomized_svd  # only where something is learned

            directions = randomized_svd(rows, n, n_iter=2, random_state=_SEED)[2].T
        placed = rows @ directions
        scale = 1.0 / np.sqrt(np.maximum(placed.std(axis=0), 1e-3))
        self._directions = rounded(np.ascontiguousarray(directions * scale), PLACE_DECIMALS)
        self._middle = rounded((rows @ self._directions).mean(axis=0))

    def mapped(self, by: Floats) -> Places:
        """Return the same places in other dimensions, by a matrix: dimensions by other dimensions."""
        other = object.__new__(Places)
        other._signs = self._signs
        other._directions = rounded(np.ascontiguousarray(self._directions @ by))
        other._middle = rounded(self._middle @ by)
        return other

    def of(self, texts: Sequence[Sequence[str]]) -> Floats:
        """Return the features of texts; those of a text do not depend on other texts."""
        return np.asarray(self._signs.rows(texts) @ self._directions - self._middle, dtype=np.float64)
