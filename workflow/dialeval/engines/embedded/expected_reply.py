"""Which reply an utterance leads to be expected: a ridge regression from the signs of the one to those of the other.

The pairs of words are factorised: utterances and replies are each placed in some hundred dimensions (their leading
singular vectors), and a matrix between the two is learned from true replies in closed form.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dialeval.engines.embedded.word_signs import Signs

Floats = npt.NDArray[np.float64]

DIMENSIONS = 100
PENALTY = 3.0
"""Strength of the ridge, in mean variances of a dimension."""
_SEED = 0


class ExpectedReply:
    """Tells how like a reply is to what was to be expected.

    Args:
        last: signs of utterances.
        reply: signs of what was replied to each.
    """

    def __init__(self, last: Sequence[Sequence[str]], reply: Sequence[Sequence[str]]) -> None:
        places, self._replies = Places(last), Places(reply)
        given, said = places.of(last), self._replies.of(reply)
        product = given.T @ given
        ridge = PENALTY * np.trace(product) / max(len(product), 1)
        self._expected = places.mapped(np.linalg.solve(product + (ridge + 1e-9) * np.eye(len(product)), given.T @ said))

    def expected(self, last: Sequence[Sequence[str]]) -> Floats:
        """Returns where replies to utterances are to be expected, as directions: utterances by dimensions."""
        return _unit_rows(self._expected.of(last))

    def place(self, reply: Sequence[Sequence[str]]) -> Floats:
        """Returns where replies lie, as directions: replies by dimensions."""
        return _unit_rows(self._replies.of(reply))


class Places:
    """Texts in a few dimensions: the leading ones of those it learns from, centred and evened out.

    A dimension is divided by the square root of its standard deviation, which leaves it half as unlike the others.

    Args:
        texts: signs of each text to learn from.
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
        self._directions: Floats = np.ascontiguousarray(directions * scale)
        self._middle: Floats = placed.mean(axis=0) * scale

    def mapped(self, by: Floats) -> Places:
        """Returns the same places in other dimensions, by a matrix: dimensions by other dimensions."""
        other = object.__new__(Places)
        other._signs = self._signs
        other._directions, other._middle = np.ascontiguousarray(self._directions @ by), self._middle @ by
        return other

    def of(self, texts: Sequence[Sequence[str]]) -> Floats:
        """Returns texts by dimensions, each the same whatever others there are."""
        return np.asarray(self._signs.rows(texts) @ self._directions - self._middle, dtype=np.float64)


def _unit_rows(rows: Floats) -> Floats:
    return np.asarray(rows / np.maximum(np.sqrt((rows * rows).sum(axis=1, keepdims=True)), 1e-12), dtype=np.float64)
