"""Files of the future are brought to the present, unless they are somebody else's, or taken as they are."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from processes import is_running, wait_until_gone

from dialeval.errors import UserError
from dialeval.jobs import lifecycle
from dialeval.jobs.lifecycle import reset_future_timestamps

DAY = 86_400.0


@pytest.fixture
def clock(tmp_path: Path) -> Path:
    """A file that was written just now."""
    path = tmp_path / "clock"
    path.write_bytes(b"")
    return path


def dated(path: Path, when: float) -> Path:
    path.write_text("content")
    os.utime(path, (when, when))
    return path


def test_files_of_the_future_have_the_present_time_and_others_theirs(tmp_path: Path, clock: Path) -> None:
    now = time.time()
    late, later = (dated(tmp_path / name, now + days * DAY) for name, days in (("a", 1), ("b", 2)))
    past = dated(tmp_path / "c", 1e9)
    note = reset_future_timestamps([past, later, late, tmp_path / "missing"], clock)
    assert note == f"note: {late} and 1 more had time stamps in the future; DialEval set them to the present time"
    assert all(now - DAY < path.stat().st_mtime < now + DAY / 2 for path in (late, later))
    assert past.stat().st_mtime == 1e9
    assert reset_future_timestamps([past, later, late], clock) == ""


def test_a_file_system_whose_clock_is_ahead_is_left_alone(tmp_path: Path, clock: Path) -> None:
    when = time.time() + DAY
    path = dated(tmp_path / "a", when)
    os.utime(clock, (when, when))
    assert reset_future_timestamps([path], clock) == ""
    assert path.stat().st_mtime == when


def test_nothing_but_the_time_of_change_is_another(tmp_path: Path, clock: Path) -> None:
    path = dated(tmp_path / "talks.jsonl", time.time() + DAY)
    path.chmod(0o640)
    os.utime(path, (1e9, path.stat().st_mtime))
    before = path.stat()
    assert reset_future_timestamps([path], clock)
    after = path.stat()
    assert after.st_mtime_ns == clock.stat().st_mtime_ns
    assert (after.st_ino, after.st_mode, after.st_size) == (before.st_ino, before.st_mode, before.st_size)
    assert after.st_atime == before.st_atime
    assert path.read_text() == "content"


def test_what_a_link_leads_to_is_left_alone(tmp_path: Path, clock: Path) -> None:
    target = dated(tmp_path / "object", time.time() + DAY)
    when = target.stat().st_mtime
    link = tmp_path / "talks.jsonl"
    link.symlink_to(target)
    os.utime(link, (1e9, 1e9), follow_symlinks=False)
    assert reset_future_timestamps([link], clock) == ""  # Snakemake compares the link's own
    os.utime(link, (when, when), follow_symlinks=False)
    assert str(link) in reset_future_timestamps([link], clock)
    assert link.lstat().st_mtime_ns == clock.stat().st_mtime_ns
    assert target.stat().st_mtime == when


def test_a_folder_has_the_time_that_snakemake_noted_in_it(tmp_path: Path, clock: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    noted = dated(folder / ".snakemake_timestamp", 1e9)
    when = time.time() + DAY
    os.utime(folder, (when, when))
    assert reset_future_timestamps([folder], clock) == ""
    dated(noted, when)
    os.utime(folder, (when, when))
    assert str(noted) in reset_future_timestamps([folder], clock)
    assert (noted.stat().st_mtime_ns, folder.stat().st_mtime) == (clock.stat().st_mtime_ns, when)
    noted.unlink()
    os.utime(folder, (when, when))
    assert str(folder) in reset_future_timestamps([folder], clock)
    assert folder.stat().st_mtime_ns == clock.stat().st_mtime_ns


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give up its rights")
def test_a_file_of_somebody_else_is_reported_however_it_may_be_written(clock: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = dated(Path(folder) / "talks.jsonl", time.time() + DAY)
        path.parent.chmod(0o755)
        path.chmod(0o666)
        before = path.stat().st_mtime_ns
        seen = Path(shutil.copy(clock, path.parent / "clock"))
        os.seteuid(65534)
        try:
            with pytest.raises(UserError, match="time stamp in the future.*not permitted"):
                reset_future_timestamps([path], seen)
        finally:
            os.seteuid(0)
        assert path.stat().st_mtime_ns == before


def test_a_file_that_cannot_be_changed_is_reported(
    tmp_path: Path, clock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = dated(tmp_path / "talks.jsonl", time.time() + DAY)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "utime", refuse)
    with pytest.raises(UserError, match="time stamp in the future.*not permitted; set this machine's clock, or copy"):
        reset_future_timestamps([path], clock)


# A job ends with the run that started it, and only then.

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
from dialeval.jobs import lifecycle

if sys.argv[1] == "announced":
    lifecycle.announce_run(Path(sys.argv[2]))
    lifecycle.mark_on_termination(Path(sys.argv[2]))
    signal.signal(signal.SIGTERM, (lambda mark: lambda *a: mark(*a))(signal.getsignal(signal.SIGTERM)))
job = subprocess.Popen(["bash", "-c", "python -c '" + {JOB!r} + "' | cat"], stdout=subprocess.PIPE)
job.stdout.readline()
print(job.pid, flush=True)
while True:
    time.sleep(1)
"""


