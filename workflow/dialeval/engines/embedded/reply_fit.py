"""How a reply is described for choosing between replies: what the judge sees, what it takes up, what was expected."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dialeval.engines.embedded import taken_up
from dialeval.engines.embedded.expected_reply import ExpectedReply
from dialeval.engines.embedded.features import Described
from dialeval.engines.embedded.statistics import Floats
from dialeval.engines.embedded.taken_up import TakenUp
from dialeval.engines.embedded.texts import Batch
from dialeval.engines.embedded.word_signs import (
    signs_of_first_sentence,
    signs_of_last,
    signs_of_last_sentence,
    signs_of_reply,
)
from dialeval.engines.request import Dialogue

NAMES = (*taken_up.NAMES, "expected", "expected_by_sentence")


class ReplyFit:
    """What is counted and learned of replies from dialogues; it looks perfect on these, as all statistics do.

    Args:
        dialogues: at least one of two utterances or more.
    """

    def __init__(self, dialogues: Sequence[Dialogue]) -> None:
        self._taken_up = TakenUp([utterance for dialogue in dialogues for utterance in dialogue])
        last = [utterance for dialogue in dialogues for utterance in dialogue[:-1]]
        reply = [utterance for dialogue in dialogues for utterance in dialogue[1:]]
        self._whole = ExpectedReply([*map(signs_of_last, last)], [*map(signs_of_reply, reply)])
        self._by_sentence = ExpectedReply([*map(signs_of_last_sentence, last)], [*map(signs_of_first_sentence, reply)])

    def values(self, batch: Batch, described: Described) -> Floats:
        """Returns the features of each utterance: utterances by those of the judge and `NAMES`.

        Args:
            batch: dialogues.
            described: the same, by statistics of the same dialogues that this was learned from.
        """
        utterances, row, last, turn = batch.texts.texts, batch.row, batch.last, batch.turn
        whole = self._whole.expected([*map(signs_of_last, utterances)])[last]
        by_sentence = self._by_sentence.expected([*map(signs_of_last_sentence, utterances)])[last]
        said = self._whole.place([*map(signs_of_reply, utterances)])[row]
        said_first = self._by_sentence.place([*map(signs_of_first_sentence, utterances)])[row]
        return np.column_stack(
            [
                described.values,
                self._taken_up.values(batch),
                (turn > 0) * (whole * said).sum(axis=1),
                (turn > 0) * (by_sentence * said_first).sum(axis=1),
            ]
        )
