"""How fast an endpoint is asked, and when it is given up."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from dialeval.engines.limits import CircuitBreaker, InFlight, Limits, Pace
from dialeval.errors import UserError


def run(coroutine: Any) -> Any:
    return asyncio.run(coroutine)


def test_a_pace_is_kept_from_the_beginning() -> None:
    async def starts() -> list[float]:
        pace = Pace(6000, 0.1)  # 100 in a second, ten of them at once
        begin, moments = time.monotonic(), []

        async def one() -> None:
            await pace.acquire()
            moments.append(time.monotonic() - begin)

        await asyncio.gather(*(one() for _ in range(60)))
        return moments

    moments = run(starts())
    for number, moment in enumerate(moments):
        assert number + 1 <= 10 + 100 * moment + 1e-6
    assert moments[-1] < 2


def test_large_and_small_requests_take_turns() -> None:
    async def order() -> list[float]:
        pace = Pace(6000, 1.0)  # 100 tokens at once
        done: list[float] = []

        async def one(units: float) -> None:
            await pace.acquire(units)
            done.append(units)

        await asyncio.gather(*(one(units) for units in (100, 150, 1, 2)))
        return done

    assert run(order()) == [100, 150, 1, 2]


def test_one_wave_of_refusals_halves_once_and_all_share_the_pause() -> None:
    async def story() -> tuple[list[float], int, float]:
        flight = InFlight(64)
        waves = [await flight.enter() for _ in range(64)]
        begin = time.monotonic()
        for wave in waves:
            flight.refused(wave, 0.2)
            flight.leave()
        limit = flight.limit
        back: list[float] = []
        most = 0

        async def again() -> None:
            nonlocal most
            await flight.enter()
            back.append(time.monotonic() - begin)
            most = max(most, flight.running)
            await asyncio.sleep(0.01)
            flight.leave()

        await asyncio.gather(*(again() for _ in range(64)))
        return back, most, limit

    back, most, limit = run(story())
    assert limit == 32
    assert min(back) >= 0.2
    assert most <= 32


def test_concurrency_comes_back_slowly() -> None:
    flight = InFlight(64)
    for wave in range(4):
        flight.refused(wave, None)
    assert flight.limit == 4
    for _ in range(4):
        flight.answered()
    assert 4.9 < flight.limit < 5.1
    for _ in range(10_000):
        flight.answered()
    assert flight.limit == 64


def test_no_pause_is_longer_than_the_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dialeval.engines.limits.LONGEST_PAUSE", 0.1)

    async def story() -> float:
        flight, begin = InFlight(4), time.monotonic()
        flight.refused(await flight.enter(), 1e9)
        flight.leave()
        await flight.enter()
        return time.monotonic() - begin

    assert 0.1 <= run(story()) < 2


def test_a_cancelled_request_gives_its_place_back() -> None:
    async def story() -> int:
        flight = InFlight(1)
        await flight.enter()
        waiting = [asyncio.create_task(flight.enter()) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        flight.leave()  # lets the second in, in the same moment
        waiting[1].cancel()
        await asyncio.wait(waiting)
        assert not waiting[2].cancelled()
        flight.leave()
        return flight.running

    assert run(story()) == 0


def test_a_retry_after_is_obeyed_by_requests_that_wait_for_their_pace() -> None:
    async def story() -> float:
        limits = Limits("e", in_flight=4, requests_per_minute=600)  # one in 0.1 s
        begin = time.monotonic()
        async with limits.place(0) as place:

            async def second() -> float:
                async with limits.place(0):
                    return time.monotonic() - begin

            waiting = asyncio.create_task(second())
            await asyncio.sleep(0.01)
            limits.failed(place, "rate_limit", "slow down", too_many=True, pause=0.4)
        return await waiting

    assert run(story()) >= 0.4


def test_the_breaker_needs_failures_in_a_row() -> None:
    breaker = CircuitBreaker("the endpoint", patience=0.0)
    for _ in range(9):
        breaker.failed("authentication", "no")
    breaker.answered()
    for _ in range(9):
        breaker.failed("authentication", "no")
    breaker.check()
    with pytest.raises(UserError, match="the endpoint failed 10 times in a row"):
        breaker.failed("authentication", "no")
    with pytest.raises(UserError):
        breaker.check()


def test_the_breaker_waits_for_who_may_recover() -> None:
    breaker = CircuitBreaker("the endpoint", patience=0.2)
    for _ in range(50):
        breaker.failed("connection", "refused")
    time.sleep(0.25)
    with pytest.raises(UserError, match="connection: refused"):
        breaker.failed("connection", "refused")


def test_who_refuses_a_request_is_alive() -> None:
    breaker = CircuitBreaker("the endpoint", patience=0.0)
    for _ in range(100):
        breaker.failed("bad_request", "no")
        breaker.failed("timeout", "late")
        breaker.failed("rate_limit", "wait")
    breaker.check()
