"""All limits of one endpoint together, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from virtual_time import run_in_virtual_time

from dialeval.engines import rate_limits
from dialeval.engines.circuit_breaker import CircuitBreaker, EndpointDead
from dialeval.engines.rate_limits import FIRST, NO_TOKENS, Flow, InFlight, Limits, Pace
from dialeval.engines.request_speed import Reading

BREAKER = CircuitBreaker("an endpoint", patience=30.0)


def test_of_answers_that_come_together_one_is_read_and_every_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    """To read the headers of each costs a twentieth of a request; a refusal's say whether the limit is used up."""
    read: list[str] = []

    def announced(headers: Mapping[str, str], kind: str) -> Reading | None:
        read.append(f"{headers['name']}: {kind}")
        return Reading(100.0, float(headers["remaining"]), 60.0) if kind == "requests" else None

    monkeypatch.setattr(rate_limits, "announced", announced)

    async def story() -> list[bool]:
        limits, used_up = Limits(BREAKER, in_flight=8), []

        async def answer(name: str, remaining: float, *, accepted: bool = True) -> None:
            async with limits.place(NO_TOKENS) as place:
                await asyncio.sleep(1)
                place.keep_headers({"name": name, "remaining": str(remaining)})
                limits.read_headers(place, accepted=accepted)
                used_up.append(place.used_up)

        together = [answer("first", 50.0), answer("second", 49.0), answer("refused", 0.0, accepted=False)]
        await asyncio.gather(*together)
        await answer("later", 40.0)
        return used_up

    assert run_in_virtual_time(story()) == [False, False, True, False]
    assert read == [f"{name}: {kind}" for name in ("first", "refused", "later") for kind in ("requests", "tokens")]


# Places for requests under way, and the pause of all, in virtual time.


def test_the_first_go_alone_and_then_as_many_as_may() -> None:
    async def story() -> list[int]:
        flight, counts = InFlight(64), []
        tasks = [asyncio.create_task(flight.enter()) for _ in range(100)]
        await asyncio.sleep(1)
        counts.append(flight.running)
        flight.open()
        await asyncio.sleep(1)
        counts.append(flight.running)
        for task in tasks:
            task.cancel()
        return counts

    assert run_in_virtual_time(story()) == [FIRST, 64]


def test_all_share_a_pause_and_who_was_refused_comes_first() -> None:
    async def story() -> list[tuple[str, float]]:
        flight, back = InFlight(1), []
        await flight.enter()

        async def again(name: str, refused: bool) -> None:
            await flight.enter(again=refused)
            back.append((name, round(asyncio.get_running_loop().time(), 2)))
            flight.leave()

        flight.pause(5.0)
        flight.pause(2.0)  # shorter than the one that goes on
        names = ("first", "second", "refused", "refused later")
        tasks = [asyncio.create_task(again(name, "refused" in name)) for name in names]
        await asyncio.sleep(1)
        flight.leave()
        await asyncio.gather(*tasks)
        return back

    assert run_in_virtual_time(story()) == [(name, 5.0) for name in ("refused", "refused later", "first", "second")]


def test_no_pause_is_longer_than_the_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "LONGEST_PAUSE", 0.1)

    async def story() -> float:
        flight = InFlight(4)
        flight.pause(1e9)
        await flight.enter()
        return asyncio.get_running_loop().time()

    assert 0.1 <= run_in_virtual_time(story()) < 0.2


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

    assert run_in_virtual_time(story()) == 0


def test_a_retry_after_is_obeyed_by_requests_that_wait_for_their_pace() -> None:
    async def story() -> float:
        limits = Limits(BREAKER, in_flight=4, requests_per_minute=600)  # one in 0.1 s
        async with limits.place(NO_TOKENS):

            async def second() -> float:
                async with limits.place(NO_TOKENS):
                    return asyncio.get_running_loop().time()

            waiting = asyncio.create_task(second())
            await asyncio.sleep(0.01)
            limits.in_flight.pause(0.4)
        return await waiting

    assert run_in_virtual_time(story()) >= 0.4


# Configured paces, and flows whose speed is found on the way, in virtual time.


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


@given(
    st.floats(1, 5000),
    st.sampled_from((0.1, 1.0)),
    st.lists(st.tuples(st.floats(0, 3), st.integers(1, 400)), min_size=1),
)
# a wait that rounding leaves is shorter than the clock's resolution
@example(168.0, 1.0, [(2.1462061296276276, 283), (2.9317588194188846, 42), (0.0, 190)])
@example(1400.0, 0.1, [(1.9120356557012261, 1), (1.9932124987598905, 28), (2.2706755493132524, 44)])
def test_no_minute_exceeds_its_limit_and_no_request_waits_longer_than_needed(
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


# When an endpoint is given up.

Event = tuple[float, str, int]
"""When, in seconds, and how often in a row an attempt had an outcome: `answered`, or a kind of failure."""


@pytest.mark.parametrize(
    ("patience", "borne", "last", "words"),
    [
        (0.0, [(0, "authentication", 9), (0, "answered", 1), (0, "authentication", 9)], (0, "authentication", 1),
         "the endpoint failed 10 times in a row"),
        (30.0, [(0, "connection", 10), (9, "connection", 1)], (10, "connection", 1), "for 10 s, with no response"),
        (30.0, [(0, "answered", 1), (0, "connection", 10), (29, "connection", 1)], (30, "connection", 1), "for 30 s"),
        (100.0, [(0, "malformed", 9)], (0, "malformed", 1), "not of a login page"),
        (0.0, [(0, "bad_request", 1), (0, "timeout", 1), (0, "rate_limit", 1)] * 100, None, ""),
    ],
    ids=["in a row", "before the first answer a third of the patience", "then all of it", "no endpoint", "it is alive"],
)  # fmt: skip
def test_an_endpoint_is_given_up_after_failures_in_a_row(
    patience: float, borne: list[Event], last: Event | None, words: str
) -> None:
    async def story() -> None:
        breaker = CircuitBreaker("the endpoint", patience=patience)

        async def happen(event: Event) -> None:
            at, outcome, times = event
            await asyncio.sleep(at - asyncio.get_running_loop().time())
            for _ in range(times):
                breaker.answered() if outcome == "answered" else breaker.failed(outcome, "no")

        for event in borne:
            await happen(event)
        breaker.check()
        if last is not None:
            with pytest.raises(EndpointDead, match=words):
                await happen(last)
            with pytest.raises(EndpointDead):
                breaker.check()

    run_in_virtual_time(story())


def test_while_an_endpoint_works_on_a_request_refusals_are_borne_as_long_as_an_answer_may_take() -> None:
    async def story() -> None:
        breaker = CircuitBreaker("it", patience=0.0, longest_refusal=20.0, longest_answer=300.0)
        for _ in range(20):
            breaker.failed("rate_limit", "wait", is_working=lambda: True)
        await asyncio.sleep(25)
        breaker.failed("rate_limit", "wait", is_working=lambda: True)
        with pytest.raises(EndpointDead, match="raise max_total_seconds"):
            breaker.failed("rate_limit", "wait", is_working=lambda: False)

    run_in_virtual_time(story())
