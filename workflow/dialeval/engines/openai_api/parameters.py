"""Which part of a request an endpoint refuses, and which field of the configuration mends it.

The words are those of OpenAI, Azure, vLLM, Ollama, Groq, Mistral, Google, Anthropic and LiteLLM.
"""

from __future__ import annotations

import re

STATUSES = frozenset({400, 403, 404, 422, 500, 501})
"""Statuses under which endpoints refuse a parameter; proxies take 500 for it."""
_REFUSED = re.compile(
    r"unsupported|n[o']t support|unrecogni[sz]ed|unknown (?:name|field|parameter|argument)|unexpected|not permitted"
    r"|extra_forbidden|n[o']t allowed|not available|cannot both|deprecated|invalid value|must be|less than or equal"
    r"|too (?:large|high)|greater than|cannot find field|only the default",
    re.IGNORECASE,
)
_TOO_MANY = re.compile(
    r"less than or equal|too (?:large|high)|greater than|at most|must be (?:between|in|<)", re.IGNORECASE
)
_REMEDIES = {
    "temperature": "set send_temperature: false",
    "top_p": "set send_temperature: false, which leaves out top_p as well",
    "seed": "set send_seed: false",
    "presence_penalty": "set presence_penalty: 0 under the protocol (or dialogbench)",
    "frequency_penalty": "set frequency_penalty: 0 under the protocol (or dialogbench)",
    "max_tokens": "set max_tokens_field: max_completion_tokens",
    "max_completion_tokens": "set max_tokens_field: max_tokens",
    "logprobs": "set label_logprobs: none and ask this model by protocols that read its text, such as rating",
    "top_logprobs": "set label_logprobs: none and ask this model by protocols that read its text, such as rating",
    "logprob_token_ids": "only vLLM's servers know it; set label_logprobs: top_logprobs",
    "return_tokens_as_token_ids": "only vLLM's servers know it; set label_logprobs: top_logprobs",
    "prompt_logprobs": "only vLLM's servers know it; set prompt_logprobs: false and use a model that vLLM runs",
    "response_format": "this model takes no schema for its answers; set answers: free under the protocol",
    "json_schema": "this model takes no schema for its answers; set answers: free under the protocol",
    "reasoning_effort": "correct reasoning_effort, or leave it out",
}
"""Parameters that we send, and what is to be done where one is refused."""
_REMEDIES_OF_SIZE = {
    "max_tokens": "lower max_tokens of the protocol (or of selfchat, dialogbench)",
    "max_completion_tokens": "lower max_tokens of the protocol (or of selfchat, dialogbench)",
    "logprobs": "lower top_logprobs, or start a vLLM server with --max-logprobs 20",
    "top_logprobs": "lower top_logprobs, or start a vLLM server with --max-logprobs 20",
}
"""The same where the parameter is known and its value too large."""
_NAMES = re.compile(rf"(?<![\w.-])({'|'.join(sorted(_REMEDIES, key=len, reverse=True))})(?![\w-])")
_SAMPLE_LOGPROBS = re.compile(r"requested (?:sample|prompt) logprobs", re.IGNORECASE)


def remedy(status: int, parameter: str, said: str) -> str | None:
    """Returns what to do about a refused parameter, or None if none of ours was refused.

    Args:
        status: the HTTP status.
        parameter: the parameter that the endpoint names apart, or nothing.
        said: what it says.
    """
    if status not in STATUSES or not (_REFUSED.search(said) or (parameter in _REMEDIES and status != 500)):
        return None
    named = _NAMES.search(said)
    name = parameter if parameter in _REMEDIES else named.group(1) if named else ""
    if name not in _REMEDIES:
        return None
    if name in _REMEDIES_OF_SIZE and (_TOO_MANY.search(said) or _SAMPLE_LOGPROBS.search(said)):
        return _REMEDIES_OF_SIZE[name]
    return _REMEDIES[name]
