"""How fast one endpoint is asked: requests and tokens per minute, requests in flight, and when to give up on it."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiolimiter import AsyncLimiter

from dialeval.errors import UserError

LONGEST_PAUSE = 600.0
"""Seconds that a Retry-After is obeyed at most."""
FAILURES_IN_A_ROW = 10
"""Failures without one answer in between after which an endpoint may be called dead."""
HOPELESS = frozenset({"authentication", "quota", "not_found", "parameter"})
"""Failures that no waiting mends."""
UNWELL = frozenset({"connection", "timeout", "server", "malformed"})
"""Failures of an endpoint, or of a proxy before it, that may recover within `patience` seconds."""


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


class InFlight:
    """How many requests are under way: halved when the endpoint refuses one as too many, then slowly more again.

    All requests share one pause, so that after a refusal nobody knocks before the endpoint's time is over.

    Args:
        maximum: never more than so many at once.
    """

    def __init__(self, maximum: int) -> None:
        self.maximum = maximum
        self.limit = float(maximum)
        self.running = 0
        self._wave = 0
        self._resume_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> int:
        """Waits for a place and returns the number of the wave that the request belongs to."""
        if not self._waiting and self.running < int(self.limit) and time.monotonic() >= self._resume_at:
            self.running += 1
            return self._wave
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        self._let_in()
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self.leave()  # the place came together with the cancellation
            raise
        return self._wave

    async def pause_over(self) -> None:
        """Waits until no pause holds everyone back."""
        while (wait := self._resume_at - time.monotonic()) > 0:
            await asyncio.sleep(wait)

    def leave(self) -> None:
        """Gives a place back."""
        self.running -= 1
        self._let_in()

    def answered(self) -> None:
        """Grows the limit: a full round of answers adds a 16th of it, and at least one."""
        if self.limit < self.maximum:
            self.limit = min(self.maximum, self.limit + max(1 / 16, 1 / self.limit))

    def refused(self, wave: int, pause: float | None) -> None:
        """Halves the limit, once for all requests of a wave, and holds everyone back for the pause."""
        if wave == self._wave:
            self._wave += 1
            self.limit = max(1.0, self.limit / 2)
        if pause is not None:
            self._resume_at = max(self._resume_at, time.monotonic() + min(pause, LONGEST_PAUSE))

    def _let_in(self) -> None:
        wait = self._resume_at - time.monotonic()
        if wait > 0:
            if self._waiting and (self._timer is None or self._timer.when() < asyncio.get_running_loop().time() + wait):
                if self._timer is not None:
                    self._timer.cancel()
                self._timer = asyncio.get_running_loop().call_later(wait + 0.001, self._let_in)
            return
        self._timer = None
        while self._waiting and self.running < int(self.limit):
            future = self._waiting.popleft()
            if not future.done():
                self.running += 1
                future.set_result(None)


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


@dataclass
class Place:
    """A request's place among those under way."""

    wave: int


class Limits:
    """All limits of one endpoint together.

    Args:
        endpoint: its name for messages.
        in_flight: most requests at once.
        requests_per_minute: most requests in any minute, or None.
        tokens_per_minute: most tokens in any minute, or None.
        patience: seconds that the endpoint may be unwell, see CircuitBreaker.
    """

    def __init__(
        self,
        endpoint: str,
        *,
        in_flight: int,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        patience: float = 30.0,
    ) -> None:
        self.in_flight = InFlight(in_flight)
        self.breaker = CircuitBreaker(endpoint, patience=patience)
        self._requests = Pace(requests_per_minute, 0.1) if requests_per_minute else None
        self._tokens = Pace(tokens_per_minute, 1.0) if tokens_per_minute else None

    @asynccontextmanager
    async def place(self, tokens: float) -> AsyncIterator[Place]:
        """Holds a place for one try of a request; raises UserError if the endpoint was found dead.

        Args:
            tokens: what the try counts for; read only with a limit on tokens.
        """
        self.breaker.check()
        place = Place(await self.in_flight.enter())
        try:
            if self._requests is not None:
                await self._requests.acquire()
            if self._tokens is not None:
                await self._tokens.acquire(tokens)
            await self.in_flight.pause_over()  # one may have begun meanwhile
            self.breaker.check()
            yield place
        finally:
            self.in_flight.leave()

    def answered(self) -> None:
        """Notes an answer."""
        self.in_flight.answered()
        self.breaker.answered()

    def failed(self, place: Place, kind: str, message: str, *, too_many: bool, pause: float | None) -> None:
        """Notes a failed try.

        Args:
            place: the try's place.
            kind: the failure's kind.
            message: the failure's message.
            too_many: whether the endpoint refused the request as one too many.
            pause: seconds that the endpoint asks to wait, or None.

        Raises:
            UserError: the endpoint is dead.
        """
        if too_many:
            self.in_flight.refused(place.wave, pause)
        self.breaker.failed(kind, message)
