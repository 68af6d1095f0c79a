"""What cannot stand in extra_body, and where it belongs."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from dialeval.config import OpenAIModel


def model(extra_body: dict[str, Any]) -> OpenAIModel:
    return OpenAIModel.model_validate({"engine": "openai", "model": "m", "extra_body": extra_body})


@pytest.mark.parametrize(
    ("extra_body", "words"),
    [
        ({"messages": []}, "'messages' is not allowed here"),
        ({"model": "other"}, "the field `model`"),
        ({"models": ["a", "b"]}, "it would replace the named model"),
        ({"stream": True}, "DialEval reads complete responses, not streams"),
        ({"n": 5}, "each costs money"),
        ({"N": 5}, "each costs money"),
        ({"best_of": 2}, "each costs money"),
        ({"temperature": 1}, "set `temperature` of the protocol"),
        ({"logprobs": True}, "label_logprobs"),
        ({"max_tokens": 9}, "set max_tokens of the protocol"),
        ({"max_completion_tokens": 9}, "max_tokens_field"),
        ({"options": {"num_predict": 9}}, "'options.num_predict' is not allowed here"),
        ({"extra_body": {"a": [{"max_tokens": 9}]}}, "'extra_body.a.max_tokens' is not allowed here"),
        ({"api_key": "abc"}, "'api_key' looks like a secret"),
        ({"apiKey": "abc"}, "looks like a secret"),
        ({"a": {"Authorization": "abc"}}, "'a.Authorization' looks like a secret"),
        ({"hf_token": "abc"}, "looks like a secret"),
        ({"provider": {"headers": ["Bearer abcdefgh12345"]}}, "looks like a secret"),
        ({"user": "sk-abcdefgh12345"}, "looks like a secret"),
    ],
)
def test_what_has_another_place_is_refused_and_not_shown(extra_body: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError) as error:
        model(extra_body)
    assert words in str(error.value)
    assert "abcdefgh12345" not in str(error.value)


@pytest.mark.parametrize(
    "extra_body",
    [
        {"stop_token_ids": [1, 2]},
        {"chat_template_kwargs": {"enable_thinking": False}},
        {"top_p": 1, "top_k": 0, "repetition_penalty": 1, "seed": 1},
        {"reasoning": {"max_tokens": 500}},
        {"thinking": {"type": "enabled", "budget_tokens": 500}},
        {"prompt_cache_key": "judges", "service_tier": "flex", "min_tokens": 1, "add_special_tokens": False},
        {"provider": {"order": ["one", "two"]}, "user": "task-force-of-the-month"},
    ],
)
def test_everything_else_stands(extra_body: dict[str, Any]) -> None:
    assert model(extra_body).extra_body == extra_body
