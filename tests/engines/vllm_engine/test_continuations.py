"""Where a continuation begins: one rule for the job's engine and for vLLM's server, checked against transformers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dialeval.config import OpenAIModel
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.requests import Message, Request, Response
from dialeval.engines.vllm_engine import VllmEngine

pytestmark = pytest.mark.vllm
AS_IT_IS = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
"""A base model's template: the text goes on where it stops."""
CASES = [
    ("Are you coming? Answer:", " Yes, I am."),
    ("Are you coming? Answer: ", "Yes, I am."),
    ("Are you coming?\nAnswer:\n", "Yes, I am."),
    ("Are you coming?\nAnswer:\n", "\nYes, I am."),
    ("Are you coming?  ", "  Yes"),
    ("I have never been there be", "fore the war."),
    ("We meet at 10:3", "0 in the morn"),
    ("I was wai", "ting for the train"),
    ("你好，我是", "学生。"),
    ("I am happy ", "🙂 today"),
    ("It isn", "'t so"),
    ("The end", "."),
]


def log_probabilities(torch_model: Any, ids: list[int]) -> list[float]:
    """Return the log-probability of every token after the first, from plain transformers."""
    import torch

    with torch.no_grad():
        shares = torch.log_softmax(torch_model(torch.tensor([ids])).logits[0].double(), dim=-1)
    return [float(shares[place, token]) for place, token in enumerate(ids[1:])]


def of_the_rule(tokenizer: Any, torch_model: Any, prompt: str, continuation: str) -> tuple[float, int]:
    """Return the sum over all tokens that say a part of the continuation, found by decoding, and their number."""
    ids = tokenizer(prompt + continuation, add_special_tokens=False)["input_ids"]
    start = next(place for place in range(len(ids)) if len(tokenizer.decode(ids[: place + 1])) > len(prompt))
    return sum(log_probabilities(torch_model, ids)[start - 1 :]), len(ids) - start


def of_the_harness(tokenizer: Any, torch_model: Any, prompt: str, continuation: str) -> float:
    """Return the sum as lm-evaluation-harness takes it: white space at the prompt's end becomes the continuation's."""
    blanks = len(prompt) - len(prompt.rstrip())
    if blanks:
        prompt, continuation = prompt[:-blanks], prompt[-blanks:] + continuation
    before = len(tokenizer(prompt, add_special_tokens=False)["input_ids"])
    ids = tokenizer(prompt + continuation, add_special_tokens=False)["input_ids"]
    return sum(log_probabilities(torch_model, ids)[before - 1 :])


@pytest.fixture(scope="module")
def tokenizer(model_folder: Path) -> Any:
    import transformers

    return transformers.AutoTokenizer.from_pretrained(model_folder)


def requests() -> list[Request]:
    return [
        Request(f"r/{number}", "test", "loglikelihood", (Message("user", prompt),), continuation=continuation)
        for number, (prompt, continuation) in enumerate(CASES)
    ]


@pytest.fixture(scope="module")
def inside(engine_beside: Callable[..., VllmEngine], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The answers of the engine of the job."""
    template = tmp_path_factory.mktemp("template") / "as-it-is.jinja"
    template.write_text(AS_IT_IS)
    engine = engine_beside(chat_template=str(template))

    async def ask() -> list[Response]:
        try:
            return list(await asyncio.gather(*map(engine.answer, requests())))
        finally:
            await engine.close()

    return asyncio.run(ask())


def test_every_token_that_says_a_part_of_it_is_counted(
    inside: list[Response], tokenizer: Any, torch_model: Any
) -> None:
    for (prompt, continuation), answer in zip(CASES, inside, strict=True):
        expected, n_tokens = of_the_rule(tokenizer, torch_model, prompt, continuation)
        assert (answer.logprob, answer.n_tokens) == (pytest.approx(expected, abs=1e-3), n_tokens), prompt + continuation


def test_vllms_server_counts_the_same(inside: list[Response], server: str, served: Callable[..., OpenAIModel]) -> None:
    async def ask() -> list[Response]:
        engine = OpenAIEngine(served(server, extra_body={"chat_template": AS_IT_IS}))
        try:
            return list(await asyncio.gather(*map(engine.answer, requests())))
        finally:
            await engine.close()

    for case, over_http, answer in zip(CASES, asyncio.run(ask()), inside, strict=True):
        assert (over_http.logprob, over_http.n_tokens) == (pytest.approx(answer.logprob, abs=1e-3), answer.n_tokens), (
            case
        )


def test_it_is_the_harnesss_sum_where_a_token_joins_prompt_and_continuation(
    inside: list[Response], tokenizer: Any, torch_model: Any
) -> None:
    for number in (0, 1):
        expected = of_the_harness(tokenizer, torch_model, *CASES[number])
        assert inside[number].logprob == pytest.approx(expected, abs=1e-3)
    assert inside[0].logprob == pytest.approx(inside[1].logprob, abs=1e-3)  # the same text, cut at another place
    prompt, continuation = CASES[2]  # a newline of its own: the harness scores it too, for every option alike
    ids = tokenizer(prompt, add_special_tokens=False)["input_ids"]
    newline = log_probabilities(torch_model, ids)[-1]
    expected = of_the_harness(tokenizer, torch_model, prompt, continuation)
    assert inside[2].logprob is not None
    assert inside[2].logprob + newline == pytest.approx(expected, abs=1e-3)
