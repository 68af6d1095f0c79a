"""All limits of one endpoint together: requests under way, speed, and when it is given up.

Who need not wait goes through at once; all others wait in a row.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Self

from dialeval.engines.rate_limits.speed import AnnouncedLimit, Reading, Sent, Throttle, Try
from dialeval.errors import UserError

# All limits of one endpoint together.

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


# How many requests are under way, and the pause that all of them share.

FIRST = 8
"""Requests that are under way at most before an answer."""
LONGEST_PAUSE = 600.0
"""Seconds that a Retry-After is obeyed at most."""


class InFlight:
    """Places for requests under way, in the order of asking; who was refused comes before who was not asked yet.

    All requests share one pause, so that while the endpoint takes nothing nobody knocks.

    At the beginning and after a pause a few go alone: with their answers the endpoint may say how many it takes, and if
    it takes none, no more are refused.

    Args:
        maximum: never more than so many at once.
    """

    def __init__(self, maximum: int) -> None:
        self.maximum = maximum
        self.limit = min(maximum, FIRST)
        self.running = 0
        self._resume_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._refused: deque[asyncio.Future[None]] = deque()

    async def enter(self, *, again: bool = False) -> None:
        """Waits for a place.

        Args:
            again: whether the request was under way before.
        """
        loop = asyncio.get_running_loop()
        if not (self._refused or self._waiting) and self.running < self.limit and loop.time() >= self._resume_at:
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
    def resume_at(self) -> float:
        """The moment, on the loop's clock, at which the last pause ends."""
        return self._resume_at

    @property
    def paused(self) -> bool:
        """Whether a pause holds everyone back."""
        return asyncio.get_running_loop().time() < self._resume_at

    async def pause_over(self) -> None:
        """Waits until no pause holds everyone back."""
        while (wait := self._resume_at - asyncio.get_running_loop().time()) > 0:
            await asyncio.sleep(wait)

    def leave(self) -> None:
        """Gives a place back."""
        self.running -= 1
        self._let_in()

    def open(self) -> None:
        """Lets as many in as may be under way."""
        if self.limit < self.maximum:
            self.limit = self.maximum
            self._let_in()

    def pause(self, seconds: float) -> None:
        """Holds everyone back for so long from now, and all but a few until there is an answer."""
        self.limit = min(self.maximum, FIRST)
        self._resume_at = max(self._resume_at, asyncio.get_running_loop().time() + min(seconds, LONGEST_PAUSE))

    def _let_in(self) -> None:
        loop = asyncio.get_running_loop()
        wait = self._resume_at - loop.time()
        if wait > 0:
            if (self._refused or self._waiting) and (self._timer is None or self._timer.when() < self._resume_at):
                if self._timer is not None:
                    self._timer.cancel()
                self._timer = loop.call_at(self._resume_at + 0.001, self._let_in)
            return
        self._timer = None
        while (first := self._refused or self._waiting) and self.running < self.limit:
            future = first.popleft()
            if not future.done():
                self.running += 1
                future.set_result(None)


# How many units may go in a minute, where it is configured, and a flow whose speed is found on the way.

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


# When an endpoint is given up.

FAILURES_IN_A_ROW = 10
"""Failures without one answer in between after which an endpoint may be called dead."""
HOPELESS = frozenset({"authentication", "quota", "not_found", "parameter"})
"""Failures that no waiting mends."""
NOT_OPENAI = "malformed"
"""The kind of answers that come with status 200 and are none of an OpenAI-compatible endpoint: a login page, say."""
UNWELL = frozenset({"connection", "timeout", "server", NOT_OPENAI})
"""Failures of an endpoint, or of a proxy before it, that may recover within `patience` seconds."""
UNREACHED = "connection"
FIRST_PATIENCE = 1 / 3
"""The share of `patience` that an endpoint has which cannot be reached and has answered nothing in this job."""
TOO_MANY = "rate_limit"
"""The kind of failure of who is told to come later, be it for ever."""
REMEDIES = {
    "authentication": "set the variable that `api_key_env` names to a key that this endpoint takes",
    "not_found": "see whether the endpoint has the `model`, and whether `base_url` is right (most end with /v1)",
    "connection": "see whether the endpoint is running and `base_url` is right, or raise `patience_seconds` for one "
    "that takes long to start",
    "malformed": "see whether `base_url` is that of an OpenAI-compatible endpoint, and no login page or proxy",
    "parameter": "set the named field of the model, or leave it out",
    "server": "the endpoint's own log may say more; where it has too much to do, lower `concurrency`",
    "timeout": "raise `timeout_seconds`, or lower `concurrency`",
    "rate_limit": "lower `concurrency`, or set the limits of your account: `requests_per_minute`, `tokens_per_minute`",
    "quota": "add credit to your account with this provider, or raise its limit",
}
"""What helps against kinds of failures, in fields of the model."""


