"""What the stages of labels are told of the protocol that people label under."""

from __future__ import annotations

from pydantic import BaseModel

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
        instead: what is asked in place of our words, of several criteria by name.
    """

    level: Level
    annotator: str
    annotators: list[str]
    each: int | None = None
    instead: str | dict[str, str] = ""


class LabelledSettings(ItemPlanSettings):
    """A protocol that people label under.

    Attributes:
        items: which of the tables that the stage is given it is about, from 0.
        instead: as in `SheetSettings`.
    """

    items: list[int]
    instead: str | dict[str, str] = ""


class ReadSettings(BaseModel, defer_build=True):
    """What labels are about, and who gave them.

    Attributes:
        protocols: those that people label under.
        annotators: all that the configuration names.
        simulated: those of them who are no people.
    """

    protocols: list[LabelledSettings]
    annotators: list[str]
    simulated: list[str] = []
