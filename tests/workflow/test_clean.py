"""What a configuration made and no longer makes is listed, and removed where that is asked for."""

from __future__ import annotations

import fcntl
import re

import pytest
from workspace import Workspace

pytestmark = pytest.mark.workflow
LINE = re.compile(r"^ *[\d.]+ [kMG]?B  results/(\S+)  \((\w+)\)$", re.MULTILINE)


def files(workspace: Workspace) -> set[str]:
    results = workspace.folder / "results"
    return {str(path.relative_to(results)) for path in results.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_files_of_a_dropped_chatbot_are_listed_and_removed_and_nothing_else_is(finished: Workspace) -> None:
    (finished.folder / "results" / "tables" / "mine.csv").write_text("mine", encoding="utf-8")
    output = finished.run("clean", "versions")
    assert "all results were made with the versions that are installed" in output
    assert "results has no unused files" in output
    assert "has files without a record of a run, which are kept: tables/mine.csv\n" in output
    before, stored = files(finished), finished.stored("*/*")
    finished.configure(chatbots=["random"])
    output = finished.run("clean")
    listed = dict(LINE.findall(output))
    assert listed["dialogues/generic.parquet"] == "selfchat"
    assert listed["logs/dialogues/generic.log"] == "selfchat"
    assert all("generic" in name for name in listed)
    assert files(finished) == before
    planned = finished.would_run()
    output = finished.run("clean_remove")
    assert f"removed {len(listed)} files or folders" in output
    records = {name for name in before - files(finished) if name.startswith(("provenance/", ".kept/"))}
    assert before - files(finished) - records == set(listed)
    assert all("generic" in name for name in records)
    assert finished.stored("*/*") == stored
    assert finished.would_run() == planned
    assert "results has no unused files" in finished.run("clean")


def test_a_results_folder_that_is_in_use_or_holds_more_is_refused(workspace: Workspace) -> None:
    assert "results_dir is ., which also contains other files" in workspace.run(
        "clean", "--config", "results_dir=.", ok=False
    )
    (workspace.folder / "results").mkdir()
    with (workspace.folder / "results" / ".run.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "another run" in workspace.run("clean_remove", ok=False)
