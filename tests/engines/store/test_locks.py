"""Jobs of one model answer side by side, and a request that several of them have is paid for once."""

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
from store_writers import answer_common, answer_shared_out, hold, key, opened

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
def test_a_second_job_of_the_same_name_waits_and_then_finds_the_answers(
    tmp_path: Path, capsys: Output, how: str
) -> None:
    holder = Holder(tmp_path, run="A")
    assert opened_while(getattr(holder, how), tmp_path, run="A")
    assert "waiting: another job is answering into" in capsys.readouterr().out


@pytest.mark.parametrize("how", ["end", "kill"])
def test_another_job_leaves_a_claimed_request_alone_until_its_job_has_ended(tmp_path: Path, how: str) -> None:
    holder = Holder(tmp_path, writer="one", run="A")
    with opened(tmp_path, writer="two", run="B", protocol="duel") as store:
        assert store.claim_all([key(1), key(2), key(3)]) == [True, False, True]
        getattr(holder, how)()
        assert store.claim_all([key(2)]) == [True]


def test_what_another_job_stores_after_this_one_began_is_found(tmp_path: Path) -> None:
    with opened(tmp_path, writer="two", run="B", protocol="duel") as store:
        with opened(tmp_path, writer="one", run="A") as other:
            assert other.claim_all([key(1), key(2)]) == [True, True]
            other.append(key(1), Response("first"))
            assert store.claim_all([key(1), key(2)]) == [False, False]
            assert (store.get(key(1)), store.get(key(2))) == (Response("first"), None)
            other.append(key(2), Response("second"))
        assert store.claim_all([key(2)]) == [False]
        assert store.get(key(2)) == Response("second")


def test_a_request_that_got_no_answer_is_free_for_others(tmp_path: Path) -> None:
    with opened(tmp_path, writer="one", run="A") as one, opened(tmp_path, writer="two", run="B") as two:
        assert one.claim_all([key(1)]) == [True]
        one.give_up(key(1))
        assert two.claim_all([key(1)]) == [False], "it is told with the next claim"
        assert one.claim_all([key(2)]) == [True]
        assert two.claim_all([key(1)]) == [True]


def test_a_job_that_takes_a_dead_jobs_name_sets_its_claims_free(tmp_path: Path) -> None:
    with opened(tmp_path, writer="other", run="B") as store:
        holder = Holder(tmp_path, writer="one", run="A")
        holder.kill()
        with opened(tmp_path, writer="one", run="A"):
            assert store.claim_all([key(2)]) == [True]


def test_a_line_that_a_killed_job_left_unfinished_hurts_no_other(tmp_path: Path) -> None:
    with opened(tmp_path, writer="one", run="A") as one, opened(tmp_path, writer="two", run="B") as two:
        with (one.folder.parent / "claims").open("a") as claims:
            claims.write(f"0 {key(9)[:7]}")
        assert one.claim_all([key(1)]) == [True]
        assert two.claim_all([key(1), key(9)]) == [False, True]


def test_claims_of_jobs_that_are_over_are_removed(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.claim_all([key(1)])
        claims = store.folder.parent / "claims"
        assert claims.stat().st_size
    assert claims.stat().st_size == 0
    Holder(tmp_path).kill()
    assert claims.stat().st_size
    with opened(tmp_path) as store:
        assert len(claims.read_text(encoding="utf-8").splitlines()) == 1, "its own name"


def test_jobs_with_the_same_requests_ask_each_once_and_use_each_others_answers(tmp_path: Path) -> None:
    asked = CONTEXT.Value("i", 0)
    names = ["one", "two", "three"]
    jobs = [
        CONTEXT.Process(target=answer_common, args=(str(tmp_path / "store"), name, str(tmp_path / name), asked))
        for name in names
    ]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert [job.exitcode for job in jobs] == [0] * 3
    assert asked.value == 60
    texts = {(tmp_path / name).read_text(encoding="utf-8") for name in names}
    assert len(texts) == 1
    assert "none" not in texts.pop()


def test_tables_are_told_apart_by_their_results_and_their_shards(tmp_path: Path) -> None:
    runs = [run_of(tmp_path / "a", 2), run_of(tmp_path / "a", 3), run_of(tmp_path / "b", 2)]
    assert len(set(runs)) == 3
    assert run_of(tmp_path / "b" / ".." / "a", 2) == runs[0]


def test_a_folder_named_in_another_encoding_has_its_run(tmp_path: Path) -> None:
    results = Path(os.fsdecode(os.fsencode(tmp_path) + b"/f\xfcr"))
    Holder(tmp_path, writer="shard-1-of-2", run=run_of(results, 2)).kill()
    with opened(tmp_path, writer="shard-1-of-3", run=run_of(results, 3)) as store:
        assert store.claim_all([key(2)]) == [True]


def test_locks_that_an_earlier_version_left_hold_up_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        folder = store.folder
    for name in ("runs.lock", "0123456789ab.run"):
        (folder / name).write_text("results in elsewhere, shards: 2", encoding="utf-8")
    with opened(tmp_path) as store:
        assert store.claim_all([key(1)]) == [True]


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
