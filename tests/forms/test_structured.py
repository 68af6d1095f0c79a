"""Answers that must be a JSON object: what is asked for, and how it is read."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.engines.request import Message, Request, request_key
from dialeval.forms.structured import number, number_in, option, place, read_object, structured, text, text_in
from dialeval.prompts.rendering import Templates

FREE = Request("u/1", "unieval", "chat", (Message("system", "Judge."), Message("user", "Is it human?")))
FIELDS = [
    option("choice", ["Yes", "No"]),
    place("index", "the first utterance of an AI"),
    text("reason", "why"),
]
ASKED = structured(FREE, Templates(), FIELDS)


def test_the_schema_is_one_that_strict_endpoints_take() -> None:
    assert json.loads(ASKED.answer_schema) == {
        "type": "object",
        "properties": {
            "choice": {"type": "string", "enum": ["Yes", "No"]},
            "index": {"type": ["integer", "null"]},
            "reason": {"type": "string"},
        },
        "required": ["choice", "index", "reason"],
        "additionalProperties": False,
    }


def test_the_prompt_says_what_belongs_in_the_fields() -> None:
    assert ASKED.messages[0] == FREE.messages[0]
    assert ASKED.messages[1].content.startswith("Is it human?\n\n")
    assert '"choice": one of "Yes", "No"' in ASKED.messages[1].content
    assert '"index": the number of the first utterance of an AI, or null' in ASKED.messages[1].content


def test_a_structured_answer_is_another_answer() -> None:
    same_prompt = Request("u/1", "unieval", "chat", ASKED.messages)
    keys = {request_key(request, "{}") for request in (FREE, ASKED, same_prompt)}
    assert len(keys) == 3


@pytest.mark.parametrize(
    ("field", "schema"),
    [
        (number("empathy", 1, 7, whole=True), {"type": "integer", "enum": [1, 2, 3, 4, 5, 6, 7]}),
        (number("empathy", -1, 1, whole=True), {"type": "integer", "enum": [-1, 0, 1]}),
        (number("empathy", 0, 100, whole=True), {"type": "integer"}),
        (number("empathy", 0, 1, whole=False), {"type": "number"}),
    ],
)
def test_short_scales_are_listed(field: object, schema: object) -> None:
    assert field.schema == schema  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "answer",
    [
        '{"choice": "Yes", "index": 3}',
        ' \n{"choice":"Yes","index":3}\n',
        '```json\n{"choice": "Yes", "index": 3}\n```',
        '<think>Hm, {"choice": "No"}?</think>{"choice": "Yes", "index": 3}',
    ],
)
def test_an_object_is_read(answer: str) -> None:
    found = read_object(answer)
    assert found is not None
    assert text_in(found, "choice") == "Yes"
    assert number_in(found, "index") == 3.0


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "Choice: Yes",
        '{"choice": "Yes"',
        '{"choice": "Yes", "choice": "No"}',
        '{"choice": "Yes"} {"choice": "No"}',
        '["Yes"]',
        "[" * 100_000,
    ],
)
def test_what_is_no_single_object_is_not_read(answer: str) -> None:
    assert read_object(answer) is None


def test_a_value_of_another_kind_is_no_value() -> None:
    found = {"rating": "4", "right": True, "choice": 4, "none": None}
    assert [number_in(found, name) for name in ("rating", "right", "none", "missing")] == [None] * 4
    assert [text_in(found, name) for name in ("choice", "none", "missing")] == [""] * 3


@given(st.text())
def test_any_text_is_read_or_is_none(answer: str) -> None:
    found = read_object(answer)
    assert found is None or isinstance(found, dict)
