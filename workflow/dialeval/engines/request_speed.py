"""The speed of requests to an endpoint, as its headers announce it or as its refusals with status 429 show it.

`AnnouncedLimit` follows the remaining units of a limit and their growth, whatever the window of the limit is: requests
are fast while much remains, and go at the speed of the growth near the end. Other users of the limit show in what
remains.

`Throttle` learns from refusals, which have three causes:

- The account is over its limit: nearly all requests are refused. All requests wait as long as the endpoint asks, and
  go on at the speed of the accepted ones.
- The speed is a little too high: some requests are refused, and none at a lower speed. The speed stays lower and grows
  with accepted requests.
- Refusals are random, or come from other users' load: a lower speed changes nothing. Only refused requests wait.

An experiment separates the last two: the share of refused requests is counted, and counted again at a speed at which
a limit would refuse none.
"""

from __future__ import annotations

import math
import re
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from dialeval.engines.circuit_breaker import loop_time

_MINUTE = 60.0
_RESERVE = 0.1
"""The share of a limit below which requests are slower than its growth."""
_FASTEST_USE = 5.0
"""Fewest seconds in which the units beyond the reserve may be used, except for limits of some seconds."""
_FORGOTTEN_IN, _LEAST_MEASURED = 120.0, 10.0
"""Seconds over which growth is measured."""
_SHORTEST_PROBE, _LONGEST_WAIT = 10.0, 120.0
"""Bounds of the seconds after which a request is sent in any case; between them the time in which its units grow."""
_LONGEST_WINDOW = 600.0
"""Longest window of a limit that gives a speed; a limit per day gives none."""
_CONTRADICTIONS = 10
"""Requests in a row that an endpoint accepts although it announces that nothing, or an unchanged number, remains; then
its announcements are ignored."""
_CHANCE = 3
"""Equal readings in a row that can be chance, where others use the growth."""
_SLOWER, _FASTER, _MOST_SHARERS = 2.0, 0.9, 64.0
"""Factors of the estimated number of users that share the growth: after a refusal with nothing left, after an accepted
request, and the largest number."""
_MUCH_GROWTH = 0.05
"""The share of a limit that should have grown before an unchanged number counts as outdated (cached by a proxy)."""


class Reading(NamedTuple):
    """The limit that an endpoint announces with an answer.

    Attributes:
        limit: the largest number of units.
        remaining: units that remain.
        full_in: seconds until all units are back; None if not announced.
    """

    limit: float
    remaining: float
    full_in: float | None


class Sent(NamedTuple):
    """A request's place in the use of a limit.

    Attributes:
        at: the loop's time of sending.
        used: units that this job has used, this request included.
    """

    at: float
    used: float


class AnnouncedLimit:
    """One limit of an endpoint, of requests or of tokens, as its answers announce it; `known` once announced."""

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
        """Return the seconds that units take at the present speed."""
        if not self.known:
            return 0.0
        now = loop_time()
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
        """Count units that are being used."""
        self._used += units
        return Sent(loop_time(), self._used)

    def update(self, reading: Reading, sent: Sent, *, accepted: bool) -> None:
        """Update the speed by the limit in a response's headers, for an accepted or refused request."""
        if not (1 <= reading.limit < math.inf and 0 <= reading.remaining < reading.limit):
            return  # all of it is left: nothing to keep, or a number that counts nothing
        if accepted:
            self._sharers = max(1.0, _FASTER * self._sharers)
        elif reading.remaining < 1 and sent.at > self._found_shared_at:  # others use what grows
            self._sharers = min(_SLOWER * self._sharers, _MOST_SHARERS)
            self._found_shared_at = loop_time()
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
        self._full_at = loop_time() + (full_in or missing / self._growth)
        self.known = max(self._contradictions, self._unmoved) < _CONTRADICTIONS

    def _expected(self, now: float) -> float:
        """Return the remaining units, with all requests in flight counted as used."""
        grown = self._growth * (now - self._read_at)
        return min(self._limit, self._remaining + grown - (self._used - self._used_then))

    def _is_old(self, reading: Reading, sent: Sent, accepted: bool) -> bool:
        """Return whether a reading equals the one before although much more should have grown than was used."""
        if not accepted or (reading.limit, reading.remaining) != (self._limit, self._remaining):
            self._same_since = sent
            return False
        grown = self._growth * (sent.at - self._same_since.at) - (sent.used - self._same_since.used)
        return self._unmoved > _CHANCE or grown > _MUCH_GROWTH * self._limit

    def _measure(self, reading: Reading, sent: Sent) -> None:
        """Add the growth since the last reading, less others' use: a lower bound of the limit."""
        seconds = sent.at - self._read_at
        less = math.exp(-seconds / _FORGOTTEN_IN)
        grown = reading.remaining - self._remaining + sent.used - self._used_then
        self._grown, self._seconds_measured = less * self._grown + grown, less * self._seconds_measured + seconds


