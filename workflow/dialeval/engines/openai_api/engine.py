"""The engine of models behind OpenAI-compatible endpoints, with the account of its budget."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from dialeval.config.endpoints import OpenAIModel
from dialeval.engines.circuit_breaker import CircuitBreaker
from dialeval.engines.cl100k import Tokenizer
from dialeval.engines.openai_api.connection import Connection, OnHeaders
from dialeval.engines.openai_api.retries import Fault, RetryPolicy, read_or_fault, with_retries
from dialeval.engines.openai_api.token_counts import billed_for, bound_of, largest_bill, tokenizer_for
from dialeval.engines.openai_api.vllm_server import VllmServer
from dialeval.engines.openai_api.wire_format import chat_body, choice_body, openai_identity, read_chat, read_choice
from dialeval.engines.rate_limits import NO_TOKENS, Limits, Tokens
from dialeval.engines.requests import AnswerFailure, Engine, Message, Request, Response
from dialeval.engines.spending.account import Account
from dialeval.engines.spending.prices import Bound, terms_for
from dialeval.errors import UserError

Read = TypeVar("Read")
_TOKENS_PER_MESSAGE, _TOKENS_PER_PROMPT = 4, 3
"""What OpenAI's chat format adds to the texts."""
_BYTES_PER_TOKEN = 4


def open_model(model: OpenAIModel, learned: Sequence[Path], store: Path | None, protocol: str) -> Engine:
    """Return the engine of a model; see `answering.open_engine`."""
    terms = terms_for(model)
    if terms is not None and terms.limited and store is None:
        raise UserError(
            f"model '{model.model}' has a budget, and there is no store to record its "
            "spending; set a store, or remove the budget"
        )
    account = Account(store, terms, protocol) if terms is not None and store is not None else None
    engine = OpenAIEngine(model, account=account)
    if not model.batch:
        return engine
    from dialeval.engines.openai_api.batch_engine import BatchEngine  # the `openai` client is slow to import

    return BatchEngine(engine, model)


