"""The same model behind vLLM's own server: it answers as the engine does, and BotChat runs over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from dialeval.config import Answering, OpenAIModel, Seeds, Selfchat
from dialeval.config.protocols import shipped
from dialeval.corpora.dialogues import bundled_dialogues
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.requests import Message, Request, Response, Sampling
from dialeval.engines.vllm_engine import VllmEngine
from dialeval.engines.vllm_engine.engine import sampler_seed
from dialeval.measures.design import Design
from dialeval.prompts.rendering import Templates
from dialeval.protocols.item_prompts import ParseSettings, PlanSettings
from dialeval.protocols.selfchat import history
from dialeval.stages import answering, corpora, measures, selfchat
from dialeval.stages import judging as judging_stages
from dialeval.tables.dialogues import GENERATED, JUDGEMENTS
from dialeval.tables.files import HUMAN, read_table
from dialeval.tables.measures import PASS_RATES

pytestmark = pytest.mark.vllm
N_SEEDS, N_UTTERANCES = 12, 6


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


def test_botchat_runs_over_http(model: OpenAIModel, tmp_path: Path) -> None:
    def path(name: str) -> Path:
        return tmp_path / f"{name}.parquet"

    store, asking = tmp_path / "store", Answering(max_failure_share=0.0)
    reading = corpora.ReadCorpusSettings(name="bundled", reader="bundled", path=None, language="en")
    corpora.read_corpus(reading, path("human"))
    corpora.extract_seeds(Seeds(corpus="bundled", limit=N_SEEDS), path("human"), path("seeds"))

    model = model.model_copy(update={"extra_body": {"seed": 1}})  # so that it goes the same way every time
    chat = Selfchat(n_utterances=N_UTTERANCES, temperature=1, max_tokens=12)
    chatting = selfchat.SelfchatSettings(name="tiny", model=model, selfchat=chat, answering=asking)
    selfchat.selfchat(
        chatting, path("seeds"), [], [], [], store, path("generated"), [tmp_path / "chat.json"], Templates()
    )
    generated = read_table(path("generated"), GENERATED).to_pylist()
    assert len(generated) == N_SEEDS * N_UTTERANCES
    written = [row for row in generated if row["origin"] == "model"]
    assert all(row["text"] and row["completion_tokens"] <= 12 for row in written)

    paths = (path("human"), path("seeds"), [path("generated")], path("items"))
    selfchat.selfchat_items(selfchat.SelfchatItemsSettings(), *paths)
    unieval = {"name": "unieval", "shipped": True, "protocol": shipped("unieval").model_copy(update={"max_tokens": 16})}
    judging_stages.plan_locate(PlanSettings(**unieval), [path("items")], [], [], path("requests"), Templates())
    judging = answering.AnswerSettings(name="tiny", protocol="unieval", model=model, answering=asking)
    answering.answer(judging, path("requests"), [], store, path("responses"), tmp_path / "judge.json")
    parsing = ParseSettings(**unieval, judge="tiny")
    parts = {"requests": path("requests"), "responses": [path("responses")], "again": []}
    judging_stages.parse_locate(parsing, **parts, judgements=path("judgements"))
    verdicts = read_table(path("judgements"), JUDGEMENTS).to_pylist()
    assert [row["left"] for row in verdicts] == [HUMAN] * N_SEEDS + ["tiny"] * N_SEEDS
    assert {row["status"] for row in verdicts} <= {"ok", "unparsed", "truncated"}

    rating = Design(protocol="unieval", judges=["tiny"], systems=[HUMAN, "tiny"], lengths=[4, N_UTTERANCES])
    measures.measure_pass_rates(rating, [path("judgements")], [], [], tmp_path)
    rates = read_table(tmp_path / "pass_rates.parquet", PASS_RATES).to_pylist()
    assert {(row["system"], row["n_utterances"]) for row in rates} >= {("tiny", 4), ("tiny", N_UTTERANCES)}

    answering.answer(judging, path("requests"), [], store, path("again"), tmp_path / "again.json")
    assert '"asked":0' in (tmp_path / "again.json").read_text().replace(" ", "")
