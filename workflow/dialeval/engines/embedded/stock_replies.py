"""Two chatbots that hardly listen: one has a few stock replies, the other says anything a person ever said.

They are the bottom of the scale: whatever cannot beat them is not holding a conversation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dialeval.criteria import DIMENSIONS, Level
from dialeval.engines.embedded.kneser_ney import Floats
from dialeval.engines.embedded.retrieval import is_question
from dialeval.engines.request import Dialogue
from dialeval.text.folds import generator_for
from dialeval.text.tokens import Script, script_of

FIRST_IS_LIKELIER = 4.0
"""Log-odds between the first option and any other."""


class Stock(NamedTuple):
    """The stock replies of one language."""

    to_questions: tuple[str, ...]
    to_statements: tuple[str, ...]


STOCK: dict[Script, Stock] = {
    "spaced": Stock(
        to_questions=(
            "I am not sure about that.",
            "That is a good question.",
            "It depends, I think.",
        ),
        to_statements=(
            "I see.",
            "That sounds good.",
            "Okay, tell me more.",
            "I understand what you mean.",
        ),
    ),
    "unspaced": Stock(
        to_questions=("这个我不太清楚。", "你问得真好。", "看情况吧。"),
        to_statements=("我明白了。", "听起来不错。", "好的，再说说看。", "我懂你的意思。"),
    ),
}


class Generic:
    """Answers with stock replies in turn: one list for questions, one for everything else."""

    def reply(self, utterances: Sequence[str]) -> str:
        """Returns the reply to a dialogue so far; the same for the same utterances."""
        stock = STOCK[script_of(utterances[-1:])]
        replies = stock.to_questions if is_question(utterances[-1]) else stock.to_statements
        return replies[(len(utterances) // 2 - 1) % len(replies)]

    def prefer(self, utterances: Sequence[str], options: Sequence[str]) -> Floats:
        """Returns log-odds for each option: always for the first, as a model does that looks at places alone."""
        return np.array([FIRST_IS_LIKELIER, *[0.0] * (len(options) - 1)])


class Random:
    """Says an utterance that someone said, drawn at random: fluent, and beside the point."""

    def __init__(self, dialogues: Sequence[Dialogue], random_seed: int) -> None:
        self._utterances = [utterance for dialogue in dialogues for utterance in dialogue]
        self._random_seed = random_seed

    def reply(self, utterances: Sequence[str]) -> str:
        """Returns the reply to a dialogue so far; the same for the same utterances."""
        rng = generator_for(self._random_seed, *utterances)
        return self._utterances[int(rng.integers(len(self._utterances)))]

    def prefer(self, utterances: Sequence[str], options: Sequence[str]) -> Floats:
        """Returns for each option a number drawn at random: the same for the same options in the same order."""
        return generator_for(self._random_seed, "options", *utterances, *options).random(len(options))

    def rate(self, dialogues: Sequence[Dialogue], level: Level) -> Floats:
        """Scores dialogues at random, on every dimension apart: dialogues by dimensions, between 0 and 1."""
        n = len(DIMENSIONS[level])
        scores = [generator_for(self._random_seed, "rating", level, *dialogue).random(n) for dialogue in dialogues]
        return np.array(scores).reshape(len(dialogues), n)
