"""Tokens of prompts and answers: a bound before a request, and the bill after it.

Tokenizers, in order of preference: tiktoken's vocabulary of the model, if its file is in a cache; cl100k_base (see
`engines.cl100k`); half a token per byte of UTF-8, more than texts have in practice.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any

from dialeval.engines.cl100k import WORDS_AND_MARKS, Tokenizer, caches, cl100k_tokenizer
from dialeval.engines.openai_api.retries import Fault
from dialeval.engines.spending.prices import NO_TOKENS, Billed, Bound

_PER_MESSAGE, _PER_PROMPT = 4, 3
"""Tokens that a chat template adds."""
_PLAIN = frozenset({
    "model", "messages", "prompt", "max_tokens", "max_completion_tokens", "temperature", "top_p", "seed", "stop",
    "reasoning_effort", "logprobs", "top_logprobs", "logprob_token_ids", "return_tokens_as_token_ids",
    "prompt_logprobs", "presence_penalty", "frequency_penalty",
})  # fmt: skip
"""Fields that add no tokens to the prompt; others may (tools, documents, templates)."""
_BELIEVED_TIMES, _BELIEVED_MORE = 20, 200_000
"""A reported number of tokens is valid up to so many times the bound, and so many more."""
_BYTES_PER_TOKEN = 128
"""Bytes of the longest tokens of any vocabulary."""


def bound_of(body: Mapping[str, Any]) -> Bound:
    """Return the largest number of tokens that a request, given by its body, can be billed for.

    A token has at least one byte, some four in English. The bound matters while a request is in flight, and if the
    endpoint reports no usage.
    """
    prompt = body.get("prompt")
    messages = body.get("messages") or ()
    texts = [message["content"] for message in messages] + ([prompt] if isinstance(prompt, str) else [])
    more = {name: body[name] for name in body.keys() - _PLAIN}
    n_input = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    n_input += len(prompt) if isinstance(prompt, list) else 0
    n_input += len(json.dumps(more).encode()) if more else 0
    n_output = body.get("max_completion_tokens") or body.get("max_tokens") or 0
    return Bound(n_input + _PER_MESSAGE * len(messages) + _PER_PROMPT, n_output)


def largest_bill(bound: Bound) -> Billed:
    """Return the largest possible bill of an attempt."""
    return Billed(bound.input_tokens, bound.output_tokens, confirmed=False)


def billed_for(outcome: Mapping[str, Any] | Fault, bound: Bound) -> Billed:
    """Return the bill of an attempt: the endpoint's counts, or else the largest possible one.

    Counts of zero and impossible ones are ignored. Reasoning that is missing in the count of answer tokens is taken
    from the total.
    """
    if isinstance(outcome, Fault):
        match outcome.billed:
            case "nothing":
                return NO_TOKENS
            case "prompt":
                return Billed(bound.input_tokens, 0, confirmed=False)
            case _:
                return largest_bill(bound)
    usage = outcome.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    n_input = _believed(usage.get("prompt_tokens"), bound.input_tokens)
    n_output = _believed(usage.get("completion_tokens"), bound.output_tokens)
    if n_output is not None:
        details = usage.get("completion_tokens_details")
        reasoning = _believed(details.get("reasoning_tokens"), bound.output_tokens) if isinstance(details, dict) else 0
        if reasoning and reasoning > n_output:
            n_output += reasoning
        total = _believed(usage.get("total_tokens"), bound.input_tokens + bound.output_tokens)
        if total and n_input is not None:
            n_output = max(n_output, total - n_input)
        if n_output * _BYTES_PER_TOKEN < _n_bytes(outcome):
            n_output = None
    if n_input is not None and n_input * _BYTES_PER_TOKEN < bound.input_tokens:
        n_input = None
    return Billed(
        bound.input_tokens if n_input is None else n_input,
        bound.output_tokens if n_output is None else n_output,
        confirmed=n_input is not None and n_output is not None,
    )


def _believed(count: object, most: int) -> int | None:
    """Return a count of tokens if it is possible and not 0."""
    if isinstance(count, float) and count.is_integer():
        count = int(count)
    if not isinstance(count, int) or isinstance(count, bool):
        return None
    return count if 0 < count <= _BELIEVED_TIMES * most + _BELIEVED_MORE else None


def _n_bytes(payload: Mapping[str, Any]) -> int:
    """Return the bytes of an answer's text and reasoning."""
    choices = payload.get("choices")
    message = choices[0].get("message") if isinstance(choices, list) and choices and isinstance(choices[0], dict) else 0
    if not isinstance(message, dict):
        return 0
    shown = [message.get(name) for name in ("content", "reasoning_content", "reasoning")]
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in shown if isinstance(text, str))


# Lengths of prompts for a model behind an endpoint, by its own vocabulary where that is available.

UPPER_ESTIMATE = "upper estimate (half a token per byte)"
_ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"


def tokenizer_for(model: str) -> Tokenizer:
    """Return the best available tokenizer of a model."""
    own = _own_vocabulary(model)
    if own is not None:
        return own
    common = cl100k_tokenizer()
    if common.name != WORDS_AND_MARKS:
        return common
    return Tokenizer(UPPER_ESTIMATE, lambda texts: [-(-len(text.encode("utf-8", "replace")) // 2) for text in texts])


def _own_vocabulary(model: str) -> Tokenizer | None:
    import tiktoken

    try:
        name = tiktoken.encoding_name_for_model(model.rsplit("/", 1)[-1])
    except KeyError:
        return None
    file = hashlib.sha1(_ADDRESS.format(name).encode()).hexdigest()  # tiktoken's name for it
    folder = next((folder for folder in caches() if (folder / file).is_file()), None)
    if folder is None:
        return None
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    encoding = tiktoken.get_encoding(name)
    return Tokenizer(name, lambda texts: [len(encoding.encode_ordinary(text)) for text in texts])
