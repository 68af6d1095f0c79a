"""How a judge reads dialogues: what describes their utterances, with what was learned from others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from dialeval.engines.embedded.features import Described, describe
from dialeval.engines.embedded.statistics import Statistics
from dialeval.engines.request import Dialogue


class Reader(Protocol):
    """Describes utterances."""

    def describe(self, dialogues: Sequence[Dialogue]) -> Described:
        """Describes every utterance of the dialogues.

        Returns:
            The features of `features.NAMES`; one more may follow: the log-odds of a `selection.Selector`.
        """
        ...

    def rarity(self, utterance: str) -> float:
        """Returns the idf of the rarest word of an utterance."""
        ...


class PlainReader:
    """Describes utterances by statistics alone."""

    def __init__(self, statistics: Statistics) -> None:
        self._statistics = statistics

    def describe(self, dialogues: Sequence[Dialogue]) -> Described:
        """Describes every utterance of the dialogues."""
        return describe(dialogues, self._statistics)

    def rarity(self, utterance: str) -> float:
        """Returns the idf of the rarest word of an utterance."""
        return self._statistics.rarity(utterance)
