"""Whether words belong to the same subject: latent semantic analysis of dialogues (Deerwester et al., 1990)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

N_TOPICS = 60
OFTEN = 2
"""A word counts at most this many times in a dialogue."""
EMPTY = 1e-9
"""The square of a singular value up to which there is nothing in its direction."""


class Topics:
    """Places words that occur in the same dialogues near each other.

    Args:
        presence: which words occur in which utterance.
        dialogue: number of the dialogue of each utterance.
    """

    def __init__(self, presence: sparse.csr_array, dialogue: Integers) -> None:
        of = sparse.csr_array((np.ones(len(dialogue)), (dialogue, np.arange(len(dialogue)))))
        counts = np.minimum(sparse.csr_array(of @ presence).toarray(), OFTEN)
        frequency = np.count_nonzero(counts, axis=0)
        self._idf = np.where(frequency > 0, np.log(len(counts) / np.maximum(frequency, 1)), 0.0)
        rows = _unit_rows(counts * self._idf)
        squares, combined = np.linalg.eigh(rows @ rows.T)  # far fewer dialogues than words
        leading = np.flatnonzero(squares > EMPTY)[-N_TOPICS:]
        self._place: Floats = rows.T @ (combined[:, leading] / np.sqrt(squares[leading]))

    def place(self, presence: sparse.csr_array) -> Floats:
        """Returns where utterances lie: utterances by topics; at the origin, if nothing in one tells a topic."""
        return np.asarray(sparse.csr_array(presence * self._idf) @ self._place, dtype=np.float64)


def cosine(left: Floats, right: Floats) -> Floats:
    """Returns the cosine of each pair of rows, 0 where one of them is at the origin."""
    return np.asarray((_unit_rows(left) * _unit_rows(right)).sum(axis=1), dtype=np.float64)


def _unit_rows(rows: Floats) -> Floats:
    norm = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    return np.asarray(rows / np.maximum(norm, 1e-12), dtype=np.float64)
