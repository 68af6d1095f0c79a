"""How far jobs are, written by them and read by others."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialeval.progress import Progress
from dialeval.progress import files as progress_files


@pytest.fixture(autouse=True)
def _nothing_told_afterwards() -> Iterator[None]:
    yield
    progress_files._folder.clear()


def begun(results: Path, **fields: float) -> Progress:
    progress_files.tell_for(results, results / "logs" / "responses" / "clerk" / "arena-1-of-2.log")
    return Progress("arena by clerk", 4, "answers", stream=io.StringIO(), **{"every": 0.0, **fields})


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


def test_files_are_written_no_more_often_than_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    progress = begun(tmp_path, every=1000.0)
    written: list[object] = []
    monkeypatch.setattr(progress_files, "write", written.append)
    for _ in range(1000):
        progress.advance()
    assert not written


def test_a_stage_that_is_no_job_or_logs_elsewhere_tells_nothing(tmp_path: Path) -> None:
    for log in (None, tmp_path / "elsewhere" / "a.log"):
        progress_files.tell_for(tmp_path / "results", log)
        Progress("arena by clerk", 4, "answers", stream=io.StringIO()).finish()
    assert progress_files.read_all(tmp_path / "results") == {}
    assert not (tmp_path / "results").exists()


def test_what_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / progress_files.FOLDER).write_text("a file where the folder should be")
    begun(tmp_path).advance()
    assert progress_files.read_all(tmp_path) == {}


def test_models_of_one_job_have_files_of_their_own_whatever_they_are_called(tmp_path: Path) -> None:
    progress_files.tell_for(tmp_path, tmp_path / "logs" / "dialogues" / "a.log")
    for name in ("arena by ../../x", "arena by 你好"):
        Progress(name, 1, "answers", stream=io.StringIO())
    told = progress_files.read_all(tmp_path)
    assert list(told) == ["dialogues/a"]
    assert {one.title for one in told["dialogues/a"]} == {"arena by ../../x", "arena by 你好"}


def test_files_that_are_cut_or_of_another_version_are_passed_over(tmp_path: Path) -> None:
    begun(tmp_path)
    folder = tmp_path / progress_files.FOLDER / "responses"
    (folder / "cut.json").write_text('{"title": "x')
    (folder / "other.json").write_text(json.dumps({"of": "another version"}))
    assert sum(map(len, progress_files.read_all(tmp_path).values())) == 1


def test_a_run_that_begins_forgets_the_last(tmp_path: Path) -> None:
    begun(tmp_path)
    progress_files.forget(tmp_path)
    assert progress_files.read_all(tmp_path) == {}
    progress_files.forget(tmp_path)  # nothing there is nothing wrong
