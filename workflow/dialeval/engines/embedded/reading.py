"""How a judge reads dialogues: what describes their utterances, with what was learned from others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from dialeval.engines.embedded.features import Described, describe
from dialeval.engines.embedded.statistics import Floats, Statistics
from dialeval.engines.embedded.texts import Batch


class Reader(Protocol):
    """Describes utterances."""

    def describe(self, batch: Batch) -> Described:
        """Describes every utterance of the dialogues.

        Returns:
            The features of `features.NAMES`; one more may follow: the log-odds of a `selection.Selector`.
        """
        ...

    def rarity(self, utterances: Sequence[str]) -> Floats:
        """Returns the idf of the rarest word of each utterance."""
        ...


class PlainReader:
    """Describes utterances by statistics alone."""

    def __init__(self, statistics: Statistics) -> None:
        self._statistics = statistics

    def describe(self, batch: Batch) -> Described:
        """Describes every utterance of the dialogues."""
        return describe(batch, self._statistics)

    def rarity(self, utterances: Sequence[str]) -> Floats:
        """Returns the idf of the rarest word of each utterance."""
        return self._statistics.rarity(utterances)
