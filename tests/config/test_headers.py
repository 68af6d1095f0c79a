"""Headers that cannot be sent are found before anything runs."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from dialeval.config.endpoints import OpenAIModel


def model(**fields: Any) -> OpenAIModel:
    return OpenAIModel.model_validate({"engine": "openai", "model": "m"} | fields)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"headers": {"X Title": "t"}}, "'X Title' is not a valid header name"),
        ({"headers": {"X-Title:": "t"}}, "is not a valid header name"),
        ({"headers": {"": "t"}}, "is not a valid header name"),
        ({"headers_env": {"X Team": "TEAM"}}, "'X Team' is not a valid header name"),
        ({"headers": {"X-Title": "two\nlines"}}, "a line break"),
        ({"headers": {"X-Title": "a\x00b"}}, "a control character"),
    ],
)
def test_what_no_request_can_hold_is_refused(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        model(**fields)


def test_other_headers_stand() -> None:
    headers = {"X-Title": "dialogue evaluation, größer", "anthropic-version": "2023-06-01", "x_odd.name": ""}
    assert model(headers=headers).headers == headers
