"""The first Ctrl-C stops a job in order, a second one at once; neither leaves it hanging."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from dialeval.processes import runwatch

FROM_A_TERMINAL = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a script starts in the background ignores Ctrl-C
"""
JOB = """
import asyncio, contextlib, sys, time
from dialeval.engines.running import run_in_order
from dialeval.stages.command import run

seconds = float(sys.argv[1])
sys.argv[:] = ["job"]

async def work() -> None:
    try:
        print("at work", flush=True)
        await asyncio.sleep(100)
    finally:
        print("stopping", flush=True)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)
        print("stopped in order", flush=True)

run(lambda: run_in_order(work()))
"""
MANY = """
import asyncio, sys
from dialeval.engines.running import run_in_order
from dialeval.stages.command import run

async def one(number: int) -> None:
    while True:
        await asyncio.sleep(0.001 * (number % 7))
        await asyncio.to_thread(int)

async def work() -> None:
    async with asyncio.TaskGroup() as group:
        for number in range(64):
            group.create_task(one(number))
        print("at work", flush=True)

sys.argv[:] = ["job"]
run(lambda: run_in_order(work()))
"""


def start(program: str, *arguments: str) -> subprocess.Popen[str]:
    """Starts a job that knows of no run, and waits until it is at work."""
    environment = {name: value for name, value in os.environ.items() if name != runwatch.VARIABLE}
    job = subprocess.Popen(
        [sys.executable, "-c", FROM_A_TERMINAL + program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert job.stdout is not None
    assert job.stdout.readline() == "at work\n"
    return job


def ended(job: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Returns status, output and errors of a job that must have an end."""
    try:
        output, errors = job.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        job.kill()
        raise
    return job.returncode, output, errors


def stopping(seconds: float) -> subprocess.Popen[str]:
    """Starts a job and presses Ctrl-C; it takes so long to stop."""
    job = start(JOB, str(seconds))
    job.send_signal(signal.SIGINT)
    assert job.stdout is not None
    assert job.stdout.readline() == "stopping\n"
    return job


def test_the_first_stops_in_order_and_a_request_to_end_does_not_disturb_it() -> None:
    job = stopping(0.5)
    job.send_signal(signal.SIGTERM)  # as the watch over the run sends it to jobs that got a Ctrl-C of their own
    status, output, errors = ended(job)
    assert (status, output) == (130, "stopped in order\n")
    assert errors == "error in job: stopped; what was answered is stored, run the same command to go on\n"


def test_the_second_ends_at_once_whatever_the_job_waits_for() -> None:
    job = stopping(1000)
    job.send_signal(signal.SIGINT)
    status, output, errors = ended(job)
    assert (status, output) == (130, "")
    assert errors == "error in job: ended at once; what was stored by then is kept, run the same command to go on\n"


@pytest.mark.parametrize("milliseconds", [0, 1, 3, 10])
def test_two_that_come_close_upon_each_other_end_a_job_too(milliseconds: int) -> None:
    job = start(MANY)
    job.send_signal(signal.SIGINT)
    time.sleep(milliseconds / 1000)
    job.send_signal(signal.SIGINT)
    status, _, errors = ended(job)
    assert status in (130, -signal.SIGINT)  # the latter where the interpreter was about to end
    assert "Traceback" not in errors


def test_who_catches_the_exception_may_be_interrupted_again() -> None:
    program = JOB.replace(
        "run(lambda: run_in_order(work()))",
        """
for _ in range(2):
    with contextlib.suppress(KeyboardInterrupt):
        run_in_order(work())
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
""",
    )
    job = start(program, "0")
    assert job.stdout is not None
    job.send_signal(signal.SIGINT)
    assert [job.stdout.readline() for _ in range(3)] == ["stopping\n", "stopped in order\n", "at work\n"]
    job.send_signal(signal.SIGINT)
    assert ended(job) == (0, "stopping\nstopped in order\nTrue\n", "")
