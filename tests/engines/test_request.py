"""The key covers everything that can change an answer, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.engines.request import Message, Request, Response, Sampling, request_key

REQUEST = Request("r", "unieval", "chat", (Message("user", "Hi"),), Sampling(), subject=(("a", "b"),))


@pytest.mark.parametrize(
    "other",
    [
        replace(REQUEST, kind="choice", labels=("Yes", "No")),
        replace(REQUEST, messages=(Message("system", "Hi"),)),
        replace(REQUEST, messages=(Message("user", "Hi "),)),
        replace(REQUEST, sampling=Sampling(temperature=0.7)),
        replace(REQUEST, sampling=Sampling(top_p=0.9)),
        replace(REQUEST, sampling=Sampling(max_tokens=7)),
        replace(REQUEST, sampling=Sampling(seed=1)),
        replace(REQUEST, sampling=Sampling(stop=("\n",))),
        replace(REQUEST, continuation="x"),
        replace(REQUEST, repeat=1),
    ],
)
def test_what_changes_an_answer_changes_the_key(other: Request) -> None:
    assert request_key(other, "model") != request_key(REQUEST, "model")


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
    line = response.to_json().encode("utf-8", "surrogatepass")
    assert b"\n" not in line
    assert Response.from_json(line.decode("utf-8", "surrogatepass")) == response
