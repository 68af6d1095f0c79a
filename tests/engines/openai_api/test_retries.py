"""Retry-After in all its forms, labels, addresses and token counts."""

from __future__ import annotations

import base64
import math
import time
from email.utils import formatdate
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback_endpoint import LoopbackEndpoint, Reply, completion
from scripted import chat_request

from dialeval.config import OpenAIModel
from dialeval.engines.cl100k import WORDS_AND_MARKS, Tokenizer
from dialeval.engines.label_probabilities import label_of_token, sum_labels
from dialeval.engines.openai_api import retries, token_counts
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.openai_api.retries import LONGEST_TEXT, MASK, Redactor, retry_after, short, status_fault
from dialeval.engines.openai_api.wire_format import plain_address
from dialeval.engines.requests import AnswerFailure, Request
from dialeval.errors import UserError


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Mon, 01 Jan 99999999999999999999 00:00:00 GMT"}, None),
        ({"retry-after": "Fri, 01 Jan 2038 00:00:00 +99999999999999"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:10 GMT", "date": "Wed, 21 Oct 2015 07:28:00 GMT"}, 10.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:10 GMT"}, 0.0),
    ],
)
def test_retry_after_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_a_date_is_read_against_our_clock_where_the_endpoint_shows_none() -> None:
    seconds = retry_after({"retry-after": formatdate(time.time() + 20, usegmt=True)})
    assert seconds is not None
    assert 18 < seconds <= 20


def test_a_message_is_one_line_of_limited_length() -> None:
    assert short("a\n b") == "a b"
    assert len(short("x" * 5000)) == 400


@pytest.mark.parametrize(
    ("token", "label"),
    [("Yes", "Yes"), (" yes", "Yes"), ("▁Yes", "Yes"), ("YES", None), ("Y", None), ("Yesterday", None), ("", None)],
)
def test_a_token_belongs_to_a_label_by_blank_and_case_only(token: str, label: str | None) -> None:
    assert label_of_token(token, ["Yes", "No"]) == label


def test_impossible_tokens_add_nothing() -> None:
    logprobs, mass = sum_labels([("A", -9999.0), ("A", math.log(0.5)), ("B", -9999.0)])
    assert logprobs == {"A": math.log(0.5), "B": -9999.0}
    assert mass == 0.5


@pytest.mark.parametrize(
    ("address", "plain"),
    [
        ("https://API.openai.com:443/v1/", "https://api.openai.com/v1"),
        ("http://user:secret@localhost:8000/v1?key=1#x", "http://localhost:8000/v1"),
        ("http://[::1]:80/v1", "http://[::1]/v1"),
    ],
)
def test_an_address_has_one_spelling(address: str, plain: str) -> None:
    assert plain_address(address) == plain


def test_without_any_vocabulary_the_estimate_is_high_and_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(token_counts, "_own_vocabulary", lambda _: None)
    monkeypatch.setattr(token_counts, "cl100k_tokenizer", lambda: Tokenizer(WORDS_AND_MARKS, lambda texts: [0]))
    tokenizer = token_counts.tokenizer_for("my-model")
    assert tokenizer.name == token_counts.UPPER_ESTIMATE
    assert tokenizer.count_all(["hello", "你好吗"]) == [3, 5]


# What an endpoint refuses to be asked is answered with the field that mends it, and is not tried again.

