"""Progress of a long stage, as lines that read well on a terminal and in a log file."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

from dialeval.progress import files


class Progress:
    """Counts what is done and says so every few seconds.

    Args:
        title: what is being done.
        total: how many there are in all, or None if that is not known.
        unit: what is counted.
        every: seconds between two lines.
        stream: where lines go; standard error if not given.

    Attributes:
        extra: gives further words for each line, such as what an engine says of itself.
    """

    def __init__(
        self, title: str, total: int | None, unit: str, *, every: float = 5.0, stream: TextIO | None = None
    ) -> None:
        self.title, self.total, self.unit, self.every = title, total, unit, every
        self.done = self.stored = self.failed = self.tokens = 0
        self.extra: Callable[[], str] = str
        self._stream = stream or sys.stderr
        self._start = self._last = time.monotonic()
        self._first_asked: float | None = None
        self._tell("running")

    def advance(self, *, stored: bool = False, failed: bool = False, tokens: int = 0) -> None:
        """Counts one more: answered, found in the store, or failed."""
        self.done += 1
        self.stored += stored
        self.failed += failed
        self.tokens += tokens
        if not stored and self._first_asked is None:
            self._first_asked = time.monotonic()
        if time.monotonic() - self._last >= self.every:
            self._last = time.monotonic()
            self._print(self._line())
            self._tell("running")

    def finish(self) -> None:
        """Prints the closing line."""
        seconds = time.monotonic() - self._start
        asked = self.done - self.stored
        self._print(
            f"{self.title}: {self.done} {self.unit} done in {seconds:.1f} s{self._speed(seconds)} "
            f"({asked} asked, {self.stored} from the store, {self.failed} failed)"
        )
        self._tell("done")

    def _line(self) -> str:
        seconds = max(time.monotonic() - self._start, 1e-9)
        rate = self.done / seconds
        parts = [f"{self.title}: {self.done}"]
        if self.total:
            parts[0] += f"/{self.total} ({100 * self.done / self.total:.0f}%)"
        parts.append(f"{rate:.1f} {self.unit}/s")
        parts[-1] += self._speed(seconds)
        if self.total and (pace := self._pace()):
            parts.append(f"{_duration((self.total - self.done) / pace)} left")
        parts.append(f"{self.stored} from the store")
        if self.failed:
            parts.append(f"{self.failed} failed")
        return ", ".join(parts)

    def _pace(self) -> float:
        """Returns how many are asked in a second since the first of them came; 0 until that says anything."""
        since = time.monotonic() - self._first_asked if self._first_asked is not None else 0.0
        return (self.done - self.stored - 1) / since if since >= self.every and since > 0 else 0.0

    def _speed(self, seconds: float) -> str:
        tokens = f"{self.tokens / max(seconds, 1e-9):.0f} tokens/s" if self.tokens else ""
        return "".join(f", {words}" for words in (tokens, self.extra()) if words)

    def _tell(self, state: str) -> None:
        seconds = round(time.monotonic() - self._start, 1)
        counts = (self.done, self.total, self.stored, self.failed, self.tokens)
        files.write(files.SoFar(self.title, self.unit, *counts, seconds, state))

    def _print(self, line: str) -> None:
        print(line, file=self._stream, flush=True)


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 120:
        return f"{whole} s"
    if whole < 7200:
        return f"{whole // 60} min"
    return f"{whole / 3600:.1f} h"
