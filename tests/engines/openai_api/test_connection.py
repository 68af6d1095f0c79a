"""The way to an endpoint: what is sent with each request, and what is told of each answer beside its JSON."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Mapping
from typing import Any

import pytest
from loopback_endpoint import Asked, LoopbackEndpoint, Reply, completion, refusal

from dialeval.config.openai_model import OpenAIModel
from dialeval.engines.openai_api.connection import Connection
from dialeval.engines.openai_api.faults import Fault


def test_the_headers_of_answers_and_refusals_are_heard() -> None:
    def script(asked: Asked) -> Reply:
        headers = {"X-RateLimit-Remaining-Requests": asked.text}
        if asked.text == "9":
            return Reply(completion("Hi."), headers=headers)
        return Reply(refusal("slowly"), 429, headers)

    heard: list[str | None] = []

    def hear(headers: Mapping[str, str]) -> None:
        heard.append(headers.get("x-ratelimit-remaining-requests"))

    async def ask(connection: Connection) -> list[object]:
        bodies = [{"model": "m", "messages": [{"role": "user", "content": text}]} for text in ("9", "0")]
        try:
            return [await connection.post("/chat/completions", body, hear) for body in bodies]
        finally:
            await connection.close()

    with LoopbackEndpoint(script) as endpoint:
        connection = Connection(OpenAIModel(engine="openai", model="m", base_url=endpoint.url, api_key_env=None))
        answered, refused = asyncio.run(ask(connection))
    assert isinstance(answered, dict)
    assert isinstance(refused, Fault)
    assert heard == ["9", "0"]


def test_of_two_headers_of_one_name_the_last_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is configured takes the place of ours, and a key that of an authorization, however they are spelt."""
    monkeypatch.setenv("MY_KEY", "sk-mine-0123456789")
    monkeypatch.setenv("MY_OTHER", "other-0123456789")
    fields = {"engine": "openai", "model": "m", "api_key_env": "MY_KEY", "organisation": "org-1"}
    fields |= {"headers": {"user-agent": "größer", "openai-organization": "org-0"}}
    fields |= {"headers_env": {"authorization": "MY_OTHER"}}
    assert Connection(OpenAIModel.model_validate(fields)).headers == {
        "Accept": "application/json",
        "Content-Type": "application/json",
        "user-agent": "größer",
        "Authorization": "Bearer sk-mine-0123456789",
        "OpenAI-Organization": "org-1",
    }
    monkeypatch.setenv("MY_KEY", "")
    fields["api_key_env"] = None
    assert Connection(OpenAIModel.model_validate(fields)).headers["authorization"] == "other-0123456789"


def test_a_place_that_lets_nobody_in_was_sent_nothing() -> None:
    """Where the wait for a connection is as long as that for an answer, which of the two ends must not be chance."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server, contextlib.ExitStack() as waiting:
        for _ in range(3):  # who fills the queue of a server that takes nobody in
            client = waiting.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(server.getsockname())
        address = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        model = OpenAIModel.model_validate(
            {"engine": "openai", "model": "m", "base_url": address, "api_key_env": None, "timeout_seconds": 0.4}
        )

        async def asked() -> dict[str, Any] | Fault:
            connection = Connection(model)
            try:
                return await connection.post("/chat/completions", {})
            finally:
                await connection.close()

        outcome = asyncio.run(asked())
    assert isinstance(outcome, Fault)
    assert (outcome.kind, outcome.billed) == ("connection", "nothing")
    assert "none within 0.2 s" in str(outcome)
