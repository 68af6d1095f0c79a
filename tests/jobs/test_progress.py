"""What a long stage says of itself."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialeval.jobs import progress as progress_files
from dialeval.jobs.progress import Progress

# What a long stage says of itself.


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
    assert second.endswith("0 from the store, 1 failed")
    assert third.startswith("self-chat: 3/4 (75%), ")
    assert closing.startswith("self-chat: 3 utterances done in ")
    assert " tokens/s, 87% of prompt tokens cached (2 sent, 1 from the store, 1 failed)" in closing


def test_what_is_not_known_is_left_out() -> None:
    stream = io.StringIO()
    progress = Progress("reading", None, "rows", every=0, stream=stream)
    progress.advance()
    progress.finish()
    assert "tokens" not in stream.getvalue()
    assert "%" not in stream.getvalue()


def test_the_time_left_follows_the_pace_of_what_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert "16 min left" in paced  # 496 more at one in two seconds


# How far jobs are, written by them and read by others.


@pytest.fixture
def _nothing_told_afterwards() -> Iterator[None]:
    yield
    progress_files._folder.clear()


def begun(results: Path, **fields: float) -> Progress:
    progress_files.report_for(results, results / "logs" / "responses" / "clerk" / "arena-1-of-2.log")
    return Progress("arena by clerk", 4, "answers", stream=io.StringIO(), **{"every": 0.0, **fields})


@pytest.mark.usefixtures("_nothing_told_afterwards")
def test_a_job_is_told_of_when_it_begins_while_it_asks_and_when_it_is_done(tmp_path: Path) -> None:
    progress = begun(tmp_path)
    (told,) = progress_files.read_job(tmp_path, "responses/clerk/arena-1-of-2")
    assert (told.title, told.done, told.total, told.state) == ("arena by clerk", 0, 4, "running")
    progress.advance(stored=True)
    progress.advance(tokens=7)
    progress.advance(failed=True)
    (told,) = progress_files.read_all(tmp_path)["responses/clerk/arena-1-of-2"]
    assert (told.done, told.asked, told.stored, told.failed, told.tokens) == (3, 2, 1, 1, 7)
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
def test_a_stage_that_is_no_job_or_logs_elsewhere_tells_nothing(tmp_path: Path) -> None:
    for log in (None, tmp_path / "elsewhere" / "a.log"):
        progress_files.report_for(tmp_path / "results", log)
        Progress("arena by clerk", 4, "answers", stream=io.StringIO()).finish()
    assert progress_files.read_all(tmp_path / "results") == {}
    assert not (tmp_path / "results").exists()


@pytest.mark.usefixtures("_nothing_told_afterwards")
def test_what_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
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
