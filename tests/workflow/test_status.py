"""The page of a run that is not finished can be made beside it, and starts nothing of it."""

from __future__ import annotations

import fcntl
import shutil

import pytest
from workspace import Workspace

pytestmark = pytest.mark.workflow


def test_a_status_page_is_made_beside_a_run_without_any_request(finished: Workspace) -> None:
    results = finished.folder / "results"
    missing = ("dialogues/generic.parquet", "judgements/forest/arena.parquet", "tables/arena", "figures/botchat")
    for name in missing:
        shutil.rmtree(path) if (path := results / name).is_dir() else path.unlink()
    report = (results / "report/index.html").read_bytes()
    stored = finished.stored("*/*")
    progress = results / ".progress"
    before = {path: path.read_bytes() for path in progress.rglob("*.json")}
    with (results / ".run.lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        refused = finished.run("report", ok=False)
        assert "snakemake --cores 1 status" in refused
        finished.run("status")
    page = (results / "report/status.html").read_text(encoding="utf-8")
    assert "This run is in progress" in page
    assert '<dd dir="auto">generic</dd>' in page
    assert "arena/ratings" in page
    assert (results / "report/index.html").read_bytes() == report
    assert finished.stored("*/*") == stored
    assert {path: path.read_bytes() for path in progress.rglob("*.json")} == before
    assert not any((results / name).exists() for name in missing)
    (results / ".run.stop").write_text("SIGTERM")  # as a run leaves it that was stopped
    finished.run("status")
    assert "This run is not finished" in (results / "report/status.html").read_text(encoding="utf-8")
