"""What a perturbation gives: a damaged item with an account of what was done to it, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass

from dialeval.corpora.items import Item


@dataclass(frozen=True, slots=True)
class Damaged:
    """An item made worse on purpose.

    Attributes:
        strategy: name of the strategy.
        way: which of the strategy's ways or rules was used; `model` where a model rewrote the item.
        draw: 0-based number of this repetition; draws of one item differ from each other.
        severity: how many times the strategy was applied; 1 unless the item is a step of a severity ladder.
        original_id: `item_id` of the undamaged item.
        item: the damaged item; never equal to the original. Its `item_id` is `<original_id>/<strategy>/<draw>`.
        touched: 0-based numbers of the utterances in the damaged item that changed, moved or are new.
        changed: what changed, for a reader, such as `2: "she" > "they"` (utterances counted from 0).
    """

    strategy: str
    way: str
    draw: int
    severity: int
    original_id: str
    item: Item
    touched: tuple[int, ...]
    changed: str


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """Why an item could not be damaged; the same reason has the same words, so that reasons can be counted."""

    reason: str
