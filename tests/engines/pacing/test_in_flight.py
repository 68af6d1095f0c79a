"""Places for requests under way, and the pause of all, in virtual time."""

from __future__ import annotations

import asyncio

import pytest
from virtual_time import run_in_virtual_time

from dialeval.engines.pacing import in_flight
from dialeval.engines.pacing.in_flight import FIRST, InFlight
from dialeval.engines.pacing.limits import NO_TOKENS, Limits


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
    monkeypatch.setattr(in_flight, "LONGEST_PAUSE", 0.1)

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
        limits = Limits("e", in_flight=4, requests_per_minute=600)  # one in 0.1 s
        async with limits.place(NO_TOKENS):

            async def second() -> float:
                async with limits.place(NO_TOKENS):
                    return asyncio.get_running_loop().time()

            waiting = asyncio.create_task(second())
            await asyncio.sleep(0.01)
            limits.in_flight.pause(0.4)
        return await waiting

    assert run_in_virtual_time(story()) >= 0.4
