"""How far a run is as a whole, in requests."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dialeval.progress import files as progress_files
from dialeval.progress.files import SoFar
from dialeval.progress.whole_run import AskingJob, Requests


def plan(folder: Path, n: int) -> Path:
    path = folder / f"plan{n}.parquet"
    pq.write_table(pa.table({"request_id": list(range(n))}), path)
    return path


def tell(results: Path, job: str, done: int, total: int | None, state: str = "running", stored: int = 0) -> None:
    progress_files.tell_for(results, results / "logs" / f"{job}.log")
    progress_files.write(SoFar(f"{job} asks", "answers", done, total, stored, 1 if done > 4 else 0, 0, 1.0, state))
    progress_files.tell_for(results, None)


def test_planned_requests_count_before_their_job_begins_and_each_shard_has_its_part(tmp_path: Path) -> None:
    path = plan(tmp_path, 10)
    run = Requests(tmp_path, [AskingJob("a", (path,), 2), AskingJob("b", (path,), 2)])
    assert run.so_far().in_words() == "0 of 10 requests answered (0%)"


def test_what_a_job_says_counts_more_than_its_plan(tmp_path: Path) -> None:
    run = Requests(tmp_path, [AskingJob("a", (plan(tmp_path, 10),)), AskingJob("b", (plan(tmp_path, 30),))])
    tell(tmp_path, "a", 3, 6, stored=2)
    whole = run.so_far()
    assert (whole.done, whole.total, whole.asked, whole.stored, whole.asking) == (3, 36, 1, 2, 1)
    assert whole.in_words() == "3 of 36 requests answered (8%)"


def test_jobs_of_which_nothing_is_known_are_told_apart(tmp_path: Path) -> None:
    run = Requests(tmp_path, [AskingJob("a", ()), AskingJob("b", (tmp_path / "not there yet.parquet",))])
    assert run.so_far().in_words() == "2 jobs that ask have not said yet how much"
    tell(tmp_path, "a", 5, None)
    words = run.so_far().in_words()
    assert words == "5 of 5 requests answered (100%), 1 of them failed; 2 jobs that ask have not said yet how much"


def test_a_job_that_is_done_asked_what_it_asked_and_one_put_back_nothing(tmp_path: Path) -> None:
    path = plan(tmp_path, 10)
    run = Requests(tmp_path, [AskingJob("a", (path,)), AskingJob("b", (path,))])
    tell(tmp_path, "a", 7, None, "done")
    run.ended |= {"b"}
    whole = run.so_far()
    assert (whole.done, whole.total, whole.unknown) == (7, 7, 0)


def test_a_plan_that_is_made_anew_is_counted_anew(tmp_path: Path) -> None:
    path = plan(tmp_path, 10)
    run = Requests(tmp_path, [AskingJob("a", (path,))])
    assert run.so_far().total == 10
    pq.write_table(pa.table({"request_id": list(range(4))}), path)
    assert run.so_far().total == 4


def test_all_but_one_is_not_all(tmp_path: Path) -> None:
    run = Requests(tmp_path, [AskingJob("a", (plan(tmp_path, 100_000),))])
    tell(tmp_path, "a", 99_999, 100_000)
    assert "(99.9%)" in run.so_far().in_words()


def test_a_run_that_asks_nothing_says_nothing(tmp_path: Path) -> None:
    assert Requests(tmp_path, []).so_far().in_words() == ""


def test_only_jobs_that_began_are_looked_at_and_those_that_ended_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Requests(tmp_path, [AskingJob(name, ()) for name in "abc"], begun={"a", "b"})
    tell(tmp_path, "a", 2, 2, "done")
    tell(tmp_path, "b", 1, 3)
    looked: list[str] = []

    def read(results: Path, name: str) -> list[SoFar]:
        looked.append(name)
        return progress_files.read_job(results, name)

    monkeypatch.setattr("dialeval.progress.whole_run.read_job", read)
    run.ended.add("a")
    assert [run.so_far().done, run.so_far().done] == [3, 3]
    assert looked == ["a", "b", "b"]
