"""The JSON of OpenAI-compatible endpoints: bodies of requests, and responses read from answers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from dialeval.config.endpoints import OpenAIModel
from dialeval.engines.label_probabilities import label_of_token, sum_labels
from dialeval.engines.requests import (
    PENALTIES,
    AnswerFailure,
    Message,
    Request,
    Response,
    log_probability,
    merge_system,
)
from dialeval.prompts.rendering import split_thinking

_TEMPLATE_FIELDS = ("chat_template", "chat_template_kwargs")


def chat_body(model: OpenAIModel, request: Request) -> dict[str, Any]:
    """Return the body of a request for text, which may have to follow a schema."""
    body = _generation(model, request, request.sampling.max_tokens)
    if request.answer_schema:
        described = {"name": "answer", "strict": True, "schema": json.loads(request.answer_schema)}
        body = {"response_format": {"type": "json_schema", "json_schema": described}} | body
    return body


def choice_body(model: OpenAIModel, request: Request) -> dict[str, Any]:
    """Return the body of a request for the probabilities of the likeliest first tokens."""
    return _generation(model, request, 1) | {"logprobs": True, "top_logprobs": model.top_logprobs}


def exact_choice_body(model: OpenAIModel, request: Request, tokens: Sequence[int]) -> dict[str, Any]:
    """Return the body of a request to a vLLM server for the probabilities of these tokens as the first."""
    return _generation(model, request, 1) | {"logprobs": True} | _probabilities_of(tokens)


def next_token_body(model: OpenAIModel, prompt: Sequence[int], tokens: Sequence[int]) -> dict[str, Any]:
    """Return the body of a request to a vLLM server's `/completions` for the probabilities of these next tokens."""
    return _completion(model, prompt) | {"logprobs": 1} | _probabilities_of(tokens)


def scoring_body(model: OpenAIModel, tokens: Sequence[int]) -> dict[str, Any]:
    """Return the body of a request to a vLLM server's `/completions` for the probability of each prompt token."""
    return _completion(model, tokens) | {"prompt_logprobs": 0}


def tokenise_body(model: OpenAIModel, messages: Sequence[Message]) -> dict[str, Any]:
    """Return the body of a request to a vLLM server's `/tokenize` for the prompt that it makes of messages."""
    body = {"model": model.model, "messages": as_messages(model, messages), "add_generation_prompt": True}
    return body | {name: model.extra_body[name] for name in _TEMPLATE_FIELDS if name in model.extra_body}


def as_messages(model: OpenAIModel, messages: Sequence[Message]) -> list[dict[str, str]]:
    """Return messages as the endpoint takes them."""
    taken = merge_system(messages) if model.system_message == "merge" else messages
    return [{"role": message.role, "content": message.content} for message in taken]


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


def _probabilities_of(tokens: Sequence[int]) -> dict[str, Any]:
    return {"logprob_token_ids": list(tokens), "return_tokens_as_token_ids": True}


def _completion(model: OpenAIModel, prompt: Sequence[int]) -> dict[str, Any]:
    extra = {name: value for name, value in model.extra_body.items() if name not in _TEMPLATE_FIELDS}
    return {"model": model.model, "prompt": list(prompt), "max_tokens": 1, "temperature": 0.0} | extra


# The identity of a model behind an endpoint, and properties that follow from its name.

_REASONING_NAME = re.compile(r"^(?:o\d|gpt-5)(?!.*chat)")
TOP_LOGPROBS = 20
"""Default number of likeliest tokens that are requested; identities with it do not name it."""
_DEFAULT_PORTS = {"http": 80, "https": 443}


