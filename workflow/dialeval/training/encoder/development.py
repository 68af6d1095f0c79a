"""How well a network does on the development part: its loss, and how often it tells true examples from spoiled ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from dialeval.criteria import Level
from dialeval.engines.encoder.batches import padded
from dialeval.engines.encoder.encoding import Encoding
from dialeval.engines.encoder.scoring import Precision
from dialeval.engines.length_batches import by_length
from dialeval.training.encoder.examples import Pairs
from dialeval.training.encoder.losses import loss_of
from dialeval.training.encoder.order import Ints
from dialeval.training.told_apart import told_apart


@dataclass(frozen=True)
class Development:
    """What is looked at during a training.

    Attributes:
        pairs: of the development part.
        experts: number of the expert of each pair.
        level: of the set.
        encoding: how they became tokens.
        margin: of the ranking loss.
        batch_tokens: tokens that are computed at once.
        precision: number format of the computation.
    """

    pairs: Pairs
    experts: Ints
    level: Level
    encoding: Encoding
    margin: float
    batch_tokens: int
    precision: Precision

    def look(self, network: Any, device: Any, *, share: int = 0, shares: int = 1) -> dict[str, float]:
        """Returns `eval_loss` and `eval_auc`: each example is scored by the head that learns from its like.

        Args:
            network: an `ExpertNetwork`.
            device: where it is.
            share, shares: which part of the work is this process's; all must ask.
        """
        logits = self._logits(network, device, share, shares)
        if shares > 1:
            from accelerate.utils import gather_object

            parts: list[Any] = gather_object([logits])
            logits = np.nansum(np.stack(parts), axis=0)
        good = np.tile([1.0, 0.0], len(self.pairs))
        found = torch.from_numpy(logits)
        ordered = torch.cat([found[0::2], found[1::2]])  # the true ones first, as in a batch
        told = torch.cat([torch.ones(len(self.pairs)), torch.zeros(len(self.pairs))]).double()
        loss = loss_of(self.level, ordered, told, self.margin)
        auc = told_apart(logits, good, np.repeat(self.experts, 2))
        return {"eval_loss": float(loss), "eval_auc": 0.5 if auc is None else auc}

    def _logits(self, network: Any, device: Any, share: int, shares: int) -> Any:
        """Returns the logit of every input by its own expert; NaN where it is another process's."""
        segments = self.encoding.has_segments and network.takes_segments
        lengths, experts = self.pairs.lengths(), np.repeat(self.experts, 2)
        found = np.full(2 * len(self.pairs), np.nan)
        number = 0
        was_training = network.training
        network.eval()
        dtype = getattr(torch, self.precision)
        half = torch.autocast(torch.device(device).type, dtype=dtype, enabled=self.precision != "float32")
        with torch.inference_mode(), half:
            for expert in np.unique(experts):
                mine = np.flatnonzero(experts == expert)
                for batch in by_length(lengths[mine].tolist(), self.batch_tokens):
                    number += 1
                    if number % shares != share:
                        continue
                    places = mine[batch]
                    inputs = [self.pairs.input(int(place)) for place in places]
                    tensors = padded(inputs, self.encoding.pad, device, segments=segments)
                    found[places] = network(**tensors, expert=int(expert)).double().cpu().numpy()
        network.train(was_training)
        return found
