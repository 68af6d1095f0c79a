"""Lines of one turn of the event loop are one write, and nobody goes on before its line is written."""

from __future__ import annotations

import asyncio

import pytest

from dialeval.engines.store.answer_files import TurnWrites
from dialeval.errors import UserError


class File:
    """Keeps what is written, write by write; a full one refuses, and somebody may press Ctrl-C."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []
        self.full = False
        self.interruptions = 0

    def write(self, content: bytes) -> None:
        if self.interruptions:
            self.interruptions -= 1
            raise KeyboardInterrupt
        if self.full:
            raise UserError("the disk is full")
        self.writes.append(content)


def test_lines_of_one_turn_are_one_write_in_their_order() -> None:
    async def story() -> tuple[list[bytes], list[bool]]:
        file, lines, there = File(), None, []
        lines = TurnWrites(file.write)

        async def one(turn: int, number: int) -> None:
            for _ in range(turn):
                await asyncio.sleep(0)
            line = b"%d.%d\n" % (turn, number)
            lines.add(line)
            await lines.written()
            there.append(line in b"".join(file.writes))

        await asyncio.gather(*(one(turn, number) for turn in (0, 1) for number in range(3)))
        return file.writes, there

    writes, there = asyncio.run(story())
    assert writes == [b"0.0\n0.1\n0.2\n", b"1.0\n1.1\n1.2\n"]
    assert there == [True] * 6


def test_a_line_without_a_waiting_writer_is_written_when_the_turn_ends() -> None:
    async def story() -> list[list[bytes]]:
        file = File()
        lines, seen = TurnWrites(file.write), []
        lines.add(b"a\n")
        seen.append([*file.writes])
        await lines.written()
        lines.add(b"b\n")
        await asyncio.sleep(0)
        seen.append([*file.writes])
        await lines.written()  # nothing is left to wait for
        lines.add(b"c\n")
        lines.flush()
        seen.append([*file.writes])
        return seen

    assert asyncio.run(story()) == [[], [b"a\n", b"b\n"], [b"a\n", b"b\n", b"c\n"]]


def test_a_cancelled_waiting_request_cancels_no_other() -> None:
    async def story() -> tuple[list[bytes], list[object]]:
        file = File()
        lines = TurnWrites(file.write)

        async def one(line: bytes) -> bytes:
            lines.add(line)
            await lines.written()
            return line

        tasks = [asyncio.create_task(one(line)) for line in (b"a\n", b"b\n", b"c\n")]
        asyncio.get_running_loop().call_soon(tasks[1].cancel)  # before the turn of their lines ends
        return file.writes, list(await asyncio.gather(*tasks, return_exceptions=True))

    writes, outcomes = asyncio.run(story())
    assert writes == [b"a\nb\nc\n"]
    assert outcomes[::2] == [b"a\n", b"c\n"]
    assert isinstance(outcomes[1], asyncio.CancelledError)


def test_a_failed_write_is_reported_to_waiting_and_later_writers() -> None:
    async def story() -> list[object]:
        file = File()
        file.full = True
        lines = TurnWrites(file.write)

        async def one() -> None:
            lines.add(b"a\n")
            await lines.written()

        outcomes = list(await asyncio.gather(one(), one(), return_exceptions=True))
        file.full = False
        with pytest.raises(UserError, match="the disk is full"):
            lines.add(b"half of a line may stand before it\n")
        with pytest.raises(UserError, match="the disk is full"):
            await lines.written()
        assert file.writes == []
        return outcomes

    first, second = asyncio.run(story())
    assert (str(first), str(second)) == ("the disk is full", "the disk is full")


def test_a_failed_flush_is_reported_at_once_and_to_later_writers() -> None:
    async def story() -> None:
        file = File()
        file.full = True
        lines = TurnWrites(file.write)
        lines.add(b"a\n")
        for _ in range(2):
            with pytest.raises(UserError, match="the disk is full"):
                lines.flush()

    asyncio.run(story())


def test_what_an_interruption_keeps_from_the_file_is_written_later() -> None:
    async def story() -> list[bytes]:
        file = File()
        lines = TurnWrites(file.write)
        file.interruptions = 1
        lines.add(b"a\n")
        with pytest.raises(KeyboardInterrupt):
            lines.flush()
        lines.add(b"b\n")  # nothing is called for at the end of this turn any more
        await lines.written()
        return file.writes

    assert asyncio.run(story()) == [b"a\nb\n"]
