"""Embedded models take the test, write and filter through the same requests as other models."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest
from dialogbench_examples import item

from dialeval.corpora import bundled
from dialeval.dialogbench import examination, filtering, writing
from dialeval.dialogbench.briefs import plan_briefs
from dialeval.dialogbench.embedded_engines import FilterByChoice, RuleWriter
from dialeval.engines.embedded.engine import EmbeddedEngine
from dialeval.engines.embedded.learning import learn
from dialeval.engines.request import AnswerFailure, Dialogue, Request, Response
from dialeval.prompts.rendering import Templates


@pytest.fixture(scope="module")
def dialogues() -> list[Dialogue]:
    return [tuple(said.text for said in one.utterances) for one in bundled.read("en").dialogues]


@pytest.fixture(scope="module")
def engine(dialogues: list[Dialogue]) -> EmbeddedEngine:
    return EmbeddedEngine(learn("retrieval", dialogues[:40], random_seed=0), identity="retrieval")


def answered(engine: EmbeddedEngine | FilterByChoice | RuleWriter, request: Request) -> Response:
    async def ask() -> Response:
        return await engine.answer(request)

    return asyncio.run(ask())


def test_an_embedded_model_answers_every_method(engine: EmbeddedEngine) -> None:
    krg = item("KRG", extra={"knowledge": "A boiler has a valve."}, utterances=item().utterances[:9])
    (letter,) = examination.plan([krg], "letter", Templates())
    assert answered(engine, letter.request).text.startswith("Answer: ")
    (choice,) = examination.plan([krg], "choice", Templates())
    assert set(answered(engine, choice.request).label_logprobs or {}) == {"A", "B", "C", "D"}
    scored = [answered(engine, one.request) for one in examination.plan([krg], "perplexity", Templates())]
    assert len(scored) == 4
    assert all(one.logprob is not None and one.n_tokens for one in scored)


class Chooser:
    """Finds the second option likeliest, and the last one least likely."""

    identity, reads_subject, concurrency, context_window = "chooser", True, 1, None

    async def answer(self, request: Request) -> Response:
        assert (request.protocol, request.kind) == ("multiple_choice", "choice")
        return Response(text="B", label_logprobs=dict(zip(request.labels, (-2.0, -1.0, -2.0, -9.0), strict=False)))

    def count_tokens(self, messages: object) -> int:
        return 0

    async def close(self) -> None:
        pass


@pytest.mark.parametrize(("label", "verdict"), [("A", "correct"), ("B", "correct"), ("D", "incorrect")])
def test_an_embedded_filter_calls_incorrect_what_it_finds_least_likely(label: str, verdict: str) -> None:
    (planned,) = filtering.plan([item(label=label)], Templates())
    judge = FilterByChoice(Chooser())
    assert answered(judge, planned.request).text == verdict
    assert "chooser" in judge.identity
    with pytest.raises(AnswerFailure, match="nothing but dialogbench_filter"):
        answered(judge, replace(planned.request, protocol="rating"))


def test_the_writer_by_rule_writes_in_the_languages_it_has_dialogues_of(dialogues: list[Dialogue]) -> None:
    writer = RuleWriter({"en": dialogues})
    (english,) = writing.plan(list(plan_briefs(["MRG"], ["Film"], per_cell=1)), Templates())
    (chinese,) = writing.plan(list(plan_briefs(["MRG"], ["Film"], per_cell=1, language="zh")), Templates())
    assert len(json.loads(answered(writer, english.request).text)["option"]) == 4
    assert "sorry" in answered(writer, chinese.request).text
    assert writer.identity == RuleWriter({"en": dialogues}).identity != RuleWriter({"en": dialogues[1:]}).identity
    with pytest.raises(AnswerFailure, match="nothing but dialogbench_writing"):
        answered(writer, replace(english.request, protocol="selfchat"))
