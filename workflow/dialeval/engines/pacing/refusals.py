"""The speed that an endpoint bears, learned from what it refuses as too many.

Refusals have three meanings, and they are told apart by what slowing down does to them.

- *The account is over its limit*: nearly everything is refused. Everybody waits as long as the endpoint asks, and goes on
  at the speed at which requests were taken before.
- *A little too fast*: some are refused, and none any more once we are slower. We stay slower, and grow again with every
  request that is taken, the more the longer it goes well.
- *At random*, or by a load that is not ours: as many are refused when we are slower. Only who was refused waits.

Which of the last two it is, is found by an experiment: the share that is refused is counted over a while, then again at a
speed at which, were it a limit, nothing would be refused.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass

IN_A_ROW = 5
"""So many more refused than taken, one after the other, and the account is over its limit."""
ENOUGH_TRIES = 40
"""Tries, over at least `ENOUGH_SECONDS`, that tell what share is refused."""
ENOUGH_SECONDS = 1.0
BEARABLE = 0.02
"""A share of refusals that calls for no new experiment."""
DOUBT_TRIES, DOUBT_SECONDS = 500, 30.0
"""After so long, refusals that were found to come at random are looked into again."""
_LESS = 0.96
"""A new speed, of the one that is known to be borne."""
_GROWTH = 0.0005
"""Growth of the speed with a request that is taken; after 200 it is twice that, and so on."""
_DEEPEST_CUT = 8.0
_MOST_NOISE = 0.25


@dataclass(slots=True)
class Try:
    """One request on its way.

    Attributes:
        number: how many were sent before.
        sent_at: the loop's time of sending.
        count: where it is counted.
    """

    number: int
    sent_at: float
    count: Count | None


@dataclass(slots=True)
class Count:
    """What became of the requests that were sent in a while.

    Attributes:
        since: the loop's time of the beginning.
        cut_from: the speed before an experiment, None for no experiment.
        before: the share that was refused before the experiment.
        sent: requests that were sent.
        refused: those of them that were refused.
        closed_at: since when nothing more is counted; infinite for not yet.
    """

    since: float
    cut_from: float | None = None
    before: float = 0.0
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
        return self.sent / (self.closed_at - self.since)


class Throttle:
    """Learns a speed from refusals; without any, there is no limit.

    Attributes:
        speed: requests a second, infinite where nothing limits it.
    """

    def __init__(self) -> None:
        self.speed = math.inf
        self._sent = self._refused = 0
        self._count: Count | None = None
        self._noise = 0.0  # the share that is refused at whatever speed
        self._found_at, self._found_number = -math.inf, 0
        self._calm = 0
        self._row, self._last_refused = 0, -1
        self._slowest_refusal = 0.0
        self._over_at, self._sent_then, self._refused_then, self._over_number = math.nan, 0, 0, -1
        self._resumed_at = math.nan

    def seconds(self, units: float) -> float:
        """Returns how long so many requests take."""
        return units / self.speed

    def sent(self) -> Try:
        """Notes that a request is being sent."""
        now = asyncio.get_running_loop().time()
        if math.isnan(self._over_at):
            self._over_at = self._resumed_at = now
        count = self._count
        if count is not None and now >= count.closed_at + 1.5 * self._slowest_refusal:
            self._conclude(count, now)
            count = self._count
        if count is None:
            self._grow()
        elif math.isinf(count.closed_at):
            count.sent += 1
            if count.sent >= ENOUGH_TRIES and now - count.since >= ENOUGH_SECONDS:
                count.closed_at = now
        else:
            count = None
        self._sent += 1
        return Try(self._sent - 1, now, count)

    def refused(self, one: Try, pause: float) -> bool:
        """Notes that a request was refused, and returns whether everybody is to wait.

        Args:
            one: the request.
            pause: seconds that the endpoint asks to wait.
        """
        now = asyncio.get_running_loop().time()
        self._refused += 1
        self._slowest_refusal = max(0.9 * self._slowest_refusal, min(now - one.sent_at, 5.0))
        if one.number <= self._over_number:  # sent before it was known that the account is over its limit
            return True
        taken_between = one.number - self._last_refused - 1
        self._row = max(0, self._row - taken_between) + 1 if taken_between >= 0 else self._row + 2
        self._last_refused = max(self._last_refused, one.number)
        if self._row >= IN_A_ROW:
            self._over(now, pause)
            return True
        if one.count is not None:
            one.count.refused += 1
        elif self._count is None:
            self._count = Count(now)
        return False

    def _over(self, now: float, pause: float) -> None:
        """Slows down to the speed at which requests were taken since it was the last time over the limit."""
        sent = self._sent - self._sent_then
        taken = (sent - (self._refused - self._refused_then) + 1) / max(now - self._over_at, 1e-3)
        fastest = min(self.speed, sent / max(now - self._resumed_at, 1e-3))
        self.speed = max(_LESS * taken, fastest / _DEEPEST_CUT)
        self._over_at, self._resumed_at, self._over_number = now, now + pause, self._sent - 1
        self._sent_then, self._refused_then = self._sent, self._refused
        self._count, self._calm, self._row = None, 0, IN_A_ROW - 1

    def _conclude(self, count: Count, now: float) -> None:
        """Decides what refusals mean, as soon as there are enough tries that are known."""
        self._count, self._calm = None, 0
        if count.cut_from is not None:
            self._judge_experiment(count, now)
            return
        noise = self._noise
        expected = noise + 2 * math.sqrt(noise * (1 - noise) / count.sent)
        doubtful = self._sent - self._found_number >= DOUBT_TRIES and now - self._found_at >= DOUBT_SECONDS
        speed = min(self.speed, count.speed)
        if count.share > expected or (doubtful and count.share > BEARABLE):
            self._count = Count(now, cut_from=self.speed, before=count.share)
            self.speed = _LESS * (1 - count.share) * speed
        elif not noise and math.isfinite(self.speed):  # none but the one that was the occasion to count
            self.speed = _LESS * speed

    def _judge_experiment(self, count: Count, now: float) -> None:
        self._found_at, self._found_number = now, self._sent
        if count.share <= count.before / 2:
            self._noise = count.share if count.refused > 1 else 0.0
        else:
            assert count.cut_from is not None
            self._noise = min(_MOST_NOISE, (count.share + count.before) / 2)
            self.speed = count.cut_from

    def _grow(self) -> None:
        if math.isfinite(self.speed):
            self._calm += 1
            self.speed *= 1 + _GROWTH * (1 + self._calm / 200)