OPENAI = "Unsupported parameter: '{}' is not supported with this model."
SAID = [
    # OpenAI
    (400, {"message": OPENAI.format("temperature"), "param": "temperature", "code": None}, "send_temperature: false"),
    (400, {"message": "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value "
     "is supported.", "param": "temperature", "code": "unsupported_value"}, "send_temperature: false"),
    (400, {"message": OPENAI.format("top_p"), "param": "top_p"}, "send_temperature: false"),
    (400, {"message": OPENAI.format("max_tokens") + " Use 'max_completion_tokens' instead.", "param": "max_tokens"},
     "max_tokens_field: max_completion_tokens"),
    (400, {"message": "max_tokens is too large: 9000. This model supports at most 4096 completion tokens, whereas you "
     "provided 9000.", "param": "max_tokens"}, "lower max_tokens of the protocol"),
    (400, {"message": OPENAI.format("logprobs"), "param": "logprobs"}, "label_logprobs: none"),
    (403, {"message": "You are not allowed to request logprobs from this model", "param": None},
     "label_logprobs: none"),
    (400, {"message": "This model does not support the 'logprobs' parameter.", "param": "logprobs"},
     "label_logprobs: none"),
    (400, {"message": "Unsupported value: 'reasoning_effort' does not support 'minimal' with this model.",
           "param": "reasoning_effort"}, "correct reasoning_effort"),
    (400, {"message": "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
           "param": None}, "answers: free"),
    # Azure
    (400, {"message": "Unrecognized request argument supplied: logprobs", "param": None}, "label_logprobs: none"),
    (400, {"message": "Unrecognized request argument supplied: max_completion_tokens", "param": None},
     "max_tokens_field: max_tokens"),
    (400, {"message": "Invalid value for 'top_logprobs': must be less than or equal to 5."}, "lower top_logprobs"),
    (400, {"requestid": "5b8d", "code": 400, "message": "Validation error at #/logprobs: Extra inputs are not "
     "permitted"}, "label_logprobs: none"),
    # Groq
    (400, {"message": "'logprobs' is not supported with this model", "type": "invalid_request_error"},
     "label_logprobs: none"),
    (400, {"message": "property 'seed' is unsupported", "type": "invalid_request_error"}, "send_seed: false"),
    (400, {"message": "This model does not support response format `json_schema`.", "type": "invalid_request_error"},
     "answers: free"),
    # Google: a list of one error; Anthropic
    (400, {"code": 400, "message": 'Invalid JSON payload received. Unknown name "seed": Cannot find field.',
           "status": "INVALID_ARGUMENT"}, "send_seed: false"),
    (400, {"message": "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
           "type": "invalid_request_error"}, "send_temperature: false"),
    (400, {"message": "`temperature` is deprecated for this model."}, "send_temperature: false"),
    # vLLM
    (400, {"message": "Requested sample logprobs of 20, which is greater than max allowed: 5",
           "type": "BadRequestError"}, "lower top_logprobs, or start a vLLM server with --max-logprobs"),
    # LiteLLM
    (500, {"message": "ollama does not support parameters: {'seed': 1}, for model=llama3:latest. To drop these, set "
     "`litellm.drop_params=True`"}, "send_seed: false"),
]  # fmt: skip
BODIES = [(status, {"error": error}, words) for status, error, words in SAID] + [
    # Mistral, as FastAPI says it
    (422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]},
     "send_seed: false"),
    (400, {"detail": "Unsupported parameter: max_completion_tokens"}, "max_tokens_field: max_tokens"),
    (400, {"object": "error", "message": "seed is not supported", "code": 400}, "send_seed: false"),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body", "words"), BODIES)
def test_the_field_that_mends_it_is_named(status: int, body: dict[str, Any], words: str) -> None:
    fault = status_fault(status, body, {}, Redactor([]))
    assert (fault.kind, fault.passing, fault.billed == "nothing") == ("parameter", False, status < 500)
    assert words in str(fault)


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (400, "This model's maximum context length is 4096 tokens; max_tokens is too large", "context_length"),
        (400, "The model doubao-seed-1.6 does not support images", "bad_request"),
        (400, "Invalid type for 'messages[0].content'", "bad_request"),
        (500, "The server had an error", "server"),
        (403, "Country not supported", "authentication"),
        (429, "Rate limit: max_tokens must be lower", "rate_limit"),
        (401, "Incorrect API key; temperature is not supported", "authentication"),
    ],
)
def test_what_is_about_something_else_stays_that(status: int, message: str, kind: str) -> None:
    assert status_fault(status, {"error": {"message": message}}, {}, Redactor([])).kind == kind


