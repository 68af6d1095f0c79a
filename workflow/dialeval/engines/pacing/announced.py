"""The speed that an endpoint announces: how much is left of a limit, and when all of it will be there again.

Nothing is taken from it but how much is left and how fast that grows, whatever the limit's window is: of a bucket that
fills by and by, what was used grows back in the time that is announced; of a window that ends, all of it comes at once
then. We go fast while much is left, and near its end at the speed at which it grows. Others who share the limit are
seen in what is left: each gets its part.
"""

from __future__ import annotations

import asyncio
import math
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
    """What an endpoint announces with an answer.

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
        left, reserve = self._left(now), _RESERVE * self._limit
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

    def heard(self, reading: Reading, sent: Sent, *, taken: bool) -> None:
        """Notes what came with an answer.

        Args:
            reading: what is announced.
            sent: the request's place.
            taken: whether the endpoint took the request.
        """
        if not (1 <= reading.limit < math.inf and 0 <= reading.remaining < reading.limit):
            return  # all of it is left: nothing to keep, or a number that counts nothing
        if taken:
            self._sharers = max(1.0, _FASTER * self._sharers)
        elif reading.remaining < 1 and sent.at > self._found_shared_at:  # others use what grows
            self._sharers = min(_SLOWER * self._sharers, _MOST_SHARERS)
            self._found_shared_at = asyncio.get_running_loop().time()
        if sent.used <= self._used_then:
            return  # an earlier request, whose answer took longer
        self._contradictions = self._contradictions + 1 if taken and not reading.remaining else 0
        self._unmoved = self._unmoved + 1 if self._is_old(reading, sent, taken) else 0
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

    def _left(self, now: float) -> float:
        """Returns what should be left, with all that is under way counted as used."""
        grown = self._growth * (now - self._read_at)
        return min(self._limit, self._remaining + grown - (self._used - self._used_then))

    def _is_old(self, reading: Reading, sent: Sent, taken: bool) -> bool:
        """Returns whether a reading is the one before, though much more should have grown than was used."""
        if not taken or (reading.limit, reading.remaining) != (self._limit, self._remaining):
            self._same_since = sent
            return False
        grown = self._growth * (sent.at - self._same_since.at) - (sent.used - self._same_since.used)
        return self._unmoved > _CHANCE or grown > _MUCH_GROWTH * self._limit

    def _measure(self, reading: Reading, sent: Sent) -> None:
        """Adds what grew since the reading before, others' use taken off: no less than that is permitted to us."""
        seconds = sent.at - self._read_at
        less = math.exp(-seconds / _FORGOTTEN_IN)
        grown = reading.remaining - self._remaining + sent.used - self._used_then
        self._grown, self._seconds_measured = less * self._grown + grown, less * self._seconds_measured + seconds
