"""A limit of tokens is kept, and reached, though tokens are only counted where it is near; in virtual time."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

import numpy as np
import pytest
from virtual_time import run_in_virtual_time

from dialeval.engines.circuit_breaker import CircuitBreaker
from dialeval.engines.rate_limits import Limits, Tokens

PER_MINUTE = 60_000.0


def ask(sizes: Sequence[int], *, pause: float) -> tuple[list[tuple[float, int]], int]:
    """Send requests of so many tokens, at most five times as many; returns when they went, and how many counts."""
    counted = 0

    def count_of(size: int) -> Tokens:
        def count() -> float:
            nonlocal counted
            counted += 1
            return size

        return Tokens(1.3 * size, 5 * size, count)

    async def story() -> list[tuple[float, int]]:
        breaker = CircuitBreaker("m", patience=30.0)
        limits, gone = Limits(breaker, in_flight=10_000, tokens_per_minute=PER_MINUTE), []
        limits.in_flight.open()

        async def one(size: int) -> None:
            async with limits.place(count_of(size)):
                gone.append((asyncio.get_running_loop().time(), size))

        async with asyncio.TaskGroup() as group:
            for size in sizes:
                group.create_task(one(size))
                if pause:
                    await asyncio.sleep(pause)
        return gone

    return run_in_virtual_time(story()), counted


def most_in_a_minute(gone: Sequence[tuple[float, int]]) -> float:
    moments, sizes = np.array(gone).T
    sums = np.concatenate([[0], np.cumsum(sizes)])
    return max(sums[np.searchsorted(moments, moments + 60)] - sums[:-1])


def test_far_from_the_limit_nothing_is_counted() -> None:
    gone, counted = ask([50] * 200, pause=0.5)  # a tenth of the limit, and half of it at the most that they may be
    assert counted == 0
    assert [moment for moment, _ in gone] == pytest.approx(np.arange(200) * 0.5, abs=1e-3)


@pytest.mark.parametrize("pause", [0.0, 0.08, 0.1, 0.12, 0.2])
def test_near_the_limit_it_is_kept_and_reached(pause: float) -> None:
    sizes = random.Random(1).choices(range(20, 180), k=1500)  # 100 each: at a pause of .1 s just what is permitted
    gone, counted = ask(sizes, pause=pause)
    assert most_in_a_minute(gone) <= PER_MINUTE
    permitted = sum(sizes) / (PER_MINUTE / 60 * 59 / 60)  # seconds; a burst of one second is kept apart
    assert gone[-1][0] <= max(permitted, len(sizes) * pause) + 0.5
    assert counted > 0


def test_no_request_below_the_limit_waits_for_reservations_of_others() -> None:
    sizes = random.Random(1).choices(range(20, 180), k=1500)
    gone, _ = ask(sizes, pause=0.15)  # two thirds of the limit, and three times it at the most that they may be
    assert [moment for moment, _ in gone] == pytest.approx(np.arange(1500) * 0.15, abs=1e-3)


def test_a_request_above_the_limit_waits_for_it() -> None:
    gone, _ = ask([5000, 10], pause=0.0)
    assert [size for _, size in gone] == [5000, 10]
    assert gone[0][0] == pytest.approx((5000 - 1000) / (1000 * 59 / 60), rel=0.01)
