"""The limits of an endpoint: requests in flight, requests and tokens per minute, and pauses after status 429.

A request within the limits is sent at once; the others wait in a queue.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import NamedTuple

from dialeval.engines.circuit_breaker import FINAL_KINDS, RECOVERABLE_KINDS, UNREACHABLE, CircuitBreaker, loop_time
from dialeval.engines.request_speed import AnnouncedLimit, Attempt, Sent, Throttle, announced

_FIRST_PAUSE, _LONGEST_OPEN = 0.25, 30.0
"""Seconds of the first pause without a length from the endpoint, doubled until an answer, and of the longest."""
_SHORT_PAUSES, _MOST_DOUBLED = 4, 20
"""Pauses with a given length in a row, without an answer, after which they double as well: where refused requests
count, jobs that all retry at once would block each other."""
_LONGEST_PROBE = 2.0
"""Seconds between two probes of an endpoint that cannot be reached."""
_READ_AGAIN = 0.01
"""Seconds between two readings of announced limits: reading every header takes 5% of the time."""


class Tokens(NamedTuple):
    """The tokens of a request: an estimate, an upper bound, and a function that counts them.

    Counting takes a seventh of a request's time, so that it is called only near the limit.
    """

    about: float
    most: float
    exact: Callable[[], float]


NO_TOKENS = Tokens(0.0, 0.0, float)


class Limits:
    """The limits of one endpoint: configured, announced in headers, or learned from refusals.

    Args:
        in_flight: most requests at once.
        requests_per_minute: most requests in any minute, or None.
        tokens_per_minute: most tokens in any minute, or None.
    """

    def __init__(
        self,
        breaker: CircuitBreaker,
        *,
        in_flight: int,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
    ) -> None:
        self.breaker = breaker
        self.in_flight = InFlight(in_flight)
        self._in_flight: set[Place] = set()
        self._requests = Pace(requests_per_minute, 0.1) if requests_per_minute else None
        self._tokens = Pace(tokens_per_minute, 1.0) if tokens_per_minute else None
        self._throttle = Throttle(in_flight)
        self._announced_requests, self._announced_tokens = AnnouncedLimit(), AnnouncedLimit()
        self._by_refusals = Flow(self._throttle.seconds)
        self._by_requests = Flow(self._announced_requests.seconds)
        self._by_tokens = Flow(self._announced_tokens.seconds)
        self._n_pauses = 0  # since an answer
        self._read_at = -math.inf

    @asynccontextmanager
    async def place(self, tokens: Tokens, *, again: bool = False) -> AsyncIterator[Place]:
        """Wait for a place in flight for an attempt, which has it until the context ends.

        Args:
            again: whether the request was sent before.

        Raises:
            UserError: the endpoint is dead.
        """
        place = Place(tokens, again)
        await self._enter(place)
        try:
            yield place
        finally:
            self._in_flight.discard(place)
            self.in_flight.leave()

    def read_headers(self, place: Place, *, accepted: bool) -> None:
        """Take in the limits that the headers of an answer announce, at most once in `_READ_AGAIN` seconds."""
        now = loop_time()
        if place.headers is None or (accepted and now < self._read_at + _READ_AGAIN):
            return
        self._read_at = now
        requests, tokens = announced(place.headers, "requests"), announced(place.headers, "tokens")
        if requests is not None:
            self._announced_requests.update(requests, place.in_requests, accepted=accepted)
        if tokens is not None and place.tokens:
            self._announced_tokens.update(tokens, place.in_tokens, accepted=accepted)
        place.used_up = (requests is not None and requests.remaining < 1 and self._announced_requests.known) or (
            tokens is not None and tokens.remaining < place.tokens and self._announced_tokens.known
        )

    def answered(self, place: Place) -> None:
        """Update the limits after a response."""
        self._throttle.accepted(place.attempt)
        self._n_pauses = 0
        self.in_flight.open()
        self.breaker.answered()

    def failed(self, place: Place, kind: str, message: str, *, too_many: bool, pause: float | None) -> None:
        """Take in a failed attempt, after which all requests may pause.

        Args:
            too_many: whether the endpoint refused the request as one too many.
            pause: seconds that the endpoint asks to wait, or None.

        Raises:
            UserError: the endpoint is dead.
        """
        if too_many:
            doubled = min(self._n_pauses - (0 if pause is None else _SHORT_PAUSES), _MOST_DOUBLED)
            longer = min(_FIRST_PAUSE * 2.0**doubled, _LONGEST_OPEN) if doubled >= 0 else 0.0
            longer = min(longer, max(self.breaker.patient_until - loop_time(), _FIRST_PAUSE))
            seconds = max(longer, min(pause or 0.0, LONGEST_PAUSE))
            if place.used_up or self._throttle.refused(place.attempt, seconds):
                self._n_pauses += not self.in_flight.paused
                self.in_flight.pause(seconds)
        elif kind == UNREACHABLE and self.breaker.n_failures >= FIRST:  # a few requests test whether it is back
            if not self.in_flight.paused:
                self.in_flight.pause(min(_FIRST_PAUSE * 2.0 ** min(self._n_pauses, _MOST_DOUBLED), _LONGEST_PROBE))
                self._n_pauses += 1
        elif kind in FINAL_KINDS and not self.breaker.has_answered:  # until the circuit breaker decides
            self.in_flight.pause(_FIRST_PAUSE)
        elif kind not in RECOVERABLE_KINDS:
            self.in_flight.open()
        self.breaker.failed(kind, message, again=place.again, is_working=self._is_working)

    def _is_working(self) -> bool:
        """Return whether a request has been in flight for longer than a refusal takes."""
        since = loop_time() - self._throttle.refusals_take()
        return any(place.attempt.sent_at < since for place in self._in_flight)

    async def _enter(self, place: Place) -> None:
        self.breaker.check()
        if not place.again:
            self.breaker.refuses_until(self.in_flight.resume_at, self._is_working)
        await self.in_flight.enter(again=place.again)
        try:
            if self._requests is not None:
                await self._requests.acquire()
            if self._tokens is not None and not self._tokens.take_amply(place.counts_for.most):
                place.tokens = place.counts_for.exact()
                await self._tokens.acquire(place.tokens)
            await self._turn(place)
            while self.in_flight.paused:  # a pause has begun; after it requests are spaced, too
                await self.in_flight.pause_over()
                await self._turn(place)
            self.breaker.check()
        except BaseException:
            self.in_flight.leave()
            raise
        self._in_flight.add(place)
        place.attempt = self._throttle.sent()
        place.in_requests = self._announced_requests.sent(1.0)
        place.in_tokens = self._announced_tokens.sent(place.tokens)

    async def _turn(self, place: Place) -> None:
        if self._announced_requests.known:
            await self._by_requests.take()
        if self._announced_tokens.known and place.tokens:
            await self._by_tokens.take(place.tokens)
        if math.isfinite(self._throttle.speed):
            await self._by_refusals.take()


class Place:
    """An attempt's place among those in flight.

    Attributes:
        counts_for: the tokens of the request.
        tokens: the same as a number.
        headers: of the answer.
        used_up: whether an announced limit is used up.
        attempt: the attempt as the throttle counts it.
        in_requests, in_tokens: its place in the use of the announced limits.
    """

    attempt: Attempt
    in_requests: Sent
    in_tokens: Sent

    def __init__(self, tokens: Tokens, again: bool) -> None:
        self.counts_for, self.tokens, self.again = tokens, tokens.about, again
        self.used_up = False
        self.headers: Mapping[str, str] | None = None

    def keep_headers(self, headers: Mapping[str, str]) -> None:
        """Keep the headers of the answer."""
        self.headers = headers


# Requests in flight, and their common pause.

FIRST = 8
"""Most requests in flight before the first answer."""
LONGEST_PAUSE = 600.0
"""Longest Retry-After that is obeyed, in seconds."""


class InFlight:
    """A queue for places in flight: refused requests first, then new ones in their order.

    All requests share one pause, which ends at `resume_at` on the loop's clock. At the beginning and after a pause only
    `FIRST` are in flight until an answer, which may announce the limits.

    Args:
        maximum: most requests at once.
    """

    def __init__(self, maximum: int) -> None:
        self.maximum = maximum
        self.limit = min(maximum, FIRST)
        self.running = 0
        self.resume_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._refused: deque[asyncio.Future[None]] = deque()

    async def enter(self, *, again: bool = False) -> None:
        """Wait for a place; `again`: the request was in flight before."""
        loop = asyncio.get_running_loop()
        if not (self._refused or self._waiting) and self.running < self.limit and loop.time() >= self.resume_at:
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
    def paused(self) -> bool:
        """Whether all requests pause."""
        return loop_time() < self.resume_at

    async def pause_over(self) -> None:
        """Wait for the end of the pause."""
        while (wait := self.resume_at - loop_time()) > 0:
            await asyncio.sleep(wait)

    def leave(self) -> None:
        """Give a place back."""
        self.running -= 1
        self._let_in()

    def open(self) -> None:
        """Allow `maximum` requests in flight."""
        if self.limit < self.maximum:
            self.limit = self.maximum
            self._let_in()

    def pause(self, seconds: float) -> None:
        """Pause all requests, and then allow only a few until there is an answer."""
        self.limit = min(self.maximum, FIRST)
        self.resume_at = max(self.resume_at, loop_time() + min(seconds, LONGEST_PAUSE))

    def _let_in(self) -> None:
        loop = asyncio.get_running_loop()
        wait = self.resume_at - loop.time()
        if wait > 0:
            if (self._refused or self._waiting) and (self._timer is None or self._timer.when() < self.resume_at):
                if self._timer is not None:
                    self._timer.cancel()
                self._timer = loop.call_at(self.resume_at + 0.001, self._let_in)
            return
        self._timer = None
        while (first := self._refused or self._waiting) and self.running < self.limit:
            future = first.popleft()
            if not future.done():
                self.running += 1
                future.set_result(None)


# Configured units per minute, and a flow at a learned speed.

_CATCH_UP = 0.05
"""Seconds by which a flow may be late and catch up, since timers wake late."""


class Pace:
    """Limits units in any minute, first come, first served, without a burst at the beginning.

    Args:
        per_minute: units in a minute.
        burst_seconds: a burst may have the units of so many seconds.
    """

    def __init__(self, per_minute: float, burst_seconds: float) -> None:
        self._burst = max(1.0, per_minute * burst_seconds / 60)
        rate = per_minute - (self._burst if self._burst > 1 else 0)  # burst and flow together stay within the minute
        self._per_second = rate / 60
        self._room, self._read_at = self._burst, -math.inf
        self._turn = asyncio.Lock()

    def take_amply(self, most: float) -> bool:
        """Use units if half of the burst is left afterwards, and return whether it did."""
        if self._turn.locked() or self._missing(most) > -self._burst / 2:
            return False
        self._room -= most
        return True

    async def acquire(self, units: float = 1.0) -> None:
        """Wait until the units may be used."""
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
        """Return the number of units without room."""
        self._refill()
        return units - self._room

    def _refill(self) -> None:
        now = loop_time()
        self._room = min(self._burst, self._room + (now - self._read_at) * self._per_second)
        self._read_at = now


class Flow:
    """Spaces requests at the present speed; `seconds` returns how long units take now, 0 without a limit."""

    def __init__(self, seconds: Callable[[float], float]) -> None:
        self._seconds = seconds
        self._free_at = -math.inf
        self._turn = asyncio.Lock()

    async def take(self, units: float = 1.0) -> None:
        """Wait for a turn."""
        if self._turn.locked() or self._free_at > loop_time():
            async with self._turn:
                if (wait := self._free_at - loop_time()) > 0:
                    await asyncio.sleep(wait)
                self._go(units)
        else:
            self._go(units)

    def _go(self, units: float) -> None:
        self._free_at = max(self._free_at, loop_time() - _CATCH_UP) + self._seconds(units)
