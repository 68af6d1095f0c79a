"""An engine for a loopback endpoint, with short waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from loopback_endpoint import LoopbackEndpoint

from dialeval.config import OpenAIModel
from dialeval.engines.cl100k import Tokenizer
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.openai_api.retries import RetryPolicy
from dialeval.engines.requests import AnswerFailure, Request, Response

Outcome = Response | AnswerFailure
AskAll = Callable[..., list[Outcome]]


@pytest.fixture
def ask_all() -> AskAll:
    """Asks an endpoint and returns, in the order of the requests, responses and failures."""

    def ask(endpoint: LoopbackEndpoint | str, requests: Sequence[Request], **options: Any) -> list[Outcome]:
        url = endpoint if isinstance(endpoint, str) else endpoint.url
        fields = {"engine": "openai", "model": "m", "base_url": url, "api_key_env": None} | options
        model = OpenAIModel.model_validate(fields)
        words = Tokenizer("words", lambda texts: [len(text.split()) for text in texts])
        policy = RetryPolicy(model.max_tries, model.max_total_seconds, first_wait=0.01, longest_wait=0.05)

        async def answer_all() -> list[Outcome]:
            async def answer(request: Request) -> Outcome:
                try:
                    return await engine.answer(request)
                except AnswerFailure as failure:
                    return failure

            try:
                return await asyncio.gather(*map(answer, requests))
            finally:
                await engine.close()

        engine = OpenAIEngine(model, tokenizer=words, retrying=policy)
        return asyncio.run(answer_all())

    return ask
