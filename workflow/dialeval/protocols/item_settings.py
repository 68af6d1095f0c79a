"""What the stages that plan and read scores of items are told of their protocol."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import Field

from dialeval.corpora.items import Item, iterate_items
from dialeval.corpora.selfchat_items import SOURCE
from dialeval.corpora.turn_items import turns_of
from dialeval.criteria import LEVELS, Criterion, with_own
from dialeval.forms.asked_about import AskedAbout
from dialeval.forms.item_prompts import ByLevel
from dialeval.protocols.question_settings import QuestionSettings


class ItemSettings(QuestionSettings):
    """A protocol that scores items, and the user's own criteria that it may ask about."""

    own: list[Criterion] = Field(default_factory=list)

    def known_criteria(self) -> dict[str, Criterion]:
        """Returns all criteria by name."""
        return with_own(self.own)


class ItemPlanSettings(ItemSettings):
    """The same, and what says which criteria an item is scored on.

    Attributes:
        dimensions: by rated corpus, the criteria that it names.
        said_before: utterances that begin each dialogue of self-chat and that nobody is judged by.
        hurt: the perturbations that lower the user's criteria.
    """

    dimensions: dict[str, list[str]] = Field(default_factory=dict)
    said_before: int = 0
    hurt: dict[str, list[str]] = Field(default_factory=dict)

    def about(self, pairs: Iterable[Mapping[str, Any]]) -> AskedAbout:
        """Returns which criteria an item is scored on; `pairs` are the rows of damaged items with their originals."""
        from dialeval.perturbations.suite import targets_of_items  # those who read answers need nothing of damage

        return AskedAbout(
            own=self.own,
            named=[one.name for one in self.criteria],
            dimensions=self.dimensions,
            targets=targets_of_items(pairs, self.hurt),
            together=self.protocol.together,
        )

    def templates_or(self, shipped: ByLevel) -> ByLevel:
        """Returns the template for items of each level: the protocol's own, or the shipped ones."""
        return dict.fromkeys(LEVELS, self.protocol.template) if self.protocol.template else shipped

    def items_of(self, paths: Iterable[Path]) -> Iterator[Item]:
        """Yields the items of some tables; of dialogues also the responses that criteria about one are scored on."""
        about_responses = any(one.level == "turn" for one in self.criteria)
        for item in chain.from_iterable(iterate_items(path) for path in paths):
            yield item
            if about_responses:
                said_before = self.said_before if item.corpus == SOURCE else 0
                yield from turns_of(item, self.protocol.of.turns, said_before=said_before)


class ItemReadingSettings(ItemSettings):
    """The same, and whose answers are read."""

    judge: str
