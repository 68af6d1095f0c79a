"""Draws that depend on the random seed and on what is drawn for alone: more data leave old draws as they are."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

Drawn = TypeVar("Drawn")
_RANGE = 2.0**64


def number_of(*parts: str | int) -> int:
    """Returns a whole number from 0 to 2^64 - 1 that depends on the parts and on nothing else."""
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        content = str(part).encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(content) + content)
    return int.from_bytes(digest.digest())


def share_of(*parts: str | int) -> float:
    """Returns a number from 0 to below 1 that depends on the parts and on nothing else."""
    return min(number_of(*parts) / _RANGE, 1 - 2**-53)


class Ring(Generic[Drawn]):
    """Things on a circle, each at a place of its own: what a draw finds is the next one from the place drawn.

    A further thing takes draws from its neighbour alone; all others stay as they were.

    Args:
        placed: the things with their places, numbers that `number_of` gave for them.
    """

    def __init__(self, placed: Iterable[tuple[int, Drawn]]) -> None:
        ordered = sorted(placed, key=lambda one: one[0])
        self._places = [place for place, _ in ordered]
        self._things = [thing for _, thing in ordered]

    def __len__(self) -> int:
        return len(self._things)

    def from_place(self, place: int) -> Iterator[Drawn]:
        """Yields every thing once, beginning with the first at a place or behind it."""
        n, start = len(self._things), bisect_left(self._places, place)
        return (self._things[(start + step) % n] for step in range(n))
