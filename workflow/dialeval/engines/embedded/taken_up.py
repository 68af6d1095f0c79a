"""What a reply takes up of all that was said before, and what it brings: sums over beginnings of words, by rarity."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence

import numpy as np
from scipy import sparse

from dialeval.engines.embedded.statistics import Floats
from dialeval.engines.embedded.texts import Batch
from dialeval.engines.embedded.word_signs import beginnings

NAMES = (
    "rarest_taken_up",
    "rarest_taken_up_from_last",
    "share_taken_up",
    "rarest_new",
    "turn",
    "taken_up",
    "taken_up_squared",
    "taken_up_from_last_squared",
    "new",
    "said_before",
    "said_last",
    "root_taken_up_squared",
    "root_taken_up_from_last_squared",
)
N_STRANGE = 1 << 16
"""How many unknown beginnings are told apart."""


class TakenUp:
    """Counts of beginnings of words, and what they say about replies.

    Args:
        utterances: of all dialogues.
    """

    def __init__(self, utterances: Sequence[str]) -> None:
        frequency = Counter(word for utterance in utterances for word in set(beginnings(utterance)))
        known = sorted(frequency)
        self._number = {word: number for number, word in enumerate(known)}
        n = np.array([*(frequency[word] for word in known), *[0] * N_STRANGE])
        self._idf: Floats = np.log((len(utterances) + 1) / (n + 1))

    def values(self, batch: Batch) -> Floats:
        """Describes replies.

        Returns:
            Places by `NAMES`; 0 at the first turn, except for what is new.
        """
        presence, turn = self._presence(batch.texts.texts), batch.turn
        here = presence[batch.row]
        last = _rows_or_nothing(presence[batch.last], turn > 0)
        said = sparse.csr_array(batch.before @ presence[batch.said])
        said.data = np.minimum(said.data, 1.0)
        weighted = sparse.csr_array(here * self._idf)
        taken_up = sparse.csr_array(weighted * said)
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
                np.log1p(np.diff(said.indptr)),
                np.log1p(np.diff(last.indptr)),
                np.sqrt(squared),
                np.sqrt(from_last_squared),
            ]
        )

    def _presence(self, utterances: Sequence[str]) -> sparse.csr_array:
        """Returns which beginnings occur in which utterance: a matrix of 0 and 1."""
        number, size = self._number, len(self._number)
        found = [
            sorted(
                {
                    number.get(word, size + zlib.crc32(word.encode("utf-8", "surrogatepass")) % N_STRANGE)
                    for word in set(beginnings(utterance))
                }
            )
            for utterance in utterances
        ]
        ends = np.cumsum([0, *map(len, found)])
        columns = np.fromiter((column for row in found for column in row), np.int64, int(ends[-1]))
        return sparse.csr_array((np.ones(len(columns)), columns, ends), shape=(len(utterances), size + N_STRANGE))


def _rows_or_nothing(rows: sparse.csr_array, kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> sparse.csr_array:
    chosen = sparse.csr_array(sparse.diags_array(kept.astype(np.float64)) @ rows)
    chosen.eliminate_zeros()
    return chosen


def _total(rows: sparse.csr_array) -> Floats:
    return np.asarray(sparse.csr_array(rows).sum(axis=1), dtype=np.float64).ravel()


def _greatest(rows: sparse.csr_array) -> Floats:
    """Returns the greatest value of each row, at least 0."""
    if not rows.nnz:
        return np.zeros(rows.shape[0])
    return np.maximum(np.asarray(rows.max(axis=1).todense(), dtype=np.float64).ravel(), 0.0)
