"""A number of things from several groups, as evenly as what these have allows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

Thing = TypeVar("Thing")


def spread(groups: Iterable[Iterable[Thing]], n: int) -> Iterator[Thing]:
    """Yields `n` things, one of each group in turn for as long as it has any; fewer where all groups end before.

    Args:
        groups: each in the order in which its things are taken.
        n: how many are wanted.
    """
    left = [iter(group) for group in groups]
    while left:
        going_on = []
        for group in left:
            if n <= 0:
                return
            for thing in group:
                yield thing
                n -= 1
                going_on.append(group)
                break
        left = going_on
