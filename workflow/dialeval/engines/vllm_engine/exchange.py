"""What passes between this process and those that compute: plain data, pickled, lists of them in both directions."""

from __future__ import annotations

from typing import NamedTuple


class EngineSize(NamedTuple):
    """What an engine holds and computes at once, as vLLM settled it.

    Attributes:
        cache_tokens: tokens of its KV cache.
        block_size: tokens of a block of it.
        window: tokens of one request (`max_model_len`).
        sequences: requests that one step computes (`max_num_seqs`).
        batched_tokens: tokens that one step computes (`max_num_batched_tokens`).
        dtype: number format of the computation.
        quantization: method of the weights' quantisation; empty for none.
        version: vLLM's version.
    """

    cache_tokens: int
    block_size: int
    window: int
    sequences: int = 0
    batched_tokens: int = 0
    dtype: str = ""
    quantization: str = ""
    version: str = ""


class Ask(NamedTuple):
    """A prompt and what is wanted of it.

    Attributes:
        prompt: its tokens.
        stop: texts that end the answer; only with them does the answer come back as text.
        stop_token_ids: tokens that end it, beside the model's own end of sequence.
        labels: tokens whose log-probability at the answer's first position is wanted.
        scored_from: where in the prompt the tokens begin whose log-probabilities are wanted.
        answer_schema: JSON schema that the answer must follow; empty for free text.
        further: sampling parameters beyond those of a request, by vLLM's names, sorted.
        depth: how many messages the prompt has; of the requests that wait, vLLM begins the one with the fewest.
    """

    prompt: list[int]
    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int | None = None
    stop: tuple[str, ...] = ()
    stop_token_ids: tuple[int, ...] = ()
    labels: tuple[int, ...] = ()
    scored_from: int | None = None
    answer_schema: str = ""
    further: tuple[tuple[str, float], ...] = ()
    depth: int = 0


class Answered(NamedTuple):
    """What the model made of a prompt.

    Attributes:
        token_ids: the answer with the token that ended it, if one did.
        text: the answer, if it was asked for with texts that end it.
        finish_reason: vLLM's word: `stop`, `length`, or another if it gave the request up.
        cached_tokens: how many tokens of the prompt were in the prefix cache.
        logprobs: of the labels' tokens, or of the scored tokens of the prompt, in their order.
    """

    token_ids: list[int]
    text: str | None
    finish_reason: str
    cached_tokens: int
    logprobs: list[float]


class Refused(NamedTuple):
    """vLLM does not take this one request."""

    reason: str


class Ended(NamedTuple):
    """The engine did not start, or stopped, and why."""

    reason: str


ToCompute = tuple[int, Ask | None]
"""A request with its number, or the number of one that nobody waits for any more."""
Computed = tuple[int, Answered | Refused]
