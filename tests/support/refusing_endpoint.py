"""Endpoints that refuse, in virtual time: the way of a real one, without a wire."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dialeval.config.endpoints import OpenAIModel
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.openai_api.retries import Fault, Redactor, status_fault
from dialeval.engines.requests import AnswerFailure, Message, Request, Sampling

TOKENS = 100.0
"""What the simulated endpoints count for a request."""
Headers = dict[str, str]


@dataclass
class Bucket:
    """A bucket of units that fills by and by.

    Attributes:
        limit: units that it holds.
        per_second: units that come in a second.
        units: what a request takes.
        left: what is in it.
    """

    limit: float
    per_second: float
    units: float = 1.0
    left: float = field(init=False)
    _at: float = 0.0

    def __post_init__(self) -> None:
        self.left = self.limit

    def fill(self, now: float) -> None:
        self.left, self._at = min(self.limit, self.left + self.per_second * (now - self._at)), now

    def headers(self, kind: str) -> Headers:
        span = f"{1000 * (self.limit - self.left) / self.per_second:.0f}ms"
        values = {"limit": f"{self.limit:.0f}", "remaining": f"{int(self.left)}", "reset": span}
        return {f"x-ratelimit-{name}-{kind}": value for name, value in values.items()}


class Buckets:
    """Takes requests while there is something in every bucket; a refusal says when there will be.

    Args:
        buckets: by kind: requests, tokens.
        show: whether headers announce the limits.
        least_pause: seconds that a refusal asks to wait at least.
        refused_count: whether what is refused is taken off, too, as OpenAI does.
    """

    def __init__(
        self, show: bool = False, least_pause: float = 0.0, refused_count: bool = False, **buckets: Bucket
    ) -> None:
        self._buckets, self._show, self._least, self._refused_count = buckets, show, least_pause, refused_count

    def __call__(self, number: int, now: float) -> tuple[float | None, Headers]:
        for bucket in self._buckets.values():
            bucket.fill(now)
            if self._refused_count and bucket.left < bucket.units:
                bucket.left = 0.0
        lack = [(b.units - b.left) / b.per_second for b in self._buckets.values() if b.left < b.units]
        if not lack:
            for bucket in self._buckets.values():
                bucket.left -= bucket.units
        shown = {n: v for kind, b in self._buckets.items() for n, v in b.headers(kind).items()} if self._show else {}
        return (max(*lack, self._least) if lack else None), shown


class Window:
    """Takes so many requests between two full minutes, or other spans, and says when the span ends.

    Args:
        limit: requests in a span.
        seconds: of a span.
        show: whether headers announce the limit.
    """

    def __init__(self, limit: int, seconds: float, show: bool = False) -> None:
        self._limit, self._seconds, self._show = limit, seconds, show
        self._number, self._used = -1, 0

    def __call__(self, number: int, now: float) -> tuple[float | None, Headers]:
        window = int(now // self._seconds)
        if window != self._number:
            self._number, self._used = window, 0
        left = (window + 1) * self._seconds - now
        taken = self._used < self._limit
        self._used += taken
        values = {"limit": self._limit, "remaining": self._limit - self._used, "reset": int(left) + 1}
        shown = {f"x-ratelimit-{name}": str(value) for name, value in values.items()} if self._show else {}
        return None if taken else left + 0.01, shown


class AtRandom:
    """Refuses a share of tries, whatever comes.

    Args:
        share: of first tries.
        pause: Retry-After of a refusal.
        seed: of the draws.
        every_try: whether those that were refused before may be refused again.
    """

    def __init__(self, share: float, pause: float = 1.0, seed: int = 3, every_try: bool = False) -> None:
        self._share, self._pause, self._draw, self._every = share, pause, random.Random(seed), every_try

    def __call__(self, number: int, now: float) -> tuple[float | None, Headers]:
        return self._pause if (self._every or number == 1) and self._draw.random() < self._share else None, {}


class Outage:
    """Refuses a share of all tries for a while, and takes all before and after.

    Args:
        share: of tries.
        begin: second of the beginning.
        end: second of the end.
        seed: of the draws.
    """

    def __init__(self, share: float, begin: float, end: float, seed: int = 5) -> None:
        self._share, self._begin, self._end, self._draw = share, begin, end, random.Random(seed)

    def __call__(self, number: int, now: float) -> tuple[float | None, Headers]:
        return 0.0 if self._begin <= now < self._end and self._draw.random() < self._share else None, {}


Rule = Callable[[int, float], tuple[float | None, Mapping[str, str]]]
"""Of the number of a request's try and the time: seconds of Retry-After, None if it is taken, and headers."""


