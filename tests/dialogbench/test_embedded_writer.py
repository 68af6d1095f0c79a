"""The writer without a language model: its clozes are sound items, and it declines what it cannot do."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import replace

import pytest
from dialogbench_examples import answer, item

from dialeval.corpora.clusters import fold_of
from dialeval.corpora.dialogues import bundled_dialogues
from dialeval.dialogbench import briefs, embedded_writer, examination, writing
from dialeval.dialogbench.briefs import plan_briefs
from dialeval.dialogbench.embedded_writer import FilterByChoice, RuleWriter
from dialeval.dialogbench.writing import read_verdict
from dialeval.dialogbench.written_items import Outcome, checked, read_written
from dialeval.engines.embedded.engine import EmbeddedEngine
from dialeval.engines.embedded.learning import learn
from dialeval.engines.requests import AnswerFailure, Dialogue, Request, Response
from dialeval.prompts.rendering import Templates

Dialogues = dict[str, list[Dialogue]]


@pytest.fixture(scope="module")
def dialogues() -> Dialogues:
    return {
        language: [
            tuple(utterance.text for utterance in one.utterances) for one in bundled_dialogues(language).dialogues
        ]
        for language in ("en", "zh")
    }


def written(dialogues: Dialogues, task: str, language: str, per_cell: int, repeat: int = 0) -> list[Outcome]:
    outcomes = []
    for brief in plan_briefs([task], per_cell=per_cell, language=language):
        text = embedded_writer.write_embedded(briefs.brief_subject(brief, repeat), dialogues[language])
        outcomes.append(read_written(brief, answer(text), embedded_writer.ORIGIN))
    return checked(outcomes)


@pytest.mark.parametrize("task", embedded_writer.CLOZE_TASKS)
def test_clozes_pass_every_check(dialogues: Dialogues, task: str) -> None:
    outcomes = written(dialogues, task, "en", 2)
    assert len(outcomes) == 40
    assert all(outcome.accepted for outcome in outcomes), [one.details for one in outcomes if one.reasons]
    items = [outcome.item for outcome in outcomes if outcome.item]
    assert {one.origin for one in items} == {"embedded"}
    assert {one.personalities for one in items} == {("", "")}
    assert len(Counter(one.label for one in items)) == 4


def test_the_right_option_is_the_original_utterance(dialogues: Dialogues) -> None:
    for task in embedded_writer.CLOZE_TASKS:
        for outcome in written(dialogues, task, "en", 1):
            found = outcome.item
            assert found is not None
            n = len(found.utterances)
            (source,) = [one for one in dialogues["en"] if one[:n] == found.utterances]
            assert found.options[found.right] == source[n]
            assert not {text for text in found.options if text in source} - {source[n]}
            if task == "DI":
                assert found.extra["response"] == source[n + 1]


def test_options_come_from_one_fold_so_that_none_is_known_to_an_embedded_model(dialogues: Dialogues) -> None:
    folds_of: dict[str, set[int]] = {}
    for one in dialogues["en"]:
        for text in one:
            folds_of.setdefault(text, set()).add(fold_of(one))
    for outcome in written(dialogues, "MRG", "en", 1):
        assert outcome.item is not None
        fold = fold_of(outcome.item.utterances)
        assert all(fold in folds_of[text] for text in outcome.item.options)


def test_chinese_clozes_are_sound_but_few(dialogues: Dialogues) -> None:
    outcomes = written(dialogues, "MRG", "zh", 1)
    assert {one.reasons for one in outcomes} <= {(), ("near_duplicate",)}
    assert sum(one.accepted for one in outcomes) >= 15


def test_a_second_request_gives_another_item(dialogues: Dialogues) -> None:
    first, second = written(dialogues, "MRG", "en", 1), written(dialogues, "MRG", "en", 1, repeat=1)
    same = [a.item == b.item for a, b in zip(first, second, strict=True)]
    assert not any(same)
    assert [one.item for one in written(dialogues, "MRG", "en", 1)] == [one.item for one in first]


def test_what_cannot_be_made_by_rule_is_declined(dialogues: Dialogues) -> None:
    assert {one.reasons for one in written(dialogues, "KRG", "en", 1)} == {("refused",)}
    brief = next(plan_briefs(["MRG"], ["Film"], per_cell=1))
    short = embedded_writer.write_embedded(briefs.brief_subject(brief, 0), [("Hi.", "Ho.")])
    assert read_written(brief, answer(short), "embedded").reasons == ("refused",)


def test_the_filter_calls_an_answer_incorrect_only_if_it_fits_worst() -> None:
    def verdict(label: str, *fits: float) -> str:
        return embedded_writer.filter_embedded(briefs.item_subject(item(label=label), answer=True), fits)

    assert [verdict(label, -0.5, -1.5, -1.7, -3.0) for label in "ABCD"] == ["correct"] * 3 + ["incorrect"]
    assert [read_verdict(verdict(label, -0.5, -3.0)) for label in "AB"] == ["correct", "incorrect"]
    assert verdict("B", -1.0, -1.0) == "correct"


# Embedded models take the test, write and filter through the same requests as other models.


@pytest.fixture(scope="module")
def embedded_engines_dialogues() -> list[Dialogue]:
    return [tuple(utterance.text for utterance in one.utterances) for one in bundled_dialogues("en").dialogues]


@pytest.fixture(scope="module")
def engine(embedded_engines_dialogues: list[Dialogue]) -> EmbeddedEngine:
    return EmbeddedEngine(learn("retrieval", embedded_engines_dialogues[:40], random_seed=0), identity="retrieval")


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
    (planned,) = writing.plan_filtering([item(label=label)], Templates())
    judge = FilterByChoice(Chooser())
    assert answered(judge, planned.request).text == verdict
    assert "chooser" in judge.identity
    with pytest.raises(AnswerFailure, match="answers only dialogbench_filter"):
        answered(judge, replace(planned.request, protocol="rating"))


def test_the_writer_by_rule_writes_in_the_languages_it_has_dialogues_of(
    embedded_engines_dialogues: list[Dialogue],
) -> None:
    writer = RuleWriter({"en": embedded_engines_dialogues})
    (english,) = writing.plan(list(plan_briefs(["MRG"], ["Film"], per_cell=1)), Templates())
    (chinese,) = writing.plan(list(plan_briefs(["MRG"], ["Film"], per_cell=1, language="zh")), Templates())
    assert len(json.loads(answered(writer, english.request).text)["option"]) == 4
    assert "sorry" in answered(writer, chinese.request).text
    assert (
        writer.identity
        == RuleWriter({"en": embedded_engines_dialogues}).identity
        != RuleWriter({"en": embedded_engines_dialogues[1:]}).identity
    )
    with pytest.raises(AnswerFailure, match="answers only dialogbench_writing"):
        answered(writer, replace(english.request, protocol="selfchat"))
