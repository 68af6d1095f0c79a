"""A chatbot that selects its reply among those people gave in similar places.

The place is described by TF-IDF: the last utterance counts most, the ones before it less and less. What was said in the
dialogue already is not said again, and no dialogue is quoted twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from dialeval.engines.embedded.word_weights import Row, WordWeights, joined, unit
from dialeval.engines.request import Dialogue
from dialeval.text.tokens import QUESTION_MARKS, normalised

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]

CONTEXT_WEIGHTS = (1.0, 0.5, 0.25)
"""Weight of the last utterance, of the one before it, and so on."""
TOPIC_WEIGHT = 0.3
"""What it counts that the reply's own words belong to the dialogue."""
FORM_WEIGHT = 0.1
"""What it counts that the candidate answered a question if and only if a question is to be answered."""
STAGE_WEIGHT = 0.05
"""What it counts that the candidate was said as early in its dialogue."""
SHARPNESS = 10.0
"""What turns similarities into log-odds between options."""
LATE = 4
"""From this utterance on (0-based), all places count as equally late."""
TOO_SIMILAR = 0.7
"""Cosine with an earlier utterance from which on a candidate counts as a repetition."""
_KEPT = 8192
"""For how many utterances it is kept which replies repeat them."""


class Retrieval:
    """Selects the reply of the most similar place in the dialogues it learned from."""

    def __init__(self, dialogues: Sequence[Dialogue]) -> None:
        places = [(dialogue, turn) for dialogue in dialogues for turn in range(1, len(dialogue))]
        self._replies = [dialogue[turn] for dialogue, turn in places]
        self._normalised = [normalised(reply) for reply in self._replies]
        self._source = np.repeat(np.arange(len(dialogues)), [len(dialogue) - 1 for dialogue in dialogues])
        self._sources_of: dict[str, list[int]] = {}
        for source, dialogue in enumerate(dialogues):
            for text in dict.fromkeys(map(normalised, dialogue)):  # not a set, whose order is each process's own
                self._sources_of.setdefault(text, []).append(source)
        self._weights, _ = WordWeights.learned_from([utterance for dialogue in dialogues for utterance in dialogue])
        self._reply_vectors = self._weights.rows(self._replies)
        rows = [self._place(dialogue[:turn]) for dialogue, turn in places]
        self._places = joined(rows, self._reply_vectors.shape[1])
        self._after_question = np.array([is_question(dialogue[turn - 1]) for dialogue, turn in places])
        self._stage = np.array([min(turn, LATE) for _, turn in places])
        self._prepare()

    def reply(self, utterances: Sequence[str]) -> str:
        """Returns the reply to a dialogue so far; the same for the same utterances."""
        scores = self._places @ self._weights.dense(self._place(utterances))
        scores = scores + TOPIC_WEIGHT * (self._reply_vectors @ self._topic(utterances))
        scores += FORM_WEIGHT * (self._after_question == is_question(utterances[-1]))
        scores += STAGE_WEIGHT * (self._stage == min(len(utterances), LATE))
        return self._replies[int(np.argmax(np.where(self._spent(utterances), -np.inf, scores)))]

    def prefer(self, utterances: Sequence[str], options: Sequence[str]) -> Floats:
        """Returns for each option how similar it is to what people said in similar places, and to the dialogue."""
        offered = self._weights.rows(options)
        said_there = self._places @ self._weights.dense(self._place(utterances))
        best = (offered @ self._reply_vectors.T).multiply(said_there[None, :]).max(axis=1).toarray().ravel()
        return np.asarray(SHARPNESS * (best + TOPIC_WEIGHT * (offered @ self._topic(utterances))), dtype=np.float64)

    def _place(self, utterances: Sequence[str]) -> Row:
        """Returns the TF-IDF vector of what was said last, of length 1 unless nothing in it is known."""
        total: dict[int, float] = {}
        for weight, utterance in zip(CONTEXT_WEIGHTS, reversed(utterances), strict=False):
            columns, values = self._weights.row(utterance)
            for column, value in zip(columns.tolist(), values.tolist(), strict=True):
                total[column] = total.get(column, 0.0) + weight * value
        last_first = np.array([*reversed(total)], dtype=np.int32)  # as a product of sparse matrices has them
        return last_first, unit(np.array([*reversed(total.values())], dtype=np.float64))

    def _topic(self, utterances: Sequence[str]) -> Floats:
        """Returns the direction of all that was said, with its zeros."""
        total = np.zeros(self._reply_vectors.shape[1])
        for utterance in utterances:
            columns, values = self._weights.row(utterance)
            total[columns] += values
        length = float(np.sqrt(np.einsum("ij,ij->i", total[None, :], total[None, :]))[0])
        return np.asarray(total / (length or 1.0), dtype=np.float64)

    def _spent(self, utterances: Sequence[str]) -> Booleans:
        """Says which replies must not be given, unless that would leave none.

        Those are repetitions, and replies from a dialogue that was quoted already: in a self-chat, the next utterance
        of a quoted dialogue is always the best match, and the chatbot would only play back what people said.
        """
        equal, similar = (np.zeros(len(self._replies), dtype=np.bool_) for _ in range(2))
        was_quoted = np.zeros(int(self._source[-1]) + 1, dtype=np.bool_)
        for text in {normalised(utterance) for utterance in utterances}:
            equal[self._places_of.get(text, [])] = True
            was_quoted[self._sources_of.get(text, [])] = True
        for utterance in utterances:
            similar[self._similar(utterance)] = True
        quoted = was_quoted[self._source]
        for spent in (equal | similar | quoted, equal | similar, equal):
            if not spent.all():
                return spent
        return np.zeros(len(equal), dtype=np.bool_)

    def _prepare(self) -> None:
        """Notes what follows from what was learned and is asked for at every turn."""
        self._places_of: dict[str, list[int]] = {}
        for place, text in enumerate(self._normalised):
            self._places_of.setdefault(text, []).append(place)
        self._similar = lru_cache(_KEPT)(self._repeat)

    def _repeat(self, utterance: str) -> Integers:
        """Returns the replies that say about the same as an utterance."""
        cosines = self._reply_vectors @ self._weights.dense(self._weights.row(utterance))
        return np.flatnonzero(cosines > TOO_SIMILAR)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_places_of", "_similar")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()


def is_question(utterance: str) -> bool:
    """Says whether an utterance asks something, by its question mark."""
    return any(mark in utterance for mark in QUESTION_MARKS)