def openai_identity(model: OpenAIModel) -> str:
    """Return canonical JSON of everything about a model that can change an answer.

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
    """Return an address in one spelling, without credentials, query, default port and slash at the end."""
    parts = urlsplit(base_url)
    scheme, host = parts.scheme.lower(), parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    port = "" if parts.port in (None, _DEFAULT_PORTS.get(scheme)) else f":{parts.port}"
    return f"{scheme}://{host}{port}{parts.path.rstrip('/')}"


@cache
def is_reasoning_name(name: str) -> bool:
    """Return whether a name is that of an OpenAI model which refuses `max_tokens` and `temperature` (o1, gpt-5, ...).

    A provider's prefix (`openai/o3`) is passed over; `gpt-5-chat-latest` takes both as older models do.
    """
    return bool(_REASONING_NAME.match(name.rsplit("/", 1)[-1].lower()))


def sends_temperature(model: OpenAIModel) -> bool:
    """Return whether temperature and top_p are sent to a model."""
    return not is_reasoning_name(model.model) if model.send_temperature is None else model.send_temperature


def budget_field(model: OpenAIModel) -> str:
    """Return the name of the field that holds the budget of answer tokens."""
    if model.max_tokens_field is not None:
        return model.max_tokens_field
    return "max_completion_tokens" if is_reasoning_name(model.model) else "max_tokens"


# Answers of an OpenAI-compatible endpoint as responses; an incomplete answer is a failure.

_FINISHES = {
    **dict.fromkeys(("length", "max_tokens", "model_length", "max_output_tokens", "max_length"), "length"),
    **dict.fromkeys(
        ("content_filter", "refusal", "safety", "recitation", "blocklist", "prohibited_content", "spii", "sensitive",
         "guardrail_intervened", "content_filtered"), "refusal"
    ),
}  # fmt: skip
"""What endpoints call an answer that its budget cut off, or that the model or a filter ended; by OpenAI, Anthropic,
Mistral, Google, Amazon and Zhipu. Any other word is an answer that ended by itself."""
_ABORTS = ("abort", "error", "network_error", "insufficient_system_resource")


def read_chat(payload: Mapping[str, Any], *, reasoning_end: str | None = None) -> Response:
    """Return the answer to a request of kind `chat`.

    Args:
        reasoning_end: the mark that ends a reasoning part which the endpoint leaves in its answers; None where only
            `<think>` at the beginning of an answer marks one.

    Raises:
        AnswerFailure: there is no answer (`empty`), it is incomplete (`server`), or not an answer (`malformed`).
    """
    choice, message = _first_choice(payload)
    finish = _finish(choice)
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal.strip():
        return Response(text=refusal, finish_reason="refusal", **_usage(payload))
    text, reasoning = _text_and_reasoning(message)
    if reasoning_end is not None and not reasoning and (reasoning_end in text or finish == "length"):
        text, reasoning = split_thinking(text, closing=reasoning_end, opened=True)
    if not text.strip() and finish == "stop":
        where = ", only reasoning" if reasoning else ""
        raise AnswerFailure("empty", f"the model responded with an empty text{where}")
    return Response(text=text if text.strip() else "", finish_reason=finish, reasoning=reasoning, **_usage(payload))


def read_choice(payload: Mapping[str, Any], labels: Sequence[str]) -> Response:
    """Return the answer to a request of kind `choice`, read among the likeliest first tokens of the answer.

    Raises:
        AnswerFailure: the endpoint gave no probabilities (`unsupported`), or no answer (`malformed`).
    """
    response = read_first_token(payload)
    if response.finish_reason == "refusal":
        return response
    tokens = first_token_logprobs(payload)
    named = [(label_of_token(token, labels), logprob) for token, logprob in tokens.items()]
    seen = [(label, checked_logprob(logprob, label)) for label, logprob in named if label is not None]
    logprobs, mass = sum_labels((label, logprob) for label, logprob in seen if logprob > -math.inf)
    return replace(response, label_logprobs=logprobs, label_mass=mass)


def read_first_token(payload: Mapping[str, Any]) -> Response:
    """Return an answer of one token, or the model's refusal."""
    choice, message = _first_choice(payload)
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal.strip():
        return Response(text=refusal, finish_reason="refusal", **_usage(payload))
    text, _ = _text_and_reasoning(message)
    return Response(text=text, finish_reason="refusal" if _finish(choice) == "refusal" else "stop", **_usage(payload))


