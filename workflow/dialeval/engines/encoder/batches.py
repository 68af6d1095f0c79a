"""The tensors of sequences that are computed together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dialeval.engines.encoder.encoding import Encoded


def padded(sequences: Sequence[Encoded], pad: int, device: Any, *, segments: bool) -> dict[str, Any]:
    """Returns the tensors of a batch: `input_ids`, `attention_mask` and, where asked for, `token_type_ids`."""
    import torch

    width = max(len(sequence.ids) for sequence in sequences)
    ids = torch.full((len(sequences), width), pad, dtype=torch.long)
    mask = torch.zeros((len(sequences), width), dtype=torch.long)
    types = torch.zeros((len(sequences), width), dtype=torch.long) if segments else None
    for row, sequence in enumerate(sequences):
        length = len(sequence.ids)
        ids[row, :length] = torch.tensor(sequence.ids, dtype=torch.long)
        mask[row, :length] = 1
        if types is not None:
            types[row, sequence.second : length] = 1
    tensors = {"input_ids": ids, "attention_mask": mask, **({} if types is None else {"token_type_ids": types})}
    if getattr(device, "type", device) != "cpu":
        return {name: tensor.pin_memory().to(device, non_blocking=True) for name, tensor in tensors.items()}
    return tensors
