"""What is minimised: cross-entropy of turns (PoE), the margin between a true and a spoiled dialogue (FineD-Eval)."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from dialeval.criteria import Level


def loss_of(level: Level, logits: Any, good: Any, margin: float) -> Any:
    """Returns the mean loss of a batch.

    Turns: binary cross-entropy of each example. Dialogues: max(0, margin - (sigmoid(true) - sigmoid(spoiled))) of each
    pair, whose true examples stand in the first half of the batch and the spoiled ones in the second.

    Args:
        level: which of the two.
        logits: of the examples; shape (examples,).
        good: 1 for true examples, 0 for spoiled ones, likewise.
        margin: of dialogues.
    """
    if level == "turn":
        return functional.binary_cross_entropy_with_logits(logits, good)
    true, spoiled = torch.sigmoid(logits).chunk(2)
    return functional.margin_ranking_loss(true, spoiled, torch.ones_like(true), margin=margin)
