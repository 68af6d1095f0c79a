"""The speed of requests, as announced in headers or learned from refusals.

Nothing is taken from it but how much is left and how fast that grows, whatever the limit's window is: of a bucket that
fills by and by, what was used grows back in the time that is announced; of a window that ends, all of it comes at once
then. We go fast while much is left, and near its end at the speed at which it grows. Others who share the limit are
seen in what is left: each gets its part.

Refusals have three causes, which are distinguished by the effect of slowing down.

- *The account is over its limit*: nearly all requests are refused. All wait as long as the endpoint asks, and go
  on at the speed at which requests were taken before.
- *A little too fast*: some are refused, and none any more once we are slower. We stay slower, and grow again with every
  request that is taken, the more the longer it goes well; fast, while we are far slower than was ever too fast.
- *At random*, or by a load that is not ours: as many are refused when we are slower. Only who was refused waits.

Which of the last two it is, is found by an experiment: the share that is refused is counted over a while, then again at
a speed at which, were it a limit, nothing would be refused.
"""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

_MINUTE = 60.0
_RESERVE = 0.1
"""The share of a limit below which we go slower than it grows."""
_FASTEST_USE = 5.0
"""Seconds in which what is left beyond the reserve may be used up at most, but for limits of some seconds."""
_FORGOTTEN_IN, _LEAST_MEASURED = 120.0, 10.0
"""Seconds over which growth is measured."""
_SHORTEST_PROBE, _LONGEST_WAIT = 10.0, 120.0
"""Seconds after which one request is tried in any case; or after the time in which it grows back, if that is longer."""
_LONGEST_WINDOW = 600.0
"""Seconds in which a limit comes back at least; one of a day is no speed, and the endpoint says when it is used up."""
_CONTRADICTIONS = 10
"""An endpoint that takes so many requests in a row, and each time says that nothing is left, or the same number that
should long have grown, is not believed."""
_CHANCE = 3
"""So often in a row it may be the same by chance: others use what grows."""
_SLOWER, _FASTER, _MOST_SHARERS = 2.0, 0.9, 64.0
"""What grows is thought to be shared by so many times as many when a request is refused with nothing left, and by fewer
with each that is taken."""
_MUCH_GROWTH = 0.05
"""The share of a limit that should have grown for a number to be an old one, which someone on the way has kept."""


class Reading(NamedTuple):
    """The limit that an endpoint announces with an answer.

    Attributes:
        limit: how much there is at most.
        remaining: how much is left.
        full_in: seconds until all of it is there again; None if this is not announced.
    """

    limit: float
    remaining: float
    full_in: float | None


class Sent(NamedTuple):
    """A request's place in the use of a limit.

    Attributes:
        at: the loop's time of sending.
        used: what we had used till then, this request included.
    """

    at: float
    used: float


