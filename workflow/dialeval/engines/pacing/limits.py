"""All limits of one endpoint together."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from typing import NamedTuple, Self

from dialeval.engines.pacing.announced import AnnouncedLimit, Reading, Sent
from dialeval.engines.pacing.breaker import HOPELESS, UNREACHED, UNWELL, CircuitBreaker
from dialeval.engines.pacing.in_flight import FIRST, LONGEST_PAUSE, InFlight
from dialeval.engines.pacing.pace import Flow, Pace
from dialeval.engines.pacing.refusals import Throttle, Try

_FIRST_PAUSE, _LONGEST_OPEN = 0.25, 30.0
"""Seconds of a pause whose length the endpoint leaves open; it doubles while nothing is answered."""
_IN_VAIN, _MOST_DOUBLED = 4, 20
"""After so many pauses in a row that the endpoint asked for, and no answer, they are too short and are doubled as well:
where refused tries count, too, jobs that all come again as soon as they may keep each other out for ever."""
_LONGEST_KNOCK = 2.0
"""Seconds between two looks whether an endpoint that cannot be reached is there again."""
_READ_AGAIN = 0.01
"""Seconds in which one answer tells what is announced: to read the headers of each takes a twentieth of its time."""


class Tokens(NamedTuple):
    """What a try counts for where tokens are limited. To count them takes a seventh of a request's time.

    Attributes:
        about: about so many.
        most: never more than so many; as long as the limit is far, a try counts for these.
        exact: counts them, where the limit is near.
    """

    about: float
    most: float
    exact: Callable[[], float]


NO_TOKENS = Tokens(0.0, 0.0, float)


class Limits:
    """All limits of one endpoint together: those that are configured, announced, or learned from refusals.

    Args:
        endpoint: its name for messages.
        in_flight: most requests at once.
        requests_per_minute: most requests in any minute, or None.
        tokens_per_minute: most tokens in any minute, or None.
        patience: seconds that the endpoint may be unwell, see CircuitBreaker.
        longest_refusal: seconds that it may refuse everything, likewise.
        longest_answer: seconds that it may refuse everything else while it works on a request.
    """

    def __init__(
        self,
        endpoint: str,
        *,
        in_flight: int,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        patience: float = 30.0,
        longest_refusal: float = math.inf,
        longest_answer: float = 0.0,
    ) -> None:
        self.in_flight = InFlight(in_flight)
        self.breaker = CircuitBreaker(
            endpoint, patience=patience, longest_refusal=longest_refusal, longest_answer=longest_answer, clock=_now
        )
        self._under_way: set[Place] = set()
        self._requests = Pace(requests_per_minute, 0.1) if requests_per_minute else None
        self._tokens = Pace(tokens_per_minute, 1.0) if tokens_per_minute else None
        self._throttle = Throttle(in_flight)
        self._announced_requests, self._announced_tokens = AnnouncedLimit(), AnnouncedLimit()
        self._by_refusals = Flow(self._throttle.seconds)
        self._by_requests = Flow(self._announced_requests.seconds)
        self._by_tokens = Flow(self._announced_tokens.seconds)
        self._n_pauses = 0  # since an answer
        self._read_at = -math.inf

    def place(self, tokens: Tokens, *, again: bool = False) -> Place:
        """Returns a place for one try of a request, which is held by `async with`.

        Args:
            tokens: what the try counts for.
            again: whether the request was tried before.
        """
        return Place(self, tokens, again)

    async def _enter(self, place: Place) -> None:
        self.breaker.check()
        if not place.again:
            self.breaker.refuses_until(self.in_flight.resume_at, self._works)
        await self.in_flight.enter(again=place.again)
        try:
            if self._requests is not None:
                await self._requests.acquire()
            if self._tokens is not None and not self._tokens.take_amply(place.counts_for.most):
                place.tokens = place.counts_for.exact()
                await self._tokens.acquire(place.tokens)
            await self._turn(place)
            while self.in_flight.paused:  # a pause has begun meanwhile; after it, too, one goes after the other
                await self.in_flight.pause_over()
                await self._turn(place)
            self.breaker.check()
        except BaseException:
            self.in_flight.leave()
            raise
        self._under_way.add(place)
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

    def announced(self, place: Place, read: Callable[[Mapping[str, str], str], Reading | None], *, taken: bool) -> None:
        """Notes what an answer announces, if it is long enough since another told it.

        Args:
            place: the try's place.
            read: gives what headers announce of the limit of `requests` or of `tokens`.
            taken: whether the endpoint took the request.
        """
        now = _now()
        if place.headers is None or (taken and now < self._read_at + _READ_AGAIN):
            return
        self._read_at = now
        requests, tokens = read(place.headers, "requests"), read(place.headers, "tokens")
        if requests is not None:
            self._announced_requests.heard(requests, place.in_requests, taken=taken)
        if tokens is not None and place.tokens:
            self._announced_tokens.heard(tokens, place.in_tokens, taken=taken)
        place.used_up = (requests is not None and requests.remaining < 1 and self._announced_requests.known) or (
            tokens is not None and tokens.remaining < place.tokens and self._announced_tokens.known
        )

    def answered(self, place: Place) -> None:
        """Notes an answer to the request that held a place."""
        self._throttle.taken(place.attempt)
        self._n_pauses = 0
        self.in_flight.open()
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
            doubled = min(self._n_pauses - (0 if pause is None else _IN_VAIN), _MOST_DOUBLED)
            longer = min(_FIRST_PAUSE * 2.0**doubled, _LONGEST_OPEN) if doubled >= 0 else 0.0
            longer = min(longer, max(self.breaker.borne_until - _now(), _FIRST_PAUSE))
            seconds = max(longer, min(pause or 0.0, LONGEST_PAUSE))
            if place.used_up or self._throttle.refused(place.attempt, seconds):
                self._n_pauses += not self.in_flight.paused
                self.in_flight.pause(seconds)
        elif kind == UNREACHED and self.breaker.unwell >= FIRST:  # a few look whether it is there again
            if not self.in_flight.paused:
                self.in_flight.pause(min(_FIRST_PAUSE * 2.0 ** min(self._n_pauses, _MOST_DOUBLED), _LONGEST_KNOCK))
                self._n_pauses += 1
        elif kind in HOPELESS and not self.breaker.has_answered:  # until it is decided whether anything more is asked
            self.in_flight.pause(_FIRST_PAUSE)
        elif kind not in UNWELL:
            self.in_flight.open()
        self.breaker.failed(kind, message, again=place.again, works=self._works)

    def _works(self) -> bool:
        """Returns whether the endpoint seems to work on a request: one is under way for longer than a refusal takes."""
        since = _now() - self._throttle.refusals_take()
        return any(place.attempt.sent_at < since for place in self._under_way)

    def _leave(self, place: Place) -> None:
        self._under_way.discard(place)
        self.in_flight.leave()


class Place:
    """A request's place among those under way; to hold it raises UserError if the endpoint was found dead.

    Attributes:
        counts_for: what the try counts for.
        tokens: the same as a number.
        headers: of the answer, as soon as it is there.
        used_up: whether nothing was left of an announced limit.
        attempt: what the throttle knows the try by.
        in_requests: its place in the use of the announced requests.
        in_tokens: its place in the use of the announced tokens.

    Args:
        limits: of the endpoint.
        tokens: what the try counts for.
        again: whether the request was tried before.
    """

    __slots__ = (
        "_limits",
        "again",
        "attempt",
        "counts_for",
        "headers",
        "in_requests",
        "in_tokens",
        "tokens",
        "used_up",
    )
    attempt: Try
    in_requests: Sent
    in_tokens: Sent

    def __init__(self, limits: Limits, tokens: Tokens, again: bool) -> None:
        self._limits, self.counts_for, self.tokens, self.again = limits, tokens, tokens.about, again
        self.used_up = False
        self.headers: Mapping[str, str] | None = None

    def hear(self, headers: Mapping[str, str]) -> None:
        """Keeps the headers of the answer."""
        self.headers = headers

    async def __aenter__(self) -> Self:
        await self._limits._enter(self)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._limits._leave(self)


def _now() -> float:
    return asyncio.get_running_loop().time()
