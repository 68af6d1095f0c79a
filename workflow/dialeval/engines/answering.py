"""Answers requests from the store or the model: each distinct one once; failures are counted and not stored.

The configuration names the engine's module (`opened_by`): no code here names an engine, so that the code fingerprint of
a stage depends on its model's engine only.
"""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Iterable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import fields
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from dialeval.config.models import Model
from dialeval.engines.circuit_breaker import REMEDIES, EndpointDead
from dialeval.engines.early_stop import EarlyStop
from dialeval.engines.requests import AnswerFailure, Engine, Request, Response, request_key
from dialeval.engines.spending.account import BudgetUsedUp
from dialeval.engines.store import ResponseStore
from dialeval.errors import UserError
from dialeval.jobs.lifecycle import is_stopping, next_signal_exits
from dialeval.jobs.progress import Progress
from dialeval.tables.dialogues import NOT_SENT

_Result = TypeVar("_Result")
_MOST_WORKERS = 8
"""Most requests per place of an engine's `concurrency`, with those that wait for a retry."""
_POLL_SECONDS = 0.3
"""Seconds between two checks for the response of another job."""
_CLAIMED_TOGETHER = 100
"""Requests of a table that are claimed at once."""

_FIRST_OF_TABLE = 1000
"""Requests of a table whose answers show whether any can be parsed."""

_COLUMNS = tuple(field.name for field in fields(Response))
_NO_RESPONSE = Response(text="", finish_reason="")


def open_engine(model: Model, learned: Sequence[Path], store: Path | None = None, protocol: str = "") -> Engine:
    """Return the engine of a model, whose module is imported now.

    Args:
        learned: the learned files of an embedded or trained model; empty for others.
        store: the folder of the stores, for the ledger of costs; needed for models with prices.

    Raises:
        UserError: the engine cannot be had here.
    """
    if not model.opened_by:
        raise UserError(f"engine '{model.engine}' makes no model calls; DialEval reads its responses from files")
    engine: Engine = import_module(model.opened_by).open_model(model, learned, store, protocol)
    return engine


class TableEngine(Engine, Protocol):
    """An engine that answers a whole table at once, in its own order and time."""

    def answer_all(
        self, requests: Iterable[tuple[str, Request]], store: ResponseStore
    ) -> AsyncGenerator[tuple[str, Response | AnswerFailure], None]:
        """Yield key and outcome of every request, each once; other responses of this store may be among them.

        Args:
            requests: keys and requests, each key once, none of them in the store.
            store: where the caller puts each response before it takes the next.
        """
        ...


