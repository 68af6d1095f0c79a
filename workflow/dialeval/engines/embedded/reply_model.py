"""How well a reply fits the utterance before it: a logistic regression on pairs of frequent words.

It learns which frequent words of a reply go with which ones of the last utterance (you and I, a question mark and yes),
by telling true replies from replies to something else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt
from scipy import sparse

from dialeval.text.folds import generator_for
from dialeval.text.tokens import telling_tokens

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

N_FREQUENT = 120
N_FALSE = 3
"""How many strange replies stand against each true one."""
STRENGTH = 0.02
"""Inverse strength of the penalty."""


class ReplyModel:
    """Tells replies from strange utterances.

    Args:
        utterances: of all dialogues.
        replies: numbers of those that follow another one, which is the one before it in `utterances`.
    """

    def __init__(self, utterances: Sequence[str], replies: Integers) -> None:
        from sklearn.linear_model import LogisticRegression  # takes long to load, and those who only ask need none

        counted = Counter(token for utterance in utterances for token in telling_tokens(utterance))
        frequent = sorted(counted, key=lambda token: (-counted[token], token))[:N_FREQUENT]
        self._number = {token: number for number, token in enumerate(frequent)}
        rng = generator_for(0, "strange replies")
        asked, answered = self.asked(utterances), self.answered(utterances)
        strange = [_pairs(asked[replies - 1], answered[rng.permutation(replies)]) for _ in range(N_FALSE)]
        pairs = sparse.vstack([_pairs(asked[replies - 1], answered[replies]), *strange], format="csr")
        is_true = np.repeat([1, 0], [len(replies), N_FALSE * len(replies)])
        weight = np.where(is_true == 1, float(N_FALSE), 1.0)
        regression = LogisticRegression(C=STRENGTH, solver="liblinear", tol=1e-2).fit(pairs, is_true, weight)
        self._weights: Floats = regression.coef_.reshape(asked.shape[1], answered.shape[1])
        self._constant = float(regression.intercept_[0])

    def asked(self, utterances: Sequence[str]) -> sparse.csr_array:
        """Returns the frequent words of utterances that are replied to, and a constant."""
        return self._presence(utterances, with_first=False)

    def answered(self, utterances: Sequence[str]) -> sparse.csr_array:
        """Returns the frequent words of replies, a constant, and with which one they begin."""
        return self._presence(utterances, with_first=True)

    def fit(self, asked: sparse.csr_array, answered: sparse.csr_array) -> Floats:
        """Returns log-odds for being a true reply, row by row."""
        return np.asarray(((asked @ self._weights) * answered.toarray()).sum(axis=1) + self._constant)

    def _presence(self, utterances: Sequence[str], with_first: bool) -> sparse.csr_array:
        n = len(self._number)
        rows: list[list[int]] = []
        for utterance in utterances:
            told = telling_tokens(utterance)
            found = {self._number[token] for token in told if token in self._number}
            begins = with_first and told and told[0] in self._number
            rows.append([*sorted(found), n, *([n + 1 + self._number[told[0]]] if begins else [])])
        columns = np.array([*chain.from_iterable(rows)], dtype=np.int64)
        ends = np.cumsum([0, *map(len, rows)])
        shape = (len(utterances), 2 * n + 1 if with_first else n + 1)
        return sparse.csr_array((np.ones(len(columns)), columns, ends), shape=shape)


def _pairs(asked: sparse.csr_array, answered: sparse.csr_array) -> sparse.csr_array:
    """Returns which pairs of columns occur together, row by row: rows by (columns of asked x columns of answered)."""
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
