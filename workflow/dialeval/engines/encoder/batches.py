"""The tensors of sequences that are computed together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from dialeval.engines.encoder.encoding import Encoded


def padded(sequences: Sequence[Encoded], pad: int, device: Any, *, segments: bool) -> dict[str, Any]:
    """Returns the tensors of a batch: `input_ids`, `attention_mask` and, where asked for, `token_type_ids`."""
    import torch

    lengths = np.array([len(sequence.ids) for sequence in sequences])
    there = np.arange(lengths.max()) < lengths[:, None]
    ids = np.full(there.shape, pad, dtype=np.int64)
    ids[there] = np.fromiter(chain.from_iterable(one.ids for one in sequences), np.int64, int(lengths.sum()))
    arrays = {"input_ids": ids, "attention_mask": there.astype(np.int64)}
    if segments:
        second = np.array([sequence.second for sequence in sequences])
        arrays["token_type_ids"] = ((np.arange(lengths.max()) >= second[:, None]) & there).astype(np.int64)
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    if getattr(device, "type", device) != "cpu":
        return {name: tensor.pin_memory().to(device, non_blocking=True) for name, tensor in tensors.items()}
    return tensors
