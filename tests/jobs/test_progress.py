"""What a long stage says of itself."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dialeval.jobs import progress as progress_files
from dialeval.jobs.progress import ModelJob, Progress, Requests, SoFar


def test_lines_tell_tokens_failures_and_what_the_engine_adds() -> None:
    stream = io.StringIO()
    progress = Progress("self-chat", 4, "utterances", every=0, stream=stream)
    progress.extra = lambda: "87% of prompt tokens cached"
    progress.advance(tokens=20)
    progress.advance(failed=True)
    progress.advance(stored=True)
    progress.finish()
    first, second, third, closing = stream.getvalue().splitlines()
    assert first.startswith("self-chat: 1/4 (25%), ")
    assert " tokens/s, 87% of prompt tokens cached, " in first
    assert second.endswith("0 cached, 1 failed")
    assert third.startswith("self-chat: 3/4 (75%), ")
    assert closing.startswith("self-chat: 3 utterances in ")
    assert " tokens/s, 87% of prompt tokens cached (2 sent, 1 cached, 1 failed)" in closing


def test_what_is_not_known_is_left_out() -> None:
    stream = io.StringIO()
    progress = Progress("reading", None, "rows", every=0, stream=stream)
    progress.advance()
    progress.finish()
    assert "tokens" not in stream.getvalue()
    assert "%" not in stream.getvalue()


def test_the_time_left_follows_the_pace_of_new_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the loading of a model before the first answer nor answers from the store say how long the rest takes."""
    now = [0.0]
    monkeypatch.setattr("dialeval.jobs.progress.time.monotonic", lambda: now[0])
    stream = io.StringIO()
    progress = Progress("rating", 1000, "answers", every=5.0, stream=stream)
    for _ in range(500):
        progress.advance(stored=True)
    for now[0] in (60.0, 62.0, 64.0, 66.0, 68.0, 70.0):
        progress.advance()
    loaded, paced = stream.getvalue().splitlines()
    assert "501/1000" in loaded
    assert "left" not in loaded
    assert "504/1000" in paced
    assert "17 min left" in paced  # 496 more at one in two seconds


# How far jobs are, written by them and read by others.


@pytest.fixture
def _nothing_told_afterwards() -> Iterator[None]:
    yield
    progress_files._folder.clear()


def begun(results: Path, **fields: float) -> Progress:
    progress_files.report_for(results, results / "logs" / "responses" / "clerk" / "arena-1-of-2.log")
    return Progress("arena by clerk", 4, "answers", stream=io.StringIO(), **{"every": 0.0, **fields})


@pytest.mark.usefixtures("_nothing_told_afterwards")
def test_a_job_is_reported_at_its_start_during_its_requests_and_at_its_end(tmp_path: Path) -> None:
    progress = begun(tmp_path)
    (told,) = progress_files.read_job(tmp_path, "responses/clerk/arena-1-of-2")
    assert (told.title, told.done, told.total, told.state) == ("arena by clerk", 0, 4, "running")
    progress.advance(stored=True)
    progress.advance(tokens=7)
    progress.advance(failed=True)
    (told,) = progress_files.read_all(tmp_path)["responses/clerk/arena-1-of-2"]
    assert (told.done, told.sent, told.stored, told.failed, told.tokens) == (3, 2, 1, 1, 7)
    progress.finish()
    (told,) = progress_files.read_all(tmp_path)["responses/clerk/arena-1-of-2"]
    assert told.state == "done"


@pytest.mark.usefixtures("_nothing_told_afterwards")
def test_files_are_written_no_more_often_than_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    progress = begun(tmp_path, every=1000.0)
    written: list[object] = []
    monkeypatch.setattr(progress_files, "write", written.append)
    for _ in range(1000):
        progress.advance()
    assert not written


@pytest.mark.usefixtures("_nothing_told_afterwards")
def test_a_stage_that_is_no_job_or_logs_elsewhere_reports_no_progress(tmp_path: Path) -> None:
    for log in (None, tmp_path / "elsewhere" / "a.log"):
        progress_files.report_for(tmp_path / "results", log)
        Progress("arena by clerk", 4, "answers", stream=io.StringIO()).finish()
    assert progress_files.read_all(tmp_path / "results") == {}
    assert not (tmp_path / "results").exists()


@pytest.mark.usefixtures("_nothing_told_afterwards")
def test_a_failed_write_of_progress_stops_no_job(tmp_path: Path) -> None:
    (tmp_path / progress_files.FOLDER).write_text("a file where the folder should be")
    begun(tmp_path).advance()
    assert progress_files.read_all(tmp_path) == {}


@pytest.mark.usefixtures("_nothing_told_afterwards")
def test_models_of_one_job_have_files_of_their_own_whatever_they_are_called(tmp_path: Path) -> None:
    progress_files.report_for(tmp_path, tmp_path / "logs" / "dialogues" / "a.log")
    for name in ("arena by ../../x", "arena by 你好"):
        Progress(name, 1, "answers", stream=io.StringIO())
    told = progress_files.read_all(tmp_path)
    assert list(told) == ["dialogues/a"]
    assert {one.title for one in told["dialogues/a"]} == {"arena by ../../x", "arena by 你好"}


