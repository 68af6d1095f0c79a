"""A job at a dead endpoint stops early, with one message, and keeps what it has."""

from __future__ import annotations

import socket
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loopback_endpoint import Asked, LoopbackEndpoint, Reply, completion, refusal

from dialeval.config import OpenAIModel
from dialeval.engines.answering import Answering
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.openai_api.retrying import RetryPolicy
from dialeval.engines.request import Message, Request
from dialeval.engines.store import ResponseStore
from dialeval.errors import UserError
from dialeval.progress import Progress

POLICY = RetryPolicy(max_tries=8, first_wait=0.02, longest_wait=0.1)


def run(store: Path, url: str, n_requests: int = 500, **options: Any) -> tuple[Answering, str]:
    """Asks many requests; returns what was counted and the message of the end, empty if there was none."""
    fields = {"engine": "openai", "model": "m", "base_url": url, "api_key_env": None, "patience_seconds": 0.3}
    engine = OpenAIEngine(OpenAIModel.model_validate(fields | options), retrying=POLICY)
    with ResponseStore(store, identity="same", name="m", protocol="unieval") as kept:
        answering = Answering(engine, kept, Progress("test", None, "answers", every=1e9))
        requests = (
            Request(f"r/{number}", "unieval", "chat", (Message("user", f"question {number}"),))
            for number in range(n_requests)
        )
        try:
            answering.run(answering.ask_all(requests))
        except UserError as error:
            return answering, str(error)
        return answering, ""


def test_a_port_where_nobody_listens(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: whoever comes is refused
        start = time.monotonic()
        answering, message = run(tmp_path, f"http://127.0.0.1:{taken.getsockname()[1]}/v1")
    assert time.monotonic() - start < 10
    assert "model 'm' at http://127.0.0.1:" in message
    assert "connection: no connection" in message
    assert "run the same command again" in message
    assert answering.store.written == 0


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(refusal("Incorrect API key provided"), 401), "authentication"),
        (Reply(refusal("no money", code="insufficient_quota"), 429), "quota"),
        (Reply(refusal("The model `m` does not exist"), 404), "not_found"),
    ],
)
def test_an_endpoint_that_refuses_us_for_good(tmp_path: Path, reply: Reply, kind: str) -> None:
    def script(asked: Asked) -> Reply:
        # the refusals take their time: an answer that comes in between, as it should, begins the row anew
        return Reply(completion("fine")) if int(asked.text.split()[1]) < 100 else replace(reply, delay=0.2)

    with LoopbackEndpoint(script) as endpoint:
        answering, message = run(tmp_path, endpoint.url, concurrency=8)
        assert len(endpoint.log) <= 100 + 10 + 8
        again, _ = run(tmp_path, endpoint.url, concurrency=8)
        assert all(endpoint.asked[f"question {number}"] == 1 for number in range(90))
    assert f"failed 10 times in a row, without one answer in between; the last was {kind}:" in message
    assert 90 <= answering.store.written <= 100
    assert again.total >= answering.store.written  # the second job counts what is stored


def test_an_endpoint_that_recovers_within_patience_is_waited_for(tmp_path: Path) -> None:
    start = time.monotonic()

    def script(_: Asked) -> Reply:
        return Reply(completion("fine")) if time.monotonic() - start > 0.5 else Reply(refusal("starting"), 503)

    with LoopbackEndpoint(script) as endpoint:
        answering, message = run(tmp_path, endpoint.url, 40, patience_seconds=5, concurrency=8)
    assert message == ""
    assert answering.store.written + sum(answering.failures.values()) == 40
    assert answering.store.written >= 20


def test_single_failures_among_answers_stop_nothing(tmp_path: Path) -> None:
    def script(asked: Asked) -> Reply:
        return Reply(refusal("no"), 401) if int(asked.text.split()[1]) % 2 else Reply(completion("fine"))

    with LoopbackEndpoint(script) as endpoint:
        answering, message = run(tmp_path, endpoint.url, 200, concurrency=2)
    assert message == ""
    assert answering.failures == {"authentication": 100}