# Limits in the headers of answers, in the spellings of providers.

_SPAN = re.compile(r"(\d+(?:\.\d+)?)(ms|us|µs|ns|[dhms])")
_SECONDS = {"d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_YEARS = 3e8
"""A larger number of seconds is a time since 1970; 1000 times as large, one in milliseconds."""


def announced(headers: Mapping[str, str], kind: str) -> Reading | None:
    """Return the limit of `requests` or `tokens` (`kind`) that headers announce; None if none is readable."""
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
    """Return seconds from now: of `1s`, `6m0s`, `20ms`, a number of seconds, or a moment."""
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


# The speed that an endpoint accepts, learned from its refusals.

IN_A_ROW, IN_A_ROW_PER_PLACE, MOST_IN_A_ROW = 5, 1 / 32, 15
"""Refusals in a row after which the account is over its limit: more with many requests in flight, up to a maximum."""
ENOUGH_TRIES = 40
"""Attempts, over at least `ENOUGH_SECONDS`, from which the share of refusals is estimated."""
ENOUGH_SECONDS = 1.0
PLENTY = 20
"""Refusals from which it is estimated sooner."""
BEARABLE = 0.02
"""A share of refusals that calls for no new experiment."""
DOUBT_TRIES, DOUBT_SECONDS = 500, 30.0
"""Attempts and seconds after which refusals that seemed random are tested again."""
_LESS = 0.96
"""The new speed as a share of the accepted one."""
_GROWTH = 0.0003
"""Growth of the speed with an accepted request; twice that after 200, three times after 400."""
_LEAST_CUT, _DEEPEST_CUT = 0.75, 4.0
_IDLE = 1.0
"""Idle seconds, beyond those between two requests, after which accepted requests are counted anew."""
_FAST_GROWTH = 0.0015
"""The same after a pause of all requests, until the next refusal: the limit is unknown then."""
_SLOWEST = 0.2
_CALM, _CALM_SECONDS, _FAR_BELOW = 20, 5.0, 8.0
"""Accepted requests in a row, over so many seconds, after which the speed doubles if it is so many times below one that
was too fast: the cause of the refusals, such as a server that was down, is over."""
_MUCH, _SOME, _EXPERIMENTS = 0.2, 3, 3
_MOST_NOISE = 0.5


@dataclass(slots=True)
class Count:
    """Sent and refused requests of a span of time, in the loop's time.

    Attributes:
        cut_from: the speed before an experiment, None for no experiment.
        before: the share that was refused before the experiment.
        number: of experiments in a row.
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
        """The share of refused requests."""
        return self.refused / self.sent

    @property
    def speed(self) -> float:
        """Sent requests per second."""
        return self.sent / max(self.closed_at - self.since, 1e-3)


@dataclass(slots=True)
class Attempt:
    """One request in flight: its number, from 0, the loop's time of sending, and the span in which it is counted."""

    number: int
    sent_at: float
    count: Count | None


class Throttle:
    """Learns a speed, in requests per second, from refusals; without any it is infinite.

    Args:
        in_flight: most requests at once.
    """

    def __init__(self, in_flight: int) -> None:
        self.speed = math.inf
        self._enough = min(IN_A_ROW + IN_A_ROW_PER_PLACE * in_flight, MOST_IN_A_ROW)
        self._sent = self._refused = 0
        self._count: Count | None = None
        self._noise = 0.0  # the share that is refused at any speed
        self._found_at, self._found_number = -math.inf, 0
        self._calm, self._growth = 0, _GROWTH
        self._taken_in_a_row, self._calm_since = 0, -math.inf
        self._too_fast, self._doubled = 0.0, False
        self._last_refused: deque[int] = deque(maxlen=round(self._enough * (1 + 4 * _MOST_NOISE)))
        self._slowest_refusal = 0.0
        self._sent_then, self._over_number, self._over_again = 0, -1, False
        self._resumed_at = self._last_sent_at = -math.inf

    def seconds(self, units: float) -> float:
        """Return the seconds that requests take."""
        return units / self.speed

    def refusals_take(self) -> float:
        """Return the seconds within which a refusal comes."""
        return 1.0 + 2.0 * self._slowest_refusal

    def sent(self) -> Attempt:
        """Count a request that is being sent."""
        now = loop_time()
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
        """Count an accepted request."""
        if self._over_again and one.number > self._over_number:
            self._over_again = False
            self._last_refused.clear()
        if one.number > self._over_number:
            self._taken_in_a_row += 1
            if self._taken_in_a_row >= _CALM:
                self._speed_up_in_a_calm()

    def refused(self, one: Attempt, pause: float) -> bool:
        """Count a refused request and return whether all requests must wait; `pause`: the endpoint's seconds."""
        now = loop_time()
        self._slowest_refusal = max(0.9 * self._slowest_refusal, min(now - one.sent_at, 5.0))
        if one.number <= self._over_number:  # sent before the account was over its limit
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
        """Set the speed by the share of refusals, once enough attempts have ended."""
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
        elif not noise and math.isfinite(self.speed):  # no refusal but the one that began the count
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
        now = loop_time()
        if now - self._calm_since >= _CALM_SECONDS:
            self._taken_in_a_row, self._calm_since = 0, now
            self._doubled = self.speed < self._too_fast / _FAR_BELOW
            if self._doubled:
                self.speed, self._count = 2 * self.speed, None

    def _nearly_all_refused(self) -> bool:
        noise = self._noise
        if self._count is not None and self._count.cut_from is not None:  # refusals may turn out to be random
            noise = max(noise, min(self._count.before, _MOST_NOISE))
        enough = round(self._enough * (1 + 4 * noise))
        last = list(self._last_refused)[-enough:]
        return len(last) == enough and max(last) - min(last) < (1.5 - noise) * enough

    def _over(self, number: int, now: float, pause: float) -> None:
        """Slow down to the speed of accepted requests from the end of one pause to the end of the next."""
        # later requests have no outcome yet
        sent = max(number + 1 - self._sent_then, self._refused)
        accepted = (sent - self._refused + 1) / max(now + pause - self._resumed_at, 1e-3)
        fastest = min(self.speed, sent / max(now - self._resumed_at, 1e-3))
        before, cut_from = self._refused / sent, self.speed
        if self._count is not None and self._count.cut_from is not None:
            # a refusal right after the pause shows little about the share
            before = max(before if sent > self._refused else 0.0, self._count.before)
            cut_from = self._count.cut_from
        if math.isinf(self.speed):
            self._too_fast = fastest
        if sent > self._refused:  # without an accepted request no speed would have helped
            self.speed = max(min(_LESS * accepted, _LEAST_CUT * fastest), fastest / _DEEPEST_CUT, _SLOWEST)
        self._over_number = self._sent - 1
        self._over_again = not self._noise
        if self._over_again:  # the next refusal before an accepted request begins another pause
            self._last_refused.pop()
            self._last_refused.extend([self._over_number] * (len(self._last_refused) + 1))
        else:
            self._last_refused.clear()
        self._resumed_at = self._last_sent_at = now + pause
        self._sent_then, self._refused = self._sent, 0
        self._calm, self._growth = 0, _FAST_GROWTH
        self._count = Count(now + pause, cut_from=cut_from, before=before)


def _less(speed: float, refused: float) -> float:
    """Return a speed at which a limit that refused such a share would refuse nothing."""
    return max(_LESS * speed * max(1 - refused, 1 / _DEEPEST_CUT), _SLOWEST)
