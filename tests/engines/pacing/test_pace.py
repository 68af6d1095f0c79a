"""Configured paces, and flows whose speed is found on the way, in virtual time."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from virtual_time import run_in_virtual_time

from dialeval.engines.pacing.pace import Flow, Pace


def test_a_pace_is_kept_from_the_beginning() -> None:
    async def starts() -> list[float]:
        pace = Pace(6000, 0.1)  # 100 in a second, ten of them at once
        moments: list[float] = []

        async def one() -> None:
            await pace.acquire()
            moments.append(asyncio.get_running_loop().time())

        await asyncio.gather(*(one() for _ in range(60)))
        return moments

    moments = run_in_virtual_time(starts())
    for number, moment in enumerate(moments):
        assert number + 1 <= 10 + 100 * moment + 1e-6
    assert moments[-1] < 0.6


def test_large_and_small_requests_take_turns() -> None:
    async def order() -> list[float]:
        pace = Pace(6000, 1.0)  # 100 tokens at once
        done: list[float] = []

        async def one(units: float) -> None:
            await pace.acquire(units)
            done.append(units)

        await asyncio.gather(*(one(units) for units in (100, 150, 1, 2)))
        return done

    assert run_in_virtual_time(order()) == [100, 150, 1, 2]


@settings(max_examples=30)
@given(
    st.floats(1, 5000),
    st.sampled_from((0.1, 1.0)),
    st.lists(st.tuples(st.floats(0, 3), st.integers(1, 400)), min_size=1),
)
# a wait that rounding leaves is shorter than the clock's resolution
@example(168.0, 1.0, [(2.1462061296276276, 283), (2.9317588194188846, 42), (0.0, 190)])
@example(1400.0, 0.1, [(1.9120356557012261, 1), (1.9932124987598905, 28), (2.2706755493132524, 44)])
def test_no_minute_holds_more_than_it_may_and_nobody_waits_longer_than_needed(
    per_minute: float, burst_seconds: float, arrivals: list[tuple[float, int]]
) -> None:
    async def story() -> list[tuple[float, int]]:
        pace, gone = Pace(per_minute, burst_seconds), []
        loop = asyncio.get_running_loop()

        async def one(units: int) -> None:
            await pace.acquire(units)
            gone.append((loop.time(), units))

        tasks = []
        for gap, units in arrivals:
            await asyncio.sleep(gap)
            tasks.append(asyncio.create_task(one(units)))
        await asyncio.gather(*tasks)
        return gone

    gone = run_in_virtual_time(story())
    assert [units for _, units in gone] == [units for _, units in arrivals]  # first come, first served
    burst = max(1.0, per_minute * burst_seconds / 60)
    per_second = (per_minute - (burst if burst > 1 else 0)) / 60
    came = filled_at = 0.0
    for (moment, units), (gap, _) in zip(gone, arrivals, strict=True):
        came += gap
        filled_at = max(filled_at, came) + units / per_second
        assert moment == pytest.approx(max(came, filled_at - burst / per_second), rel=1e-3, abs=1e-3)


def test_a_flow_lets_each_through_after_the_time_of_the_one_before() -> None:
    speed = 2.0

    async def story() -> list[float]:
        nonlocal speed
        flow, moments = Flow(lambda units: units / speed), []
        for units in (1.0, 3.0, 1.0, 1.0):
            await flow.take(units)
            moments.append(asyncio.get_running_loop().time())
            speed = 1.0 if units == 3.0 else speed  # of no effect on who has gone
        return moments

    assert run_in_virtual_time(story()) == pytest.approx([0.0, 0.45, 1.95, 2.95], abs=1e-5)


def test_a_flow_without_a_limit_lets_all_through_at_once_and_idling_saves_nothing() -> None:
    async def story() -> list[float]:
        free, slow, moments = Flow(lambda units: 0.0), Flow(lambda units: units), []
        for _ in range(1000):
            await free.take()
        await asyncio.sleep(100)
        for _ in range(3):
            await slow.take()
            moments.append(asyncio.get_running_loop().time())
        return moments

    assert run_in_virtual_time(story()) == pytest.approx([100.0, 100.95, 101.95], abs=1e-5)
