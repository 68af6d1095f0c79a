"""Stops a job early whose requests all fail or cannot be parsed, and records the reason.

Until the first useful response, no more requests are in flight than may be useless before the job stops. A stop also
holds for the other jobs of the run; one for billed responses that cannot be stored, such as those without label
probabilities, holds for later runs, too. Stops are recorded in `stops.jsonl` in the model's folder of the store.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import json
import os
import re
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dialeval.engines.circuit_breaker import FINAL_KINDS, EndpointDead, resume_advice
from dialeval.engines.requests import AnswerFailure, Request, Response
from dialeval.errors import UserError
from dialeval.jobs.lifecycle import run_id

FILE = "stops.jsonl"
MOST_ALIKE = 20
"""Equal refusals, without a response before or between them, after which no more requests are sent."""
MOST_BILLED = 10
"""Billed responses that cannot be stored, without one that can, after which no more requests are sent."""
MOST_UNPARSED = 20
_ALIKE = "bad_request"
"""The kind of refusals of one request or of all; `circuit_breaker` counts those of an endpoint."""
_UNSUPPORTED = "unsupported"
_BILLED = frozenset({_UNSUPPORTED, "empty", "impossible"})
_OF_ALL = ("choice", "loglikelihood", "chat")
"""Kinds of requests: an endpoint supports all requests of a kind or none."""
_TESTED_ONCE = ("choice", "loglikelihood")
"""Kinds that an endpoint may lack: one job at a time tests it."""
_UNREACHABLE = frozenset({"connection", "server"})
"""Failures that may pass, except those marked otherwise, such as a wrong certificate."""
_POLL_SECONDS = 0.05
_READ_AGAIN = 0.5
"""Seconds between two reads of other jobs' stops."""
_NUMBERED = re.compile(r"(?=\S*\d)[\w-]{8,}")
"""Parts in which equal refusals may differ: request ids and times."""
_REMEDIES = {
    "choice": "the endpoint returns no probabilities of answer options: set another `label_logprobs` of the "
    "model (`vllm` for a vLLM server), or use a protocol of form `scale` instead of `probability` (DialogBench: "
    "`letter` instead of `choice`)",
    "loglikelihood": "the endpoint cannot score a given text: set `prompt_logprobs` (vLLM servers only), or examine "
    "this model by `letter` or `choice` instead of `perplexity`",
    "chat": "ask another model",
    "empty": "raise `max_tokens` if the model reasons before it answers, or choose another model",
    "impossible": "the endpoint returns invalid numbers; check the endpoint, or use another protocol for this model",
}
_UNPARSED = {
    "unparsed": "change the protocol's template, or set `answers` (structured, or free if the endpoint ignores "
    "`response_format`)",
    "truncated": "raise the protocol's `max_tokens`, or lower the model's reasoning",
    "refused": "choose another judge, or change the protocol's template",
    "low_mass": "the model writes other text first, often reasoning: turn that off, or use a protocol of form `scale`",
    "choice": "too few answer options are among the most probable tokens: raise the model's `top_logprobs`, set "
    "`label_logprobs: vllm` for a vLLM server, or use a protocol of form `scale`",
    "structured": "the endpoint ignores `response_format`: set `answers: free` of the protocol, or change its template",
}


@dataclass(frozen=True)
class Parsing:
    """How a job checks whether responses can be parsed.

    Attributes:
        status_of: returns the status of a parsed response, `ok` if any part could be parsed; empty if unknown.
        most_unparsed: largest number of unparsed responses before the first parsed one.
        retry: returns the retry of a request with an unparsed response; None if there is none.
    """

    status_of: Callable[[Request, Response], str]
    most_unparsed: int = MOST_UNPARSED
    retry: Callable[[Request, Response], Request | None] | None = None


