"""Examples as the tensors of a batch: turns each by itself, dialogues with both of a pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dialeval.criteria import Level
from dialeval.engines.encoder.batches import padded
from dialeval.engines.encoder.encoding import Encoding
from dialeval.training.encoder.examples import Pairs
from dialeval.training.encoder.order import Ints


class Collation:
    """The examples that an order numbers: of turns every input is one, of dialogues every pair.

    Args:
        pairs: what is learned from.
        experts: number of the expert of each pair.
        level: of the set.
        encoding: how they became tokens.
        segments: whether the network is told the parts of a pair of texts apart.
    """

    def __init__(self, pairs: Pairs, experts: Ints, level: Level, encoding: Encoding, *, segments: bool) -> None:
        self._pairs, self._level, self._encoding, self._segments = pairs, level, encoding, segments
        lengths = pairs.lengths()
        alone = level == "turn"
        self.experts: Ints = np.repeat(experts, 2) if alone else experts
        self.lengths: Ints = lengths if alone else lengths.reshape(-1, 2).max(axis=1)

    def __len__(self) -> int:
        return len(self.experts)

    def batch(self, places: Sequence[int]) -> dict[str, Any]:
        """Returns the inputs of some examples of one expert: tensors, `expert`, and `good` for every input.

        Of dialogues the true ones stand first, then the spoiled ones in the same order.
        """
        import torch

        if self._level == "turn":
            inputs = list(places)
        else:
            inputs = [2 * place for place in places] + [2 * place + 1 for place in places]
        encoded = [self._pairs.input(place) for place in inputs]
        good = torch.tensor([float(place % 2 == 0) for place in inputs])
        tensors = padded(encoded, self._encoding.pad, "cpu", segments=self._segments)
        return {**tensors, "expert": int(self.experts[places[0]]), "good": good}
