"""A response holds what every table can hold; what is no answer is a failure before it is stored."""

from __future__ import annotations

import json
import math
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted import chat_request

from dialeval.engines.answer_values import MOST_TOKENS, whole_text
from dialeval.engines.answering import response_row
from dialeval.engines.request import AnswerFailure, Response, read_response
from dialeval.schemas.shared import RESPONSES

ODD_COUNTS = [3e9, 3_000_000_000, 10**20, 1e20, math.inf, math.nan, -1, 1.5, True, "12", [], {}]
NO_LOGARITHMS = [1000, 0.5, math.nan, math.inf, True, "-1", None, [], 10**400]

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["\ud800", "a\udc00b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
FIELDS = ("text", "finish_reason", "reasoning", "prompt_tokens", "completion_tokens", "reasoning_tokens")
NUMBERS = ("label_logprobs", "label_mass", "logprob", "n_tokens")


@pytest.mark.parametrize(
    ("broken", "whole"),
    [
        ("\ud800", "\ufffd"),
        ("half \udc00 an emoji", "half \ufffd an emoji"),
        ("\ud83d\ude00", "\U0001f600"),
        ("\ud800\ud83d\ude00\udc00", "\ufffd\U0001f600\ufffd"),
        ("\ud800x", "\ufffdx"),
        ("as it was \U0001f600 \x00", "as it was \U0001f600 \x00"),
    ],
)
def test_halves_of_characters_are_joined_or_marked(broken: str, whole: str) -> None:
    assert (Response(broken).text, Response("x", reasoning=broken).reasoning) == (whole, whole)
    assert whole_text(whole) is whole


@pytest.mark.parametrize("field", ["prompt_tokens", "completion_tokens", "reasoning_tokens", "n_tokens"])
@pytest.mark.parametrize("count", ODD_COUNTS)
def test_a_count_that_none_can_be_is_not_known_and_the_text_is_kept(field: str, count: object) -> None:
    response = Response("paid for", **{field: count})  # type: ignore[arg-type]
    assert (response.text, getattr(response, field)) == ("paid for", None)


def test_counts_that_can_be_are_kept() -> None:
    response = Response("", prompt_tokens=0, completion_tokens=MOST_TOKENS, reasoning_tokens=12.0)  # type: ignore[arg-type]
    assert (response.prompt_tokens, response.completion_tokens, response.reasoning_tokens) == (0, MOST_TOKENS, 12)
    assert isinstance(response.reasoning_tokens, int)


@pytest.mark.parametrize("value", NO_LOGARITHMS)
def test_what_is_no_probability_is_no_answer(value: Any) -> None:
    with pytest.raises(AnswerFailure, match="no answer can hold this") as caught:
        Response("Yes", label_logprobs={"Yes": value})
    assert caught.value.kind == "impossible"
    if value is not None:
        with pytest.raises(AnswerFailure):
            Response("", logprob=value)
    for mass in (-0.1, 1.5, math.nan, math.inf, "1", True):
        with pytest.raises(AnswerFailure):
            Response("Yes", label_mass=mass)  # type: ignore[arg-type]


def test_rounding_is_no_fault_and_the_probability_0_is_no_label() -> None:
    response = Response("Yes", label_logprobs={"Yes": 1e-6, "No": -math.inf}, label_mass=1.000001)
    assert (response.label_logprobs, response.label_mass) == ({"Yes": 0.0}, 1.0)
    with pytest.raises(AnswerFailure):
        Response("", logprob=-math.inf)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS + NUMBERS), anything))
def test_whatever_comes_can_be_stored_and_tabled_or_is_a_failure(fields: dict[str, Any]) -> None:
    try:
        response = Response(**({"text": ""} | fields))
    except AnswerFailure:
        return
    assert read_response(response.to_json().encode()) == (response, "")
    row = response_row(chat_request("r"), "0" * 32, response) | {"dropped": 0}
    written = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist([row], schema=RESPONSES.schema), written)
    assert pq.read_table(pa.BufferReader(written.getvalue()))["text"].to_pylist() == [response.text]


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        "7",
        "null",
        '"text"',
        "{}",
        '{"answer": "no text"}',
        '{"text": null}',
        '{"text": {"parts": ["x"]}}',
        '{"text": "x", "logprob": 1000}',
        '{"text": "x", "label_logprobs": ["Yes"]}',
        "[" * 100_000,
        "[" * 100_000 + "]" * 100_000,
        '{"text": ' + "9" * 5000 + "}",
        "",
    ],
)
def test_a_line_that_is_no_response_is_told(line: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        read_response(line)


def test_a_line_of_another_version_is_used_as_far_as_it_is_known() -> None:
    later = json.dumps({"text": "paid for", "completion_tokens": 3, "mood": "good", "cached": [1]})
    response, said = read_response(later)
    assert response == Response("paid for", completion_tokens=3)
    assert "cached, mood" in said


def test_a_line_that_no_table_could_hold_is_mended_and_told() -> None:
    response, said = read_response(json.dumps({"text": "half \ud800", "prompt_tokens": 10**20}))
    assert response == Response("half \ufffd")
    assert "U+FFFD" in said
