"""Prompts as tensors, and in which order they are learned.

Prompts are filled up at their front, so that what is read of a model stands at the end of every row, and the model
need not compute words for any other place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np


class ShuffledOrder:
    """The order of an epoch: drawn batches, within which the short come before the long.

    What is in a batch is left to chance; that its parts are of equal lengths saves filling up.

    Args:
        lengths: of the examples.
        batch_size: examples between two steps of the optimiser.
        random_seed: of the draw; each epoch draws anew.
    """

    def __init__(self, lengths: Sequence[int], batch_size: int, random_seed: int) -> None:
        self._lengths = np.asarray(lengths)
        self._batch_size = batch_size
        self._random_seed = random_seed
        self._epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Chooses the epoch whose order is to come."""
        self._epoch = epoch

    def __len__(self) -> int:
        return len(self._lengths)

    def __iter__(self) -> Iterator[int]:
        drawn = np.random.default_rng([self._random_seed, self._epoch]).permutation(len(self._lengths))
        for start in range(0, len(drawn), self._batch_size):
            batch = drawn[start : start + self._batch_size]
            yield from batch[np.argsort(self._lengths[batch], kind="stable")].tolist()


def padded(rows: Sequence[Sequence[int]], filling: int) -> dict[str, Any]:
    """Returns rows of tokens as tensors, filled up at their front.

    Args:
        rows: tokens.
        filling: token to fill up with, which nothing looks at.

    Returns:
        `input_ids`, `attention_mask` and `position_ids`, each of shape (rows, longest row).
    """
    import torch

    longest = max(map(len, rows))
    ids = torch.full((len(rows), longest), filling)
    mask = torch.zeros_like(ids)
    for place, row in enumerate(rows):
        ids[place, longest - len(row) :] = torch.tensor(row)
        mask[place, longest - len(row) :] = 1
    return {"input_ids": ids, "attention_mask": mask, "position_ids": (mask.cumsum(dim=1) - 1).clamp(min=0)}


def by_tokens(lengths: Sequence[int], most_tokens: int) -> Iterator[list[int]]:
    """Yields the places of rows, the shortest first, in batches of at most so many tokens, filling included."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[place] > most_tokens:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch
