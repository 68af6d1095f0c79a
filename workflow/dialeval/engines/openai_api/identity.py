"""What about a model behind an endpoint can change its answers, and what its name alone says about it."""

from __future__ import annotations

import json
import re
from functools import cache
from urllib.parse import urlsplit

from dialeval.config.openai_model import OpenAIModel

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
