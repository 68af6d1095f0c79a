"""Answers that are read at once: long ones share the memory, those without end are cut, and nobody else is."""

from __future__ import annotations

import asyncio
from typing import cast

import aiohttp
import pytest

from dialeval.engines.openai_api import whole_answers
from dialeval.engines.openai_api.whole_answers import WholeAnswers

PIECE, LONG, TOGETHER, LARGEST = 10, 100, 500, 1000


@pytest.fixture(autouse=True)
def few_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_answers, "LONG", LONG)
    monkeypatch.setattr(whole_answers, "MOST_TOGETHER", TOGETHER)
    monkeypatch.setattr(whole_answers, "LARGEST_ANSWER", LARGEST)


class Wire:
    """What all answers have given that are not read to their end, and the most of it."""

    def __init__(self) -> None:
        self.held = self.most = 0


class Answer:
    """An answer of so many bytes that come in pieces; it is its own content, as `aiohttp` names it."""

    def __init__(self, wire: Wire, size: int, *, broken_at: int | None = None, stalls_at: int | None = None) -> None:
        self.wire, self.size, self.given, self.is_closed = wire, size, 0, False
        self.broken_at, self.stalls_at = broken_at, stalls_at
        self.content = self

    async def readany(self) -> bytes:
        await asyncio.sleep(0)
        if self.given == self.broken_at:
            raise ConnectionResetError
        if self.given == self.stalls_at:
            await asyncio.sleep(1e6)
        piece = min(PIECE, self.size - self.given)
        self.given += piece
        self.wire.held += piece if piece else -self.given
        self.wire.most = max(self.wire.most, self.wire.held)
        return b"a" * piece

    def close(self) -> None:
        self.is_closed = True
        self.wire.held -= self.given


async def read(answers: WholeAnswers, answer: Answer) -> int | None:
    body = await answers.read(cast(aiohttp.ClientResponse, answer))
    return None if body is None else len(body)


async def read_all(answers: list[Answer]) -> list[int | None]:
    reading = WholeAnswers()
    return await asyncio.wait_for(asyncio.gather(*(read(reading, answer) for answer in answers)), 20)


def test_answers_without_end_take_no_more_memory_than_a_few_long_ones() -> None:
    wire = Wire()
    endless = [Answer(wire, 10**9) for _ in range(16)]
    assert asyncio.run(read_all(endless)) == [None] * 16
    assert all(answer.is_closed for answer in endless)
    assert wire.most <= TOGETHER + 16 * (LONG + PIECE) + LARGEST + PIECE
    assert wire.held == 0


@pytest.mark.parametrize("size", [0, 1, LONG, LONG + 1, TOGETHER, LARGEST])
def test_no_other_answer_is_cut_among_them(size: int) -> None:
    wire = Wire()
    answers = [Answer(wire, 10**9 if number % 2 else size) for number in range(16)]
    assert asyncio.run(read_all(answers)) == [None if number % 2 else size for number in range(16)]
    assert wire.held == 0


def test_a_short_answer_waits_for_no_long_one() -> None:
    async def story() -> int | None:
        wire, reading = Wire(), WholeAnswers()
        stalled = [Answer(wire, LARGEST, stalls_at=LARGEST - PIECE) for _ in range(4)]
        tasks = [asyncio.create_task(read(reading, answer)) for answer in stalled]
        await asyncio.sleep(0.05)
        size = await asyncio.wait_for(read(reading, Answer(wire, LONG)), 5)
        for task in tasks:
            task.cancel()
        return size

    assert asyncio.run(story()) == LONG


def test_whoever_breaks_off_or_is_given_up_leaves_the_turn_to_others() -> None:
    async def story() -> int | None:
        wire, reading = Wire(), WholeAnswers()
        broken = [Answer(wire, LARGEST, broken_at=TOGETHER + 20 * n) for n in range(4)]
        stalled = [Answer(wire, LARGEST, stalls_at=LARGEST - PIECE) for _ in range(2)]
        tasks = [asyncio.create_task(read(reading, answer)) for answer in (*broken, *stalled)]
        last = asyncio.create_task(read(reading, Answer(wire, LARGEST)))
        await asyncio.sleep(0.05)
        for task in tasks[4:]:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(one) for one in ended] == [ConnectionResetError] * 4 + [asyncio.CancelledError] * 2
        return await asyncio.wait_for(last, 5)

    assert asyncio.run(story()) == LARGEST


def test_long_answers_that_fit_are_read_side_by_side_whatever_came_before() -> None:
    async def story() -> int | None:
        wire, reading = Wire(), WholeAnswers()
        await asyncio.gather(*(read(reading, Answer(wire, 10**9)) for _ in range(4)))
        slow = asyncio.create_task(read(reading, Answer(wire, 2 * LONG, stalls_at=2 * LONG - PIECE)))
        await asyncio.sleep(0.05)
        size = await asyncio.wait_for(read(reading, Answer(wire, 2 * LONG)), 5)
        slow.cancel()
        return size

    assert asyncio.run(story()) == 2 * LONG
