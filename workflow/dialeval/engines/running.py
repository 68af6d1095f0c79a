"""Running work that asks models: Ctrl-C stops it in order, a second one at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

from dialeval.processes.interrupts import is_stopping, next_ends_at_once

_Result = TypeVar("_Result")


def run_in_order(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Runs work in an event loop to its end.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed; all of the work has been cancelled, and has ended.
    """
    try:
        return asyncio.run(_stopped_once(work))
    finally:
        if is_stopping():  # whoever catches the exception and goes on may be interrupted as before
            signal.signal(signal.SIGINT, signal.default_int_handler)


async def _stopped_once(work: Coroutine[Any, Any, _Result]) -> _Result:
    with next_ends_at_once():  # of the loop's own handler, which cancels the work
        return await work