class Answering:
    """Answers the requests of one job, from the store or else by the engine, and counts them.

    Args:
        max_failure_share: the share of requests that may fail before `check_failures` refuses the job.
        name, protocol: of the model, for messages; without them those of the store.
    """

    def __init__(
        self,
        engine: Engine,
        store: ResponseStore,
        progress: Progress,
        *,
        max_failure_share: float = 0.0,
        name: str = "",
        protocol: str = "",
    ) -> None:
        self.engine = engine
        self.store = store
        self.progress = progress
        self.max_failure_share = max_failure_share
        self.n_sent = 0
        self.total = 0
        self.failures: Counter[str] = Counter()
        self.first_message: dict[str, str] = {}
        self._unanswered: set[str] = set()
        folder = store.folder
        self.early_stop = EarlyStop(
            folder.parent, name or folder.parent.name, protocol or folder.name, getattr(engine, "settings", "")
        )
        self._in_flight: dict[str, asyncio.Future[Response]] = {}
        self._waiting = 0
        progress.extra = getattr(engine, "progress_words", progress.extra)

    def key(self, request: Request) -> str:
        """Return the key of a request to this model."""
        return request_key(request, self.engine.identity, reads_subject=self.engine.reads_subject)

    async def ask(self, request: Request) -> Response:
        """Return the response, from the store or the model; equal requests in flight share one call.

        Raises:
            AnswerFailure: the model gave no response; counted, not stored.
        """
        key = self.key(request)
        self.total += 1
        stored = self.store.get(key)
        if stored is not None:
            await self._send_retry(self.early_stop.read(request, stored))
            self.progress.advance(stored=True)
            return stored
        if key in self._in_flight:
            response = await asyncio.shield(self._in_flight[key])
            self.progress.advance(stored=True)
            return response
        future: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        self._in_flight[key] = future
        try:
            response = await self._answer_of_other_job(key) or await self._call_engine(key, request)
            future.set_result(response)
            return response
        except BaseException as error:
            future.set_exception(error if isinstance(error, AnswerFailure) else asyncio.CancelledError())
            with suppress(AnswerFailure, asyncio.CancelledError):
                future.exception()
            raise
        finally:
            del self._in_flight[key], future  # a failure refers to this frame: no local may refer to the failure

    def answer_to(self, key: str) -> Response | None:
        """Return the stored response to a request after all requests were sent; None if it failed.

        Raises:
            UserError: the response was stored and is gone.
        """
        response = self.store.get(key)
        if response is None and key not in self._unanswered:
            raise UserError(
                f"a file in {self.store.folder} was truncated, changed or removed while this job was reading it; "
                f"run the same command again to send the missing requests"
            )
        return response

    def count_failure(self, failure: AnswerFailure, place: str) -> None:
        """Count a failed request; `place` names it."""
        self.failures[failure.kind] += 1
        self.first_message.setdefault(failure.kind, f"{place}: {failure}")
        self.progress.advance(failed=True)

    async def ask_all(self, requests: Iterable[Request]) -> None:
        """Answer every request, `engine.concurrency` at a time; responses are then in the store, failures counted.

        Requests are drawn from the iterable as places become free, so that a long table is never held in memory.
        """
        if hasattr(self.engine, "answer_all"):
            await self._answer_table(cast(TableEngine, self.engine), requests)
            return
        waiting: Iterator[Request] = iter(requests)
        n_workers = most = self.engine.concurrency

        async def worker() -> None:
            nonlocal n_workers
            for request in waiting:
                with suppress(AnswerFailure):
                    await self.ask(request)
                # a request that waits for a retry or for another job keeps no place
                resting = getattr(self.engine, "resting", 0) + self._waiting
                if n_workers - resting < most and n_workers < _MOST_WORKERS * most:
                    n_workers += 1
                    group.create_task(worker())

        async with task_group() as group:
            for _ in range(most):
                group.create_task(worker())

    def run(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """Run a coroutine to its end, then close the engine."""
        return run_in_order(self.closing(work))

    async def closing(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """Await a coroutine, then close the engine."""
        try:
            return await work
        except BudgetUsedUp as error:
            raise BudgetUsedUp(f"{error}{self._progress_words()}") from None
        finally:
            await self.engine.close()

    def check_failures(self) -> None:
        """Raise UserError if more requests failed than the configuration allows, or no response could be parsed."""
        self.early_stop.check_parsed()
        failed = sum(self.failures.values())
        if not failed or failed <= self.max_failure_share * self.total:
            return
        lines = [
            f"  {kind}: {count} (first: {self.first_message[kind]})"
            + (f"; {REMEDIES[kind]}" if kind in REMEDIES else "")
            for kind, count in self.failures.most_common()
        ]
        raise UserError(
            f"{failed} of {self.total} requests have no response, more than answering.max_failure_share = "
            f"{self.max_failure_share:g} allows:\n" + "\n".join(lines) + "\n"
            "All responses are stored; run the same command again to send only the missing requests."
        )

    async def _send_retry(self, retry: Request | None) -> None:
        """Send the retry of an unparsed response while none could be parsed; the retry stage finds its response."""
        if retry is None:
            return
        key = self.key(retry)
        stored = self.store.get(key)
        if stored is not None:
            self.early_stop.read(retry, stored)
            return
        with suppress(AnswerFailure):
            await self._answer_of_other_job(key) or await self._call_engine(key, retry)

    async def _answer_of_other_job(self, key: str) -> Response | None:
        """Return the response of another job that sends the same request; None once this job must send it."""
        while not await self.store.claim(key):
            if (stored := self.store.get(key)) is not None:
                self.progress.advance(stored=True)
                return stored
            self._waiting += 1
            try:
                await asyncio.sleep(_POLL_SECONDS)
            finally:
                self._waiting -= 1
        return None

    async def _call_engine(self, key: str, request: Request) -> Response:
        try:
            await self.early_stop.enter(request, key, self._may_fail())
            try:
                response, retry = await self._answered(key, request)
                if (
                    retry is not None
                    and (retry_key := self.key(retry)) not in self.store
                    and await self.store.claim(retry_key)
                ):
                    try:  # in the same place, since the early stop may depend on it
                        await self._answered(retry_key, retry)
                    except AnswerFailure:
                        self.store.give_up(retry_key)
                    retry = None
            finally:
                self.early_stop.leave()
        except AnswerFailure as failure:
            self._unanswered.add(key)
            self.store.give_up(key)
            self.count_failure(failure, request.request_id)
            raise
        self.progress.advance(tokens=response.completion_tokens or 0)
        await self._send_retry(retry)
        return response

    def _may_fail(self) -> float:
        """Return how many requests may fail; infinite where the total is not known."""
        total = max(self.progress.total, self.total) if self.progress.total else float("inf")
        return self.max_failure_share * total if self.max_failure_share else 0.0

    async def _answered(self, key: str, request: Request) -> tuple[Response, Request | None]:
        """Return the engine's response, now stored, and a retry that decides whether it can be parsed."""
        self.n_sent += 1
        response = await self._answer(request, key)
        await self.store.append_soon(key, response)
        return response, self.early_stop.read(request, response)

    async def _answer(self, request: Request, key: str) -> Response:
        """Return the engine's response and report it to the early stop."""
        try:
            response = await self.engine.answer(request)
            self.early_stop.answered()
            if request.kind == "chat" and not response.text.strip() and response.finish_reason == "stop":
                raise AnswerFailure("empty", "the model responded with an empty text")
        except AnswerFailure as failure:
            try:
                self.early_stop.failed(request, key, failure)
            except EndpointDead as dead:
                self.early_stop.announce(dead)
                raise dead from None
            raise
        except EndpointDead as dead:
            self.early_stop.announce(dead)
            raise
        return response

    async def _answer_table(self, engine: TableEngine, requests: Iterable[Request]) -> None:
        """Answer a table by an engine that takes it as a whole."""
        left = await self._answer_unclaimed(engine, self._counted(requests))
        while left:  # other jobs send these
            await asyncio.sleep(_POLL_SECONDS)
            left = await self._answer_unclaimed(engine, left)

    async def _answer_unclaimed(self, engine: TableEngine, requests: Iterable[Request]) -> list[Request]:
        """Answer a table and return the requests that other jobs are sending."""
        names: dict[str, str] = {}
        early: dict[str, Request] = {}
        twins: Counter[str] = Counter()
        left: list[Request] = []

        def unanswered() -> Iterator[tuple[str, Request]]:
            waiting = iter(requests)
            while some := [(self.key(request), request) for request in islice(waiting, _CLAIMED_TOGETHER)]:
                new = list(dict.fromkeys(key for key, _ in some if key not in self.store and key not in names))
                claimed = {key for key, is_own in zip(new, self.store.claim_all(new), strict=True) if is_own}
                for key, request in some:
                    if (stored := self.store.get(key)) is not None:
                        self.early_stop.read(request, stored)
                        self.progress.advance(stored=True)
                    elif key in names:
                        twins[key] += 1
                    elif key in claimed:
                        self.early_stop.check_known(request, key)
                        self.n_sent += 1
                        names[key] = request.request_id
                        if len(early) < _FIRST_OF_TABLE:
                            early[key] = request
                        yield key, request
                    else:
                        left.append(request)

        n_sent = unanswered()
        first = next(n_sent, None)
        if first is None:  # all responses are stored: the engine may lack a key
            return left
        async with aclosing(engine.answer_all(chain([first], n_sent), self.store)) as outcomes:
            async for key, outcome in outcomes:
                name = names.pop(key, None)
                if isinstance(outcome, Response):
                    if key not in self.store:
                        self.store.append(key, outcome)
                    if key in early:
                        self.early_stop.read(early.pop(key), outcome)
                    if name is not None:
                        self.progress.advance(tokens=outcome.completion_tokens or 0)
                    for _ in range(twins.pop(key, 0)):
                        self.progress.advance(stored=True)
                elif name is not None:
                    self._unanswered.add(key)
                    self.store.give_up(key)
                    self.count_failure(outcome, name)
        return left

    def _counted(self, requests: Iterable[Request]) -> Iterator[Request]:
        for request in requests:
            self.total += 1
            yield request

    def _progress_words(self) -> str:
        """Return the part of a message that counts the missing answers."""
        done, total = self.progress.done - self.progress.failed, self.progress.total
        return f". {total - done} of {total} {self.progress.unit} are missing here" if total else ""


def unsent_row(request: Request) -> dict[str, Any]:
    """Return the row of `responses` of a request that was not sent."""
    return response_row(request, "", None) | {"status": NOT_SENT, "dropped": 0}


def response_row(request: Request, key: str, response: Response | None) -> dict[str, Any]:
    """Return a row of `responses`; without a response its status is `missing`."""
    row: dict[str, Any] = {"request_id": request.request_id, "key": key, "status": "ok" if response else "missing"}
    response = response or _NO_RESPONSE
    return row | {name: getattr(response, name) for name in _COLUMNS}


def run_in_order(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Run a coroutine in an event loop to its end; a second Ctrl-C ends the process at once.

    Raises:
        KeyboardInterrupt: after a first Ctrl-C, once the coroutine is cancelled and has ended.
    """
    try:
        return asyncio.run(_stopped_once(work))
    finally:
        if is_stopping():  # a caller that catches the exception may be interrupted as before
            signal.signal(signal.SIGINT, signal.default_int_handler)


async def _stopped_once(work: Coroutine[Any, Any, _Result]) -> _Result:
    with next_signal_exits():  # of the loop's own handler, which cancels the work
        return await work


@asynccontextmanager
async def task_group() -> AsyncIterator[asyncio.TaskGroup]:
    """Run tasks concurrently; the first UserError cancels the others and is raised as itself."""
    first: BaseException | None = None
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except* UserError as errors:
        first = errors.exceptions[0]  # raised below: raised here, it is in a group on Python 3.11.2
    if first is not None:
        raise first


async def run_concurrently(coroutines: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run coroutines concurrently, as `task_group` does."""
    async with task_group() as group:
        for coroutine in coroutines:
            group.create_task(coroutine)
