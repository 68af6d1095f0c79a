"""Where the right option stands: drawn at random, or in every place in turn (DialogBench 3.4, position bias)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dialeval.corpora.multiple_choice import LETTERS, TestItem


def shuffled(item: TestItem, random_seed: int) -> TestItem:
    """Returns the item with its options in an order drawn from the seed and the item's name, whatever else there is."""
    name = f"{random_seed}\0position\0{item.language}\0{item.item_id}"
    digest = hashlib.sha256(name.encode()).digest()
    order = np.random.default_rng(int.from_bytes(digest[:8], "big")).permutation(len(item.options))
    return _reordered(item, [int(place) for place in order])


def rotations(item: TestItem) -> tuple[TestItem, ...]:
    """Returns the item with its options rotated by 0, 1, ... places, so that each option stands in each place once."""
    n = len(item.options)
    return tuple(_reordered(item, [(place - shift) % n for place in range(n)]) for shift in range(n))


def _reordered(item: TestItem, order: Sequence[int]) -> TestItem:
    """Returns the item with option `order[place]` at each place."""
    options = tuple(item.options[place] for place in order)
    return replace(item, options=options, label=LETTERS[list(order).index(item.right)])
