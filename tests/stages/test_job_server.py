"""Jobs that start as copies of a process that has imported the library."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialeval.jobs.lifecycle import INTERRUPTED

START = "import sys; from dialeval.stages.job_server import start; print(start(), flush=True); sys.stdin.read()"


class Run:
    """A process that has started a server, in the place of Snakemake."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", START], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout
        self.command = shlex.split(self.process.stdout.readline())
        self.socket = Path(self.command[-1])

    def job(self, *arguments: str) -> subprocess.Popen[str]:
        """Return the client of a job."""
        return subprocess.Popen(
            [*self.command, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def run() -> Iterator[Run]:
    found = Run()
    yield found
    found.process.kill()
    found.process.communicate()
    shutil.rmtree(found.socket.parent, ignore_errors=True)


def ends(pid: int) -> bool:
    """Return whether a process ends within half a minute."""
    for _ in range(300):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX":
                return True
        except OSError:
            return True
        time.sleep(0.1)
    return False


def pid_of(server_of: Run) -> int:
    """Return the server's process."""
    return children(server_of.process.pid, 1)[0]


@pytest.mark.parametrize("arguments", [["corelate"], ["plan_pair", "--help"], ["plan_pair", "--nothing"], []])
def test_a_job_prints_and_ends_as_one_of_its_own(run: Run, arguments: list[str]) -> None:
    alone = subprocess.run(
        [sys.executable, "-u", "-m", "dialeval.stages", *arguments], capture_output=True, text=True, check=False
    )
    job = run.job(*arguments)
    assert (*job.communicate(), job.returncode) == (alone.stdout, alone.stderr, alone.returncode)


THREAD = """
import threading, time
from dialeval.stages.job_server import run_to_the_end
def write():
    time.sleep(0.2)
    print("written", flush=True)
run_to_the_end(lambda: threading.Thread(target=write).start())
"""


def test_a_job_ends_after_its_threads() -> None:
    job = subprocess.run([sys.executable, "-c", THREAD], capture_output=True, text=True, check=True)
    assert job.stdout == "written\n"


def test_the_folder_of_temporary_files_can_have_a_long_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / ("a" * 200)
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    run = Run()
    try:
        job = run.job("plan_pair", "--help")
        assert run.socket.is_relative_to(folder)
        assert "usage" in job.communicate()[0]
        assert job.returncode == 0
        os.kill(pid_of(run), signal.SIGKILL)
    finally:
        run.process.kill()
        run.process.communicate()


def test_without_its_server_a_client_is_the_job(run: Run) -> None:
    os.kill(pid_of(run), signal.SIGKILL)
    job = run.job("plan_pair", "--help")
    out, _ = job.communicate()
    assert job.returncode == 0
    assert "usage" in out


def test_a_client_that_is_gone_before_it_has_sent_its_job_holds_up_no_other(run: Run) -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(run.socket))
    out, _ = (job := run.job("plan_pair", "--help")).communicate(timeout=60)
    assert job.returncode == 0
    assert "usage" in out


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_server_ends_with_the_run_and_removes_its_socket(run: Run, number: signal.Signals) -> None:
    server = pid_of(run)
    run.process.send_signal(number)
    assert ends(server)
    assert not run.socket.parent.exists()


@pytest.fixture
def waiting(run: Run, tmp_path: Path) -> subprocess.Popen[str]:
    """A job that waits for a writer of the pipe that it reads."""
    os.mkfifo(tmp_path / "scenarios.jsonl")
    made = [word for name in ("scenarios", "seeds", "people") for word in (f"--{name}", str(tmp_path / name))]
    job = run.job("read_scenarios", "--settings", "{}", "--path", str(tmp_path / "scenarios.jsonl"), *made)
    assert children(pid_of(run), 1)
    time.sleep(1.0)
    return job


def children(pid: int, wanted: int) -> list[int]:
    """Return the processes that a process has started, once there are so many."""
    for _ in range(300):
        found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False).stdout.split()
        if len(found) == wanted:
            return [*map(int, found)]
        time.sleep(0.1)
    raise AssertionError(found)


def test_a_terminated_client_has_its_job_stopped_in_order(run: Run, waiting: subprocess.Popen[str]) -> None:
    waiting.terminate()
    _, errors = waiting.communicate(timeout=60)
    assert "stopped; responses are stored" in errors
    assert waiting.returncode == INTERRUPTED


def test_a_killed_server_fails_its_jobs_with_a_reason(run: Run, waiting: subprocess.Popen[str]) -> None:
    [job] = children(pid_of(run), 1)
    os.kill(pid_of(run), signal.SIGKILL)
    assert waiting.wait(60) == 1
    os.kill(job, signal.SIGKILL)  # it ends with the run
    assert "error in job_server: the job was killed" in waiting.communicate()[1]
    run.process.communicate(timeout=60)
    assert not run.socket.parent.exists()


def test_a_killed_client_has_its_job_stopped(run: Run, waiting: subprocess.Popen[str]) -> None:
    [job] = children(pid_of(run), 1)
    waiting.kill()
    assert ends(job)


def test_a_killed_job_is_reported_as_the_shell_does(run: Run, waiting: subprocess.Popen[str]) -> None:
    [job] = children(pid_of(run), 1)
    os.kill(job, signal.SIGKILL)
    waiting.communicate(timeout=60)
    assert waiting.returncode == 128 + signal.SIGKILL
