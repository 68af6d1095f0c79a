"""What the stages of labels are told of the protocol that people label under."""

from __future__ import annotations

from dialeval.criteria import Level
from dialeval.labels.drawing import By
from dialeval.protocols.item_settings import ItemPlanSettings


class DrawSettings(ItemPlanSettings):
    """A protocol, and how units are drawn.

    Attributes:
        n: how many.
        by: what the draw goes by.
        random_seed: of a draw that is not on record yet.
    """

    n: int
    by: By
    random_seed: int = 0


class SheetSettings(ItemPlanSettings):
    """A protocol, and whose sheet is made.

    Attributes:
        level: of the units on the sheet.
        annotator: whose it is.
        annotators: all, in the order of the configuration.
        each: how many label each unit; None for all.
        instead: what is asked where no criterion says it, in place of our words.
    """

    level: Level
    annotator: str
    annotators: list[str]
    each: int | None = None
    instead: str = ""
