"""Nothing stored is lost, whatever a model is called, and damage is noticed."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import hashlib
import multiprocessing
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator
from multiprocessing.synchronize import Event
from pathlib import Path
from threading import Thread

import pytest
from store_writers import answer_common, hold, key, opened, write_until_killed

from dialeval.engines.requests import Response
from dialeval.engines.store import run_of
from dialeval.engines.store.answer_files import line_of
from dialeval.engines.store.claims import Claims, is_at_work
from dialeval.engines.store.response_store import StoredAnswers
from dialeval.errors import UserError

DIGEST = hashlib.sha256(b"model").hexdigest()[:12]
Output = pytest.CaptureFixture[str]


def fill(folder: Path, numbers: range, writer: str = "job", **more: str) -> None:
    with opened(folder, writer=writer, **more) as store:
        for number in numbers:
            store.append(key(number), Response(f"answer {number} “ü” \n\t", completion_tokens=number))


CONTEXT = multiprocessing.get_context("spawn")


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


@pytest.fixture
def _no_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)


def the_file(folder: Path) -> Path:
    (path,) = folder.rglob("*.jsonl")
    return path


def found(folder: Path, numbers: range, **more: str) -> list[int]:
    with opened(folder, **more) as store:
        return [number for number in numbers if store.get(key(number))]


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
    before = sorted(tmp_path.rglob("*"))
    with StoredAnswers(tmp_path, identity="model", protocol="arena") as answers:
        assert answers.get(key(1)) is not None
    with StoredAnswers(tmp_path / "none", identity="model", protocol="arena") as answers:
        assert answers.get(key(1)) is None
    assert sorted(tmp_path.rglob("*")) == before


def test_models_are_kept_apart(tmp_path: Path) -> None:
    fill(tmp_path, range(3))
    assert found(tmp_path, range(3), identity="another") == []


def test_a_renamed_model_finds_its_answers_and_both_names_are_reported(tmp_path: Path) -> None:
    fill(tmp_path, range(3), name="before")
    assert found(tmp_path, range(3), name="after") == [0, 1, 2]
    assert (tmp_path / DIGEST / "names.txt").read_text().split() == ["before", "after"]


def test_a_renamed_protocol_finds_its_answers(tmp_path: Path) -> None:
    fill(tmp_path, range(3), protocol="arena")
    fill(tmp_path, range(3, 5), protocol="duel")
    assert found(tmp_path, range(6), protocol="duel") == [0, 1, 2, 3, 4]
    with opened(tmp_path, protocol="duel") as store:
        assert len(store) == 2, "those of others are no more than looked up"


def test_other_protocols_are_read_only_when_something_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, range(3), protocol="arena")
    fill(tmp_path, range(3, 5), protocol="duel")
    with opened(tmp_path, protocol="duel") as store:
        monkeypatch.setattr(store, "_load_other_protocols", lambda: pytest.fail("the other protocol was read"))
        assert [store.get(key(number)) is not None for number in (3, 4)] == [True, True]


def test_stores_of_earlier_versions_are_found_whatever_name_they_carry(tmp_path: Path) -> None:
    fill(tmp_path, range(6))
    lines = the_file(tmp_path).read_bytes().splitlines(keepends=True)
    the_file(tmp_path).unlink()
    for folder, part in {
        f"gpt-4-{DIGEST}/arena": lines[:2],
        f"an-older-name-{DIGEST}/arena": lines[2:4],
        f"gpt-4-{DIGEST}/unieval": lines[4:],
        f"gpt-4-{'0' * 12}/arena": [line_of(key(7), b'{"text": "of another model"}')],
    }.items():
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "shard-1-of-1-00000.jsonl").write_bytes(b"".join(part))
    assert found(tmp_path, range(8)) == list(range(6))


def test_shards_read_each_others_answers(tmp_path: Path) -> None:
    fill(tmp_path, range(3), "shard-1-of-2")
    fill(tmp_path, range(3, 5), "shard-2-of-2")
    assert found(tmp_path, range(5)) == list(range(5))


@pytest.mark.parametrize("cut", [2, 20, 60])
def test_a_file_that_was_cut_off_keeps_its_whole_lines(tmp_path: Path, capsys: Output, cut: int) -> None:
    fill(tmp_path, range(10))
    path = the_file(tmp_path)
    path.write_bytes(path.read_bytes()[:-cut])
    with opened(tmp_path) as store:
        assert [number for number in range(10) if key(number) in store] == list(range(9))
        store.append(key(9), Response("again"))
    assert "1 corrupt line" in capsys.readouterr().out
    with opened(tmp_path) as store:
        assert store.get(key(9)) == Response("again")


def test_half_a_line_of_a_writer_at_work_is_not_damaged(tmp_path: Path, capsys: Output) -> None:
    writing = {"writer": "shard-2-of-2", "run": "one run"}
    fill(tmp_path, range(2, 4), **writing)  # an earlier job was cut off while it wrote
    (earlier,) = tmp_path.rglob("shard-2-of-2-*.jsonl")
    earlier.write_bytes(earlier.read_bytes()[:-5])
    holder = Holder(tmp_path, **writing)
    try:
        path = next(path for path in tmp_path.rglob("shard-2-of-2-*.jsonl") if path != earlier)
        with path.open("ab") as file:
            file.write(line_of(key(5), b'{"text": "half"}')[:-7])
        assert found(tmp_path, range(6), writer="shard-1-of-2", run="one run") == [1, 2]
        output = capsys.readouterr().out
        assert f"{earlier} has 1 corrupt line" in output, "the earlier job ended long ago"
        assert str(path) not in output
    finally:
        holder.end()
    assert found(tmp_path, range(6), writer="shard-1-of-2", run="one run") == [1, 2]
    assert f"{path} has 1 corrupt line" in capsys.readouterr().out


@pytest.mark.usefixtures("_no_locks")
@pytest.mark.parametrize(("seconds", "corrupt"), [(5.0, 0), (600.0, 1)])
def test_without_locks_a_file_that_just_changed_may_be_written(
    tmp_path: Path, capsys: Output, seconds: float, corrupt: int
) -> None:
    fill(tmp_path, range(3), writer="shard-2-of-2")
    path = the_file(tmp_path)
    path.write_bytes(path.read_bytes()[:-5])
    os.utime(path, (time.time() - seconds,) * 2)
    with opened(tmp_path) as store:
        assert sum(store._own_protocol.corrupt.values()) == corrupt
    assert "has no file locks" in capsys.readouterr().out


@pytest.mark.parametrize("place", [0, 5, 20, 34, 38, 50])
def test_a_flipped_byte_costs_one_answer(tmp_path: Path, place: int) -> None:
    fill(tmp_path, range(10))
    path = the_file(tmp_path)
    content = bytearray(path.read_bytes())
    start = [at for at, byte in enumerate(content) if byte == ord("\n")][3] + 1
    content[start + place] ^= 0x01
    path.write_bytes(bytes(content))
    with opened(tmp_path) as store:
        assert [number for number in range(10) if store.get(key(number))] == [n for n in range(10) if n != 4]
        assert sum(store._own_protocol.corrupt.values()) == 1


@pytest.mark.parametrize(("first", "last"), [(b"", b"\r\n\r\n"), (b"\xef\xbb\xbf", b"\r\n"), (b"", b"")])
def test_line_ends_and_marks_of_editors_cost_nothing(tmp_path: Path, capsys: Output, first: bytes, last: bytes) -> None:
    fill(tmp_path, range(10))
    path = the_file(tmp_path)
    path.write_bytes(first + path.read_bytes().removesuffix(b"\n").replace(b"\n", b"\r\n") + last)
    assert found(tmp_path, range(10)) == list(range(10))
    assert "damaged" not in capsys.readouterr().out


def test_lines_of_another_version_are_used_or_requested_again(tmp_path: Path, capsys: Output) -> None:
    fill(tmp_path, range(2))
    bodies = [
        b'{"text": "later", "mood": "good"}',
        b'{"answer": "no text"}',
        b'["no", "object"]',
        b'{"text": null}',
        b"{" * 100_000,
        b'{"logprob": 1000, "text": ""}',
        b'{"prompt_tokens": 100000000000000000000, "text": "half \xed\xa0\x80"}',
    ]
    with the_file(tmp_path).open("ab") as file:
        file.writelines(line_of(key(number), body) for number, body in enumerate(bodies, 2))
    with opened(tmp_path) as store:
        answers = {number: store.get(key(number)) for number in range(2 + len(bodies))}
        for number in (3, 4, 5, 6, 7):
            assert answers.pop(number) is None
            store.append(key(number), Response("asked again"))
    assert answers[2] == Response("later")
    assert answers[8] == Response("half \ufffd")
    output = capsys.readouterr().out
    assert "unknown fields (mood)" in output
    assert "replaced by U+FFFD" in output
    assert "corrupt line" in output
    assert found(tmp_path, range(9)) == list(range(9))


def test_of_two_answers_to_a_key_the_whole_one_counts(tmp_path: Path) -> None:
    fill(tmp_path, range(1))
    with the_file(tmp_path).open("ab") as file:
        file.write(line_of(key(0), b'{"text": null}'))
    with opened(tmp_path) as store:
        assert (store.get(key(0)) or Response("")).text.startswith("answer 0")


def test_a_file_that_is_cut_while_it_is_read_costs_what_was_cut(tmp_path: Path, capsys: Output) -> None:
    fill(tmp_path, range(3000))
    path = the_file(tmp_path)
    with opened(tmp_path) as store:
        assert store.get(key(2999)) is not None
        os.truncate(path, path.stat().st_size // 2)
        there = [number for number in range(3000) if store.get(key(number)) is not None]
        assert 1400 < len(there) < 1600
        assert there == list(range(len(there)))
        os.truncate(path, 0)
        assert store.get(key(0)) is None
    assert capsys.readouterr().out.count("corrupt line") == 1


def test_a_file_that_is_written_anew_while_it_is_read_gives_no_wrong_answer(tmp_path: Path) -> None:
    fill(tmp_path, range(10))
    path = the_file(tmp_path)
    with opened(tmp_path) as store:
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(reversed(lines)))
        for number in range(10):
            response = store.get(key(number))
            assert response is None or response.text.startswith(f"answer {number} ")


@pytest.mark.parametrize("kind", ["a folder", "a link to nothing", "no right to read"])
def test_a_file_that_cannot_be_read_does_not_make_the_rest_be_paid_again(
    tmp_path: Path, capsys: Output, kind: str
) -> None:
    fill(tmp_path, range(5))
    path = the_file(tmp_path).with_name("lost-00000.jsonl")
    if kind == "a folder":
        path.mkdir()
    elif kind == "a link to nothing":
        path.symlink_to(tmp_path / "unmounted")
    else:
        path.write_bytes(b"")
        path.chmod(0)
        if os.access(path, os.R_OK):
            pytest.skip("this user may read everything")
    with opened(tmp_path) as store:
        assert [number for number in range(5) if store.get(key(number))] == list(range(5))
        with pytest.raises(UserError, match=r"(?s)paid .*lost-00000\.jsonl: .*move them away"):
            store.get(key(5))
    assert "lost-00000.jsonl cannot be read" in capsys.readouterr().out
    with StoredAnswers(tmp_path, identity="model", protocol="arena") as answers:
        assert answers.get(key(5)) is None, "an estimate pays for nothing"


@pytest.mark.parametrize("hidden", ["", DIGEST, f"{DIGEST}/arena", f"{DIGEST}/duel", f"gpt-{DIGEST}/arena"])
def test_a_folder_that_hides_its_files_does_not_make_them_be_paid_again(
    tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch, hidden: str
) -> None:
    fill(tmp_path, range(3))
    fill(tmp_path, range(3, 6), protocol="duel")
    (tmp_path / f"gpt-{DIGEST}" / "arena").mkdir(parents=True)
    listed = Path.iterdir

    def without_rights(folder: Path) -> Iterator[Path]:
        if folder == tmp_path / hidden:
            raise PermissionError(13, "Permission denied")
        return listed(folder)

    monkeypatch.setattr(Path, "iterdir", without_rights)
    with opened(tmp_path) as store, pytest.raises(UserError, match=r"paid .*\n.*Permission denied"):
        [store.get(key(number)) for number in range(7)]
    assert f"{tmp_path / hidden} cannot be read" in capsys.readouterr().out


def test_more_files_than_a_process_may_open(tmp_path: Path) -> None:
    fill(tmp_path, range(300))
    path = the_file(tmp_path)
    for number, line in enumerate(path.read_bytes().splitlines(keepends=True)):
        path.with_name(f"part-{number:05d}.jsonl").write_bytes(line)
    path.unlink()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 200), hard))
    try:
        assert found(tmp_path, range(300)) == list(range(300))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_kill_loses_nothing_that_append_returned_from(tmp_path: Path) -> None:
    written = CONTEXT.Value("i", 0)
    process = CONTEXT.Process(target=write_until_killed, args=(str(tmp_path), written))
    process.start()
    while written.value < 500:
        assert process.is_alive()
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    with opened(tmp_path) as store:
        assert all(key(number) in store for number in range(written.value))


def test_a_store_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file")
    with pytest.raises(UserError, match="store_dir"):
        opened(tmp_path / "store").__enter__()


def test_an_answer_that_could_not_be_stored_is_not_there_and_the_store_is_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(UserError, match="could not be stored in"), opened(tmp_path) as store:  # noqa: PT012
        monkeypatch.setattr(store, "_open_output", full)
        with pytest.raises(UserError, match="could not be stored in"):
            asyncio.run(store.append_soon(key(1), Response("paid")))
        for further in (store.get, lambda key: store.append(key, Response("paid, too"))):
            with pytest.raises(UserError, match="could not be stored in"):
                further(key(1))
    with opened(tmp_path) as store:
        assert store.get(key(1)) is None


def test_a_store_that_can_only_be_read_serves_its_answers_and_refuses_what_is_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(tmp_path, range(3))

    def refused(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Claims, "acquire", refused)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with opened(tmp_path) as store:
        assert [number for number in range(3) if store.get(key(number))] == list(range(3))
        assert store.claim_all([]) == []
        with pytest.raises(
            UserError, match=r"(?s)store at .* cannot be used: Read-only file system; check `store_dir`"
        ):
            store.claim_all([key(7)])
    assert "is read-only: its responses are used" in capsys.readouterr().out
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


# Jobs of one model answer side by side, and a request that several of them have is paid for once.


def opened_while(end: Callable[[], None], folder: Path, **more: str) -> bool:
    """Open a store in a thread, end what holds it once it waits, and return whether it found the answer."""
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
def test_locks_a_second_job_of_the_same_name_waits_and_then_finds_the_answers(
    tmp_path: Path, capsys: Output, how: str
) -> None:
    holder = Holder(tmp_path, run="A")
    assert opened_while(getattr(holder, how), tmp_path, run="A")
    assert "waiting: another job writes responses to" in capsys.readouterr().out


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
        assert two.claim_all([key(1)]) == [False], "the next claim releases it"
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
    n_calls = CONTEXT.Value("i", 0)
    names = ["one", "two", "three"]
    jobs = [
        CONTEXT.Process(target=answer_common, args=(str(tmp_path / "store"), name, str(tmp_path / name), n_calls))
        for name in names
    ]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert [job.exitcode for job in jobs] == [0] * 3
    assert n_calls.value == 60
    texts = {(tmp_path / name).read_text(encoding="utf-8") for name in names}
    assert len(texts) == 1
    assert "none" not in texts.pop()


def test_tables_are_distinguished_by_their_results_and_their_shards(tmp_path: Path) -> None:
    runs = [run_of(tmp_path / "a", 2), run_of(tmp_path / "a", 3), run_of(tmp_path / "b", 2)]
    assert len(set(runs)) == 3
    assert run_of(tmp_path / "b" / ".." / "a", 2) == runs[0]


def test_a_folder_named_in_another_encoding_has_its_run(tmp_path: Path) -> None:
    results = Path(os.fsdecode(os.fsencode(tmp_path) + b"/f\xfcr"))
    Holder(tmp_path, writer="shard-1-of-2", run=run_of(results, 2)).kill()
    with opened(tmp_path, writer="shard-1-of-3", run=run_of(results, 3)) as store:
        assert store.claim_all([key(2)]) == [True]


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
        assert set(store.abandoned_files("batches")) == {dead, old, other}
        holder.kill()
        assert set(store.abandoned_files("batches")) == {dead, old, other, store.folder / "shard-1-of-2.batches"}
