"""When an endpoint is given up."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from dialeval.errors import UserError

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
