"""Ctrl-C: the first one stops a job in order, the next one ends it at once.

An event loop that is stopping takes a second Ctrl-C wherever it happens to be, and may then wait for ever for a task
that nobody wakes. A process that ends at once loses no more than one that is killed: what is stored is whole.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130


def end_at_once(*_: object) -> NoReturn:
    """Ends this process, as a handler of signals, without waiting for anything."""
    name = Path(sys.argv[0]).stem
    words = f"error in {name}: ended at once; what was stored by then is kept, run the same command to go on\n"
    os.write(2, words.encode())  # `print` may be what was interrupted
    os._exit(INTERRUPTED)


def is_stopping() -> bool:
    """Returns whether the first Ctrl-C has come, so that the next one ends this process."""
    return signal.getsignal(signal.SIGINT) is end_at_once


@contextmanager
def next_ends_at_once() -> Iterator[None]:
    """Lets the first Ctrl-C do what it does here, and has the next one end this process, be it after this."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return

    came = False

    def first(number: int, frame: FrameType | None) -> None:
        nonlocal came
        if came:  # the next one interrupted this very function
            end_at_once()
        came = True
        signal.signal(signal.SIGINT, end_at_once)
        before(number, frame)

    signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is first:
            signal.signal(signal.SIGINT, before)
