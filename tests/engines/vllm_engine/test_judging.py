"""A table of judging requests, answered by text and by choice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from dialeval.engines.answering import Answering
from dialeval.engines.requests import Message, Request, Sampling
from dialeval.engines.store import ResponseStore
from dialeval.engines.vllm_engine import VllmEngine
from dialeval.jobs.progress import Progress
from dialeval.prompts.rendering import Templates
from dialeval.protocols.verdicts import number, option, read_object, status_of, structured

pytestmark = pytest.mark.vllm
QUESTION = "Did a machine take part in this dialogue? Answer Yes or No.\n\n"


def judge(engine: VllmEngine, store: Path, requests: list[Request]) -> tuple[Answering, dict[str, Any]]:
    with ResponseStore(store, identity=engine.identity, name="tiny", protocol="unieval") as responses:
        answering = Answering(engine, responses, Progress("judging", None, "answers", stream=StringIO()))
        asyncio.run(answering.ask_all(requests))
        return answering, {r.request_id: responses.get(answering.key(r)) for r in requests}


def prompts(reference: Any) -> dict[str, tuple[Message, ...]]:
    return {seed_id: (Message("user", QUESTION * 3 + "\n".join(texts)),) for seed_id, texts in reference.texts.items()}


def test_judging_by_text(engine: VllmEngine, reference: Any, tmp_path: Path) -> None:
    requests = [
        Request(f"unieval/{seed_id}", "unieval", "chat", messages, Sampling(max_tokens=8))
        for seed_id, messages in prompts(reference).items()
    ]
    answering, answers = judge(engine, tmp_path, requests)
    assert not answering.failures
    assert len(answers) == 24
    assert all(answer.text and answer.completion_tokens <= 8 for answer in answers.values())


def test_judging_by_choice_meets_shared_prefixes(engine: VllmEngine, reference: Any, tmp_path: Path) -> None:
    requests = [
        Request(f"yes-no/{seed_id}", "unieval", "choice", messages, labels=("Yes", "No"))
        for seed_id, messages in prompts(reference).items()
    ]
    before = engine.prompt_tokens, engine.cached_tokens
    answering, answers = judge(engine, tmp_path, requests)
    assert not answering.failures
    assert all(set(answer.label_logprobs) == {"Yes", "No"} for answer in answers.values())
    assert len({answer.label_logprobs["Yes"] for answer in answers.values()}) > 20
    computed, cached = engine.prompt_tokens - before[0], engine.cached_tokens - before[1]
    assert cached / computed > 0.3


def test_a_judge_prompt_that_cannot_fit_is_truncated_and_the_others_are_answered(
    engine_beside: Callable[..., VllmEngine], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = engine_beside()
    texts = {"fits": "A short one.", "too-long": "A very long one. " * 400}
    requests = [
        Request(name, "unieval", "choice", (Message("user", QUESTION + text),), labels=("Yes", "No"))
        for name, text in texts.items()
    ]
    answering, answers = judge(own, tmp_path, requests)
    assert not answering.failures
    status = {
        name: status_of("ok", answer.finish_reason, readable=answer.text != "") for name, answer in answers.items()
    }
    assert status == {"fits": "ok", "too-long": "truncated"}
    asyncio.run(own.close())
    assert "1 of the requests do not fit the window of 1024" in capsys.readouterr().out
    assert judge(own, tmp_path, requests)[0].n_sent == 0


def test_a_schema_is_followed(engine: VllmEngine, reference: Any, tmp_path: Path) -> None:
    """The tiny model writes letters at random: only vLLM's structured outputs can make a verdict of them."""
    free = [
        Request(f"free/{seed_id}", "unieval", "chat", messages, Sampling(max_tokens=64))
        for seed_id, messages in list(prompts(reference).items())[:4]
    ]
    fields = [option("choice", ["Yes", "No"]), number("rating", 1, 5, whole=True)]
    bound = [structured(request, Templates(), fields) for request in free]
    bound = [replace(request, request_id=f"bound/{number}") for number, request in enumerate(bound)]
    answering, answers = judge(engine, tmp_path, [*free, *bound])
    assert not answering.failures
    for request in bound:
        found = read_object(answers[request.request_id].text)
        assert found is not None, answers[request.request_id]
        assert found["choice"] in ("Yes", "No")
        assert found["rating"] in (1, 2, 3, 4, 5)
    assert all(read_object(answers[request.request_id].text) is None for request in free)
