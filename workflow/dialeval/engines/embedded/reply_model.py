"""How well a reply fits the utterance before it: a logistic regression on pairs of frequent words.

It learns which frequent words of a reply go with which ones of the last utterance (you and I, a question mark and yes),
by telling true replies from replies to something else.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from dialeval.engines.embedded.texts import Texts, distinct
from dialeval.text.folds import generator_for

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

N_FREQUENT = 120
N_FALSE = 3
"""How many strange replies stand against each true one."""
STRENGTH = 0.02
"""Inverse strength of the penalty."""
_RARE = -1


class ReplyModel:
    """Tells replies from strange utterances.

    Args:
        texts: the utterances of all dialogues.
        replies: numbers of those that follow another one, which is the one before it in `texts`.
    """

    def __init__(self, texts: Texts, replies: Integers) -> None:
        from sklearn.linear_model import LogisticRegression  # takes long to load, and those who only ask need none

        counted = np.bincount(texts.token[texts.tells], minlength=len(texts.vocabulary))
        by_token = {token: n for token, n in zip(texts.vocabulary, counted.tolist(), strict=True) if n}
        frequent = sorted(by_token, key=lambda token: (-by_token[token], token))[:N_FREQUENT]
        self._number = {token: number for number, token in enumerate(frequent)}
        rng = generator_for(0, "strange replies")
        asked, answered = self.read(texts)
        said = np.concatenate([replies, *(rng.permutation(replies) for _ in range(N_FALSE))])
        pairs = _pairs(asked[np.tile(replies - 1, 1 + N_FALSE)], answered[said])
        is_true = np.repeat([1, 0], [len(replies), N_FALSE * len(replies)])
        weight = np.where(is_true == 1, float(N_FALSE), 1.0)
        regression = LogisticRegression(C=STRENGTH, solver="liblinear", tol=1e-2).fit(pairs, is_true, weight)
        self._weights: Floats = regression.coef_.reshape(asked.shape[1], answered.shape[1])
        self._constant = float(regression.intercept_[0])

    def read(self, texts: Texts) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Returns the frequent words of texts, and a constant.

        Returns:
            As of what is replied to, and as of replies: these have besides with which frequent word they begin.
        """
        n = len(self._number)
        numbers = texts.numbers(self._number, _RARE)
        found = numbers != _RARE
        first = texts.first(numbers, _RARE, texts.tells)
        begins = np.flatnonzero(first != _RARE)
        width, every = 2 * n + 1, np.arange(len(texts.n))
        asked = distinct(np.concatenate([texts.of[found] * width + numbers[found], every * width + n]))
        answered = np.sort(np.concatenate([asked, begins * width + n + 1 + first[begins]]))
        return _presence(asked, width, (len(every), n + 1)), _presence(answered, width, (len(every), width))

    def fit(self, asked: sparse.csr_array, answered: sparse.csr_array, last: Integers, reply: Integers) -> Floats:
        """Returns log-odds for being a true reply.

        Args:
            asked: utterances as what is replied to.
            answered: the same utterances as replies; none is without a word, since a constant is one.
            last: numbers of utterances that are replied to.
            reply: numbers of the replies.
        """
        weights, said = asked @ self._weights, answered[reply]
        each = weights[np.repeat(last, np.diff(said.indptr)), said.indices]
        return np.asarray(np.add.reduceat(each, said.indptr[:-1]) + self._constant, dtype=np.float64)


def _presence(codes: Integers, width: int, shape: tuple[int, int]) -> sparse.csr_array:
    """Returns a matrix of 0 and 1 from where the ones are: in order, row by row, each row `width` long."""
    row, columns = np.divmod(codes, width)
    ends = np.searchsorted(row, np.arange(shape[0] + 1))
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
