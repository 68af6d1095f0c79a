"""When an endpoint is given up."""

from __future__ import annotations

import time

from dialeval.errors import UserError

FAILURES_IN_A_ROW = 10
"""Failures without one answer in between after which an endpoint may be called dead."""
HOPELESS = frozenset({"authentication", "quota", "not_found", "parameter"})
"""Failures that no waiting mends."""
UNWELL = frozenset({"connection", "timeout", "server", "malformed"})
"""Failures of an endpoint, or of a proxy before it, that may recover within `patience` seconds."""


class CircuitBreaker:
    """Ends the job with one message when an endpoint is dead, so that what is stored is kept and no time is lost.

    Args:
        endpoint: the name for the message.
        patience: seconds that an endpoint may be unwell without one answer in between.
        failures_in_a_row: how many failures without one answer in between are needed at least.
    """

    def __init__(self, endpoint: str, *, patience: float, failures_in_a_row: int = FAILURES_IN_A_ROW) -> None:
        self._endpoint = endpoint
        self._patience = patience
        self._needed = failures_in_a_row
        self._hopeless = self._unwell = 0
        self._unwell_since = 0.0
        self._verdict: str | None = None

    def check(self) -> None:
        """Raises UserError if the endpoint was found dead."""
        if self._verdict is not None:
            raise UserError(self._verdict)

    def answered(self) -> None:
        """Notes that the endpoint gave an answer."""
        self._hopeless = self._unwell = 0

    def failed(self, kind: str, message: str) -> None:
        """Notes a failed try; raises UserError if it was one too many."""
        if kind in HOPELESS:
            self._hopeless += 1
            if self._hopeless >= self._needed:
                self._stop(self._hopeless, f"{kind}: {message}")
        elif kind in UNWELL:
            now = time.monotonic()
            self._unwell_since = now if not self._unwell else self._unwell_since
            self._unwell += 1
            seconds = now - self._unwell_since
            if self._unwell >= self._needed and seconds >= self._patience:
                self._stop(self._unwell, f"{kind}: {message}", f" for {seconds:.0f} s")
        else:
            self._unwell = 0  # whoever refuses a request is alive

    def _stop(self, failures: int, last: str, time_words: str = "") -> None:
        self._verdict = self._verdict or (
            f"{self._endpoint} failed {failures} times in a row{time_words}, without one answer in between; "
            f"the last was {last}. The job stops here; everything that was answered is stored: mend this and run the "
            "same command again to ask only for the rest"
        )
        self.check()