class Endpoint:
    """Answers after a while, or refuses soon.

    Args:
        rule: what is refused.
        latency: seconds that an answer takes.
        refusal_latency: seconds that a refusal takes.
        status: of refusals.
        silent: whether refusals come without Retry-After.
    """

    def __init__(
        self,
        rule: Rule,
        latency: Callable[[], float] = lambda: 1.0,
        refusal_latency: float = 0.02,
        status: int = 429,
        silent: bool = False,
    ) -> None:
        self._rule, self._latency, self._refusal = rule, latency, refusal_latency
        self._status, self._silent = status, silent
        self.tries: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()
        self.refused_at: list[float] = []
        self.taken_at: list[float] = []
        self.in_flight = 0
        self.early = 0
        self._due: dict[str, float] = {}

    async def post(
        self, path: str, body: dict[str, Any], heard: Callable[[Mapping[str, str]], None] | None = None
    ) -> dict[str, Any] | Fault:
        """Take the place of `Connection.post`."""
        now, name = asyncio.get_running_loop().time(), body["messages"][-1]["content"]
        self.early += now < self._due.get(name, 0.0)
        self.tries[name] += 1
        pause, headers = self._rule(self.tries[name], now)
        if pause is not None:
            self.refusals[name] += 1
            self.refused_at.append(now)
            headers = dict(headers) if self._silent else {**headers, "retry-after-ms": f"{1000 * pause:.3f}"}
            if not self._silent:
                self._due[name] = now + pause
            await asyncio.sleep(self._refusal)
            if heard is not None:
                heard(headers)
            return status_fault(self._status, {"error": {"message": "too many"}}, headers, Redactor([]))
        self.taken_at.append(now)
        self.in_flight += 1
        await asyncio.sleep(self._latency())
        self.in_flight -= 1
        if heard is not None:
            heard(headers)
        message = {"role": "assistant", "content": "fine"}
        return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": {}}

    @property
    def refused_share(self) -> float:
        """The share of tries that were refused."""
        return len(self.refused_at) / (len(self.refused_at) + len(self.taken_at))


def engine_at(endpoint: Endpoint, **fields: Any) -> OpenAIEngine:
    """Return an engine that asks a simulated endpoint."""
    raw = {"engine": "openai", "model": "m", "api_key_env": None, "patience_seconds": 1e6} | fields
    engine = OpenAIEngine(OpenAIModel.model_validate(raw))
    engine.connection.post = endpoint.post  # type: ignore[method-assign]
    return engine


def some_requests(n: int, first: int = 0) -> Iterator[Request]:
    """Yield requests that count for TOKENS by our estimate, too."""
    for number in range(first, first + n):
        text = f"question {number}".ljust(200)
        yield Request(f"r/{number}", "arena", "chat", (Message("user", text),), Sampling(max_tokens=50))


async def ask(engine: OpenAIEngine, requests: Iterator[Request], seconds: float) -> int:
    """Asks as `Answering.ask_all` does, for so long at most; returns how many got no answer."""
    failed = 0
    n_workers = engine.concurrency

    async def worker() -> None:
        nonlocal failed, n_workers
        for request in requests:
            try:
                await engine.answer(request)
            except AnswerFailure:
                failed += 1
            if n_workers - engine.resting < engine.concurrency:
                n_workers += 1
                group.create_task(worker())

    async def stop() -> None:
        await asyncio.sleep(seconds)
        raise TimeoutError

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(engine.concurrency):
                group.create_task(worker())
            group.create_task(stop())
    except* TimeoutError:
        pass
    return failed


def a_latency(mean: float, seed: int = 0) -> Callable[[], float]:
    """Return draws of an answer's seconds, between half of the mean and one and a half."""
    draw = random.Random(seed)
    return lambda: mean * draw.uniform(0.5, 1.5)
