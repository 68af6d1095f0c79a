"""Requests that only a vLLM server answers: exact probabilities of labels and of given texts.

Continuations are tokenised as for `engine: vllm` (`Prompts.with_continuation`): prompt and continuation as one
text; every token with a part of the continuation is the continuation's, also one that begins in the prompt.

A server gives tokens without their places in the text. So the end of the prompt is decoded and encoded again; if the
tokens are the same, the decoded text is the prompt's.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import Any, Protocol, TypeVar

from dialeval.config.endpoints import OpenAIModel
from dialeval.engines.label_probabilities import LabelTree, Path, label_logprobs, label_tree
from dialeval.engines.openai_api.wire_format import (
    checked_logprob,
    exact_choice_body,
    first_token_logprobs,
    next_token_body,
    next_token_logprobs,
    read_first_token,
    read_prompt_logprobs,
    scoring_body,
    tokenise_body,
)
from dialeval.engines.requests import AnswerFailure, Request, Response

Read = TypeVar("Read")
_TOKEN_ID = "token_id:"


class Post(Protocol):
    """Sends a request to a path below the endpoint's address, or to a whole address, and reads the answer."""

    def __call__(
        self, path: str, body: dict[str, Any], request: Request | None, read: Callable[[dict[str, Any]], Read]
    ) -> Awaitable[Read]:
        """Return the result of `read` on the endpoint's JSON."""
        ...


class VllmServer:
    """Requests probabilities from a vLLM server.

    Args:
        address: the endpoint's address, which ends in /v1.
        post: sends a request within the endpoint's limits.
    """

    def __init__(self, model: OpenAIModel, address: str, post: Post) -> None:
        self._model = model
        self._tokenize = address.removesuffix("/v1") + "/tokenize"
        self._detokenize = address.removesuffix("/v1") + "/detokenize"
        self._post = post
        self._continuations = Continuations(self._encode, self._decode)
        self._trees: dict[tuple[str, ...], asyncio.Task[LabelTree]] = {}

    async def choice(self, request: Request) -> Response:
        """Answer a request of kind `choice` with the probability of every label, whatever its rank.

        The first token is read from the chat answer; labels of several tokens are followed along their tree.
        """
        tree = await self._tree(request.labels)
        first = exact_choice_body(self._model, request, tree.next_tokens[()])
        response, shown = await self._post("/chat/completions", first, request, _first_token)
        if response.finish_reason == "refusal":
            return response
        logprobs: dict[Path, dict[int, float]] = {(): _by_number(shown, tree.next_tokens[()])}
        deeper = [path for path in tree.next_tokens if path]
        if deeper:
            prompt = await self._tokens(tokenise_body(self._model, request.messages))
            for path in deeper:
                body = next_token_body(self._model, [*prompt, *path], tree.next_tokens[path])
                shown = await self._post("/completions", body, request, next_token_logprobs)
                logprobs[path] = _by_number(shown, tree.next_tokens[path])
        found, mass = label_logprobs(tree, logprobs)
        return replace(response, label_logprobs=found, label_mass=min(mass, 1.0))

    async def loglikelihood(self, request: Request) -> Response:
        """Answer a request of kind `loglikelihood`; prompt and continuation are tokenised together."""
        prompt = await self._tokens(tokenise_body(self._model, request.messages))
        tokens, n_prefix = await self._continuations.together(prompt, request.continuation)
        if n_prefix == len(tokens):
            raise AnswerFailure("bad_request", "the continuation has no token to score")
        if n_prefix == 0:
            raise AnswerFailure("bad_request", "a log-likelihood needs text before the continuation")
        read = partial(read_prompt_logprobs, tokens=tokens, n_prefix=n_prefix)
        return await self._post("/completions", scoring_body(self._model, tokens), request, read)

    def forget(self) -> None:
        """Drop the trees of labels and cancel those in flight."""
        for task in self._trees.values():
            task.cancel()
        self._trees.clear()

    async def _tree(self, labels: tuple[str, ...]) -> LabelTree:
        """Return the tree of some labels, requested once for all."""
        task = self._trees.get(labels)
        if task is None or task.get_loop() is not asyncio.get_running_loop() or _failed(task):
            task = self._trees[labels] = asyncio.create_task(self._request_tree(labels))
        return await asyncio.shield(task)

    async def _request_tree(self, labels: tuple[str, ...]) -> LabelTree:
        known: dict[str, list[int]] = {}
        while True:  # the tree asks for one text after the other; what is not known yet is fetched and it begins anew
            try:
                return label_tree(labels, known.__getitem__)
            except KeyError as missing:
                known[missing.args[0]] = await self._encode(missing.args[0])

    async def _encode(self, text: str) -> list[int]:
        return await self._tokens({"model": self._model.model, "prompt": text, "add_special_tokens": False})

    async def _tokens(self, body: dict[str, Any]) -> list[int]:
        return await self._post(self._tokenize, body, None, _read_tokens)

    async def _decode(self, tokens: Sequence[int]) -> str:
        return await self._post(
            self._detokenize, {"model": self._model.model, "tokens": list(tokens)}, None, _read_text
        )


