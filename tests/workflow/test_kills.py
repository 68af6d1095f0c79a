"""A run that is killed, stopped or out of space loses nothing and is taken up by the same command."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from workspace import SMALL, Workspace

pytestmark = pytest.mark.workflow
IN_FLIGHT = 4
LONGER = {
    "models": {name: {**model, "concurrency": IN_FLIGHT} for name, model in SMALL["models"].items()},
    "seeds": {"corpus": "bundled", "limit": 120},  # a quarter of a second of answers
    "selfchat": {"n_utterances": 12},
    "protocols": {"arena": {"n_utterances": [12]}},
}


def with_only_what_was_learned(workspace: Workspace) -> Workspace:
    """Take back all answers and what follows from them, and configure a longer run."""
    for name in ("dialogues", "requests", "responses", "usage", "judgements", "tables", "figures", "report"):
        shutil.rmtree(workspace.folder / "results" / name)
    shutil.rmtree(workspace.folder / "store")
    workspace.configure(**LONGER)
    return workspace


@pytest.fixture(scope="module")
def longer(undisturbed: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A finished run that is long enough to be interrupted."""
    done = with_only_what_was_learned(undisturbed.copy(tmp_path_factory.mktemp("longer") / "work"))
    done.run()
    return done


@pytest.fixture
def learned(undisturbed: Workspace, tmp_path: Path) -> Workspace:
    """A workspace where the models have learned and nothing was asked yet."""
    return with_only_what_was_learned(undisturbed.copy(tmp_path / "work"))


def repeats(workspace: Workspace) -> int:
    return sum(count - 1 for count in Counter(workspace.stored("*/*")).values())


def fill_up(path: Path) -> None:
    """Write until the disk is full."""
    with suppress(OSError), path.open("wb", buffering=0) as file:
        while file.write(b"\0" * 4096):
            pass


@pytest.mark.slow  # engines/openai_api/test_killed_jobs.py and stages/test_selfchat.py show the same of single jobs
@pytest.mark.parametrize("moment", ["random/selfchat", "forest/arena"])
def test_kill_9_and_the_same_command(learned: Workspace, longer: Workspace, moment: str) -> None:
    learned.interrupt_when(lambda: len(learned.stored(moment)) > 20, signal.SIGKILL)
    assert len(learned.stored(moment)) < len(longer.stored(moment)), "it was over before it was killed"
    learned.run()
    assert repeats(learned) <= IN_FLIGHT
    assert learned.tables() == longer.tables()


@pytest.mark.slow
def test_control_c_ends_cleanly(learned: Workspace, longer: Workspace) -> None:
    output = learned.interrupt_when(lambda: len(learned.stored("forest/arena")) > 20, signal.SIGINT)
    assert "Traceback" not in output
    assert not list(learned.folder.rglob("*.partial"))
    learned.run()
    assert repeats(learned) <= IN_FLIGHT
    assert learned.tables() == longer.tables()


def test_results_that_cannot_be_written_are_one_message(workspace: Workspace) -> None:
    (workspace.folder / "results").write_text("a file where the folder should be")
    output = workspace.run(ok=False)
    assert "the results folder results cannot be written" in output
    assert "Traceback" not in output


def test_a_full_disk_is_one_message_and_earlier_results_are_whole(finished: Workspace) -> None:
    results = finished.folder / "results"
    kept = finished.folder / "kept"
    results.rename(kept)
    results.mkdir()
    size = sum(path.stat().st_blocks * 512 for path in kept.rglob("*")) // 1024 + 20_000
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(results)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting a small disk needs more rights than this process has")
    try:
        shutil.copytree(kept, results, dirs_exist_ok=True)
        before = finished.tables()
        filler = results / "filler"
        fill_up(filler)
        models = {**SMALL["models"], "other": {"engine": "embedded", "method": "random", "folds": 2}}
        finished.configure(models=models, chatbots=["random", "generic", "other"])
        output = finished.run(ok=False)
        assert "the results folder results cannot be written: No space left on device" in output
        assert ".smk" not in output
        assert finished.tables() == before
        os.truncate(filler, filler.stat().st_size - 12_000)
        output = finished.run(ok=False)
        assert "job failed:" in output or "jobs failed:" in output
        assert "No space left on device" in output or "is full, so that" in output
        assert "Traceback (most recent call last)" not in output
        assert finished.tables() == before
        filler.unlink()
        finished.run("results/tables/arena/ratings.csv")
        assert finished.tables() != before
    finally:
        subprocess.run(["umount", str(results)], check=False)
