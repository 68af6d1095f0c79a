"""A model's published sampling values: not taken, or taken as vLLM's server takes them."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from dialeval.config import OpenAIModel, VllmModel
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.requests import Engine, Message, Request, Response, Sampling
from dialeval.engines.vllm_engine import VllmEngine
from dialeval.engines.vllm_engine.engine import sampler_seed
from dialeval.engines.vllm_engine.model_files import sampling_defaults

pytestmark = pytest.mark.vllm
PUBLISHED = {
    "temperature": 0.01, "top_p": 0.6, "top_k": 7, "repetition_penalty": 1.7, "max_new_tokens": 3, "do_sample": True,
}  # fmt: skip
HELLO = (Message("system", "You chat."), Message("user", "Hello, how are you?"))


@pytest.fixture(scope="module")
def published(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model with a generation_config.json."""
    folder = tmp_path_factory.mktemp("published") / "model"
    shutil.copytree(model_folder, folder)
    (folder / "generation_config.json").write_text(json.dumps(PUBLISHED))
    return folder


def ask(engine: Engine, samplings: list[Sampling]) -> list[str]:
    """Return the texts for one prompt, sampled in several ways."""

    async def answers() -> list[Response]:
        try:
            return [await engine.answer(request) for request in requests(samplings)]
        finally:
            await engine.close()

    return [answer.text for answer in asyncio.run(answers())]


def requests(samplings: list[Sampling]) -> list[Request]:
    return [Request("r", "test", "chat", HELLO, sampling) for sampling in samplings]


SAMPLINGS = [
    Sampling(temperature=0.0, max_tokens=24),  # greedy: the penalty alone counts
    Sampling(temperature=1.5, max_tokens=24),
    Sampling(temperature=1.5, top_p=0.99, max_tokens=24),  # given by the request, so the file's is not taken
]


@pytest.mark.slow
def test_auto_answers_as_vllms_server_and_vllm_does_not(
    published: Path,
    settings: Callable[..., VllmModel],
    served: Callable[..., OpenAIModel],
    serve: Callable[..., AbstractContextManager[str]],
    tmp_path: Path,
) -> None:
    plain = VllmEngine(settings(model=str(published)))
    auto = VllmEngine(settings(model=str(published), generation_config="auto"))
    sampling = json.loads(auto.identity)["sampling"]
    assert sampling == {"repetition_penalty": 1.7, "top_k": 7, "top_p": 0.6}
    assert json.loads(plain.identity) == {k: v for k, v in json.loads(auto.identity).items() if k != "sampling"}
    inside, without = ask(auto, SAMPLINGS), ask(plain, SAMPLINGS)
    over_http = []
    with serve(published, tmp_path / "log") as address:
        for request in requests(SAMPLINGS):
            chance = {"seed": sampler_seed(request)} if request.sampling.temperature else {}
            over_http += ask(OpenAIEngine(served(address, extra_body=chance)), [request.sampling])
        neutral = {"top_p": 1.0, "top_k": 0, "repetition_penalty": 1.0}  # as docs/vllm.md says for a server
        (request,) = requests(SAMPLINGS[1:2])
        as_here = served(address, extra_body=neutral | {"seed": sampler_seed(request)})
        as_plain = ask(OpenAIEngine(as_here), [request.sampling])
    assert inside == over_http
    assert all(map(str.__ne__, inside, without))
    assert len(inside[0]) > 20  # more than three tokens: max_new_tokens is no bound, at the server neither
    assert as_plain == without[1:2]


def test_what_is_taken_is_what_vllm_itself_would_take(published: Path, settings: Callable[..., VllmModel]) -> None:
    from vllm import EngineArgs

    from dialeval.engines.vllm_engine.process import engine_arguments

    override = {"override_generation_config": {"top_k": 3, "min_p": 0.05}}
    for model in (
        settings(model=str(published), generation_config="auto"),
        settings(model=str(published), generation_config="auto", engine_args=override),
        settings(generation_config="auto"),
    ):
        arguments: dict[str, Any] = engine_arguments(model, on_cpu=True)
        theirs = EngineArgs(**arguments).create_model_config().get_diff_sampling_param()
        not_said = {"temperature", "max_tokens"}  # requests say these themselves
        assert sampling_defaults(model) == {name: value for name, value in theirs.items() if name not in not_said}
