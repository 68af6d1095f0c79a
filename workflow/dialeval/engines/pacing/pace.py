"""How many units may go in a minute, where it is configured, and a flow whose speed is found on the way.

Who need not wait goes through at once; all others wait in a row.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable

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
        self._per_second = rate / 60
        self._room, self._read_at = self._burst, -math.inf
        self._turn = asyncio.Lock()

    def take_amply(self, most: float) -> bool:
        """Uses so many units if half of what may go at once is left then, and returns whether it did."""
        if self._turn.locked() or self._missing(most) > -self._burst / 2:
            return False
        self._room -= most
        return True

    async def acquire(self, units: float = 1.0) -> None:
        """Waits until so many units may be used."""
        if not self._turn.locked() and self._missing(units) <= 0:
            self._room -= units
            return
        async with self._turn:
            while units > 0:
                part = min(units, self._burst)
                if (missing := self._missing(part)) > 0:
                    await asyncio.sleep(missing / self._per_second)
                    self._refill()  # waits once: the next part waits for what rounding leaves missing
                self._room -= part
                units -= part

    def _missing(self, units: float) -> float:
        """Returns how many of these units there is no room for yet."""
        self._refill()
        return units - self._room

    def _refill(self) -> None:
        now = asyncio.get_running_loop().time()
        self._room = min(self._burst, self._room + (now - self._read_at) * self._per_second)
        self._read_at = now


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
        clock = asyncio.get_running_loop().time
        if self._turn.locked() or self._free_at > clock():
            async with self._turn:
                if (wait := self._free_at - clock()) > 0:
                    await asyncio.sleep(wait)
                self._go(clock(), units)
        else:
            self._go(clock(), units)

    def _go(self, now: float, units: float) -> None:
        self._free_at = max(self._free_at, now - _CATCH_UP) + self._seconds(units)
