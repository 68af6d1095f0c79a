"""The circuit breaker of an endpoint: ends a job whose requests all fail, with a remedy by kind of failure."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass

from dialeval.errors import UserError

FAILURES_IN_A_ROW = 10
"""Failures without an answer in between after which an endpoint can be dead."""
FINAL_KINDS = frozenset({"authentication", "quota", "not_found", "parameter"})
"""Failures that stay, however long a job waits."""
MALFORMED = "malformed"
"""Answers with status 200 that are not those of an OpenAI-compatible endpoint, such as a login page."""
RECOVERABLE_KINDS = frozenset({"connection", "timeout", "server", MALFORMED})
"""Failures of an endpoint, or of a proxy before it, that may recover within `patience` seconds."""
UNREACHABLE = "connection"
FIRST_PATIENCE = 1 / 3
"""Part of `patience` for an endpoint that cannot be reached and has not answered in this job."""
TOO_MANY = "rate_limit"
"""The kind of refusals with status 429."""
REMEDIES = {
    "authentication": "set the variable that `api_key_env` names to a valid key of this endpoint",
    "not_found": "check that the endpoint has the `model`, and that `base_url` is right (most end with /v1)",
    "connection": "check that the endpoint is running and `base_url` is right, or raise `patience_seconds` if it "
    "starts slowly",
    "malformed": "check that `base_url` is the address of an OpenAI-compatible endpoint, not of a login page or proxy",
    "parameter": "set the named field of the model, or remove it",
    "server": "read the endpoint's own log; if the endpoint is overloaded, lower `concurrency`",
    "timeout": "raise `timeout_seconds`, or lower `concurrency`",
    "rate_limit": "lower `concurrency`, or set `requests_per_minute` or `tokens_per_minute`, which limit each job",
    "quota": "add credit to your account with this provider, or raise its limit",
}
"""Remedies by kind of failure, in fields of the model."""


def resume_advice(kind: str, remedy: str = "") -> str:
    """Return the end of the message of a job that stops early, with a remedy or else that of the kind of failure."""
    remedy = remedy or REMEDIES.get(kind, "fix this")
    return (
        f"DialEval sends no more requests; all responses are stored.\nTo resume, {remedy}, and run the same command "
        "again."
    )


def loop_time() -> float:
    """Return the time in seconds on the clock of the running event loop."""
    return asyncio.get_running_loop().time()


class EndpointDead(UserError):
    """The endpoint answers no request of this run at present."""


class CircuitBreaker:
    """Raises `EndpointDead` when an endpoint answers no request; `has_answered` after its first answer.

    Args:
        patience: seconds of recoverable failures without an answer in between.
        longest_refusal: seconds of refusals with status 429, of different requests.
        longest_answer: the same while the endpoint works on another request.
    """

    def __init__(
        self,
        endpoint: str,
        *,
        patience: float,
        longest_refusal: float = math.inf,
        longest_answer: float = 0.0,
    ) -> None:
        self._endpoint = endpoint
        self._patience = patience
        self._longest_refusal = longest_refusal
        self._longest_answer = longest_answer
        self._final, self._recoverable, self._not_openai, self._too_many = _Row(), _Row(), _Row(), _Row()
        self._different = 0  # refused requests
        self._last_refusal = ""
        self.has_answered = False
        self._verdict: str | None = None

    def check(self) -> None:
        """Raise EndpointDead if the endpoint was found dead."""
        if self._verdict is not None:
            raise EndpointDead(self._verdict)

    def answered(self) -> None:
        """Count an answer."""
        self.has_answered = True
        for row in (self._final, self._recoverable, self._not_openai, self._too_many):
            row.number = 0
        self._different = 0

    def failed(
        self, kind: str, message: str, *, again: bool = False, is_working: Callable[[], bool] = lambda: False
    ) -> None:
        """Count a failed attempt; raises EndpointDead if it was one too many.

        Args:
            again: whether the request was sent before; a few that are always refused end by themselves.
            is_working: returns whether the endpoint seems to work on another request.
        """
        now = loop_time()
        words = f"{kind}: {message}"
        if kind in FINAL_KINDS:
            self._final.add(now)
            if self._final.number >= FAILURES_IN_A_ROW:
                self._stop(kind, self._final.number, words)
        elif kind in RECOVERABLE_KINDS:
            self._not_openai.number = self._not_openai.number + 1 if kind == MALFORMED else 0
            seconds = self._recoverable.add(now)
            patience = self._patience
            if kind == UNREACHABLE and not self.has_answered:
                patience *= FIRST_PATIENCE
            never_openai = self._not_openai.number >= FAILURES_IN_A_ROW and not self.has_answered
            if never_openai or (self._recoverable.number >= FAILURES_IN_A_ROW and seconds >= patience):
                self._stop(kind, self._recoverable.number, words, f" for {seconds:.0f} s")
        else:
            self._recoverable.number = self._not_openai.number = 0  # an endpoint that refuses is alive
            if kind == TOO_MANY:
                self._too_many.add(now)
                self._last_refusal = words
                self._different += not again
                if self._different >= FAILURES_IN_A_ROW:
                    self._refused_until(now, is_working)
            else:
                self._too_many.number = self._different = 0

    def refuses_until(self, moment: float, is_working: Callable[[], bool]) -> None:
        """Raise EndpointDead if an endpoint refuses all requests for too long, until a moment on the clock."""
        if moment - loop_time() > self._longest_refusal:
            self._refused_until(moment, is_working)

    @property
    def patient_until(self) -> float:
        """The moment, on the clock, until which refusals do not end the job."""
        return (self._too_many.since if self._too_many.number else loop_time()) + self._longest_refusal

    @property
    def n_failures(self) -> int:
        """Number of attempts in a row that failed without an answer or a refusal."""
        return self._recoverable.number

    def _stop(self, kind: str, failures: int, last: str, time_words: str = "", remedy: str = "") -> None:
        self._verdict = self._verdict or (
            f"{self._endpoint} failed {failures} times in a row{time_words}, with no response in between; the last "
            f"failure was {last}. {resume_advice(kind, remedy)}"
        )
        self.check()

    def _refused_until(self, moment: float, is_working: Callable[[], bool]) -> None:
        seconds = moment - self._too_many.since if self._too_many.number else -math.inf
        if seconds >= self._longest_refusal and (seconds >= self._longest_answer or not is_working()):
            remedy = "wait until the endpoint accepts requests, or raise max_total_seconds"
            self._stop(TOO_MANY, self._too_many.number, self._last_refusal, f" for {seconds:.0f} s", remedy)


@dataclass
class _Row:
    """Number of failures of a kind without an answer in between, and the time of the first."""

    number: int = 0
    since: float = 0.0

    def add(self, now: float) -> float:
        """Add a failure and return the seconds since the first."""
        self.since = self.since if self.number else now
        self.number += 1
        return now - self.since
