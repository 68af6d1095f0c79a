"""When a failed request is tried again, and when no more."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from dialeval.engines.openai_api.faults import Fault
from dialeval.engines.pacing.in_flight import LONGEST_PAUSE

Answer = TypeVar("Answer")
REFUSALS_PER_TRY = 20
"""An endpoint may say `too many` (429) so many times as often as it may fail: waiting for one's turn is no failure."""

_SPREAD = 0.1
"""By so much of a Retry-After requests that were refused together come again apart."""


@dataclass(frozen=True)
class RetryPolicy:
    """How long and how often.

    Waiting times double from `first_wait` to `longest_wait` and are drawn from their upper half, so that requests that
    failed together do not come again together. An endpoint's Retry-After takes their place.

    Attributes:
        max_tries: tries that may meet errors, timeouts or cut connections; of refusals as too many, REFUSALS_PER_TRY
            times as many are borne.
        max_total_seconds: a request is not tried again so long after it failed for the first time.
        first_wait: seconds before the second try.
        longest_wait: seconds between two tries at most.
    """

    max_tries: int = 8
    max_total_seconds: float = 1800.0
    first_wait: float = 0.5
    longest_wait: float = 60.0


async def with_retries(
    policy: RetryPolicy,
    attempt: Callable[[], Awaitable[Answer]],
    rest: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Answer:
    """Returns what an attempt gives in the end.

    Args:
        policy: when to stop.
        attempt: one try; it raises Fault if it fails.
        rest: waits so many seconds.

    Raises:
        Fault: the last one, if it is final or the policy allows no further try.
    """
    failures = refusals = 0
    failed_at = 0.0
    while True:
        try:
            return await attempt()
        except Fault as fault:
            now = asyncio.get_running_loop().time()
            failed_at = failed_at if failures + refusals else now
            refused = fault.kind == "rate_limit"
            refusals, failures = refusals + refused, failures + (not refused)
            too_often = failures >= policy.max_tries or refusals >= policy.max_tries * REFUSALS_PER_TRY
            seconds = _wait(policy, fault, failures + refusals)
            if not fault.passing or too_often or now - failed_at + seconds > policy.max_total_seconds:
                raise
        await rest(seconds)


def _wait(policy: RetryPolicy, fault: Fault, tries: int) -> float:
    if fault.retry_after is not None:
        # whoever was refused rests so long, whether others do or not; all together again would be too many
        longest = LONGEST_PAUSE if fault.too_many else policy.longest_wait
        return min(fault.retry_after, longest) * random.uniform(1.0, 1 + _SPREAD)
    longest = min(policy.longest_wait, policy.first_wait * 2.0 ** min(tries - 1, 30))
    return random.uniform(longest / 2, longest)