class OpenAIEngine:
    """Answers requests through an endpoint, within its limits, and retries faults that may pass.

    Attributes:
        identity: canonical JSON of everything about the model that can change an answer.
        settings: a digest of the model's settings.
        reads_subject: always false.
        concurrency: how many requests may be in flight at once.
        resting: how many requests wait to be retried.
        context_window: tokens of prompt and answer together as configured; None if not known.
        connection: the way to the endpoint.
        retrying: limits of the retries.

    Args:
        tokenizer: counts tokens; by default see `token_counts.tokenizer_for`.
        retrying: limits of the retries; by default as configured.
        account: pays for every attempt; by default nothing is counted.

    Raises:
        UserError: while answering, that the environment variable of the key is missing, or that the endpoint is dead.
    """

    reads_subject = False

    def __init__(
        self,
        model: OpenAIModel,
        *,
        tokenizer: Tokenizer | None = None,
        retrying: RetryPolicy | None = None,
        account: Account | None = None,
    ) -> None:
        self.identity = openai_identity(model)
        settings = model.model_dump_json(exclude={*model.how_jobs_run, "budget", "price_input", "price_output"})
        self.settings = hashlib.sha256(settings.encode()).hexdigest()[:12]
        self.concurrency = model.concurrency
        self.resting = 0
        self.context_window = model.context_window
        self.account = account
        self._model = model
        self.connection = Connection(model)
        self.retrying = retrying or RetryPolicy(model.max_tries, model.max_total_seconds)
        breaker = CircuitBreaker(
            f"model '{model.model}' at {self.connection.address}",
            patience=model.patience_seconds,
            longest_refusal=self.retrying.max_total_seconds,
            longest_answer=model.timeout_seconds,
        )
        self._limits = Limits(
            breaker,
            in_flight=model.concurrency,
            requests_per_minute=model.requests_per_minute,
            tokens_per_minute=model.tokens_per_minute,
        )
        self._tokenizer = tokenizer
        self._finding = asyncio.Lock()
        if model.context_window is not None or model.tokens_per_minute is not None:
            self._tokens()
        self._server = VllmServer(model, self.connection.address, self._post)

    async def answer(self, request: Request) -> Response:
        """Answer, or raise AnswerFailure; UserError if the endpoint is dead."""
        match request.kind:
            case "chat":
                return self._masked(await self._chat(request))
            case "choice":
                return self._masked(await self._choice(request))
            case _:
                return await self._loglikelihood(request)

    def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """Return the length of a prompt in tokens, with those of the chat format."""
        counts = self._tokens().count_all([message.content for message in messages])
        return sum(counts) + _TOKENS_PER_MESSAGE * len(messages) + _TOKENS_PER_PROMPT

    async def completed(self, response: Response) -> Response:
        """Return an answer that was read elsewhere as this engine would have given it."""
        return self._masked(await self._with_reasoning_tokens(response))

    async def close(self) -> None:
        """Close the connections."""
        self._server.forget()
        if self.account is not None:
            self.account.close()
        await self.connection.close()

    def _masked(self, response: Response) -> Response:
        """Return a response with the key removed, in case the endpoint repeats it."""
        mask = self.connection.redactor.mask_answer
        text, reasoning = mask(response.text), mask(response.reasoning)
        if text is response.text and reasoning is response.reasoning:
            return response
        return replace(response, text=text, reasoning=reasoning)

    async def _chat(self, request: Request) -> Response:
        read = partial(read_chat, reasoning_end=self._model.reasoning_end)
        response = await self._post("/chat/completions", chat_body(self._model, request), request, read)
        return await self._with_reasoning_tokens(response) if response.reasoning else response

    async def _post(
        self, path: str, body: dict[str, Any], request: Request | None, read: Callable[[dict[str, Any]], Read]
    ) -> Read:
        """Return the result of `read` on the endpoint's JSON; malformed responses are retried."""
        self.connection.read_secrets()  # reports a missing key before anything is paid or sent
        bound = bound_of(body) if request is not None else None
        tokens = self._tokens_of(request, bound) if request is not None and bound is not None else NO_TOKENS
        again = False

        async def attempt() -> Read:
            nonlocal again
            async with self._limits.place(tokens, again=again) as place:
                again = True
                outcome = await self._try(path, body, place.keep_headers, bound)
                self._limits.read_headers(place, accepted=not isinstance(outcome, Fault))
                try:
                    answer = outcome if isinstance(outcome, Fault) else read_or_fault(read, outcome)
                except AnswerFailure:
                    self._limits.answered(place)  # useless, but an answer
                    raise
                if isinstance(answer, Fault):
                    self._limits.failed(
                        place, answer.kind, str(answer), too_many=answer.too_many, pause=answer.retry_after
                    )
                    try:
                        raise answer
                    finally:
                        del answer, outcome  # or they and this frame would hold each other until garbage collection
                self._limits.answered(place)
                return answer

        return await with_retries(self.retrying, attempt, self._rest)

    def _tokens_of(self, request: Request, bound: Bound) -> Tokens:
        """Return the tokens that a request counts for."""
        longest = request.sampling.max_tokens
        about = bound.input_tokens / _BYTES_PER_TOKEN + bound.output_tokens
        return Tokens(about, bound.input_tokens + longest, lambda: self.count_tokens(request.messages) + longest)

    async def _try(
        self, path: str, body: dict[str, Any], on_headers: OnHeaders, bound: Bound | None
    ) -> dict[str, Any] | Fault:
        """Send a request once the budget allows it, and record its cost in any case.

        Args:
            path, body, on_headers: see `Connection.post`.
            bound: the largest number of billed tokens; None for a free request.

        Raises:
            UserError: the budget is used up.
        """
        if self.account is None or bound is None:
            return await self.connection.post(path, body, on_headers)
        reserved = await self.account.reserve(bound)
        billed = largest_bill(bound)
        try:
            outcome = await self.connection.post(path, body, on_headers)
            billed = billed_for(outcome, bound)
            return outcome
        finally:
            self.account.settle(reserved, billed)

    async def _rest(self, seconds: float) -> None:
        self.resting += 1
        try:
            await asyncio.sleep(seconds)
        finally:
            self.resting -= 1

    async def _with_reasoning_tokens(self, response: Response) -> Response:
        if not response.reasoning or response.reasoning_tokens:
            return response
        tokenizer = self._tokenizer or await self._tokenizer_later()  # the endpoint does not say how many
        return replace(response, reasoning_tokens=tokenizer.count_all([response.reasoning])[0])

    async def _tokenizer_later(self) -> Tokenizer:
        async with self._finding:  # a vocabulary may be sought on the network: other requests go on meanwhile
            return await asyncio.to_thread(self._tokens)

    def _tokens(self) -> Tokenizer:
        if self._tokenizer is None:
            self._tokenizer = tokenizer_for(self._model.model)
        return self._tokenizer

    async def _choice(self, request: Request) -> Response:
        match self._model.label_logprobs:
            case "vllm":
                return await self._server.choice(request)
            case "top_logprobs":
                read = partial(read_choice, labels=request.labels)
                return await self._post("/chat/completions", choice_body(self._model, request), request, read)
            case _:
                raise AnswerFailure(
                    "unsupported", "label_logprobs is none for this model; use a protocol that parses text"
                )

    async def _loglikelihood(self, request: Request) -> Response:
        if not self._model.prompt_logprobs:
            raise AnswerFailure(
                "unsupported",
                "an OpenAI-compatible endpoint cannot score a given text; for a vLLM server set prompt_logprobs: "
                "true, otherwise use a model of engine vllm",
            )
        return await self._server.loglikelihood(request)