class AnnouncedLimit:
    """One limit of an endpoint, of requests or of tokens, as its answers announce it.

    Attributes:
        known: whether there is a limit.
    """

    def __init__(self) -> None:
        self.known = False
        self._limit = math.inf
        self._remaining = math.inf
        self._growth = 0.0
        self._read_at = self._used_then = -math.inf
        self._full_at = math.inf
        self._used = 0.0
        self._grown = self._seconds_measured = 0.0
        self._contradictions = self._unmoved = 0
        self._same_since = Sent(-math.inf, 0.0)
        self._sharers, self._found_shared_at = 1.0, -math.inf

    def seconds(self, units: float) -> float:
        """Returns how long so many units take at the speed of now."""
        if not self.known:
            return 0.0
        now = asyncio.get_running_loop().time()
        left, reserve = self._expected(now), _RESERVE * self._limit
        if left < reserve:
            speed = self._growth / self._sharers * max(left, 0.0) / reserve
        else:
            until_full = max(self._full_at - now, 0.2)
            speed = self._growth + (left - reserve) / min(_FASTEST_USE, until_full / 2)
        longest = min(_LONGEST_WAIT, max(_SHORTEST_PROBE, self._sharers * units / self._growth))
        slow = min(units / speed, longest) if speed > 0 else longest
        return slow * 0.5 ** max(0, self._unmoved - _CHANCE)  # a number that is true moves as soon as we go faster

    def sent(self, units: float) -> Sent:
        """Notes that so many units are being used."""
        self._used += units
        return Sent(asyncio.get_running_loop().time(), self._used)

    def update(self, reading: Reading, sent: Sent, *, accepted: bool) -> None:
        """Notes the limit announced with an answer.

        Args:
            reading: what is announced.
            sent: the request's place.
            accepted: whether the endpoint took the request.
        """
        if not (1 <= reading.limit < math.inf and 0 <= reading.remaining < reading.limit):
            return  # all of it is left: nothing to keep, or a number that counts nothing
        if accepted:
            self._sharers = max(1.0, _FASTER * self._sharers)
        elif reading.remaining < 1 and sent.at > self._found_shared_at:  # others use what grows
            self._sharers = min(_SLOWER * self._sharers, _MOST_SHARERS)
            self._found_shared_at = asyncio.get_running_loop().time()
        if sent.used <= self._used_then:
            return  # an earlier request, whose answer took longer
        self._contradictions = self._contradictions + 1 if accepted and not reading.remaining else 0
        self._unmoved = self._unmoved + 1 if self._is_old(reading, sent, accepted) else 0
        full_in = reading.full_in if reading.full_in and reading.full_in > 0 else None
        if self.known and not self._unmoved:
            self._measure(reading, sent)
        self._limit, self._remaining = reading.limit, reading.remaining
        missing = reading.limit - reading.remaining
        self._growth = missing / full_in if full_in is not None else reading.limit / _MINUTE
        self._growth = max(self._growth, reading.limit / _LONGEST_WINDOW)
        if self._seconds_measured > _LEAST_MEASURED:
            self._growth = max(self._growth, self._grown / self._seconds_measured)
        self._read_at, self._used_then = sent.at, sent.used
        self._full_at = asyncio.get_running_loop().time() + (full_in or missing / self._growth)
        self.known = max(self._contradictions, self._unmoved) < _CONTRADICTIONS

    def _expected(self, now: float) -> float:
        """Returns the remaining units, with all requests in flight counted as used."""
        grown = self._growth * (now - self._read_at)
        return min(self._limit, self._remaining + grown - (self._used - self._used_then))

    def _is_old(self, reading: Reading, sent: Sent, accepted: bool) -> bool:
        """Returns whether a reading is the one before, though much more should have grown than was used."""
        if not accepted or (reading.limit, reading.remaining) != (self._limit, self._remaining):
            self._same_since = sent
            return False
        grown = self._growth * (sent.at - self._same_since.at) - (sent.used - self._same_since.used)
        return self._unmoved > _CHANCE or grown > _MUCH_GROWTH * self._limit

    def _measure(self, reading: Reading, sent: Sent) -> None:
        """Adds the growth since the last reading, without others' use: a lower bound of our limit."""
        seconds = sent.at - self._read_at
        less = math.exp(-seconds / _FORGOTTEN_IN)
        grown = reading.remaining - self._remaining + sent.used - self._used_then
        self._grown, self._seconds_measured = less * self._grown + grown, less * self._seconds_measured + seconds


# What the headers of an answer announce of the endpoint's limits, in the spellings that are in use.