def to_go_on(kind: str, remedy: str = "") -> str:
    """Returns what the message of a job that stops early says last.

    Args:
        kind: of the failure.
        remedy: what helps, in place of what is known of the kind.
    """
    remedy = remedy or REMEDIES.get(kind, "mend this")
    return (
        f"No more is asked, and everything that was answered is stored.\nTo go on, {remedy}, and run the same command "
        "again to ask only for the rest."
    )


class EndpointDead(UserError):
    """No request to this endpoint can be answered at present, whichever job of the run asks."""


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

    Attributes:
        has_answered: whether the endpoint has given any answer.

    Args:
        endpoint: the name for the message.
        patience: seconds that an endpoint may be unwell without one answer in between.
        longest_refusal: seconds that it may refuse all requests, and so many different ones, as too many.
        longest_answer: the same where it works on a request meanwhile.
        failures_in_a_row: how many failures without one answer in between are needed at least.
        clock: tells seconds.
    """

    def __init__(
        self,
        endpoint: str,
        *,
        patience: float,
        longest_refusal: float = math.inf,
        longest_answer: float = 0.0,
        failures_in_a_row: int = FAILURES_IN_A_ROW,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._endpoint = endpoint
        self._patience = patience
        self._longest_refusal = longest_refusal
        self._longest_answer = longest_answer
        self._needed = failures_in_a_row
        self._clock = clock
        self._hopeless, self._unwell, self._not_openai, self._too_many = _Row(), _Row(), _Row(), _Row()
        self._different = 0  # requests that are refused as too many
        self._last_refusal = ""
        self.has_answered = False
        self._verdict: str | None = None

    def check(self) -> None:
        """Raises EndpointDead if the endpoint was found dead."""
        if self._verdict is not None:
            raise EndpointDead(self._verdict)

    def answered(self) -> None:
        """Notes that the endpoint gave an answer."""
        self.has_answered = True
        for row in (self._hopeless, self._unwell, self._not_openai, self._too_many):
            row.number = 0
        self._different = 0

    def failed(
        self, kind: str, message: str, *, again: bool = False, works: Callable[[], bool] = lambda: False
    ) -> None:
        """Notes a failed try; raises EndpointDead if it was one too many.

        Args:
            kind: the failure's kind.
            message: the failure's message.
            again: whether the request was tried before; a few that are refused for ever end by themselves.
            works: returns whether the endpoint seems to work on another request, whose answer is worth waiting for.
        """
        now = self._clock()
        words = f"{kind}: {message}"
        if kind in HOPELESS:
            self._hopeless.add(now)
            if self._hopeless.number >= self._needed:
                self._stop(kind, self._hopeless.number, words)
        elif kind in UNWELL:
            self._not_openai.number = self._not_openai.number + 1 if kind == NOT_OPENAI else 0
            seconds = self._unwell.add(now)
            patience = self._patience
            if kind == UNREACHED and not self.has_answered:
                patience *= FIRST_PATIENCE
            never_openai = self._not_openai.number >= self._needed and not self.has_answered
            if never_openai or (self._unwell.number >= self._needed and seconds >= patience):
                self._stop(kind, self._unwell.number, words, f" for {seconds:.0f} s")
        else:
            self._unwell.number = self._not_openai.number = 0  # whoever refuses a request is alive
            if kind == TOO_MANY:
                self._too_many.add(now)
                self._last_refusal = words
                self._different += not again
                if self._different >= self._needed:
                    self._refused_until(now, works)
            else:
                self._too_many.number = self._different = 0

    def refuses_until(self, moment: float, works: Callable[[], bool]) -> None:
        """Notes until when an endpoint asks everybody to wait; raises EndpointDead if nobody does so long.

        Args:
            moment: on the clock.
            works: see `failed`.
        """
        if moment - self._clock() > self._longest_refusal:
            self._refused_until(moment, works)

    @property
    def borne_until(self) -> float:
        """The moment, on the clock, until which refusals as too many are borne."""
        return (self._too_many.since if self._too_many.number else self._clock()) + self._longest_refusal

    def _refused_until(self, moment: float, works: Callable[[], bool]) -> None:
        seconds = moment - self._too_many.since if self._too_many.number else -math.inf
        if seconds >= self._longest_refusal and (seconds >= self._longest_answer or not works()):
            remedy = "wait until it lets requests through, or raise max_total_seconds"
            self._stop(TOO_MANY, self._too_many.number, self._last_refusal, f" for {seconds:.0f} s", remedy)

    @property
    def unwell(self) -> int:
        """How many tries in a row have failed without an answer or a refusal."""
        return self._unwell.number

    def _stop(self, kind: str, failures: int, last: str, time_words: str = "", remedy: str = "") -> None:
        self._verdict = self._verdict or (
            f"{self._endpoint} failed {failures} times in a row{time_words}, without one answer in between; the last "
            f"was {last}. {to_go_on(kind, remedy)}"
        )
        self.check()
