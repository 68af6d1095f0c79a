"""What embedded models can do, as the engine sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from dialeval.criteria import Level
from dialeval.engines.embedded.kneser_ney import Floats
from dialeval.engines.request import Dialogue


@runtime_checkable
class Chatbot(Protocol):
    """What answers in a dialogue."""

    def reply(self, utterances: Sequence[str]) -> str:
        """Returns the next utterance; the same for the same utterances so far."""
        ...


@runtime_checkable
class Chooser(Protocol):
    """What chooses how a dialogue goes on."""

    def prefer(self, utterances: Sequence[str], options: Sequence[str]) -> Floats:
        """Returns log-odds for each of two or more options; the same for the same utterances and options."""
        ...


@runtime_checkable
class LanguageScorer(Protocol):
    """What knows how likely a text is, token by token."""

    def log_probability(self, utterances: Sequence[str], continuation: str) -> tuple[float, int]:
        """Returns the log-probability of the next utterance, in nats, and its number of tokens."""
        ...


@runtime_checkable
class Rater(Protocol):
    """What scores on dimensions."""

    def rate(self, dialogues: Sequence[Dialogue], level: Level) -> Floats:
        """Scores the last utterance of each dialogue (`turn`), or each as a whole (`dialogue`), as if it were alone.

        Returns:
            Scores between 0 and 1, dialogues by `DIMENSIONS[level]`.
        """
        ...


Model = Chatbot | Chooser | Rater
"""Anything that is learned."""
