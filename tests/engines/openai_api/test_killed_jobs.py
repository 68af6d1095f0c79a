"""Jobs that are killed at any moment, and jobs that share a store."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from batch_endpoint import BatchService
from loopback_endpoint import Call, LoopbackEndpoint, Reply, completion
from processes import wait_until_gone

from dialeval.engines.store import ResponseStore

PROGRAM = Path(__file__).parents[2] / "support" / "killable_job.py"
CONCURRENCY = 16
KILLS = 10


class Jobs:
    """Starts jobs without the price of a new interpreter for each."""

    def __init__(self) -> None:
        self._program = subprocess.Popen(
            [sys.executable, str(PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def start(self, **job: Any) -> int:
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        self._program.stdin.write(json.dumps(job) + "\n")
        self._program.stdin.flush()
        return int(self._program.stdout.readline())

    def close(self) -> None:
        self._program.communicate(timeout=10)


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    started = Jobs()
    yield started
    started.close()


def script(call: Call) -> Reply:
    return Reply(completion(f"reply to {call.text}"), delay=random.uniform(0.01, 0.05))


def stored(folder: Path, numbers: range) -> dict[int, str]:
    """Return what a store holds: number of the request -> text."""
    with ResponseStore(
        folder, identity="same for every address", name="m", protocol="arena", writer="reader"
    ) as responses:
        found = {number: responses.get(f"{number:032x}") for number in numbers}
    return {number: response.text for number, response in found.items() if response is not None}


def kill_after(process: int, endpoint: LoopbackEndpoint, n_calls: int, seconds: float) -> None:
    """Kills a job so long after it has called an endpoint so often."""
    seen, end = len(endpoint.log), time.monotonic() + 20
    while len(endpoint.log) < seen + n_calls and time.monotonic() < end:
        time.sleep(0.001)
    time.sleep(seconds)
    os.kill(process, signal.SIGKILL)
    wait_until_gone(process)


def test_kills_lose_nothing_and_repeat_only_what_was_in_flight(tmp_path: Path, jobs: Jobs) -> None:
    numbers = range(1250)
    dice = random.Random(9)
    with LoopbackEndpoint(script) as endpoint:
        job = {"url": endpoint.url, "store": str(tmp_path), "writer": "job", "first": 0, "last": len(numbers)}
        known: dict[int, str] = {}
        for kill in range(KILLS):
            process = jobs.start(**job, concurrency=CONCURRENCY)
            kill_after(process, endpoint, dice.randint(1, 60), dice.uniform(0, 0.06))
            now = stored(tmp_path, numbers)
            assert known.items() <= now.items(), "a stored answer was lost"
            known = now
            assert kill == KILLS - 1 or len(known) < len(numbers), "the job was done before the last kill"
            repeats = sum(count - 1 for count in endpoint.calls.values())
            assert repeats <= (kill + 1) * CONCURRENCY
        wait_until_gone(jobs.start(**job, concurrency=CONCURRENCY))
        assert stored(tmp_path, numbers) == {number: f"reply to question {number}" for number in numbers}
        assert sum(endpoint.calls.values()) - len(numbers) <= KILLS * CONCURRENCY
        asked_before = len(endpoint.log)
        wait_until_gone(jobs.start(**job, concurrency=CONCURRENCY))
        assert len(endpoint.log) == asked_before


def test_kills_at_any_step_of_a_batch_hand_nothing_over_twice(tmp_path: Path, jobs: Jobs) -> None:
    numbers, dice = range(300), random.Random(3)
    service = BatchService(polls=6)

    def slow(call: Call) -> Reply:
        return replace(service(call), delay=dice.uniform(0, 0.03))  # what is done is often not heard of

    with LoopbackEndpoint(slow) as endpoint:
        job = {"url": endpoint.url, "store": str(tmp_path), "writer": "job", "first": 0, "last": len(numbers)}
        known: dict[int, str] = {}
        for _ in range(KILLS):
            process = jobs.start(**job, concurrency=4, batch=30)
            kill_after(process, endpoint, dice.randint(1, 6), dice.uniform(0, 0.03))
            now = stored(tmp_path, numbers)
            assert known.items() <= now.items(), "a stored answer was lost"
            known = now
        wait_until_gone(jobs.start(**job, concurrency=4, batch=30))
        assert stored(tmp_path, numbers) == {number: f"reply to question {number}" for number in numbers}
    assert service.handed_over == dict.fromkeys((f"question {number}" for number in numbers), 1)
    assert not service.ordinary


def test_two_jobs_share_a_store(tmp_path: Path, jobs: Jobs) -> None:
    with LoopbackEndpoint(script) as endpoint:
        common = {"url": endpoint.url, "store": str(tmp_path), "concurrency": 8}
        both = [
            jobs.start(**common, writer="shard-1-of-2", first=0, last=300),
            jobs.start(**common, writer="shard-2-of-2", first=300, last=600),
        ]
        waiting = jobs.start(**common, writer="shard-1-of-2", first=0, last=300)  # the same job once more
        for process in (*both, waiting):
            wait_until_gone(process)
        assert stored(tmp_path, range(600)) == {number: f"reply to question {number}" for number in range(600)}
        assert set(endpoint.calls.values()) == {1}
        assert len(endpoint.log) == 600
