"""Requests in the words of an OpenAI-compatible endpoint."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from dialeval.config.openai_model import OpenAIModel
from dialeval.engines.openai_api.identity import budget_field, sends_temperature
from dialeval.engines.request import PENALTIES, Message, Request
from dialeval.engines.system_messages import merge_system

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
