"""A run that is terminated or killed stops asking for money, seen from the endpoint."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from loopback_endpoint import Asked, LoopbackEndpoint, Reply, completion
from workspace import Workspace

from dialeval.processes import runwatch

pytestmark = pytest.mark.workflow
SOON = {signal.SIGTERM: 2.5, signal.SIGKILL: 2.5, signal.SIGINT: 2.5 + runwatch.OWN_WAY}
"""Seconds after which nothing new is asked: looks of the watch, and time for a busy machine."""


@pytest.mark.parametrize(
    "sign", [signal.SIGKILL, *(pytest.param(sign, marks=pytest.mark.slow) for sign in (signal.SIGTERM, signal.SIGINT))]
)
def test_nothing_new_is_asked_after_snakemake_alone_got_a_signal(workspace: Workspace, sign: signal.Signals) -> None:
    times: list[float] = []

    def script(asked: Asked) -> Reply:
        times.append(time.monotonic())
        return Reply(completion(f"reply {len(times)}"), delay=0.1)

    with LoopbackEndpoint(script) as endpoint:
        gpt = {"engine": "openai", "model": "m", "base_url": endpoint.url, "api_key_env": None, "concurrency": 2}
        judge = {"engine": "embedded", "method": "forest", "folds": 3}
        workspace.configure(
            models={"gpt": gpt, "forest": judge}, chatbots=["gpt"], judges=["forest"], protocols={"unieval": {}},
            seeds={"corpus": "bundled", "limit": 60}, selfchat={"n_utterances": 16},
        )  # fmt: skip
        process = workspace.start("results/dialogues/gpt.parquet")
        try:
            while len(times) < 20:
                assert process.poll() is None, process.communicate()[0]
                time.sleep(0.02)
            process.send_signal(sign)
            time.sleep(SOON[sign])
            n_asked = len(times)
            assert n_asked < 500, "it was over before it was stopped"
            time.sleep(1.0)
            assert len(times) == n_asked
            output, _ = process.communicate(timeout=60)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    assert "Traceback (most recent call last)" not in output
    stored = sum(path.read_bytes().count(b"\n") for path in Path(workspace.folder, "store").rglob("*.jsonl"))
    assert n_asked - 2 <= stored <= n_asked
