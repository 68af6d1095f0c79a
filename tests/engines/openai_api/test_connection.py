"""The way to an endpoint: what is told of each answer beside its JSON."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

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
