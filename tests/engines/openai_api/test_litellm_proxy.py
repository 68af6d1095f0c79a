"""Responses that LiteLLM's proxy (1.x) makes of Anthropic's, Gemini's and the Responses API's: recorded, and read here.

Recorded from `litellm --config litellm.yaml` with the settings of docs/api.md in front of a server that answers in the
providers' own protocols. Tokens are those of that server, so that none may get lost.
"""

from __future__ import annotations

from typing import Any

import pytest
from loopback_endpoint import Call, LoopbackEndpoint, Reply

from dialeval.engines.requests import AnswerFailure, Message, Request, Response, Sampling
from dialeval.engines.spending.prices import Prices


def recorded(message: dict[str, Any], finish: str, usage: dict[str, Any]) -> dict[str, Any]:
    choice = {"finish_reason": finish, "index": 0, "message": {"role": "assistant", **message}}
    usage = usage | {"total_tokens": usage["prompt_tokens"] + usage["completion_tokens"]}
    return {"id": "c", "created": 1, "model": "m", "object": "chat.completion", "choices": [choice], "usage": usage}


FIELDS: dict[str, Any] = {"citations": None, "thinking_blocks": None}
CACHED = {"cache_write_tokens": 3, "cached_tokens": 4, "text_tokens": 21, "cache_creation_tokens": 3}
CLAUDE = recorded(
    {"content": "overall - 4", "provider_specific_fields": FIELDS},
    "stop",
    {
        "completion_tokens": 6,
        "prompt_tokens": 28,  # 21 read, 3 written to the provider's cache and 4 read from it
        "completion_tokens_details": {"reasoning_tokens": 0, "text_tokens": 6},
        "prompt_tokens_details": CACHED,
    },
)
CUT = {**CLAUDE, "choices": [{**CLAUDE["choices"][0], "finish_reason": "length"}]}
REFUSED = recorded(
    {"content": None, "provider_specific_fields": {**FIELDS, "stop_reason": "refusal"}},
    "content_filter",
    {"completion_tokens": 2, "prompt_tokens": 21, "prompt_tokens_details": {"cached_tokens": 0}},
)
GEMINI = recorded(
    {"content": "overall - 3", "images": [], "thinking_blocks": []},
    "stop",
    {
        "completion_tokens": 45,  # 5 of text and 40 of reasoning, which Gemini counts apart
        "prompt_tokens": 21,
        "completion_tokens_details": {"reasoning_tokens": 40, "text_tokens": 5},
        "prompt_tokens_details": {},
    },
)
BLOCKED = recorded({"content": None}, "content_filter", {"completion_tokens": 0, "prompt_tokens": 21})
PRO = recorded(
    {"content": "overall - 5", "reasoning_items": [{"type": "reasoning", "id": "rs_1", "summary": []}]},
    "stop",
    {"completion_tokens": 70, "prompt_tokens": 31, "completion_tokens_details": {"reasoning_tokens": 64}},
)
REQUEST = Request(
    "r", "quality", "chat", (Message("system", "Be brief."), Message("user", "Rate it.")), Sampling(max_tokens=64)
)
SETTINGS: dict[str, Any] = {"label_logprobs": "none", "send_seed": False, "max_tries": 1}


@pytest.mark.parametrize(
    ("payload", "text", "finish", "tokens", "reasoning"),
    [
        (CLAUDE, "overall - 4", "stop", (28, 6), 0),
        (CUT, "overall - 4", "length", (28, 6), 0),
        (REFUSED, "", "refusal", (21, 2), None),
        (GEMINI, "overall - 3", "stop", (21, 45), 40),
        (BLOCKED, "", "refusal", (21, 0), None),
        (PRO, "overall - 5", "stop", (31, 70), 64),
    ],
)
def test_text_usage_cost_and_refusals_arrive(
    ask_all: Any, payload: dict[str, Any], text: str, finish: str, tokens: tuple[int, int], reasoning: int | None
) -> None:
    with LoopbackEndpoint(lambda _: Reply(payload)) as endpoint:
        (response,) = ask_all(endpoint, [REQUEST], **SETTINGS)
        (asked,) = [asked.body for asked, _ in endpoint.log]
    assert isinstance(response, Response)
    assert (response.text, response.finish_reason, response.reasoning_tokens) == (text, finish, reasoning)
    assert (response.prompt_tokens, response.completion_tokens) == tokens
    cost = Prices(price_input=3.0, price_output=15.0).cost(response.prompt_tokens, response.completion_tokens)
    assert cost == pytest.approx((3 * tokens[0] + 15 * tokens[1]) / 1e6)
    assert set(asked) == {"model", "messages", "max_tokens", "temperature"}, "the proxy refuses further fields"


@pytest.mark.parametrize(
    ("status", "words", "kind"),
    [
        (500, "litellm.InternalServerError: AnthropicError - Overloaded. No fallback was attempted.", "server"),
        (400, "litellm.UnsupportedParamsError: anthropic does not support parameters: ['seed']", "parameter"),
        (400, "/chat/completions: Invalid model name passed in model=nosuch.", "bad_request"),
    ],
)
def test_the_proxys_errors_have_a_kind(ask_all: Any, status: int, words: str, kind: str) -> None:
    def fail(_: Call) -> Reply:
        return Reply({"error": {"message": words, "type": None, "param": None, "code": str(status)}}, status=status)

    with LoopbackEndpoint(fail) as endpoint:
        (failure,) = ask_all(endpoint, [REQUEST], **SETTINGS)
    assert isinstance(failure, AnswerFailure)
    assert failure.kind == kind
    assert words[:40] in str(failure)
