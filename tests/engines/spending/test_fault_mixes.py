"""No fault, kill, restart or crowd of jobs makes an endpoint bill more than the budget."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import spending_job
from billing_service import MOST_FAULTS, PATIENCE, BillingService, mix
from loopback_endpoint import LoopbackEndpoint, Reply, completion
from spending_job import MOST, ask, spent

N = 60
MIXES = range(10)
A_TRY = len("question 59") + 7 + MOST
"""What one try may cost at most."""


def limit(seed: int, budget: float) -> dict[str, Any]:
    """A budget of the model or of the run, by turns, and the patience that mixes take."""
    return ({"budget": budget} if seed % 2 else {"run_budget": budget}) | {
        "timeout_seconds": PATIENCE if "timeout" in mix(seed) else 30
    }


@pytest.mark.parametrize("seed", MIXES)
def test_the_bill_is_never_more_than_the_budget(tmp_path: Path, seed: int) -> None:
    budget = [40.0, 250.0, 600.0][seed % 3]
    service = BillingService(mix(seed), seed)
    with LoopbackEndpoint(service) as endpoint:
        for _ in range(3):  # a restart has no budget of its own
            answered, stopped = ask(endpoint.url, tmp_path, 0, N, **limit(seed, budget))
            assert service.bill <= spent(tmp_path).spent <= budget
            assert ("the budget is used up" in stopped) is (answered < N)
        assert spent(tmp_path).spent > budget - A_TRY, "another try would have fitted"


@pytest.mark.parametrize("seed", MIXES)
def test_a_large_budget_answers_everything_and_what_is_raised_goes_on(tmp_path: Path, seed: int) -> None:
    service = BillingService(mix(seed), seed)
    with LoopbackEndpoint(service) as endpoint:
        n_before, _ = ask(endpoint.url, tmp_path, 0, N, **limit(seed, 300.0))
        answered_before = service.answered.copy()
        for _ in range(MOST_FAULTS):  # an empty answer is none, and is asked for again in the next run only
            answered, stopped = ask(endpoint.url, tmp_path, 0, N, **limit(seed, 1e5))
            assert not stopped
        assert answered == N
        assert service.bill <= spent(tmp_path).spent
        assert n_before > 0
        # what was answered is not asked again, but where the answer never came through
        lost = sum(service.answered[text] - 1 for text in answered_before if answered_before[text])
        assert "timeout" in mix(seed) or lost <= service.tries["reset"]


def test_without_faults_the_ledger_says_what_the_provider_says(tmp_path: Path) -> None:
    service = BillingService({})
    with LoopbackEndpoint(service) as endpoint:
        assert ask(endpoint.url, tmp_path, 0, N) == (N, "")
    sums = spent(tmp_path)
    assert (sums.spent, sums.unconfirmed, sums.tries) == (service.bill, 0.0, N)
    assert sums.input_tokens + sums.output_tokens == service.bill


@pytest.mark.parametrize("seed", [0, 1, 4, 7])
def test_jobs_at_once_share_a_budget(tmp_path: Path, seed: int) -> None:
    budget = 500.0
    service = BillingService(mix(seed), seed)
    with LoopbackEndpoint(service) as endpoint:

        def job(number: int) -> tuple[int, str]:
            other = {"model": "another"} if number % 2 and not seed % 2 else {}
            return ask(endpoint.url, tmp_path, 15 * number, 15 * (number + 1), writer=f"shard-{number}",
                       **limit(seed, budget), **other)  # fmt: skip

        with ThreadPoolExecutor(4) as pool:
            results = list(pool.map(job, range(4)))
        assert service.bill <= spent(tmp_path).spent <= budget
        assert any("the budget is used up" in stopped for _, stopped in results)
        assert spent(tmp_path).spent > budget - 2 * A_TRY


@pytest.mark.parametrize("seed", [2, pytest.param(3, marks=pytest.mark.slow), pytest.param(5, marks=pytest.mark.slow)])
def test_killed_jobs_have_spent_what_they_may_have_been_billed(tmp_path: Path, seed: int) -> None:
    budget, concurrency = 1000.0, 8
    service = BillingService(mix(seed), seed, delay=0.03)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path])}
    with LoopbackEndpoint(service) as endpoint:
        about = {"url": endpoint.url, "store": str(tmp_path), "first": 0, "last": N, **limit(seed, budget)}
        command = [sys.executable, spending_job.__file__, json.dumps(about | {"concurrency": concurrency})]
        for _ in range(2):
            process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
            n_tries = sum(service.tries.values())
            while sum(service.tries.values()) < n_tries + 10 and process.poll() is None:
                time.sleep(0.005)
            process.kill()
            assert process.wait() == -signal.SIGKILL, "it was over before it was killed"
            time.sleep(0.1)  # what was sent arrives
            assert service.bill <= spent(tmp_path).spent <= budget
        for _ in range(2):
            _, stopped = ask(endpoint.url, tmp_path, 0, N, concurrency=concurrency, **limit(seed, budget))
            assert "the budget is used up" in stopped
            assert service.bill <= spent(tmp_path).spent <= budget
        assert [ask(endpoint.url, tmp_path, 0, N, **limit(seed, 1e5))[0] for _ in range(MOST_FAULTS)][-1] == N


def test_an_endpoint_that_writes_more_than_it_may_exceeds_it_once_by_what_is_in_flight(tmp_path: Path) -> None:
    billed: list[int] = []

    def script(_: object) -> Reply:
        billed.append(10 + 5 * MOST)
        return Reply(completion("thought long", usage={"prompt_tokens": 10, "completion_tokens": 5 * MOST}))

    with LoopbackEndpoint(script) as endpoint:
        for _ in range(4):
            ask(endpoint.url, tmp_path, 0, N, budget=300.0, concurrency=2)
    assert sum(billed) == spent(tmp_path).spent
    assert sum(billed) <= 300 + 2 * 4 * MOST
