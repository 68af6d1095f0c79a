"""The speed that an endpoint bears, learned from what it refuses as too many.

Refusals have three meanings, and they are told apart by what slowing down does to them.

- *The account is over its limit*: nearly everything is refused. Everybody waits as long as the endpoint asks, and goes
  on at the speed at which requests were taken before.
- *A little too fast*: some are refused, and none any more once we are slower. We stay slower, and grow again with every
  request that is taken, the more the longer it goes well.
- *At random*, or by a load that is not ours: as many are refused when we are slower. Only who was refused waits.

Which of the last two it is, is found by an experiment: the share that is refused is counted over a while, then again at
a speed at which, were it a limit, nothing would be refused; then at a far slower one, at which nothing would be
refused either if others share the limit and are too fast with us.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from dataclasses import dataclass

NEARLY_ALL = 0.95
"""The share that an account over its limit is refused."""
LEAST_NOISE = 0.25
"""Refusals at random are taken for this share at least, and for half as much again as was found."""
SURE = 9.0
"""An account is over its limit when what came is exp(SURE) times as likely as with refusals at random."""
AGAIN = 1
"""So many refused in a row after a pause, before one is taken, and the account is over its limit still."""
ENOUGH_TRIES = 40
"""Tries, over at least `ENOUGH_SECONDS`, that tell what share is refused."""
ENOUGH_SECONDS = 1.0
PLENTY = 15
"""Refused tries that tell it sooner."""
BEARABLE = 0.02
"""A share of refusals that calls for no new experiment."""
DOUBT_TRIES, DOUBT_SECONDS = 500, 30.0
"""After so long, refusals that were found to come at random are looked into again."""
_LESS = 0.94
"""A new speed, of the one that is known to be borne."""
_GROWTH = 0.0003
"""Growth of the speed with a request that is taken; after 200 it is twice that, and so on."""
_LEAST_CUT, _DEEPEST_CUT = 0.75, 4.0
_CALMEST = 600
"""Taken requests after which it does not grow faster any more."""
_GROWTH_PER_SECOND = 0.002
"""Growth in a second at least, for speeds of a few requests a minute."""
_IDLE = 1.0
"""Seconds without a request, beyond those that the speed asks for, after which taken requests are counted anew."""
_FAST_GROWTH = 0.0015
"""The same after everything was refused, until something is refused again: how much is borne, nobody knows then."""
_SLOWEST = 0.1
SMALL = 0.1
"""The share that may still be refused after everything was, if a limit was why."""
_SOME = 3
MOST_NOISE = 0.8
"""A larger share is never taken for refusals at random."""
_DOUBT_KEPT = 0.35
"""By so much each further time that nearly all is refused speaks less for a limit, until an experiment has told."""
_LAST = 100
"""Refused tries that the evidence is made of."""


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
        before: the share that was refused before the experiment, None if nearly all was.
        borne: the speed that should be borne if the experiment helps.
        number: of experiments in a row.
        sent: requests that were sent.
        refused: those of them that were refused.
        closed_at: since when nothing more is counted; infinite for not yet.
    """

    since: float
    cut_from: float | None = None
    before: float | None = None
    borne: float = 0.0
    number: int = 1
    sent: int = 0
    refused: int = 0
    closed_at: float = math.inf

    @property
    def enough(self) -> float:
        """Tries that tell: so many that by chance half as many as before are hardly ever refused."""
        return min(max(ENOUGH_TRIES, 15 / self.before), 200) if self.before else ENOUGH_TRIES

    @property
    def share(self) -> float:
        """The share that was refused."""
        return self.refused / self.sent

    @property
    def speed(self) -> float:
        """Requests that were sent in a second."""
        return self.sent / max(self.closed_at - self.since, 1e-3)


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
        self._calm, self._growth = 0, _GROWTH
        self._last_refused: deque[int] = deque(maxlen=_LAST)
        self._overs = 0
        self._slowest_refusal = 0.0
        self._sent_then, self._over_number, self._over_again = 0, -1, False
        self._resumed_at = self._last_sent_at = -math.inf

    def seconds(self, units: float) -> float:
        """Returns how long so many requests take."""
        return units / self.speed

    def sent(self) -> Try:
        """Notes that a request is being sent."""
        now = asyncio.get_running_loop().time()
        if now > self._last_sent_at + max(_IDLE, 3 / self.speed):  # what was taken before tells nothing of the speed
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
            if count.sent >= count.enough and now - count.since >= ENOUGH_SECONDS:
                count.closed_at = now
        self._sent += 1
        return Try(self._sent - 1, now, count)

    def taken(self, one: Try) -> None:
        """Notes that a request was taken."""
        if self._over_again and one.number > self._over_number:
            self._over_again = False
            self._last_refused.clear()

    def refused(self, one: Try, pause: float) -> bool:
        """Notes that a request was refused, and returns whether everybody is to wait.

        Args:
            one: the request.
            pause: seconds that the endpoint asks to wait.
        """
        now = asyncio.get_running_loop().time()
        self._slowest_refusal = max(0.9 * self._slowest_refusal, min(now - one.sent_at, 5.0))
        if one.number <= self._over_number:  # sent before it was known that the account is over its limit
            return True
        self._refused += 1
        self._last_refused.append(one.number)
        if self._nearly_all_refused():
            self._over(now, pause)
            return True
        if one.count is not None:
            one.count.refused += 1
            if one.count.refused >= PLENTY and math.isinf(one.count.closed_at):
                one.count.closed_at = now
        elif self._count is None:
            if not self._noise:
                self.speed, self._calm = self.speed * _LESS, 0
            self._count = Count(now)
        return False

    def _nearly_all_refused(self) -> bool:
        """Sums up the evidence (a CUSUM) over the last that were refused; tries between them count as taken."""
        refused, taken = self._weights()
        evidence, before = SURE - (AGAIN - 0.5) * refused if self._over_again else 0.0, self._over_number
        for number in sorted(self._last_refused):
            evidence = max(0.0, evidence - (number - before - 1) * taken) + refused
            if evidence >= SURE:
                return True
            before = number
        return False

    def _weights(self) -> tuple[float, float]:
        """Returns how much a refusal speaks for an account over its limit, and how much a taken request against it."""
        at_random = min(
            max(1 - (1 - LEAST_NOISE) * _DOUBT_KEPT ** max(self._overs - 1, 0), 1.5 * self._noise), MOST_NOISE
        )
        return math.log(NEARLY_ALL / at_random), math.log((1 - at_random) / (1 - NEARLY_ALL))

    def _over(self, now: float, pause: float) -> None:
        """Slows down to the speed at which requests were taken from the end of one pause to the end of the next."""
        # of later ones it is not known yet what becomes of them
        sent = max(max(self._last_refused) + 1 - self._sent_then, self._refused)
        taken = (sent - self._refused + 1) / max(now + pause - self._resumed_at, 1e-3)
        fastest = min(self.speed, sent / max(now - self._resumed_at, 1e-3))
        before: float | None = None
        cut_from = self.speed
        if self._count is not None and self._count.cut_from is not None:
            before, cut_from = self._count.before, self._count.cut_from
        if sent > self._refused:  # where nothing was taken, no speed would have helped
            self.speed = max(min(_LESS * taken, _LEAST_CUT * fastest), fastest / _DEEPEST_CUT, _SLOWEST)
        self._over_number = self._sent - 1
        self._overs += 1
        self._over_again = True
        self._last_refused.clear()
        self._resumed_at = self._last_sent_at = now + pause
        self._sent_then, self._refused = self._sent, 0
        self._calm, self._growth = 0, _FAST_GROWTH
        self._count = Count(now + pause, cut_from=cut_from, before=before)

    def _conclude(self, count: Count, now: float) -> None:
        """Decides what refusals mean, as soon as there are enough tries that are known."""
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
            self._calm = 0
            self._experiment(count, self.speed, 1, now)
        elif count.share > noise:
            self._calm = 0

    def _experiment(self, count: Count, cut_from: float, number: int, now: float) -> None:
        """Goes on so slowly for a while that hardly anything is refused if a limit was why."""
        tried = min(self.speed, count.speed)
        borne = max(_LESS * tried * max(1 - count.share, 1 / _DEEPEST_CUT), _SLOWEST)
        deep = max(tried * max(1 - 3 * count.share, 1 / _DEEPEST_CUT), _SLOWEST)
        self.speed = borne if number == 1 else min(borne, deep)
        self._count = Count(now, cut_from=cut_from, before=count.share, borne=borne, number=number)

    def _judge_experiment(self, count: Count, now: float) -> None:
        assert count.cut_from is not None
        helped = count.share <= (SMALL if count.before is None else count.before / 2)
        if helped:
            self._overs = 0
        if helped and (count.refused < _SOME or count.share <= BEARABLE):
            self._found_at, self._found_number, self._noise = now, self._sent, 0.0
            self.speed = max(self.speed, count.borne)
        elif helped or count.number == 1 or max(count.before or 0.0, count.share) > MOST_NOISE:
            self._experiment(count, self.speed if helped else count.cut_from, count.number + 1, now)
        else:
            self._found_at, self._found_number, self._overs = now, self._sent, 0
            self._noise = count.share
            self.speed = count.cut_from

    def _grow(self) -> None:
        if math.isfinite(self.speed):
            self._calm += 1
            growth = max(self._growth, _GROWTH_PER_SECOND / self.speed)
            self.speed *= 1 + growth * (1 + min(self._calm, _CALMEST) / 200)
