"""A job ends with the run that started it, and only then."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from processes import is_running, wait_until_gone

from dialeval.jobs import signals

JOB = """
import sys, time
from dialeval.stages.command import run

def stage() -> None:
    print("at work", flush=True)
    time.sleep(100)

sys.argv = ["job"]
run(stage)
"""
RUN = f"""
import signal, subprocess, sys, time
from pathlib import Path
from dialeval.jobs import signals as runwatch

if sys.argv[1] == "announced":
    runwatch.announce(Path(sys.argv[2]))
    runwatch.mark_on_termination(Path(sys.argv[2]))
    signal.signal(signal.SIGTERM, (lambda mark: lambda *a: mark(*a))(signal.getsignal(signal.SIGTERM)))
job = subprocess.Popen(["bash", "-c", "python -c '" + {JOB!r} + "' | cat"], stdout=subprocess.PIPE)
job.stdout.readline()
print(job.pid, flush=True)
while True:
    time.sleep(1)
"""


def start(folder: Path, announced: bool) -> tuple[subprocess.Popen[str], int]:
    """Starts a run with one job below a shell, and returns it with the job's process number."""
    environment = {name: value for name, value in os.environ.items() if name != signals.VARIABLE}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    command = [sys.executable, "-c", RUN, "announced" if announced else "by hand", str(folder)]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert run.stdout is not None
    shell = int(run.stdout.readline())
    children = Path(f"/proc/{shell}/task/{shell}/children").read_text().split()
    return run, next(
        int(child) for child in children if b"python" in Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")[0]
    )


pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM])
def test_a_job_ends_when_its_run_is_killed_or_terminated(tmp_path: Path, sign: signal.Signals) -> None:
    run, job = start(tmp_path, announced=True)
    try:
        run.send_signal(sign)  # it is not waited for: a dead process that nobody buried is dead
        wait_until_gone(job, 20)
    finally:
        run.kill()
        run.wait()


def test_a_job_that_was_started_by_hand_goes_on(tmp_path: Path) -> None:
    run, job = start(tmp_path, announced=False)
    run.kill()
    run.wait()
    time.sleep(3 * signals.SECONDS)
    assert is_running(job)
    os.kill(job, signal.SIGTERM)
    wait_until_gone(job)


@pytest.mark.parametrize("changes", [{"where": "elsewhere"}, {"pid": "x"}])
def test_a_run_that_cannot_be_seen_from_here_is_not_watched(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, changes: dict[str, str]
) -> None:
    environment: dict[str, str] = {}
    signals.announce(tmp_path, environment)
    about = json.loads(environment[signals.VARIABLE]) | {"start": "1"} | changes
    monkeypatch.setenv(signals.VARIABLE, json.dumps(about))
    signals.exit_with_run()
    time.sleep(2 * signals.SECONDS)  # it would have ended us


def test_a_later_run_takes_the_mark_away(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    (tmp_path / ".run.stop").write_text("1\n")
    try:
        signals.mark_on_termination(tmp_path)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert not list(tmp_path.iterdir())


def test_a_signal_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    """Scripts start what they leave in the background so, and a Ctrl-C is then none of its business."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    term = signal.getsignal(signal.SIGTERM)
    try:
        signals.mark_on_termination(tmp_path)
        signal.raise_signal(signal.SIGINT)
        assert not list(tmp_path.iterdir())
    finally:
        signal.signal(signal.SIGINT, before)
        signal.signal(signal.SIGTERM, term)
