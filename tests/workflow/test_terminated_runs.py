"""A run that is terminated or killed stops asking for money, seen from the endpoint."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
from loopback_endpoint import Call, LoopbackEndpoint, Reply, completion
from workspace import Workspace

pytestmark = pytest.mark.workflow
N_SEEDS, N_UTTERANCES = 60, 16
N_IN_ALL = N_SEEDS * (N_UTTERANCES - 2)


@pytest.mark.parametrize(
    "sign", [signal.SIGKILL, *(pytest.param(sign, marks=pytest.mark.slow) for sign in (signal.SIGTERM, signal.SIGINT))]
)
def test_no_new_request_is_sent_after_snakemake_alone_got_a_signal(workspace: Workspace, sign: signal.Signals) -> None:
    """What is asked gets a slow answer from the signal on: a job that nobody stops goes on to the last question."""
    signalled = threading.Event()

    def script(_: Call) -> Reply:
        return Reply(completion("a reply"), delay=0.5 if signalled.is_set() else 0.1)

    with LoopbackEndpoint(script) as endpoint:
        gpt = {"engine": "openai", "model": "m", "base_url": endpoint.url, "api_key_env": None, "concurrency": 2}
        judge = {"engine": "embedded", "method": "forest", "folds": 3}
        workspace.configure(
            models={"gpt": gpt, "forest": judge}, chatbots=["gpt"], judges=["forest"], protocols={"unieval": {}},
            seeds={"corpus": "bundled", "limit": N_SEEDS}, selfchat={"n_utterances": N_UTTERANCES},
        )  # fmt: skip
        process = workspace.start("results/dialogues/gpt.parquet")
        try:
            while len(endpoint.log) < 20:
                assert process.poll() is None, process.communicate()[0]
                time.sleep(0.02)
            signalled.set()
            process.send_signal(sign)
            output, _ = process.communicate()  # to the end of the job, which writes there too
            n_asked = len(endpoint.log)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    assert n_asked < N_IN_ALL, "nobody stopped it"
    assert "Traceback (most recent call last)" not in output
    stored = sum(path.read_bytes().count(b"\n") for path in Path(workspace.folder, "store").rglob("*.jsonl"))
    assert n_asked - 2 <= stored <= n_asked


def test_a_run_ends_though_the_reader_of_its_output_has_ended(workspace: Workspace) -> None:
    """As by `snakemake | head`; the same command then goes on, and asks nothing twice."""
    asked, go_on = threading.Event(), threading.Event()

    def script(_: Call) -> Reply:
        asked.set()
        go_on.wait()
        return Reply(completion("a reply"))

    with LoopbackEndpoint(script) as endpoint:
        gpt = {"engine": "openai", "model": "m", "base_url": endpoint.url, "api_key_env": None}
        workspace.configure(
            models={"gpt": gpt, "forest": {"engine": "embedded", "method": "forest"}}, chatbots=["gpt"],
            judges=["forest"], protocols={"unieval": {}}, seeds={"corpus": "bundled", "limit": 3},
            selfchat={"n_utterances": 4},
        )  # fmt: skip
        process = workspace.start("results/dialogues/gpt.parquet")
        try:
            assert asked.wait(60), process.poll()
            assert process.stdout
            process.stdout.close()
            go_on.set()
            process.wait(60)
        finally:
            go_on.set()
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        workspace.run("results/dialogues/gpt.parquet")
        assert len(endpoint.log) == 3 * 2


def test_a_look_at_the_jobs_succeeds_though_its_reader_has_seen_enough(workspace: Workspace) -> None:
    """As by `snakemake --dry-run | grep -q`, which ends at the first line that it looks for."""
    process = workspace.start("--dry-run")
    assert process.stdout
    assert any("Building DAG" in line for line in process.stdout)
    process.stdout.close()
    assert process.wait(60) == 0
