"""Two runs never pay for the same answers: the jobs of one run write at once, those of another wait for them."""

from __future__ import annotations

import errno
import fcntl
import multiprocessing
import os
import signal
from collections.abc import Callable
from multiprocessing.synchronize import Event
from pathlib import Path
from threading import Thread

import pytest
from store_writers import answer_shared_out, hold, key, opened

from dialeval.engines.request import Response
from dialeval.engines.store import run_of
from dialeval.engines.store.locks import is_at_work

CONTEXT = multiprocessing.get_context("spawn")
Output = pytest.CaptureFixture[str]


class Holder:
    """A job in a process of its own that has stored one answer and stays."""

    def __init__(self, folder: Path, **more: str) -> None:
        self.leave: Event = CONTEXT.Event()
        ready = CONTEXT.Event()
        self.process = CONTEXT.Process(target=hold, args=(str(folder), ready, self.leave), kwargs=more)
        self.process.start()
        assert ready.wait(60)

    def end(self) -> None:
        self.leave.set()
        self.process.join()

    def kill(self) -> None:
        assert self.process.pid is not None
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.join()


def opened_while(end: Callable[[], None], folder: Path, **more: str) -> bool:
    """Opens a store in a thread, ends what holds it once it waits, and returns whether it found the answer."""
    found: list[bool] = []

    def work() -> None:
        with opened(folder, **more) as store:
            found.append(store.get(key(1)) == Response("first"))

    thread = Thread(target=work)
    thread.start()
    thread.join(0.5)
    assert not found, "it did not wait"
    end()
    thread.join(60)
    return found == [True]


@pytest.mark.parametrize("how", ["end", "kill"])
def test_another_run_waits_and_then_finds_the_answers(tmp_path: Path, capsys: Output, how: str) -> None:
    holder = Holder(tmp_path, writer="shard-1-of-2", run="A")
    with opened(tmp_path, writer="shard-2-of-2", run="A") as store:  # of the same run
        assert key(1) in store
    assert opened_while(getattr(holder, how), tmp_path, writer="shard-2-of-3", run="B")
    assert "another run is answering" in capsys.readouterr().out
    assert len(list(tmp_path.rglob("*.run"))) == 1, "what a run that is over left is removed"


def test_a_run_that_waits_lets_the_other_begin_more_jobs(tmp_path: Path) -> None:
    first = Holder(tmp_path, writer="shard-1-of-2", run="A")

    def second_job_then_end() -> None:
        with opened(tmp_path, writer="shard-2-of-2", run="A") as store:
            assert key(1) in store
        first.end()

    assert opened_while(second_job_then_end, tmp_path, writer="whole", run="B")


def test_runs_are_told_apart_by_their_results_and_their_shards(tmp_path: Path) -> None:
    runs = [run_of(tmp_path / "a", 2), run_of(tmp_path / "a", 3), run_of(tmp_path / "b", 2)]
    assert len(set(runs)) == 3
    assert run_of(tmp_path / "b" / ".." / "a", 2) == runs[0]


def test_a_folder_named_in_another_encoding_has_its_run(tmp_path: Path, capsys: Output) -> None:
    results = Path(os.fsdecode(os.fsencode(tmp_path) + b"/f\xfcr"))
    holder = Holder(tmp_path, writer="shard-1-of-2", run=run_of(results, 2))
    (lock,) = tmp_path.rglob("*.run")
    assert os.fsencode(results) in lock.read_bytes()
    assert opened_while(holder.end, tmp_path, writer="shard-1-of-3", run=run_of(results, 3))
    assert "another run is answering" in capsys.readouterr().out


def test_two_runs_with_other_shards_ask_for_everything_once(tmp_path: Path) -> None:
    asked = CONTEXT.Value("i", 0)
    jobs = [
        CONTEXT.Process(target=answer_shared_out, args=(str(tmp_path), shard, shards, asked))
        for shards in (2, 3)
        for shard in range(shards)
    ]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert [job.exitcode for job in jobs] == [0] * 5
    assert asked.value == 120


def test_the_ledger_of_a_job_at_work_is_left_to_it(tmp_path: Path) -> None:
    holder = Holder(tmp_path, writer="shard-1-of-2", run="A")
    with opened(tmp_path, writer="shard-2-of-2", run="A") as store:
        for writer in ("shard-1-of-2", "shard-2-of-2", "shard-1-of-1"):
            (store.folder / f"{writer}.batches").write_text("")
        old = tmp_path / f"once-called-so-{store.folder.parent.name}" / "arena" / "job.batches"
        old.parent.mkdir(parents=True)
        old.write_text("")
        other = store.folder.parent / "duel" / "job.batches"
        other.parent.mkdir()
        other.write_text("")
        assert is_at_work(store.folder, "shard-1-of-2")
        dead = store.folder / "shard-1-of-1.batches"
        assert set(store.left_beside("batches")) == {dead, old, other}
        holder.kill()
        assert set(store.left_beside("batches")) == {dead, old, other, store.folder / "shard-1-of-2.batches"}


def test_a_file_system_without_locks_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    def none(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    with opened(tmp_path) as store:
        store.append(key(1), Response("first"))
    assert "has no file locks" in capsys.readouterr().out
