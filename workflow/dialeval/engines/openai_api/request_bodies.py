"""Requests in the words of an endpoint, and what of a model can change its answers."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from dialeval.config.endpoints import OpenAIModel
from dialeval.engines.requests import PENALTIES, Message, Request, merge_system

# Requests in the words of an OpenAI-compatible endpoint.

_TEMPLATE_FIELDS = ("chat_template", "chat_template_kwargs")


def chat_body(model: OpenAIModel, request: Request) -> dict[str, Any]:
    """Returns the body of a request for text, which may have to follow a schema."""
    body = _generation(model, request, request.sampling.max_tokens)
    if request.answer_schema:
        described = {"name": "answer", "strict": True, "schema": json.loads(request.answer_schema)}
        body = {"response_format": {"type": "json_schema", "json_schema": described}} | body
    return body


def choice_body(model: OpenAIModel, request: Request) -> dict[str, Any]:
    """Returns the body of a request for the probabilities of the likeliest first tokens."""
    return _generation(model, request, 1) | {"logprobs": True, "top_logprobs": model.top_logprobs}


def exact_choice_body(model: OpenAIModel, request: Request, tokens: Sequence[int]) -> dict[str, Any]:
    """Returns the body of a request to a vLLM server for the probabilities of these tokens as the first."""
    return _generation(model, request, 1) | {"logprobs": True} | _probabilities_of(tokens)


def next_token_body(model: OpenAIModel, prompt: Sequence[int], tokens: Sequence[int]) -> dict[str, Any]:
    """Returns the body of a request to a vLLM server's `/completions` for the probabilities of these next tokens.

    Args:
        model: the model.
        prompt: the prompt in tokens.
        tokens: the tokens to be weighed.
    """
    return _completion(model, prompt) | {"logprobs": 1} | _probabilities_of(tokens)


def scoring_body(model: OpenAIModel, tokens: Sequence[int]) -> dict[str, Any]:
    """Returns the body of a request to a vLLM server's `/completions` for the probability of each prompt token."""
    return _completion(model, tokens) | {"prompt_logprobs": 0}


def tokenise_body(model: OpenAIModel, messages: Sequence[Message]) -> dict[str, Any]:
    """Returns the body of a request to a vLLM server's `/tokenize` for the prompt that it makes of messages."""
    body = {"model": model.model, "messages": as_messages(model, messages), "add_generation_prompt": True}
    return body | {name: model.extra_body[name] for name in _TEMPLATE_FIELDS if name in model.extra_body}


def as_messages(model: OpenAIModel, messages: Sequence[Message]) -> list[dict[str, str]]:
    """Returns messages as the endpoint takes them."""
    taken = merge_system(messages) if model.system_message == "merge" else messages
    return [{"role": message.role, "content": message.content} for message in taken]


def _probabilities_of(tokens: Sequence[int]) -> dict[str, Any]:
    return {"logprob_token_ids": list(tokens), "return_tokens_as_token_ids": True}


def _completion(model: OpenAIModel, prompt: Sequence[int]) -> dict[str, Any]:
    extra = {name: value for name, value in model.extra_body.items() if name not in _TEMPLATE_FIELDS}
    return {"model": model.model, "prompt": list(prompt), "max_tokens": 1, "temperature": 0.0} | extra


def _generation(model: OpenAIModel, request: Request, max_tokens: int) -> dict[str, Any]:
    sampling = request.sampling
    body: dict[str, Any] = {
        "model": model.model,
        "messages": as_messages(model, request.messages),
        budget_field(model): max_tokens,
    }
    if sends_temperature(model):
        body["temperature"] = sampling.temperature
        if sampling.top_p != 1.0:
            body["top_p"] = sampling.top_p
        body |= {name: getattr(sampling, name) for name in PENALTIES if getattr(sampling, name)}
    if sampling.seed is not None and model.send_seed:
        body["seed"] = sampling.seed
    if sampling.stop:
        body["stop"] = list(sampling.stop)
    if model.reasoning_effort is not None:
        body["reasoning_effort"] = model.reasoning_effort
    return body | model.extra_body


# What about a model behind an endpoint can change its answers, and what its name alone says about it.

_REASONING_NAME = re.compile(r"^(?:o\d|gpt-5)(?!.*chat)")
TOP_LOGPROBS = 20
"""How many likeliest tokens are asked for unless the configuration says otherwise, as it could not do at first."""
_DEFAULT_PORTS = {"http": 80, "https": 443}


def openai_identity(model: OpenAIModel) -> str:
    """Returns canonical JSON of everything about a model that can change an answer.

    Keys, limits, timeouts, prices and the name of the budget's field are no part of it: an answer that was paid for
    stays valid when they change.
    """
    content = {
        "engine": "openai",
        "model": model.model,
        "base_url": plain_address(model.base_url),
        "send_temperature": sends_temperature(model),
        "send_seed": model.send_seed,
        "system_message": model.system_message,
        "reasoning_effort": model.reasoning_effort,
        "extra_body": model.extra_body,
        "headers": {name.lower(): value for name, value in model.headers.items()},
        "label_logprobs": model.label_logprobs,
    }
    if model.top_logprobs != TOP_LOGPROBS:
        content["top_logprobs"] = model.top_logprobs
    if model.reasoning_end is not None:
        content["reasoning_end"] = model.reasoning_end
    return json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def plain_address(base_url: str) -> str:
    """Returns an address in one spelling, without credentials, query, default port and slash at the end."""
    parts = urlsplit(base_url)
    scheme, host = parts.scheme.lower(), parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    port = "" if parts.port in (None, _DEFAULT_PORTS.get(scheme)) else f":{parts.port}"
    return f"{scheme}://{host}{port}{parts.path.rstrip('/')}"


@cache
def is_reasoning_name(name: str) -> bool:
    """Returns whether a name is that of an OpenAI model which refuses `max_tokens` and `temperature` (o1, gpt-5, ...).

    A provider's prefix (`openai/o3`) is passed over; `gpt-5-chat-latest` takes both as older models do.
    """
    return bool(_REASONING_NAME.match(name.rsplit("/", 1)[-1].lower()))


def sends_temperature(model: OpenAIModel) -> bool:
    """Returns whether temperature and top_p are sent to a model."""
    return not is_reasoning_name(model.model) if model.send_temperature is None else model.send_temperature


def budget_field(model: OpenAIModel) -> str:
    """Returns the name of the field that holds the budget of answer tokens."""
    if model.max_tokens_field is not None:
        return model.max_tokens_field
    return "max_completion_tokens" if is_reasoning_name(model.model) else "max_tokens"