class EarlyStop:
    """Counts the useless responses of one job until the first useful one.

    Args:
        settings: digest of the model's settings; recorded stops hold while it stays the same.
    """

    def __init__(self, model_folder: Path, name: str, protocol: str, settings: str = "") -> None:
        self.parsing: Parsing | None = None
        self._file = model_folder / FILE
        self._name, self._about, self._settings = name, f"{name} under {protocol}", settings
        self._run = run_id()
        self._known: list[dict[str, str | list[str]]] = []
        self._size, self._read_at = -1, 0.0
        self._useful = self._answered = self._alike_over = False
        self._words, self._n_refused = "", 0
        self._in_flight, self._may_fail = 0, 0.0
        self._waiting: deque[object] = deque()
        self._first: int | None = None
        self._billed: dict[str, str] = {}
        self._billed_kind = ""
        self._statuses: Counter[str] = Counter()
        self._example = ""
        self._unparsed_advice = ""

    async def enter(self, request: Request, key: str, may_fail: float) -> None:
        """Take a place for a request; waits while the requests in flight may stop the job.

        Args:
            may_fail: how many requests of the job may fail.

        Raises:
            UserError: all requests were useless, here or in another job.
        """
        self.check_known(request, key)
        self._may_fail = may_fail
        turn = object()
        self._waiting.append(turn)  # in order: a later run then finds the responses to its first requests
        try:
            while not self._useful and (
                self._waiting[0] is not turn or self._waits(may_fail) or not self._is_first(request)
            ):
                await asyncio.sleep(_POLL_SECONDS)
                self.check_known(request, key)
            while self._waits(may_fail):  # there is a useful response, and equal refusals are still counted
                await asyncio.sleep(_POLL_SECONDS)
            self.check(may_fail)
            self._in_flight += 1
        finally:
            self._waiting.remove(turn)
            if not self._in_flight:
                self._release_first()

    def leave(self) -> None:
        """Give the place back."""
        self._in_flight -= 1
        if not self._in_flight or self._useful:
            if not self._useful and len(self._billed) >= self._max_billed(self._may_fail):
                self._billed_message()  # recorded before another job makes the same test
            self._release_first()

    def read(self, request: Request, response: Response) -> Request | None:
        """Count a response, new or stored; returns the retry that decides whether it is useful, or None."""
        if self._useful:
            return None
        status = self.parsing.status_of(request, response) if self.parsing else "ok"
        if status == "ok":
            self._useful = True
            self._statuses.clear()
            self._release_first()
        if status in ("", "ok"):
            return None
        if status == "unparsed" and self.parsing and self.parsing.retry:
            retry = self.parsing.retry(request, response)
            if retry is not None:
                return retry
        self._statuses[status] += 1
        self._example = self._example or " ".join(response.text.split())
        kind = "structured" if request.answer_schema else request.kind
        self._unparsed_advice = kind if status == "unparsed" and kind in _UNPARSED else ""
        return None

    def answered(self) -> None:
        """Count any response of the model."""
        self._answered = self._alike_over = True

    def failed(self, request: Request, key: str, failure: AnswerFailure) -> None:
        """Count a failed request.

        Raises:
            EndpointDead: no request can be answered.
        """
        kind, words = failure.kind, str(failure)
        alike = _NUMBERED.sub("", words)
        self._alike_over = self._alike_over or kind != _ALIKE or alike != _NUMBERED.sub("", self._words or words)
        self._words = words
        self._n_refused += 1
        lost = kind in FINAL_KINDS - {"parameter"} or (kind in _UNREACHABLE and not getattr(failure, "passing", True))
        if lost and not self._answered:
            raise EndpointDead(f"model {self._name}: the first request failed: {kind}: {words}. {resume_advice(kind)}")
        if kind in _BILLED:
            self._billed[key] = f"{kind}: {words}"
            self._billed_kind = request.kind if kind == _UNSUPPORTED else kind

    def check(self, may_fail: float = 0.0) -> None:
        """Raise UserError if all requests of this job were useless."""
        if self._room(may_fail) > 0:
            return
        self.check_parsed()
        if len(self._billed) >= self._max_billed(may_fail):
            raise UserError(self._billed_message())
        raise UserError(
            f"{self._about}: the endpoint refused the first {self._n_refused} requests with the same message, so "
            f"the job stopped: {self._words}; check `model`, the key, `base_url` and the fields that are sent. Then "
            f"run the "
            "same command again"
        )

    def check_parsed(self) -> None:
        """Raise UserError if too many responses could not be parsed, and none could."""
        if self.parsing and sum(self._statuses.values()) >= self.parsing.most_unparsed:
            raise UserError(self._remember(self._unparsed_message(), run=self._run, about=self._about))

    def announce(self, dead: EndpointDead) -> None:
        """Inform the other jobs of the run that the endpoint is dead."""
        if self._run:
            self._remember(str(dead), run=self._run, dead="yes")

    def check_known(self, request: Request, key: str) -> None:
        """Raise UserError if a known stop covers a request."""
        for known in self._known_stops():
            if known.get("run", self._run) != self._run or known.get("settings", self._settings) != self._settings:
                continue
            if known.get("about", self._about) != self._about or known.get("kind", request.kind) != request.kind:
                continue
            if not known.get("keys") or key in known["keys"]:
                raise (EndpointDead if "dead" in known else UserError)(str(known["words"]))

    def _waits(self, may_fail: float) -> bool:
        """Return whether requests in flight may stop the job."""
        return self._in_flight > 0 and self._room(may_fail) <= 0

    def _room(self, may_fail: float) -> float:
        """Return the number of further requests that may be in flight."""
        room = float("inf")
        if not self._useful:
            room = self._max_billed(may_fail) - len(self._billed)
            if self.parsing:
                room = min(room, self.parsing.most_unparsed - sum(self._statuses.values()))
        if not self._alike_over and self._n_refused > may_fail:
            room = min(room, MOST_ALIKE - self._n_refused)
        return room - self._in_flight

    def _max_billed(self, may_fail: float) -> float:
        """Return the largest number of billed responses that cannot be stored."""
        return MOST_BILLED if self._billed_kind in ("", *_OF_ALL) else max(MOST_BILLED, may_fail + 1)

    def _is_first(self, request: Request) -> bool:
        """Return whether this job may test whether the endpoint supports a kind of request: one job at a time."""
        if self._useful or self._first is not None or request.kind not in _TESTED_ONCE:
            return True
        try:
            place = os.open(self._file.parent, os.O_RDONLY)
        except OSError:
            return True
        try:
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(place)
            return error.errno not in (errno.EAGAIN, errno.EACCES)  # a file system without locks
        self._first, self._read_at = place, 0.0
        self.check_known(request, "")
        return True

    def _release_first(self) -> None:
        if self._first is not None:
            os.close(self._first)
            self._first = None

    def _billed_message(self) -> str:
        kind, first = self._billed_kind, next(iter(self._billed.values()))
        words = (
            f"{self._about}: {len(self._billed)} responses were billed and cannot be used: {first}. DialEval sends "
            f"no more requests.\nTo resume, {_REMEDIES[kind]}.\nLater runs also stop: to send the same requests again, "
            f"delete {self._file}"
        )
        of_all = kind in _OF_ALL
        return self._remember(
            words, settings=self._settings, kind=kind if of_all else "", keys=[] if of_all else [*self._billed]
        )

    def _remember(self, words: str, **scope: str | list[str]) -> str:
        """Record a message for requests of a scope, and return it."""
        entry = {name: value for name, value in scope.items() if value} | {"words": words}
        if "run" in scope and not scope["run"]:
            return words
        line = json.dumps(entry, ensure_ascii=False) + "\n"
        if entry in self._known:
            return words
        self._known.append(entry)
        try:
            place = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o666)
        except OSError:
            return words  # another job makes the same test
        try:
            os.write(place, line.encode("utf-8", "replace"))
        finally:
            os.close(place)
        return words

    def _unparsed_message(self) -> str:
        counts, most = self._statuses, self.parsing.most_unparsed if self.parsing else 0
        n = sum(counts.values())
        cause = counts.most_common(1)[0][0]
        causes = ", ".join(f"{count} {status}" for status, count in counts.most_common())
        example = f"; the first: {self._example[:200]!r}" if self._example else ""
        advice = _UNPARSED[self._unparsed_advice or (cause if cause in _UNPARSED else "unparsed")]
        return (
            f"{self._about}: none of {n} responses could be parsed ({causes}){example}. DialEval sends no more "
            f"requests; the responses are stored.\nTo resume, {advice}.\nTo continue anyway, raise "
            f"`answering.max_unparsed` "
            f"above {most}"
        )

    def _known_stops(self) -> list[dict[str, str | list[str]]]:
        now = time.monotonic()
        if self._read_at and now < self._read_at + _READ_AGAIN:
            return self._known
        self._read_at = now
        try:
            if (size := self._file.stat().st_size) != self._size:
                self._size = size
                lines = self._file.read_text(encoding="utf-8", errors="replace").splitlines()
                self._known = [found for line in lines if (found := _entry(line)) is not None]
        except OSError:
            self._known, self._size = [], -1
        return self._known


def _entry(line: str) -> dict[str, str | list[str]] | None:
    """Return the entry of a line; None for an incomplete one."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and isinstance(found.get("words"), str) else None
