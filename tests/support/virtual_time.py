"""A loop whose time passes only when nothing else is left to do: hours of waiting take no time."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


_TICK = 1e-7
"""Seconds by which time jumps too far, so that a rounding never leaves a timer just short of its moment."""

_MOST_STEPS = 100_000
"""Steps of the loop at one moment, after which the code under test is taken to wait for a time that never comes."""


class _Selector(selectors.SelectSelector):
    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self._n_steps = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("everything waits, and nothing is left that could end it")
        self._n_steps += 1
        if self._n_steps > _MOST_STEPS:
            raise RuntimeError(f"time stays at second {self.now!r} after {_MOST_STEPS} steps of the loop")
        found = super().select(0)
        if not found and timeout > 0:
            self.now += timeout + _TICK
            self._n_steps = 0
        return found


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)

    def time(self) -> float:
        return self._virtual.now


def run_in_virtual_time(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine that begins at second 0; `loop.time()` and `asyncio.sleep` follow the virtual clock."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(coroutine)
