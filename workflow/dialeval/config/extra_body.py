"""What `extra_body` may hold: nothing that other fields say, that is secret, or that makes an answer cost more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_FIELDS = {
    "messages": "they are rendered from the protocol's template",
    "prompt": "it is rendered from the protocol's template",
    "input": "it is rendered from the protocol's template",
    "model": "use the field `model` beside it",
    "models": "another model than the one that is named would answer; give it an entry of its own under `models`",
    "stream": "answers are read whole",
    "stream_options": "answers are read whole",
    "n": "one answer is read, and each is paid for; for repeated ratings use `protocols.rating.repeats`",
    "best_of": "one answer is read, and each is paid for",
    "logprobs": "use the field `label_logprobs` beside it",
    "top_logprobs": "use the field `top_logprobs` beside it",
}
"""Fields of a request's body that have another place, and which."""
_BUDGETS = frozenset({
    "max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens", "max_tokens_to_sample", "num_predict",
    "max_length",
})  # fmt: skip
"""Names of the most tokens that an answer may have, at any depth: a budget relies on ours."""
_OWN_MEANING = frozenset({"reasoning", "thinking"})
"""Fields below which `max_tokens` is a part of the answer's, not more."""
_SECRET_NAME = re.compile(
    r"authoriz|api[-_]?key|(^|[-_])(secret|password|passwd|cookie|credentials?|bearer)([-_]|$)"
    r"|(access|auth|bearer|hf|private|secret)[-_]?(key|token)|^(key|token|auth)$",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(
    r"^\s*(bearer|basic)\s+\S{8,}|\b((sk|gsk|pk|rk|xai|nvapi)[-_]|hf_)[\w-]{8,}|\bAIza[\w-]{10,}", re.IGNORECASE
)


def checked_extra_body(value: dict[str, Any]) -> dict[str, Any]:
    """Returns what was given.

    Raises:
        ValueError: something in it has another place. Values are never shown, since they may be secret.
    """
    for path, name, content in _entries(value, ()):
        place = ".".join((*path, name))
        if not path and name.lower() in _FIELDS:
            raise ValueError(f"'{name}' cannot stand here: {_FIELDS[name.lower()]}")
        if name.lower() in _BUDGETS and not set(path) & _OWN_MEANING:
            raise ValueError(
                f"'{place}' cannot stand here, since budgets rely on the limit that we send: set max_tokens of the "
                "protocol (or of selfchat, dialogbench), and `max_tokens_field` for the name that the endpoint wants"
            )
        if _SECRET_NAME.search(name) or (isinstance(content, str) and looks_secret(content)):
            raise ValueError(
                f"'{place}' looks like a secret (its value is not shown); give it by api_key_env or headers_env, which "
                "name an environment variable"
            )
    return value


def looks_secret(text: str) -> bool:
    """Returns whether a text has the shape of a key."""
    return _SECRET_VALUE.search(text) is not None


def _entries(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str, Any]]:
    """Yields where each entry stands, its name and its content, at any depth."""
    if isinstance(value, dict):
        for name, content in value.items():
            yield path, str(name), content
            yield from _entries(content, (*path, str(name)))
    elif isinstance(value, list):
        for content in value:
            if isinstance(content, str):
                yield path, "[]", content
            yield from _entries(content, path)
