"""The page of a run that is not finished: what is there, what is missing, what is being answered."""

from __future__ import annotations

from pathlib import Path

import report_example as example

from dialeval.jobs.progress import SoFar
from dialeval.report.about import run_status_of
from dialeval.report.page import build_report


def so_far(done: int, total: int | None, state: str = "running", failed: int = 0) -> SoFar:
    return SoFar("arena by clerk", "requests", done, total, 0, failed, 0, 1.0, state)


def files(folder: Path, *there: str) -> dict[str, list[Path]]:
    for name in there:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    wanted = {
        "dialogues": ["dialogues/able.parquet", "dialogues/weak.parquet"],
        "verdicts": ["judgements/clerk/arena.parquet"],
        "tables": ["tables/arena/ratings.parquet", "tables/usage.parquet"],
        "figures": [],
    }
    return {kind: [folder / name for name in names] for kind, names in wanted.items()}


def test_what_is_missing_is_named_by_its_kind(tmp_path: Path) -> None:
    wanted = files(tmp_path, "dialogues/able.parquet", "tables/usage.parquet")
    run_status = run_status_of(wanted, {}, is_running=False, at="12:00:00 UTC")
    assert run_status.missing == (
        ("Dialogues of", ("weak",)),
        ("Verdicts", ("clerk/arena",)),
        ("Tables", ("arena: Ratings (arena/ratings)",)),
    )
    assert run_status.title == "This run is not finished"
    assert run_status.words == "At 12:00:00 UTC, 2 of the report's 5 input files exist."


def test_progress_of_jobs_is_shown_in_shares_of_requests() -> None:
    jobs = {"a": [so_far(30, 120), so_far(120, 120, "done", failed=2)], "b": [so_far(5, None), so_far(0, 0, "done")]}
    asking = run_status_of({}, jobs, is_running=True, at="now").asking
    assert [(one.counts, one.share, one.state) for one in asking] == [
        ("30 of 120 requests", 25, "answering"),
        ("120 of 120 requests", 100, "done, 2 failed"),
        ("5 requests", None, "answering"),
        ("0 of 0 requests", 100, "done"),
    ]
    assert run_status_of({}, {"a": [so_far(30, 120)]}, is_running=False, at="now").asking[0].state == "stopped"


def test_the_page_begins_with_it_and_a_finished_report_has_none(tmp_path: Path) -> None:
    run_status = run_status_of(files(tmp_path), {"a": [so_far(30, 120)]}, is_running=True, at="12:00:00 UTC")
    page = build_report(example.inputs(run_status=run_status))
    assert page.index("This run is in progress") < page.index("Who chats best?")
    assert 'value="25"' in page
    assert "arena by clerk" in page
    assert 'id="run-status"' not in build_report(example.inputs())


def test_a_run_that_is_finished_says_so(tmp_path: Path) -> None:
    wanted = files(tmp_path, *(str(path.relative_to(tmp_path)) for paths in files(tmp_path).values() for path in paths))
    run_status = run_status_of(wanted, {}, is_running=False, at="now")
    assert (run_status.missing, run_status.title) == ((), "This run is finished")
