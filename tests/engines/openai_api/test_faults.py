"""Retry-After in all its forms, labels, addresses and token counts."""

from __future__ import annotations

import math
import time
from email.utils import formatdate
from pathlib import Path

import pytest

from dialeval.engines.cl100k import WORDS_AND_MARKS, Tokenizer
from dialeval.engines.openai_api import counting
from dialeval.engines.openai_api.faults import retry_after, short
from dialeval.engines.openai_api.identity import plain_address
from dialeval.engines.openai_api.label_tokens import label_of_token, sum_labels


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
    monkeypatch.setattr(counting, "_own_vocabulary", lambda _: None)
    monkeypatch.setattr(counting, "cl100k_tokenizer", lambda: Tokenizer(WORDS_AND_MARKS, lambda texts: [0]))
    tokenizer = counting.tokenizer_for("my-model")
    assert tokenizer.name == counting.UPPER_ESTIMATE
    assert tokenizer.count_all(["hello", "你好吗"]) == [3, 5]
