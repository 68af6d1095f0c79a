"""The same model behind vLLM's own server: it answers as the engine does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from dialeval.config import OpenAIModel
from dialeval.corpora.dialogues import bundled_dialogues
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.requests import Message, Request, Response, Sampling
from dialeval.engines.vllm_engine import VllmEngine
from dialeval.engines.vllm_engine.engine import sampler_seed
from dialeval.protocols.selfchat import history

pytestmark = pytest.mark.vllm


@pytest.fixture
def model(server: str, served: Callable[..., OpenAIModel]) -> OpenAIModel:
    return served(server)


def ask_all(model: OpenAIModel, requests: list[Request]) -> list[Response]:
    """Asks the server."""

    async def ask() -> list[Response]:
        engine = OpenAIEngine(model)
        try:
            return list(await asyncio.gather(*map(engine.answer, requests)))
        finally:
            await engine.close()

    return asyncio.run(ask())


def here(engine: VllmEngine, requests: list[Request]) -> list[Response]:
    """Asks the engine of the job."""

    async def ask() -> list[Response]:
        return list(await asyncio.gather(*map(engine.answer, requests)))

    return asyncio.run(ask())


def dialogues() -> list[tuple[Message, ...]]:
    found = [[part.text for part in dialogue.utterances] for dialogue in bundled_dialogues("en").dialogues[:8]]
    return [history("You are one of two people who talk.", texts[: 2 + n % 5]) for n, texts in enumerate(found)]


def test_choice_agrees_with_the_engine_of_the_job(engine: VllmEngine, model: OpenAIModel) -> None:
    sets = [("Yes", "No"), ("Conversation 1", "Conversation 2", "Both", "Neither"), ("A", "B", "C"), ("是", "否")]
    requests = [
        Request(f"r/{n}/{m}", "yes_no", "choice", messages, labels=labels)
        for n, messages in enumerate(dialogues())
        for m, labels in enumerate(sets)
    ]
    for request, over_http, inside in zip(requests, ask_all(model, requests), here(engine, requests), strict=True):
        assert over_http.label_logprobs == pytest.approx(inside.label_logprobs, abs=1e-4), request.labels
        assert over_http.label_mass == pytest.approx(inside.label_mass, abs=1e-4)


def test_loglikelihood_agrees_with_the_engine_of_the_job(engine: VllmEngine, model: OpenAIModel) -> None:
    texts = ["Hello, how are you?", "中文，和 emoji 🙂", "MiXeD CaSe 10:30", "a", "It is so. " * 20]
    requests = [
        Request(f"r/{n}/{m}", "options", "loglikelihood", messages, continuation=text)
        for n, messages in enumerate(dialogues())
        for m, text in enumerate(texts)
    ]
    for request, over_http, inside in zip(requests, ask_all(model, requests), here(engine, requests), strict=True):
        assert over_http.n_tokens == inside.n_tokens, request.continuation
        assert over_http.logprob is not None
        assert inside.logprob is not None
        assert over_http.logprob / inside.n_tokens == pytest.approx(inside.logprob / inside.n_tokens, abs=1e-4)


def test_chat_agrees_with_the_engine_of_the_job(engine: VllmEngine, model: OpenAIModel) -> None:
    sampling = Sampling(temperature=0.9, max_tokens=40)
    requests = [Request(f"r/{n}", "selfchat", "chat", messages, sampling) for n, messages in enumerate(dialogues())]
    for request, inside in zip(requests, here(engine, requests), strict=True):
        same_chance = model.model_copy(update={"extra_body": {"seed": sampler_seed(request)}})
        (over_http,) = ask_all(same_chance, [request])
        assert over_http == inside
        assert over_http.text.strip()
