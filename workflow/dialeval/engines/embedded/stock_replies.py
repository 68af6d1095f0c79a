"""Two chatbots that hardly listen: one has a few stock replies, the other says anything a person ever said.

They are the bottom of the scale: whatever cannot beat them is not holding a conversation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dialeval.engines.embedded.folds import generator_for
from dialeval.engines.embedded.retrieval import is_question
from dialeval.engines.embedded.tokens import Script, script_of
from dialeval.engines.request import Dialogue


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


class Random:
    """Says an utterance that someone said, drawn at random: fluent, and beside the point."""

    def __init__(self, dialogues: Sequence[Dialogue], random_seed: int) -> None:
        self._utterances = [utterance for dialogue in dialogues for utterance in dialogue]
        self._random_seed = random_seed

    def reply(self, utterances: Sequence[str]) -> str:
        """Returns the reply to a dialogue so far; the same for the same utterances."""
        rng = generator_for(self._random_seed, *utterances)
        return self._utterances[int(rng.integers(len(self._utterances)))]