_SPAN = re.compile(r"(\d+(?:\.\d+)?)(ms|us|µs|ns|[dhms])")
_SECONDS = {"d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_YEARS = 3e8
"""A number of seconds from here on is a moment: so many since 1970, or in milliseconds from 1000 times here on."""


def announced(headers: Mapping[str, str], kind: str) -> Reading | None:
    """Returns the announced limit of `requests` or of `tokens`; None if there is none or it is unreadable.

    Args:
        headers: the answer's, found by names in lower case.
        kind: `requests` or `tokens`.
    """
    for remaining, limit, reset in _SPELLINGS[kind]:
        left = _count(headers.get(remaining))
        if left is not None:
            most = _count(headers.get(limit))
            return None if most is None else Reading(most, left, _span(headers.get(reset)))
    return None


def _names(*spellings: str) -> list[tuple[str, ...]]:
    return [tuple(spelling.format(part) for part in ("remaining", "limit", "reset")) for spelling in spellings]


_SPELLINGS = {
    "requests": _names(
        "x-ratelimit-{}-requests",  # OpenAI, Azure, Groq, Together, LiteLLM, ...
        "anthropic-ratelimit-requests-{}",
        "x-ratelimit-{}",
        "ratelimit-{}",
    ),
    "tokens": _names("x-ratelimit-{}-tokens", "anthropic-ratelimit-tokens-{}"),
}


def _count(text: str | None) -> float | None:
    try:
        number = float(text) if text is not None and len(text) < 30 else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _span(text: str | None) -> float | None:
    """Returns seconds from now: of `1s`, `6m0s`, `20ms`, a number of seconds, or a moment."""
    if not text or len(text) > 60:
        return None
    parts = _SPAN.findall(text)
    if parts and "".join(value + unit for value, unit in parts) == text.strip():
        return sum(float(value) * _SECONDS[unit] for value, unit in parts)
    number = _count(text)
    if number is not None:
        moment = number / 1000 if number >= 1000 * _YEARS else number
        return number if number < _YEARS else max(0.0, moment - time.time())
    try:
        return max(0.0, datetime.fromisoformat(text.strip()).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


# The speed that an endpoint accepts, learned from its refusals with status 429.

IN_A_ROW, IN_A_ROW_PER_PLACE, MOST_IN_A_ROW = 5, 1 / 32, 15
"""So many more refused than taken, one after the other, and the account is over its limit; more with many places, of
which so many are refused by chance sooner."""
ENOUGH_TRIES = 40
"""Tries, over at least `ENOUGH_SECONDS`, from which the share of refusals is estimated."""
ENOUGH_SECONDS = 1.0
PLENTY = 20
"""Refused tries from which it is estimated sooner."""
BEARABLE = 0.02
"""A share of refusals that calls for no new experiment."""
DOUBT_TRIES, DOUBT_SECONDS = 500, 30.0
"""After so long, refusals that were found to come at random are looked into again."""
_LESS = 0.96
"""A new speed, of the one that is known to be borne."""
_GROWTH = 0.0003
"""Growth of the speed with a request that is taken; after 200 it is twice that, and so on."""
_LEAST_CUT, _DEEPEST_CUT = 0.75, 4.0
_IDLE = 1.0
"""Seconds without a request, beyond those that the speed asks for, after which taken requests are counted anew."""
_FAST_GROWTH = 0.0015
"""The same after all requests were refused, until one is refused again: the limit is unknown then."""
_SLOWEST = 0.2
_CALM, _CALM_SECONDS, _FAR_BELOW = 20, 5.0, 8.0
"""After so many in a row that are taken, over so many seconds, the speed doubles where it is so many times less than
one that was too fast: what refused requests, such as a server that was down for a while, is over."""
_MUCH, _SOME, _EXPERIMENTS = 0.2, 3, 3
_MOST_NOISE = 0.5


@dataclass(slots=True)
class Count:
    """Counts of accepted and refused requests of a span of time.

    Attributes:
        since: the loop's time of the beginning.
        cut_from: the speed before an experiment, None for no experiment.
        before: the share that was refused before the experiment.
        number: of experiments in a row.
        sent: requests that were sent.
        refused: those of them that were refused.
        closed_at: when counting ended; infinite before.
    """

    since: float
    cut_from: float | None = None
    before: float = 0.0
    number: int = 1
    sent: int = 0
    refused: int = 0
    closed_at: float = math.inf

    @property
    def share(self) -> float:
        """The share that was refused."""
        return self.refused / self.sent

    @property
    def speed(self) -> float:
        """Requests that were sent in a second."""
        return self.sent / max(self.closed_at - self.since, 1e-3)


@dataclass(slots=True)
class Attempt:
    """One request on its way.

    Attributes:
        number: how many were sent before.
        sent_at: the loop's time of sending.
        count: where it is counted.
    """

    number: int
    sent_at: float
    count: Count | None


class Throttle:
    """Learns a speed from refusals; without any, there is no limit.

    Attributes:
        speed: requests a second, infinite where nothing limits it.

    Args:
        in_flight: most requests at once.
    """

    def __init__(self, in_flight: int) -> None:
        self.speed = math.inf
        self._enough = min(IN_A_ROW + IN_A_ROW_PER_PLACE * in_flight, MOST_IN_A_ROW)
        self._sent = self._refused = 0
        self._count: Count | None = None
        self._noise = 0.0  # the share that is refused at whatever speed
        self._found_at, self._found_number = -math.inf, 0
        self._calm, self._growth = 0, _GROWTH
        self._taken_in_a_row, self._calm_since = 0, -math.inf
        self._too_fast, self._doubled = 0.0, False
        self._last_refused: deque[int] = deque(maxlen=round(self._enough * (1 + 4 * _MOST_NOISE)))
        self._slowest_refusal = 0.0
        self._sent_then, self._over_number, self._over_again = 0, -1, False
        self._resumed_at = self._last_sent_at = -math.inf

    def seconds(self, units: float) -> float:
        """Returns how long so many requests take."""
        return units / self.speed

    def refusals_take(self) -> float:
        """Returns for how many seconds a request may be in flight that is about to be refused."""
        return 1.0 + 2.0 * self._slowest_refusal

    def sent(self) -> Attempt:
        """Notes that a request is being sent."""
        now = asyncio.get_running_loop().time()
        if now > self._last_sent_at + max(_IDLE, 3 / self.speed):  # earlier accepted requests do not show the speed
            self._resumed_at, self._sent_then, self._refused = now, self._sent, 0
        self._last_sent_at = now
        count = self._count
        if count is not None and now >= count.closed_at + 1.5 * self._slowest_refusal:
            self._conclude(count, now)
            count = self._count
        if count is None or (self._noise and count.cut_from is None):
            self._grow()
        if count is not None and math.isfinite(count.closed_at):
            count = None
        if count is not None:
            count.sent += 1
            if count.sent >= ENOUGH_TRIES and now - count.since >= ENOUGH_SECONDS:
                count.closed_at = now
        self._sent += 1
        return Attempt(self._sent - 1, now, count)

    def accepted(self, one: Attempt) -> None:
        """Notes that a request was taken."""
        if self._over_again and one.number > self._over_number:
            self._over_again = False
            self._last_refused.clear()
        if one.number > self._over_number:
            self._taken_in_a_row += 1
            if self._taken_in_a_row >= _CALM:
                self._speed_up_in_a_calm()

    def refused(self, one: Attempt, pause: float) -> bool:
        """Notes that a request was refused, and returns whether all requests are to wait.

        Args:
            one: the request.
            pause: seconds that the endpoint asks to wait.
        """
        now = asyncio.get_running_loop().time()
        self._slowest_refusal = max(0.9 * self._slowest_refusal, min(now - one.sent_at, 5.0))
        if one.number <= self._over_number:  # sent before it was known that the account is over its limit
            return True
        self._taken_in_a_row, self._calm_since = 0, now
        if self._doubled and not self._noise:
            self._too_fast, self.speed = self.speed, self.speed / 2
        self._doubled = False
        self._refused += 1
        self._last_refused.append(one.number)
        if self._nearly_all_refused():
            self._over(max(self._last_refused), now, pause)
            return True
        if one.count is not None:
            one.count.refused += 1
            if one.count.refused >= PLENTY and math.isinf(one.count.closed_at):
                one.count.closed_at = now
        elif self._count is None:
            self._count = Count(now)
        return False

    def _conclude(self, count: Count, now: float) -> None:
        """Draws the conclusion from refusals once enough tries have ended."""
        self._count = None
        if count.refused:
            self._growth = _GROWTH
        if count.cut_from is not None:
            self._judge_experiment(count, now)
            return
        noise = self._noise
        expected = noise + 3 * math.sqrt(noise * (1 - noise) / count.sent)
        doubtful = self._sent - self._found_number >= DOUBT_TRIES and now - self._found_at >= DOUBT_SECONDS
        if count.share > expected or (doubtful and count.share > BEARABLE):
            self._count, self._calm = Count(now, cut_from=self.speed, before=count.share), 0
            if math.isinf(self.speed):
                self._too_fast = count.speed
            self.speed = _less(min(self.speed, count.speed), count.share)
        elif not noise and math.isfinite(self.speed):  # none but the one that was the occasion to count
            self.speed *= _LESS
            self._calm = 0

    def _judge_experiment(self, count: Count, now: float) -> None:
        assert count.cut_from is not None
        helped = count.share <= count.before / 2
        again = (helped and count.refused >= _SOME) or count.share > _MUCH
        if again and count.number < _EXPERIMENTS:
            before, cut_from = (count.share, self.speed) if helped else (count.before, count.cut_from)
            self._count = Count(now, cut_from=cut_from, before=before, number=count.number + 1)
            self.speed = _less(self.speed, count.share)
            return
        self._found_at, self._found_number = now, self._sent
        if helped or count.refused < _SOME:
            self._noise = count.share if count.refused >= _SOME else 0.0
        else:
            self._noise = min(_MOST_NOISE, (count.share + count.before) / 2)
            self.speed = count.cut_from

    def _grow(self) -> None:
        if math.isfinite(self.speed):
            self._calm += 1
            self.speed *= 1 + self._growth * (1 + self._calm / 200)

    def _speed_up_in_a_calm(self) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._calm_since >= _CALM_SECONDS:
            self._taken_in_a_row, self._calm_since = 0, now
            self._doubled = self.speed < self._too_fast / _FAR_BELOW
            if self._doubled:
                self.speed, self._count = 2 * self.speed, None

    def _nearly_all_refused(self) -> bool:
        noise = self._noise
        if self._count is not None and self._count.cut_from is not None:  # it may yet be found that they come at random
            noise = max(noise, min(self._count.before, _MOST_NOISE))
        enough = round(self._enough * (1 + 4 * noise))
        last = list(self._last_refused)[-enough:]
        return len(last) == enough and max(last) - min(last) < (1.5 - noise) * enough

    def _over(self, number: int, now: float, pause: float) -> None:
        """Slows down to the speed at which requests were taken from the end of one pause to the end of the next."""
        # of later ones it is not known yet what becomes of them
        sent = max(number + 1 - self._sent_then, self._refused)
        accepted = (sent - self._refused + 1) / max(now + pause - self._resumed_at, 1e-3)
        fastest = min(self.speed, sent / max(now - self._resumed_at, 1e-3))
        before, cut_from = self._refused / sent, self.speed
        if self._count is not None and self._count.cut_from is not None:
            # one that is refused after the pause, before any is taken, says little of the share
            before = max(before if sent > self._refused else 0.0, self._count.before)
            cut_from = self._count.cut_from
        if math.isinf(self.speed):
            self._too_fast = fastest
        if sent > self._refused:  # where nothing was taken, no speed would have helped
            self.speed = max(min(_LESS * accepted, _LEAST_CUT * fastest), fastest / _DEEPEST_CUT, _SLOWEST)
        self._over_number = self._sent - 1
        self._over_again = not self._noise
        if self._over_again:  # one more that is refused after the pause, before one is taken, and it goes on
            self._last_refused.pop()
            self._last_refused.extend([self._over_number] * (len(self._last_refused) + 1))
        else:
            self._last_refused.clear()
        self._resumed_at = self._last_sent_at = now + pause
        self._sent_then, self._refused = self._sent, 0
        self._calm, self._growth = 0, _FAST_GROWTH
        self._count = Count(now + pause, cut_from=cut_from, before=before)


def _less(speed: float, refused: float) -> float:
    """Returns a speed at which nothing would be refused if a limit were why such a share of requests was."""
    return max(_LESS * speed * max(1 - refused, 1 / _DEEPEST_CUT), _SLOWEST)
