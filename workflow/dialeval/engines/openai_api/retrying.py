"""When a failed request is tried again, and when no more."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

from dialeval.engines.openai_api.faults import Fault

Answer = TypeVar("Answer")
REFUSALS_PER_TRY = 20
"""An endpoint may say `too many` (429) so many times as often as it may fail: waiting for one's turn is no failure."""


@dataclass(frozen=True)
class RetryPolicy:
    """How long and how often.

    Waiting times double from `first_wait` to `longest_wait` and are drawn from their upper half, so that requests that
    failed together do not come again together. An endpoint's Retry-After takes their place.

    Attributes:
        max_tries: tries that may meet errors, timeouts or cut connections; of refusals as too many, REFUSALS_PER_TRY
            times as many are borne.
        max_total_seconds: a request is not tried again after so long.
        first_wait: seconds before the second try.
        longest_wait: seconds between two tries at most.
    """

    max_tries: int = 8
    max_total_seconds: float = 1800.0
    first_wait: float = 0.5
    longest_wait: float = 60.0


async def with_retries(policy: RetryPolicy, attempt: Callable[[], Awaitable[Answer]]) -> Answer:
    """Returns what an attempt gives in the end.

    Args:
        policy: when to stop.
        attempt: one try; it raises Fault if it fails.

    Raises:
        Fault: the last one, if it is final or the policy allows no further try.
    """
    failures = refusals = 0

    def wait(state: RetryCallState) -> float:
        fault = _fault(state)
        if fault.too_many and fault.retry_after is not None:
            return 0.0  # the pause is shared by all requests of the endpoint, see limits.InFlight
        if fault.retry_after is not None:
            return min(fault.retry_after, policy.longest_wait)
        longest = min(policy.longest_wait, policy.first_wait * 2.0 ** min(state.attempt_number - 1, 30))
        return random.uniform(longest / 2, longest)

    def stop(state: RetryCallState) -> bool:
        nonlocal failures, refusals
        refused = _fault(state).kind == "rate_limit"
        refusals, failures = refusals + refused, failures + (not refused)
        too_often = failures >= policy.max_tries or refusals >= policy.max_tries * REFUSALS_PER_TRY
        return too_often or (state.seconds_since_start or 0.0) + wait(state) > policy.max_total_seconds

    retrying = AsyncRetrying(
        sleep=asyncio.sleep,
        retry=retry_if_exception(lambda error: isinstance(error, Fault) and error.passing),
        wait=wait,
        stop=stop,
        reraise=True,
    )

    async def once() -> Answer:  # a coroutine function, which is what the library awaits
        return await attempt()

    return await retrying(once)


def _fault(state: RetryCallState) -> Fault:
    error = state.outcome.exception() if state.outcome is not None else None
    assert isinstance(error, Fault)
    return error