def first_token_logprobs(payload: Mapping[str, Any]) -> dict[str, float]:
    """Return the log-probabilities that an endpoint shows for the first token of a chat answer, by the token's text.

    Raises:
        AnswerFailure: it shows none (`unsupported`), or not as OpenAI documents them (`malformed`).
    """
    choice, _ = _first_choice(payload)
    try:
        places = (choice.get("logprobs") or {}).get("content")
        if not places:
            raise AnswerFailure(
                "unsupported",
                "the endpoint returned no logprobs (for models without logprobs, set label_logprobs: none)",
            )
        shown = [*(places[0].get("top_logprobs") or ()), places[0]]
        tokens: dict[str, float] = {}
        for entry in shown:
            if entry.get("logprob") is not None:
                tokens.setdefault(str(entry["token"]), float(entry["logprob"]))
    except (AttributeError, KeyError, TypeError, ValueError):
        raise AnswerFailure("malformed", "the endpoint's logprobs do not have OpenAI's format") from None
    return tokens


def checked_logprob(value: float, where: str) -> float:
    """Return the logarithm of a probability.

    Raises:
        AnswerFailure: it is none (`impossible`); another try would give the same.
    """
    try:
        return log_probability(value)
    except ValueError as error:
        raise AnswerFailure("impossible", f"the endpoint's logprobs are invalid: for {where!r:.40}, {error}") from None


def next_token_logprobs(payload: Mapping[str, Any]) -> dict[str, float]:
    """Return log-probabilities as `first_token_logprobs` does, of a vLLM server's `/completions`."""
    try:
        shown = payload["choices"][0]["logprobs"]["top_logprobs"][0]
        return {str(token): float(logprob) for token, logprob in shown.items()}
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        raise AnswerFailure("malformed", "the endpoint's logprobs do not have the format of a vLLM server") from None


def read_prompt_logprobs(payload: Mapping[str, Any], tokens: Sequence[int], n_prefix: int) -> Response:
    """Return the answer to a request of kind `loglikelihood`.

    Args:
        tokens: prefix and continuation.

    Raises:
        AnswerFailure: the endpoint gave no probabilities (`unsupported`), or not of our tokens (`malformed`).
    """
    choices = payload.get("choices")
    places = choices[0].get("prompt_logprobs") if isinstance(choices, list) and choices else None
    if not places:
        raise AnswerFailure("unsupported", "the endpoint returned no prompt_logprobs; is it a vLLM server?")
    try:
        scored = [(str(tokens[n]), places[n][str(tokens[n])]["logprob"]) for n in range(n_prefix, len(tokens))]
        logprob = sum(checked_logprob(float(given), f"token {token}") for token, given in scored)
    except (KeyError, IndexError, TypeError, ValueError):
        raise AnswerFailure("malformed", "the endpoint's prompt_logprobs are not those of the prompt") from None
    return Response(text="", logprob=logprob, n_tokens=len(tokens) - n_prefix, **_usage(payload))


def _first_choice(payload: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    choices = payload.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise AnswerFailure("malformed", "the response has no choices[0].message")
    return choice, message


def _finish(choice: Mapping[str, Any]) -> str:
    given = str(choice.get("finish_reason")).lower()
    if given in _ABORTS:
        raise AnswerFailure("server", f"the endpoint ended the response (finish_reason {given})")
    return _FINISHES.get(given, "stop")


def _usage(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counts of tokens as the endpoint gives them; `Response` drops those that are none."""
    usage = payload.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    details = usage.get("completion_tokens_details")
    reasoning = details.get("reasoning_tokens") if isinstance(details, dict) else None
    return {
        "prompt_tokens": usage.get("prompt_tokens"),
        "completion_tokens": usage.get("completion_tokens"),
        "reasoning_tokens": reasoning,
    }


def _text_and_reasoning(message: Mapping[str, Any]) -> tuple[str, str]:
    content = message.get("content")
    thoughts = message.get("reasoning_content") or message.get("reasoning")
    reasoning = thoughts if isinstance(thoughts, str) else ""
    if content is None:
        return "", reasoning
    if isinstance(content, list):  # parts, some of which may be thinking
        reasoning = reasoning or "".join(_part(part, "thinking") for part in content)
        content = "".join(_part(part, "text") for part in content)
    if not isinstance(content, str):
        raise AnswerFailure("malformed", "the response's content is not a text")
    text, written = split_thinking(content)
    return text, reasoning or written


def _part(part: object, kind: str) -> str:
    value = part.get(kind) if isinstance(part, dict) else None
    if isinstance(value, list):
        return "".join(_part(inner, "text") for inner in value)
    return value if isinstance(value, str) else ""