def _first_token(payload: dict[str, Any]) -> tuple[Response, dict[str, float]]:
    """Return an answer of one token with its probabilities; a refusal has none."""
    response = read_first_token(payload)
    return response, {} if response.finish_reason == "refusal" else first_token_logprobs(payload)


def _by_number(shown: Mapping[str, float], wanted: Sequence[int]) -> dict[int, float]:
    try:
        return {token: checked_logprob(shown[f"{_TOKEN_ID}{token}"], f"token {token}") for token in wanted}
    except KeyError:
        raise AnswerFailure(
            "unsupported",
            "the endpoint does not return the requested tokens; only vLLM servers do: set label_logprobs: top_logprobs",
        ) from None


def _failed(task: asyncio.Task[LabelTree]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


def _read_text(payload: dict[str, Any]) -> str:
    text = payload.get("prompt")
    if not isinstance(text, str):
        raise AnswerFailure("unsupported", "the endpoint has no /detokenize, unlike a vLLM server")
    return text


def _read_tokens(payload: dict[str, Any]) -> list[int]:
    tokens = payload.get("tokens")
    if not isinstance(tokens, list) or not all(isinstance(token, int) for token in tokens):
        raise AnswerFailure("unsupported", "the endpoint has no /tokenize, unlike a vLLM server")
    return tokens


# The first token of a continuation, by a vLLM server

ENDS = (64, 16, 4)
"""Lengths of a prompt's end that are tried if the whole prompt is not encoded as before."""
REMEMBERED = 2000
"""Remembered ends of prompts, which all options of a test item share."""


class Continuations:
    """Tokenises prompts and continuations together.

    Args:
        encode: gives the tokens of a text, without the model's opening token.
        decode: gives the text of tokens.
    """

    def __init__(
        self, encode: Callable[[str], Awaitable[list[int]]], decode: Callable[[Sequence[int]], Awaitable[str]]
    ) -> None:
        self._encode, self._decode = encode, decode
        self._prompt_ends: OrderedDict[tuple[int, ...], tuple[int, str]] = OrderedDict()

    async def together(self, prompt: Sequence[int], continuation: str) -> tuple[list[int], int]:
        """Return the tokens of prompt and continuation, and how many of them come before the continuation's.

        Raises:
            AnswerFailure: the end of the prompt cannot be had as text.
        """
        kept, text = await self._end(tuple(prompt))
        end = prompt[kept:]
        tokens = await self._encode(text + continuation)
        start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(end, tokens, strict=False)))
        if start < len(end):  # a token reaches over the boundary, and others may be cut differently before it
            while start < len(tokens) and len(await self._decode(tokens[: start + 1])) <= len(text):
                start += 1
        return [*prompt[:kept], *tokens], kept + start

    async def _end(self, prompt: tuple[int, ...]) -> tuple[int, str]:
        """Return the number of a prompt's tokens that stay fixed, and the text of the others."""
        if prompt not in self._prompt_ends:
            self._prompt_ends[prompt] = await self._find_end(prompt)
            if len(self._prompt_ends) > REMEMBERED:
                self._prompt_ends.popitem(last=False)
        return self._prompt_ends[prompt]

    async def _find_end(self, prompt: tuple[int, ...]) -> tuple[int, str]:
        for length in (len(prompt), *(length for length in ENDS if length < len(prompt))):
            end = list(prompt[-length:])
            text = await self._decode(end)
            if await self._encode(text) == end:
                return len(prompt) - length, text
        raise AnswerFailure(
            "unsupported",
            "the server's tokenizer does not tokenize its own text in the same way, so the start of the continuation "
            "is not known; run the model with engine: vllm for log-likelihoods",
        )
