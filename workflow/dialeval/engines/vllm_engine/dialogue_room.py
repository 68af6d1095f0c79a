"""How many dialogues go on at once: as many as the KV cache holds until each has ended."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

LOOK_EVERY = 0.02
"""Seconds between two looks whether another dialogue has room."""


class DialogueRoom:
    """Lets dialogues begin so that none loses its history between two of its turns.

    Args:
        holds: says whether dialogues of these lengths (utterances -> number of dialogues) can go on together; asked
            again and again, since it is learned how long utterances are.
    """

    def __init__(self, holds: Callable[[Mapping[int, int]], bool]) -> None:
        self._holds = holds
        self._turn = asyncio.Lock()
        self._lengths: Counter[int] = Counter()
        self.most_going_on = 0

    @property
    def going_on(self) -> int:
        """How many dialogues go on."""
        return self._lengths.total()

    @asynccontextmanager
    async def dialogue(self, length: int) -> AsyncIterator[Callable[[], None]]:
        """Waits for room for a dialogue of so many utterances; gives what is to be called when it has one more."""
        async with self._turn:  # first come, first served; only the first in line looks
            while self._lengths and not self._holds(self._lengths + Counter([length])):
                await asyncio.sleep(LOOK_EVERY)
            self._lengths[length] += 1
        self.most_going_on = max(self.most_going_on, self.going_on)

        def grown() -> None:
            nonlocal length
            self._move(length, length + 1)
            length += 1

        try:
            yield grown
        finally:
            self._move(length, None)

    def _move(self, length: int, to: int | None) -> None:
        self._lengths[length] -= 1
        if not self._lengths[length]:
            del self._lengths[length]
        if to is not None:
            self._lengths[to] += 1
