"""A chatbot that selects its reply among those people gave in similar places.

The place is described by TF-IDF: the last utterance counts most, the ones before it less and less. What was said in the
dialogue already is not said again, and no dialogue is quoted twice.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.preprocessing import normalize

from dialeval.engines.embedded.word_weights import WordWeights
from dialeval.engines.request import Dialogue
from dialeval.text.tokens import QUESTION_MARKS, normalised

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
        self._places = sparse.vstack([self._place(dialogue[:turn]) for dialogue, turn in places], format="csr")
        self._after_question = np.array([is_question(dialogue[turn - 1]) for dialogue, turn in places])
        self._stage = np.array([min(turn, LATE) for _, turn in places])

    def reply(self, utterances: Sequence[str]) -> str:
        """Returns the reply to a dialogue so far; the same for the same utterances."""
        scores = self._places @ self._place(utterances).toarray().ravel()
        said = self._weights.rows(utterances)
        topic = normalize(np.asarray(said.sum(axis=0)).reshape(1, -1))
        scores = scores + TOPIC_WEIGHT * (self._reply_vectors @ topic.ravel())
        scores += FORM_WEIGHT * (self._after_question == is_question(utterances[-1]))
        scores += STAGE_WEIGHT * (self._stage == min(len(utterances), LATE))
        return self._replies[int(np.argmax(np.where(self._spent(utterances, said), -np.inf, scores)))]

    def prefer(self, utterances: Sequence[str], options: Sequence[str]) -> npt.NDArray[np.float64]:
        """Returns for each option how similar it is to what people said in similar places, and to the dialogue."""
        offered = self._weights.rows(options)
        said_there = self._places @ self._place(utterances).toarray().ravel()
        best = (offered @ self._reply_vectors.T).multiply(said_there[None, :]).max(axis=1).toarray().ravel()
        topic = normalize(np.asarray(self._weights.rows(utterances).sum(axis=0)).reshape(1, -1))
        return np.asarray(SHARPNESS * (best + TOPIC_WEIGHT * (offered @ topic.ravel())), dtype=np.float64)

    def _place(self, utterances: Sequence[str]) -> sparse.csr_matrix:
        """Returns the TF-IDF vector of what was said last, of length 1 unless nothing in it is known."""
        recent = list(utterances[::-1][: len(CONTEXT_WEIGHTS)])
        weights = sparse.csr_matrix(np.array([CONTEXT_WEIGHTS[: len(recent)]]))
        return sparse.csr_matrix(normalize(weights @ self._weights.rows(recent)))

    def _spent(self, utterances: Sequence[str], said: sparse.csr_matrix) -> npt.NDArray[np.bool_]:
        """Says which replies must not be given, unless that would leave none.

        Those are repetitions, and replies from a dialogue that was quoted already: in a self-chat, the next utterance
        of a quoted dialogue is always the best match, and the chatbot would only play back what people said.
        """
        known = {normalised(utterance) for utterance in utterances}
        equal = np.array([reply in known for reply in self._normalised])
        similar = np.asarray((self._reply_vectors @ said.T).max(axis=1).toarray()).ravel() > TOO_SIMILAR
        quoted = np.isin(self._source, [source for text in known for source in self._sources_of.get(text, ())])
        for spent in (equal | similar | quoted, equal | similar, equal):
            if not spent.all():
                return spent
        return np.zeros(len(equal), dtype=np.bool_)


def is_question(utterance: str) -> bool:
    """Says whether an utterance asks something, by its question mark."""
    return any(mark in utterance for mark in QUESTION_MARKS)
