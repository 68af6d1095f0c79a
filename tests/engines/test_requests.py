"""The key covers everything that can change an answer, and nothing else."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import chat_request

from dialeval.engines.answering import response_row
from dialeval.engines.requests import (
    MOST_TOKENS,
    AnswerFailure,
    Message,
    Request,
    Response,
    Sampling,
    merge_system,
    read_response,
    request_key,
    valid_unicode,
)
from dialeval.tables.dialogues import RESPONSES

REQUEST = Request("r", "unieval", "chat", (Message("user", "Hi"),), Sampling(), subject=(("a", "b"),))


@pytest.mark.parametrize(
    "other",
    [
        replace(REQUEST, kind="choice", labels=("Yes", "No")),
        replace(REQUEST, messages=(Message("system", "Hi"),)),
        replace(REQUEST, messages=(Message("user", "Hi "),)),
        replace(REQUEST, messages=(Message("user", "\ud800"),)),
        replace(REQUEST, answer_schema="{}"),
        replace(REQUEST, sampling=Sampling(temperature=0.7)),
        replace(REQUEST, sampling=Sampling(top_p=0.9)),
        replace(REQUEST, sampling=Sampling(max_tokens=7)),
        replace(REQUEST, sampling=Sampling(seed=1)),
        replace(REQUEST, sampling=Sampling(stop=("\n",))),
        replace(REQUEST, sampling=Sampling(presence_penalty=0.6)),
        replace(REQUEST, sampling=Sampling(frequency_penalty=0.6)),
        replace(REQUEST, continuation="x"),
        replace(REQUEST, repeat=1),
    ],
)
def test_what_changes_an_answer_changes_the_key(other: Request) -> None:
    assert request_key(other, "model") != request_key(REQUEST, "model")


def test_the_two_penalties_are_not_one() -> None:
    keys = {
        request_key(replace(REQUEST, sampling=Sampling(**{name: value})), "m")
        for name in ("presence_penalty", "frequency_penalty")
        for value in (-0.5, 0.0, 0.5)
    }
    assert len(keys) == 5  # 0 is the same as neither


def test_the_model_is_part_of_the_key_and_the_name_is_not() -> None:
    assert request_key(REQUEST, "model a") != request_key(REQUEST, "model b")
    assert request_key(replace(REQUEST, request_id="other"), "m") == request_key(REQUEST, "m")


def test_the_subject_counts_for_models_that_read_it() -> None:
    other = replace(REQUEST, subject=(("a", "c"),))
    assert request_key(other, "m") == request_key(REQUEST, "m")
    assert request_key(other, "m", reads_subject=True) != request_key(REQUEST, "m", reads_subject=True)


@given(st.text(), st.text(), st.integers(0, 10**6) | st.none())
def test_a_response_comes_back_as_it_was(text: str, reasoning: str, tokens: int | None) -> None:
    response = Response(text, "length", reasoning, prompt_tokens=tokens, label_logprobs={"Yes": -0.1})
    line = response.to_json().encode()
    assert b"\n" not in line
    assert read_response(line) == (response, "")


def test_a_response_is_written_with_text_and_end_and_what_is_not_empty() -> None:
    assert Response("Yes").to_json() == '{"finish_reason": "stop", "text": "Yes"}'
    full = Response("é", "length", "hm", 1, 2, 0, {"Yes": -0.5}, 0.9, -7.25, 3)
    assert full.to_json() == (
        '{"completion_tokens": 2, "finish_reason": "length", "label_logprobs": {"Yes": -0.5}, "label_mass": 0.9, '
        '"logprob": -7.25, "n_tokens": 3, "prompt_tokens": 1, "reasoning": "hm", "reasoning_tokens": 0, "text": "é"}'
    )
    assert Response.from_json(full.to_json()) == full


# A response holds what every table can hold; what is no answer is a failure before it is stored.

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
    assert valid_unicode(whole) is whole


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
    with pytest.raises(AnswerFailure, match="this response cannot be stored") as caught:
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
def test_a_line_that_is_no_response_is_reported(line: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        read_response(line)


def test_a_line_of_another_version_is_used_as_far_as_it_is_known() -> None:
    later = json.dumps({"text": "paid for", "completion_tokens": 3, "mood": "good", "cached": [1]})
    response, note = read_response(later)
    assert response == Response("paid for", completion_tokens=3)
    assert "cached, mood" in note


def test_a_line_that_no_table_could_hold_is_mended_and_reported() -> None:
    response, note = read_response(json.dumps({"text": "half \ud800", "prompt_tokens": 10**20}))
    assert response == Response("half \ufffd")
    assert "U+FFFD" in note


# What stands in place of a system message keeps what it says.

SYSTEM, ONE, TWO = Message("system", "Be brief."), Message("user", "Hello."), Message("assistant", "Hi.")


def test_system_text_goes_into_the_first_user_message() -> None:
    assert merge_system((SYSTEM, ONE)) == (Message("user", "Be brief.\n\nHello."),)
    assert merge_system((SYSTEM, TWO, ONE)) == (Message("user", "Be brief."), TWO, ONE)
    assert merge_system((ONE,)) == (ONE,)
    assert merge_system((TWO, ONE))[0].role == "user"