@pytest.mark.usefixtures("_nothing_told_afterwards")
def test_files_that_are_cut_or_of_another_version_are_passed_over(tmp_path: Path) -> None:
    begun(tmp_path)
    folder = tmp_path / progress_files.FOLDER / "responses"
    (folder / "cut.json").write_text('{"title": "x')
    (folder / "other.json").write_text(json.dumps({"of": "another version"}))
    assert sum(map(len, progress_files.read_all(tmp_path).values())) == 1


@pytest.mark.usefixtures("_nothing_told_afterwards")
def test_a_run_that_begins_forgets_the_last(tmp_path: Path) -> None:
    begun(tmp_path)
    progress_files.forget(tmp_path)
    assert progress_files.read_all(tmp_path) == {}
    progress_files.forget(tmp_path)  # nothing there is nothing wrong


# The progress of a run: the requests to each model.


def plan(folder: Path, n: int) -> Path:
    path = folder / f"plan{n}.parquet"
    pq.write_table(pa.table({"request_id": list(range(n))}), path)
    return path


def tell(
    results: Path, job: str, done: int, total: int | None, state: str = "running", stored: int = 0, by: str = "clerk"
) -> None:
    progress_files.report_for(results, results / "logs" / f"{job}.log")
    progress_files.write(SoFar(f"{job} by {by}", "answers", done, total, stored, 1 if done > 4 else 0, 0, 1.0, state))
    progress_files.report_for(results, None)


def asking(name: str, *requests: Path, shards: int = 1, model: str = "clerk") -> ModelJob:
    return ModelJob(name, requests, shards, (model,))


def words_of(run: Requests) -> dict[str, str]:
    return {model: progress.in_words() for model, progress in run.by_model().items()}


def test_planned_requests_count_before_their_job_begins_and_each_shard_has_its_part(tmp_path: Path) -> None:
    path = plan(tmp_path, 10)
    run = Requests(tmp_path, [asking("a", path, shards=2), asking("b", path, shards=2)])
    assert words_of(run) == {"clerk": "0 of 10 requests"}


def test_the_count_of_a_running_job_replaces_its_plan(tmp_path: Path) -> None:
    run = Requests(tmp_path, [asking("a", plan(tmp_path, 10)), asking("b", plan(tmp_path, 30))])
    tell(tmp_path, "a", 3, 6, stored=2)
    whole = run.so_far()
    assert (whole.done, whole.total, whole.sent, whole.stored) == (3, 36, 1, 2)
    assert words_of(run) == {"clerk": "3 of 36 requests, 2 cached"}


def test_each_model_has_its_own_counts_also_of_one_job(tmp_path: Path) -> None:
    talk = ModelJob("talk", (), models=("bot", "user"))
    run = Requests(tmp_path, [talk, asking("judging", plan(tmp_path, 8))])
    assert words_of(run) == {"bot": "", "clerk": "0 of 8 requests", "user": ""}
    tell(tmp_path, "talk", 2, 4, by="bot")
    tell(tmp_path, "talk", 1, 3, by="user")
    assert words_of(run) == {
        "bot": "2 of 4 requests",
        "clerk": "0 of 8 requests",
        "user": "1 of 3 requests",
    }
    assert run.jobs_under_way() == 3 / 7


def test_a_model_with_jobs_whose_requests_are_not_planned_says_so(tmp_path: Path) -> None:
    run = Requests(tmp_path, [asking("a"), asking("b", tmp_path / "not there yet.parquet")])
    assert words_of(run) == {"clerk": ""}
    tell(tmp_path, "a", 5, None)
    assert words_of(run) == {"clerk": "5 of 5 requests, 1 failed; 2 jobs not planned yet"}
    assert run.jobs_under_way() == 0


def test_an_ended_job_counts_its_requests_and_a_restored_one_none(tmp_path: Path) -> None:
    path = plan(tmp_path, 10)
    run = Requests(tmp_path, [asking("a", path), asking("b", path)])
    tell(tmp_path, "a", 7, None, "done")
    run.ended |= {"b"}
    whole = run.so_far()
    assert (whole.done, whole.total, whole.unplanned) == (7, 7, 0)


def test_a_plan_that_is_made_anew_is_counted_anew(tmp_path: Path) -> None:
    path = plan(tmp_path, 10)
    run = Requests(tmp_path, [asking("a", path)])
    assert run.so_far().total == 10
    pq.write_table(pa.table({"request_id": list(range(4))}), path)
    assert run.so_far().total == 4


def test_a_run_without_requests_has_no_words(tmp_path: Path) -> None:
    assert Requests(tmp_path, []).so_far().in_words() == ""


def test_only_jobs_that_began_are_looked_at_and_those_that_ended_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Requests(tmp_path, [asking(name) for name in "abc"], begun={"a", "b"})
    tell(tmp_path, "a", 2, 2, "done")
    tell(tmp_path, "b", 1, 3)
    looked: list[str] = []
    read = progress_files.read_job

    def noted(results: Path, name: str) -> list[SoFar]:
        looked.append(name)
        return read(results, name)

    monkeypatch.setattr("dialeval.jobs.progress.read_job", noted)
    run.ended.add("a")
    assert [run.so_far().done, run.so_far().done] == [3, 3]
    assert looked == ["a", "b", "b"]