def start(folder: Path, announced: bool) -> tuple[subprocess.Popen[str], int]:
    """Start a run with one job below a shell, and return it with the job's process number."""
    environment = {name: value for name, value in os.environ.items() if name != lifecycle.RUN_VARIABLE}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    command = [sys.executable, "-c", RUN, "announced" if announced else "by hand", str(folder)]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert run.stdout is not None
    shell = int(run.stdout.readline())
    children = Path(f"/proc/{shell}/task/{shell}/children").read_text().split()
    return run, next(
        int(child) for child in children if b"python" in Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")[0]
    )


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM])
def test_a_job_ends_when_its_run_is_killed_or_terminated(tmp_path: Path, sign: signal.Signals) -> None:
    run, job = start(tmp_path, announced=True)
    try:
        run.send_signal(sign)  # it is not waited for: a zombie counts as dead
        wait_until_gone(job, 20)
    finally:
        run.kill()
        run.wait()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
def test_a_job_that_was_started_by_hand_goes_on(tmp_path: Path) -> None:
    run, job = start(tmp_path, announced=False)
    run.kill()
    run.wait()
    time.sleep(3 * lifecycle.WATCH_SECONDS)
    assert is_running(job)
    os.kill(job, signal.SIGTERM)
    wait_until_gone(job)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
@pytest.mark.parametrize("changes", [{"where": "elsewhere"}, {"pid": "x"}])
def test_a_run_that_cannot_be_seen_from_here_is_not_watched(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, changes: dict[str, str]
) -> None:
    environment: dict[str, str] = {}
    lifecycle.announce_run(tmp_path, environment)
    about = json.loads(environment[lifecycle.RUN_VARIABLE]) | {"start": "1"} | changes
    monkeypatch.setenv(lifecycle.RUN_VARIABLE, json.dumps(about))
    lifecycle.exit_with_run()
    time.sleep(2 * lifecycle.WATCH_SECONDS)  # it would have ended us


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
def test_a_later_run_takes_the_mark_away(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    (tmp_path / ".run.stop").write_text("1\n")
    try:
        lifecycle.mark_on_termination(tmp_path)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
def test_a_signal_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    """Scripts start what they leave in the background so, and a Ctrl-C is then none of its business."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    term = signal.getsignal(signal.SIGTERM)
    try:
        lifecycle.mark_on_termination(tmp_path)
        signal.raise_signal(signal.SIGINT)
        assert not list(tmp_path.iterdir())
    finally:
        signal.signal(signal.SIGINT, before)
        signal.signal(signal.SIGTERM, term)
