"""How many units may go in a minute, where it is configured, and a flow whose speed is found on the way."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable

from aiolimiter import AsyncLimiter

_CATCH_UP = 0.05
"""Seconds by which a flow may run late and catch up: timers wake late, and each of them alone would slow it down."""


class Pace:
    """At most so many units in any minute, first come, first served, without a burst at the beginning.

    Args:
        per_minute: units in a minute.
        burst_seconds: units of so many seconds may go at once.
    """

    def __init__(self, per_minute: float, burst_seconds: float) -> None:
        self._burst = max(1.0, per_minute * burst_seconds / 60)
        rate = per_minute - (self._burst if self._burst > 1 else 0)  # burst and flow together stay within the minute
        self._limiter = AsyncLimiter(self._burst, 60 * self._burst / rate)
        self._turn = asyncio.Lock()

    async def acquire(self, units: float = 1.0) -> None:
        """Waits until so many units may be used."""
        async with self._turn:
            while units > 0:
                part = min(units, self._burst)
                await self._limiter.acquire(part)
                units -= part


class Flow:
    """Lets one request after the other through, each after the time that the one before it takes at the speed of then.

    Args:
        seconds: how long so many units take now; 0 for as fast as they come.
    """

    def __init__(self, seconds: Callable[[float], float]) -> None:
        self._seconds = seconds
        self._free_at = -math.inf
        self._turn = asyncio.Lock()

    async def take(self, units: float = 1.0) -> None:
        """Waits for one's turn."""
        async with self._turn:
            clock = asyncio.get_running_loop().time
            if (wait := self._free_at - clock()) > 0:
                await asyncio.sleep(wait)
            self._free_at = max(self._free_at, clock() - _CATCH_UP) + self._seconds(units)
