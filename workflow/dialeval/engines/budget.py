"""A budget for one job: no request begins that could make the job spend more than it may.

What a request may cost is counted before it begins: its prompt and the longest answer that it allows. These bounds of
all requests in flight are set aside. A request that does not fit into what is left waits for others to end, since most
cost far less than their bound; if none is in flight, the job ends, and nothing that was paid for is lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing

from dialeval.config import OpenAIModel
from dialeval.engines.answering import TableEngine
from dialeval.engines.prices import prices_of
from dialeval.engines.request import AnswerFailure, Engine, Message, Request, Response
from dialeval.engines.store import ResponseStore
from dialeval.errors import UserError

UNPAID = frozenset(
    {"authentication", "bad_request", "cancelled", "context", "context_length", "not_found", "quota", "rate_limit"}
)
"""Failures of requests that an endpoint turned away before it wrote anything. Others count as if paid in full."""


class BudgetedEngine:
    """An engine that ends the job before a budget is exceeded; all else is as the engine inside does it.

    The count of a prompt's tokens is corrected upwards by the worst that the endpoint has reported so far, so that
    another tokenizer than the model's own does not make the bounds too low.

    Args:
        engine: the engine that answers.
        model: its configuration, with a budget and prices.

    Attributes:
        spent: what the finished requests have cost.
    """

    def __init__(self, engine: Engine, model: OpenAIModel) -> None:
        assert model.budget is not None
        self.engine = engine
        self.identity = engine.identity
        self.reads_subject = engine.reads_subject
        self.concurrency = engine.concurrency
        self.context_window = engine.context_window
        self.budget = model.budget
        self.spent = 0.0
        self._name = model.model
        self._prices = prices_of(model)
        self._n_in_flight, self._set_aside = 0, 0.0
        self._waiting: list[asyncio.Future[None]] = []
        self._correction = 1.0
        engine.count_tokens((Message("user", ""),))  # a vocabulary that must be sought is sought now, not in between

    async def answer(self, request: Request) -> Response:
        """Answers, or raises AnswerFailure.

        Raises:
            UserError: the request could make the job exceed its budget.
        """
        counted = self.engine.count_tokens(request.messages)
        most = paid = await self._begin(request, counted)
        try:
            response = await self.engine.answer(request)
            paid = self._paid(response, most, counted)
            return response
        except AnswerFailure as failure:
            paid = _paid_in_vain(failure, most)
            raise
        finally:
            self._end(most, paid)

    def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """Returns the length of a prompt as the engine inside counts it."""
        return self.engine.count_tokens(messages)

    async def close(self) -> None:
        """Closes the engine inside."""
        await self.engine.close()

    async def _begin(self, request: Request, counted: int) -> float:
        """Waits until the request fits into the budget, and sets aside and returns what it may cost."""
        while True:
            most = self._most(request, counted)
            if self._take(most):
                return most
            if not self._n_in_flight:
                raise UserError(self._exhausted(request, most))
            waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(waiting)
            await waiting

    def _most(self, request: Request, counted: int) -> float:
        return self._cost(counted * self._correction, _longest_answer(request))

    def _take(self, most: float) -> bool:
        """Sets aside what a request may cost, and returns whether the budget allows it."""
        if self.spent + self._set_aside + most > self.budget:
            return False
        self._n_in_flight += 1
        self._set_aside += most
        return True

    def _end(self, most: float, paid: float) -> None:
        self.spent += paid
        self._n_in_flight -= 1
        self._set_aside = self._set_aside - most if self._n_in_flight else 0.0
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)

    def _paid(self, response: Response, most: float, counted: int) -> float:
        """Returns what an answer cost; an endpoint that does not say its tokens has taken the most that it may."""
        if response.prompt_tokens and counted:
            self._correction = max(self._correction, response.prompt_tokens / counted)
        if response.prompt_tokens is None or response.completion_tokens is None:
            return most
        return self._cost(response.prompt_tokens, response.completion_tokens)

    def _cost(self, input_tokens: float, output_tokens: float) -> float:
        cost = self._prices.cost(input_tokens, output_tokens)
        assert cost is not None  # the configuration asks for both prices beside a budget
        return cost

    def _exhausted(self, request: Request, most: float) -> str:
        return (
            f"the budget of model '{self._name}' is used up: this job has spent {self.spent:.6g} of {self.budget:g}, "
            f"and the next request ({request.request_id}) may cost {most:.3g}. The job stops here; everything that was "
            "answered is stored. Raise the model's `budget`, or run the same command again to spend as much once more "
            "on what is missing (snakemake estimate says how much that is)"
        )


class BudgetedBatchEngine(BudgetedEngine):
    """The same for an engine that answers whole tables: it is given as much of one as the budget allows.

    What is left over comes after the answers to that, which most often cost far less than they might have.

    Args:
        engine: the engine that answers.
        model: its configuration, with a budget and prices.
    """

    engine: TableEngine

    async def answer_all(
        self, requests: Iterable[tuple[str, Request]], store: ResponseStore
    ) -> AsyncGenerator[tuple[str, Response | AnswerFailure], None]:
        """Yields key and outcome of every request, as the engine inside does.

        Raises:
            UserError: the next request could make the job exceed its budget.
        """
        waiting = iter(requests)
        following = next(waiting, None)
        set_aside: dict[str, tuple[float, int]] = {}

        def affordable() -> Iterator[tuple[str, Request]]:
            nonlocal following
            while following is not None:
                key, request = following
                counted = self.engine.count_tokens(request.messages)
                most = self._most(request, counted)
                if not self._take(most):
                    return
                set_aside[key] = most, counted
                yield following
                following = next(waiting, None)

        while following is not None:
            before = following
            async with aclosing(self.engine.answer_all(affordable(), store)) as outcomes:
                async for key, outcome in outcomes:
                    self._settle(outcome, set_aside.pop(key, None))
                    yield key, outcome
            if following is before:
                raise UserError(
                    self._exhausted(before[1], self._most(before[1], self.count_tokens(before[1].messages)))
                )

    def _settle(self, outcome: Response | AnswerFailure, set_aside: tuple[float, int] | None) -> None:
        """Counts what a request cost; nothing was set aside for one that only an earlier job had asked."""
        most, counted = set_aside or (0.0, 0)
        paid = (
            _paid_in_vain(outcome, most) if isinstance(outcome, AnswerFailure) else self._paid(outcome, most, counted)
        )
        if set_aside is None:
            self.spent += paid
        else:
            self._end(most, paid)


def _paid_in_vain(failure: AnswerFailure, most: float) -> float:
    """Returns what a request without an answer has cost at most."""
    return 0.0 if failure.kind in UNPAID else most


def _longest_answer(request: Request) -> int:
    """Returns the most tokens that an answer is paid for."""
    return request.sampling.max_tokens if request.kind == "chat" else max(1, len(request.labels))
