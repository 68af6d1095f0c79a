"""Nothing stored is lost, and damage is noticed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from pathlib import Path

import pytest
from store_writers import hold, key, opened, write_until_killed

from dialeval.engines.request import Response
from dialeval.errors import UserError


def fill(folder: Path, numbers: range, writer: str = "job") -> None:
    with opened(folder, writer=writer) as store:
        for number in numbers:
            store.append(key(number), Response(f"answer {number} “ü” \n\t", completion_tokens=number))


def test_answers_come_back_in_this_run_and_the_next(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.append(key(1), Response("one"))
        assert store.get(key(1)) == Response("one")
        assert store.get(key(2)) is None
    with opened(tmp_path) as store:
        assert key(1) in store
        assert store.get(key(1)) == Response("one")
        assert len(store) == 1


def test_reading_writes_no_file(tmp_path: Path) -> None:
    fill(tmp_path, range(3))
    with opened(tmp_path) as store:
        assert len(store) == 3
    assert len(list(tmp_path.rglob("*.jsonl"))) == 1


def test_models_and_protocols_are_kept_apart(tmp_path: Path) -> None:
    fill(tmp_path, range(3))
    with opened(tmp_path, identity="another") as store:
        assert len(store) == 0
    with opened(tmp_path, protocol="gteval") as store:
        assert len(store) == 0


def test_shards_read_each_others_answers(tmp_path: Path) -> None:
    fill(tmp_path, range(3), "shard-1-of-2")
    fill(tmp_path, range(3, 5), "shard-2-of-2")
    with opened(tmp_path) as store:
        assert len(store) == 5


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_file_that_was_cut_off_keeps_its_whole_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], cut: int
) -> None:
    fill(tmp_path, range(10))
    path = next(tmp_path.rglob("*.jsonl"))
    path.write_bytes(path.read_bytes()[:-cut])
    with opened(tmp_path) as store:
        assert [number for number in range(10) if key(number) in store] == list(range(9))
        store.append(key(9), Response("again"))
    assert "1 damaged line" in capsys.readouterr().out
    with opened(tmp_path) as store:
        assert store.get(key(9)) == Response("again")


@pytest.mark.parametrize("place", [0, 5, 34, 38, 50])
def test_a_flipped_byte_costs_one_answer(tmp_path: Path, place: int) -> None:
    fill(tmp_path, range(10))
    path = next(tmp_path.rglob("*.jsonl"))
    content = bytearray(path.read_bytes())
    start = [at for at, byte in enumerate(content) if byte == ord("\n")][3] + 1
    content[start + place] ^= 0x01
    path.write_bytes(bytes(content))
    with opened(tmp_path) as store:
        assert [number for number in range(10) if store.get(key(number))] == [n for n in range(10) if n != 4]
        assert sum(store.report.damaged.values()) == 1


def test_kill_loses_nothing_that_append_returned_from(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    written = context.Value("i", 0)
    process = context.Process(target=write_until_killed, args=(str(tmp_path), written))
    process.start()
    while written.value < 500:
        assert process.is_alive()
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    with opened(tmp_path) as store:
        assert all(key(number) in store for number in range(written.value))


def test_a_second_job_of_the_same_name_waits_and_then_finds_the_answers(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ready, leave = context.Event(), context.Event()
    process = context.Process(target=hold, args=(str(tmp_path), ready, leave))
    process.start()
    assert ready.wait(60)
    with opened(tmp_path, writer="shard-2-of-2") as store:  # another shard need not wait
        assert key(1) in store
    threading.Timer(0.5, leave.set).start()
    start = time.monotonic()
    with opened(tmp_path) as store:
        assert time.monotonic() - start > 0.3
        assert store.get(key(1)) == Response("first")
    process.join()


def test_a_store_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file")
    with pytest.raises(UserError, match="store_dir"):
        opened(tmp_path / "store").__enter__()
