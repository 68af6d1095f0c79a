"""How many requests are under way, and the pause that all of them share."""

from __future__ import annotations

import asyncio
from collections import deque

FIRST = 8
"""Requests that are under way at most before an answer."""
LONGEST_PAUSE = 600.0
"""Seconds that a Retry-After is obeyed at most."""


class InFlight:
    """Places for requests under way, in the order of asking; who was refused comes before who was not asked yet.

    All requests share one pause, so that while the endpoint takes nothing nobody knocks.

    At the beginning and after a pause a few go alone: with their answers the endpoint may say how many it takes, and if
    it takes none, no more are refused.

    Args:
        maximum: never more than so many at once.
    """

    def __init__(self, maximum: int) -> None:
        self.maximum = maximum
        self.limit = min(maximum, FIRST)
        self.running = 0
        self._resume_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._refused: deque[asyncio.Future[None]] = deque()

    async def enter(self, *, again: bool = False) -> None:
        """Waits for a place.

        Args:
            again: whether the request was under way before.
        """
        loop = asyncio.get_running_loop()
        if not (self._refused or self._waiting) and self.running < self.limit and loop.time() >= self._resume_at:
            self.running += 1
            return
        future: asyncio.Future[None] = loop.create_future()
        (self._refused if again else self._waiting).append(future)
        self._let_in()
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self.leave()  # the place came together with the cancellation
            raise

    @property
    def resume_at(self) -> float:
        """The moment, on the loop's clock, at which the last pause ends."""
        return self._resume_at

    @property
    def paused(self) -> bool:
        """Whether a pause holds everyone back."""
        return asyncio.get_running_loop().time() < self._resume_at

    async def pause_over(self) -> None:
        """Waits until no pause holds everyone back."""
        while (wait := self._resume_at - asyncio.get_running_loop().time()) > 0:
            await asyncio.sleep(wait)

    def leave(self) -> None:
        """Gives a place back."""
        self.running -= 1
        self._let_in()

    def open(self) -> None:
        """Lets as many in as may be under way."""
        if self.limit < self.maximum:
            self.limit = self.maximum
            self._let_in()

    def pause(self, seconds: float) -> None:
        """Holds everyone back for so long from now, and all but a few until there is an answer."""
        self.limit = min(self.maximum, FIRST)
        self._resume_at = max(self._resume_at, asyncio.get_running_loop().time() + min(seconds, LONGEST_PAUSE))

    def _let_in(self) -> None:
        loop = asyncio.get_running_loop()
        wait = self._resume_at - loop.time()
        if wait > 0:
            if (self._refused or self._waiting) and (self._timer is None or self._timer.when() < self._resume_at):
                if self._timer is not None:
                    self._timer.cancel()
                self._timer = loop.call_at(self._resume_at + 0.001, self._let_in)
            return
        self._timer = None
        while (first := self._refused or self._waiting) and self.running < self.limit:
            future = first.popleft()
            if not future.done():
                self.running += 1
                future.set_result(None)
