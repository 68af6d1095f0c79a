"""The key covers everything that can change an answer, and nothing else."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.engines.request import Message, Request, Response, Sampling, read_response, request_key

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


texts = st.text() | st.sampled_from(["", "\ud800", "\u2028", "é中🙂", 'a "quote"\n'])
numbers = st.none() | st.integers(0, 10**6)
logprobs = st.floats(allow_nan=False)
negative = st.floats(max_value=0, allow_infinity=False)


@given(
    st.builds(
        Response,
        text=texts,
        finish_reason=st.sampled_from(["stop", "length", "refusal", ""]),
        reasoning=texts,
        prompt_tokens=numbers,
        completion_tokens=numbers,
        reasoning_tokens=numbers,
        label_logprobs=st.none() | st.dictionaries(texts, negative, max_size=4),
        label_mass=st.none() | st.floats(0, 1),
        logprob=st.none() | negative,
        n_tokens=numbers,
    )
)
def test_a_response_is_written_with_text_and_end_and_what_is_not_empty_and_read_back(response: Response) -> None:
    content = {name: value for name, value in asdict(response).items() if value not in (None, "")}
    always = {"text": response.text, "finish_reason": response.finish_reason}
    assert response.to_json() == json.dumps(always | content, ensure_ascii=False, sort_keys=True)
    assert Response.from_json(response.to_json()) == response


@given(
    st.builds(
        Request,
        request_id=texts,
        protocol=texts,
        kind=st.sampled_from(["chat", "choice", "loglikelihood"]),
        messages=st.lists(st.builds(Message, texts, texts), max_size=3).map(tuple),
        sampling=st.builds(
            Sampling,
            temperature=logprobs | st.integers(0, 2),
            top_p=logprobs,
            max_tokens=st.integers(1, 9999),
            seed=numbers,
            stop=st.lists(texts, max_size=2).map(tuple),
            presence_penalty=st.just(0.0) | st.floats(-2, 2),
            frequency_penalty=st.just(0.0) | st.floats(-2, 2),
        ),
        labels=st.lists(texts, max_size=3).map(tuple),
        continuation=texts,
        subject=st.lists(st.lists(texts, max_size=3).map(tuple), max_size=2).map(tuple),
        repeat=st.integers(0, 5),
        answer_schema=texts,
    ),
    texts,
    st.booleans(),
)
def test_a_key_is_the_hash_of_all_fields_in_canonical_json(
    request: Request, identity: str, reads_subject: bool
) -> None:
    content = asdict(request) | {"identity": identity}
    for name in ("request_id", *(() if reads_subject else ("protocol", "subject"))):
        del content[name]
    for name in ("presence_penalty", "frequency_penalty"):
        if not content["sampling"][name]:  # as of free answers
            del content["sampling"][name]
    if not request.answer_schema:  # keys of free answers are as old as the store
        del content["answer_schema"]
    plain = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    expected = hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    assert request_key(request, identity, reads_subject=reads_subject) == expected