def test_a_long_message_does_not_hide_the_remedy() -> None:
    fault = status_fault(400, {"error": {"message": "seed is not supported " + "x" * 5000}}, {}, Redactor([]))
    assert str(fault).endswith("(set send_seed: false)")


def test_it_gets_one_request_each_and_the_job_ends_after_ten(ask_all: Any) -> None:
    body = {"error": {"message": OPENAI.format("temperature"), "param": "temperature"}}
    with LoopbackEndpoint(lambda _: Reply(body, 400)) as endpoint:
        (failure,) = ask_all(endpoint, [chat_request("one")])
        assert isinstance(failure, AnswerFailure)
        assert (failure.kind, len(endpoint.log)) == ("parameter", 1)
        with pytest.raises(UserError, match="failed 10 times in a row.*set send_temperature: false"):
            ask_all(endpoint, [chat_request(f"r{number}") for number in range(50)], concurrency=1)
        assert len(endpoint.log) == 11


def test_the_likeliest_tokens_are_as_many_as_configured(ask_all: Any) -> None:
    def model(**fields: Any) -> OpenAIModel:
        return OpenAIModel.model_validate({"engine": "openai", "model": "m", "api_key_env": None, **fields})

    request = Request("r", "yes_no", "choice", chat_request("r").messages, labels=("Yes", "No"))
    with LoopbackEndpoint(lambda _: Reply(completion("Yes"))) as endpoint:
        ask_all(endpoint, [request], top_logprobs=5)
        ask_all(endpoint, [request])
        assert [asked.body["top_logprobs"] for asked, _ in endpoint.log] == [5, 20]
    assert OpenAIEngine(model(top_logprobs=20)).identity == OpenAIEngine(model()).identity
    assert 'top_logprobs":5' in OpenAIEngine(model(top_logprobs=5)).identity


# Masking is the same as that of the plain way, and long texts take no longer than their beginning.

KEY = "sk-proj-Zq81+TbW/7yhNcP3~dKe5.RxVm"
SHORT = "abababab1"
SECRETS = [KEY, SHORT, "tiny"]


def masked_plainly(text: str) -> str:
    """Look for every window of every spelling of a secret by itself."""
    forms = {form for secret in SECRETS if len(secret) >= 8 for form in retries._forms(secret)}
    hidden = [False] * len(text)
    for form in forms:
        size = min(12, len(form))
        for start in range(len(form) - size + 1):
            place = text.find(form[start : start + size])
            while place >= 0:
                hidden[place : place + size] = [True] * size
                place = text.find(form[start : start + size], place + 1)
    for found in retries._CREDENTIALS.finditer(text):
        hidden[found.start() : found.end()] = [True] * (found.end() - found.start())
    before = [False, *hidden]
    return "".join(
        letter if not hide else "" if after else MASK for letter, hide, after in zip(text, hidden, before, strict=False)
    )


PIECES = st.one_of(
    st.text(max_size=8),
    st.sampled_from(["Bearer ", " ", KEY, SHORT, "tiny", quote(KEY), KEY.encode().hex(), "sk-another1234", "ab", "\n"]),
    st.binary(max_size=3).map(lambda before: base64.b64encode(before + KEY.encode()).decode()),
    st.tuples(st.integers(0, 30), st.integers(1, 34)).map(lambda ends: KEY[ends[0] : ends[0] + ends[1]]),
)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_masking_is_that_of_the_plain_way(text: str) -> None:
    assert Redactor(SECRETS).mask(text) == masked_plainly(text)


def test_of_a_long_text_the_beginning_is_shown_and_no_secret_at_its_end() -> None:
    redactor = Redactor(SECRETS)
    for before in range(LONGEST_TEXT - 40, LONGEST_TEXT + 3, 7):
        text = "x" * before + KEY + "y" * LONGEST_TEXT
        masked = redactor.mask(text)
        assert len(masked) <= LONGEST_TEXT
        assert masked.startswith("x" * (LONGEST_TEXT - 60))
        assert KEY[:4] not in masked
