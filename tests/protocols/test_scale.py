"""Ratings are planned once for all dimensions, and read tolerantly in form and exactly in content."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judged_dialogues import shipped_question

from dialeval.config.protocols import shipped
from dialeval.corpora.items import Item
from dialeval.criteria import DIMENSIONS, SHIPPED, Criterion, Scale, Words, labelled
from dialeval.engines.requests import request_key
from dialeval.prompts.rendering import Templates
from dialeval.protocols.questions import Question
from dialeval.protocols.scores import parse_scale, plan_scale
from dialeval.protocols.written_scores import parse_scores

TURN = Item("fed", "FED-1", "en", "turn", "c1", ("human", "chatbot"), ("Any plans?", "Fishing, then a pie."))
DIALOGUE = Item("fed", "FED-2", "en", "dialogue", "c2", ("human", "chatbot"), ("Any plans?", "Fishing, then a pie."))
ALONE = Item("fed", "FED-3", "en", "turn", "c3", ("chatbot",), ("Hello there.",))


def read_ratings(text: str, dimensions: Sequence[str]) -> dict[str, float]:
    return {name: score.value for name, score in parse_scores(text, [SHIPPED[name] for name in dimensions]).items()}


def test_one_request_covers_all_dimensions_of_the_level() -> None:
    turn, dialogue, alone = (one.request for one in plan_scale(RATING, [TURN, DIALOGUE, ALONE], Templates()))
    assert turn.labels == DIMENSIONS["turn"]
    assert dialogue.labels == DIMENSIONS["dialogue"]
    prompt = turn.messages[0].content
    assert prompt.index("Human: Any plans?") < prompt.index("### Response") < prompt.index("Chatbot: Fishing")
    assert all(f"{dimension} - x" in prompt for dimension in DIMENSIONS["turn"])
    assert "nothing was said before" in alone.messages[0].content
    assert turn.request_id == "rating/fed/en/FED-1/0"


def test_repeats_differ_in_nothing_but_their_draw() -> None:
    first, second = (
        one.request
        for one in plan_scale(shipped_question("rating", temperature=0.7, top_p=0.95, repeats=2), [TURN], Templates())
    )
    assert first.messages == second.messages
    assert (first.repeat, second.repeat) == (0, 1)
    assert (first.sampling.seed, second.sampling.seed) == (0, 1)
    assert first.sampling.temperature == second.sampling.temperature == 0.7


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("coherence - 4\nengagingness - 3", {"coherence": 4, "engagingness": 3}),
        ("Coherence: 4/5\nENGAGINGNESS: 3.5 out of 5", {"coherence": 4, "engagingness": 3.5}),
        ("1. **Coherence** – 4\n2. **Engagingness** – 2.", {"coherence": 4, "engagingness": 2}),
        ('{"coherence": 4, "engagingness": 5}', {"coherence": 4, "engagingness": 5}),
        ("| coherence | 4 |\n| engagingness | 1 |", {"coherence": 4, "engagingness": 1}),
        ("Coherence (1-5): 4\nengagement = 2", {"coherence": 4, "engagingness": 2}),
        ("coherence：４\nengagingness：３", {"coherence": 4, "engagingness": 3}),
        ("<think>coherence - 1</think>coherence - 4", {"coherence": 4}),
        ("coherence - 4\nAs said, coherence - 4", {"coherence": 4}),
        # no score: nothing, a placeholder, a range, off the scale, of another scale, two different ones, another word
        ("I would rather not say.", {}),
        ("coherence - x\nengagingness - n/a", {}),
        ("coherence - 3-4\nengagingness - 3 to 4", {}),
        ("coherence - 6\nengagingness - 0\noverall - -3", {}),
        ("coherence - 8/10\nengagingness: 3 out of 10\noverall: 80%", {}),
        ("coherence - 3\ncoherence - 4", {}),
        ("incoherence - 4", {}),
    ],
)
def test_answers_are_read(text: str, expected: dict[str, float]) -> None:
    assert read_ratings(text, DIMENSIONS["dialogue"]) == expected


@given(values=st.lists(st.integers(10, 50).map(lambda n: n / 10), min_size=5, max_size=5))
def test_requested_answers_are_parsed(values: list[float]) -> None:
    given_values = dict(zip(DIMENSIONS["turn"], values, strict=True))
    text = "\n".join(f"{dimension} - {value}" for dimension, value in given_values.items())
    assert read_ratings(text, DIMENSIONS["turn"]) == given_values


@given(text=st.text())
def test_any_text_is_read_without_an_error(text: str) -> None:
    assert all(1 <= value <= 5 for value in read_ratings(text, DIMENSIONS["turn"]).values())


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ({"status": "ok", "text": "coherence - 4", "finish_reason": "stop"}, "ok"),
        ({"status": "ok", "text": "well", "finish_reason": "stop"}, "unparsed"),
        ({"status": "ok", "text": "I", "finish_reason": "refusal"}, "refused"),
        ({"status": "ok", "text": "coherence -", "finish_reason": "length"}, "truncated"),
        ({"status": "ok", "text": "coherence - 4", "finish_reason": "length"}, "truncated"),  # perhaps of 4.5
        ({"status": "ok", "text": "coherence - 4 out", "finish_reason": "length"}, "truncated"),
        ({"status": "ok", "text": "coherence - 4\n", "finish_reason": "length"}, "ok"),
        ({"status": "ok", "text": '{"coherence": 4, "overall": 3', "finish_reason": "length"}, "ok"),
        ({"status": "ok", "text": "coherence - 4", "finish_reason": "refusal"}, "refused"),
        ({"status": "ok", "text": "coherence - 2 </think>coherence - 4", "finish_reason": "stop"}, "unparsed"),
        ({"status": "missing", "text": "", "finish_reason": ""}, "missing"),
    ],
)
def test_every_dimension_has_a_row_with_its_status(answer: dict[str, Any], status: str) -> None:
    planned = {"labels": ["coherence"], "corpus": "fed", "language": "en", "item_id": "FED-2", "repeat": 0}
    (row,) = parse_scale(shipped_question("rating"), planned, answer)
    assert row["status"] == status
    assert row["value"] == (4.0 if status == "ok" else None)
    assert (row["scale_min"], row["scale_max"]) == (1.0, 5.0)


RATING = shipped_question("rating")
TEMPLATES = Templates()
FELT = Question("felt", shipped("rating"))
EMPATHY = Criterion(
    "empathy",
    words=Words(meaning={"turn": "it meets the feeling"}, rubric={"1": "cold", "7": "warm"}),
    scale=Scale(1, 7),
    translations={"zh": Words(meaning={"turn": "回应了对方的感受"}, rubric={"7": "温暖"})},
)
TACT = Criterion("tact", scale=labelled(["poor", "fair", "good"]))


def prompts(items: list[Item], groups: list[list[Criterion]]) -> list[str]:
    planned = plan_scale(RATING, items, Templates(), lambda item: groups)
    return [one.request.messages[0].content for one in planned]


def test_an_own_scale_and_its_rubric_are_shown() -> None:
    (prompt,) = prompts([TURN], [[EMPATHY]])
    assert "Rate the response on each of these dimensions with a number from 1 to 7:\n" in prompt
    assert "empathy: it meets the feeling\n  1: cold\n  7: warm\n\nWrite one line" in prompt
    assert prompt.endswith("with the number in place of x:\nempathy - x\n\n### Ratings")
    (labels,) = prompts([TURN], [[TACT]])
    assert "with one of these: poor, fair, good:\ntact\n" in labels
    assert "with the word or words in place of x:\ntact - x" in labels
    (below,) = prompts([TURN], [[Criterion("warmth", scale=Scale(-2, 2))]])
    assert "with a number from -2 (very poor) to 2 (excellent)" in below
    assert "\nwarmth: x\n" in below  # no dash before a number that may have a minus


def test_several_scales_in_one_prompt_are_distinguished() -> None:
    (prompt,) = prompts([TURN], [[EMPATHY, TACT]])
    assert "empathy (a number from 1 to 7): it meets the feeling\n" in prompt
    assert "tact (one of these: poor, fair, good)\n" in prompt


def test_items_are_judged_in_their_language_where_there_are_words(capsys: pytest.CaptureFixture[str]) -> None:
    (zh,) = prompts([replace(TURN, language="zh")], [[EMPATHY]])
    assert "empathy: 回应了对方的感受\n  1: cold\n  7: 温暖" in zh
    de, also = prompts([replace(TURN, language="de", item_id=name) for name in "ab"], [[EMPATHY]])
    assert "empathy: it meets the feeling" in de == also
    notice = "items in de are judged with the untranslated questions of empathy\n"
    assert capsys.readouterr().out == notice  # once


def test_evaluated_speakers_are_named_where_not_all_are() -> None:
    (prompt,) = prompts([replace(DIALOGUE, judged="chatbot")], [[EMPATHY]])
    assert "Rate only what Chatbot says; the rest is shown so that you know what it answers." in prompt


def test_a_further_criterion_changes_no_request_about_single_criteria() -> None:
    twice = FELT.protocol.model_copy(update={"repeats": 2})

    def keys(criteria: list[Criterion]) -> dict[str, str]:
        planned = plan_scale(
            replace(FELT, protocol=twice), [TURN], Templates(), lambda item: [[one] for one in criteria]
        )
        return {one.request.request_id: request_key(one.request, "m", reads_subject=True) for one in planned}

    before, after = keys([EMPATHY]), keys([EMPATHY, TACT])
    assert before.items() <= after.items()
    assert set(after) - set(before) == {"felt/fed/en/FED-1/tact/0", "felt/fed/en/FED-1/tact/1"}
    together = plan_scale(FELT, [TURN], Templates(), lambda item: [[EMPATHY, TACT]])
    assert [one.request.request_id for one in together] == ["felt/fed/en/FED-1/0"]


def test_a_label_is_kept_beside_its_value() -> None:
    planned = {"labels": ["tact", "empathy"], "corpus": "fed", "language": "en", "item_id": "FED-2", "repeat": 0}
    answer = {"status": "ok", "text": "tact - Fair\nempathy - 6/7", "finish_reason": "stop"}
    tact, empathy = parse_scale(Question("p", shipped("rating"), own=(TACT, EMPATHY)), planned, answer)
    assert [tact[name] for name in ("choice", "value", "scale_min", "scale_max")] == ["fair", 2.0, 1.0, 3.0]
    assert [empathy[name] for name in ("choice", "value", "scale_min", "scale_max")] == [None, 6.0, 1.0, 7.0]


@pytest.mark.parametrize(
    ("text", "tact", "empathy"),
    [
        ('{"tact": "good", "empathy": 7}', 3.0, 7.0),
        ('```json\n{"tact": "good", "empathy": 8}\n```', 3.0, None),
        ('{"tact": "very good", "empathy": "7"}', None, None),
        ("tact - good\nempathy - 7", None, None),
    ],
)
def test_structured_answers_are_read_by_their_fields(text: str, tact: float | None, empathy: float | None) -> None:
    question = Question("p", shipped("rating").model_copy(update={"answers": "structured"}), own=(TACT, EMPATHY))
    (planned,) = plan_scale(question, [TURN], Templates(), lambda item: [[TACT, EMPATHY]])
    fields = json.loads(planned.request.answer_schema)["properties"]
    assert fields == {
        "tact": {"type": "string", "enum": ["poor", "fair", "good"]},
        "empathy": {"type": "integer", "enum": [1, 2, 3, 4, 5, 6, 7]},
    }
    answer = {"status": "ok", "text": text, "finish_reason": "stop"}
    rows = parse_scale(question, planned.to_row(), answer)
    assert [row["value"] for row in rows] == [tact, empathy]
