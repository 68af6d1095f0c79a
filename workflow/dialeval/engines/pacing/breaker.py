"""When an endpoint is given up."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from dialeval.errors import UserError

FAILURES_IN_A_ROW = 10
"""Failures without one answer in between after which an endpoint may be called dead."""
HOPELESS = frozenset({"authentication", "quota", "not_found", "parameter"})
"""Failures that no waiting mends."""
UNWELL = frozenset({"connection", "timeout", "server", "malformed"})
"""Failures of an endpoint, or of a proxy before it, that may recover within `patience` seconds."""
TOO_MANY = "rate_limit"
"""The kind of failure of who is told to come later, be it for ever."""


@dataclass
class _Row:
    """Failures of a kind without one answer in between: how many, and since when."""

    number: int = 0
    since: float = 0.0

    def add(self, now: float) -> float:
        """Adds one, and returns for how many seconds it has been going on."""
        self.since = self.since if self.number else now
        self.number += 1
        return now - self.since


class CircuitBreaker:
    """Ends the job with one message when an endpoint is dead, so that what is stored is kept and no time is lost.

    Args:
        endpoint: the name for the message.
        patience: seconds that an endpoint may be unwell without one answer in between.
        longest_refusal: seconds that it may refuse all requests, and so many different ones, as too many.
        failures_in_a_row: how many failures without one answer in between are needed at least.
        clock: tells seconds.
    """

    def __init__(
        self,
        endpoint: str,
        *,
        patience: float,
        longest_refusal: float = math.inf,
        failures_in_a_row: int = FAILURES_IN_A_ROW,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._endpoint = endpoint
        self._patience = patience
        self._longest_refusal = longest_refusal
        self._needed = failures_in_a_row
        self._clock = clock
        self._hopeless, self._unwell, self._too_many = _Row(), _Row(), _Row()
        self._different = 0  # requests that are refused as too many
        self._verdict: str | None = None

    def check(self) -> None:
        """Raises UserError if the endpoint was found dead."""
        if self._verdict is not None:
            raise UserError(self._verdict)

    def answered(self) -> None:
        """Notes that the endpoint gave an answer."""
        self._hopeless.number = self._unwell.number = self._too_many.number = self._different = 0

    def failed(self, kind: str, message: str, *, again: bool = False) -> None:
        """Notes a failed try; raises UserError if it was one too many.

        Args:
            kind: the failure's kind.
            message: the failure's message.
            again: whether the request was tried before; a few that are refused for ever end by themselves.
        """
        now = self._clock()
        if kind in HOPELESS:
            self._hopeless.add(now)
            if self._hopeless.number >= self._needed:
                self._stop(self._hopeless.number, f"{kind}: {message}")
        elif kind in UNWELL:
            seconds = self._unwell.add(now)
            if self._unwell.number >= self._needed and seconds >= self._patience:
                self._stop(self._unwell.number, f"{kind}: {message}", f" for {seconds:.0f} s")
        else:
            self._unwell.number = 0  # whoever refuses a request is alive
            if kind == TOO_MANY:
                seconds = self._too_many.add(now)
                self._different += not again
                if self._different >= self._needed and seconds >= self._longest_refusal:
                    remedy = "wait until it lets requests through, or raise max_total_seconds,"
                    self._stop(self._too_many.number, f"{kind}: {message}", f" for {seconds:.0f} s", remedy)
            else:
                self._too_many.number = self._different = 0

    def _stop(self, failures: int, last: str, time_words: str = "", remedy: str = "mend this") -> None:
        self._verdict = self._verdict or (
            f"{self._endpoint} failed {failures} times in a row{time_words}, without one answer in between; "
            f"the last was {last}. The job stops here; everything that was answered is stored: {remedy} and "
            "run the same command again to ask only for the rest"
        )
        self.check()
