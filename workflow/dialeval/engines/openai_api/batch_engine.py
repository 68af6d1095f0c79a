"""The engine of models with `batch: true`.

Requests that no batch takes, that expired, or that had a passing error or an unreadable answer are sent as ordinary
requests. Requests of a batch that was cancelled at the endpoint stay unanswered until the next job.
"""

from __future__ import annotations

import asyncio
import sys
import time
import uuid
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from itertools import chain

from dialeval.config.endpoints import OpenAIModel
from dialeval.engines.circuit_breaker import CircuitBreaker
from dialeval.engines.openai_api.batch_client import BatchClient, BatchEndpoint, BatchStatus
from dialeval.engines.openai_api.batch_files import (
    MOST_BYTES,
    SUFFIX,
    Batch,
    BatchFile,
    BatchLedger,
    RequestFields,
    RequestSpool,
    goes_in_a_batch,
    read_lines,
    request_body,
    request_line,
)
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.openai_api.retries import PASSING, Fault
from dialeval.engines.openai_api.token_counts import bound_of, largest_bill
from dialeval.engines.requests import AnswerFailure, Message, Request, Response
from dialeval.engines.spending.prices import NO_TOKENS, Billed
from dialeval.engines.store import ResponseStore
from dialeval.errors import UserError


class BatchEngine:
    """Answers tables of requests through OpenAI's Batch API; sends single requests (self-chat) directly.

    Args:
        engine: the engine of ordinary requests.
        polling: intervals between requests of a batch's status; as configured by default.
        most_bytes: largest size of a batch's file.
    """

    def __init__(
        self,
        engine: OpenAIEngine,
        model: OpenAIModel,
        *,
        polling: Polling | None = None,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self.engine = engine
        self.identity = engine.identity
        self.settings = engine.settings
        self.reads_subject = engine.reads_subject
        self.concurrency = engine.concurrency
        self.context_window = engine.context_window
        self.model = model
        self.polling = polling or Polling(longest=model.batch_poll_seconds)
        self.most_bytes = most_bytes

    async def answer(self, request: Request) -> Response:
        """Answer a single request in the ordinary way, or raise AnswerFailure."""
        return await self.engine.answer(request)

    async def answer_all(
        self, requests: Iterable[tuple[str, Request]], store: ResponseStore
    ) -> AsyncGenerator[tuple[str, Outcome], None]:
        """Yield key and outcome of every request as batches end, and of others that were in the same batches.

        After a kill, the next job waits for the batches in the ledger beside the store.

        Args:
            requests: keys and requests, each once, none of them in the store.
            store: where the caller puts each answer before it takes the next.

        Raises:
            UserError: the endpoint has no batches, refuses them, or is dead.
        """
        with RequestSpool() as spool, BatchLedger(store.writer_file(SUFFIX), store.abandoned_files(SUFFIX)) as ledger:
            client = BatchClient(self.engine.connection, self.model.timeout_seconds)
            run = BatchRun(self, client, ledger, spool, save=store.sync)
            async with client, aclosing(run.outcomes(requests)) as outcomes:
                async for outcome in outcomes:
                    yield outcome

    def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """Return the length of a prompt as the engine inside counts it."""
        return self.engine.count_tokens(messages)

    async def close(self) -> None:
        """Close the connections."""
        await self.engine.close()


def _notify(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


# The batches of one job: submit new requests, wait for batches, read their results.

Outcome = Response | AnswerFailure
FULL = "token_limit_exceeded"
"""Code of a batch refused because too many tokens are in flight at the endpoint."""
PATIENCE = 20
"""Multiple of `patience_seconds` for which an endpoint may fail while a job waits for batches."""
REPORT_EVERY = 600.0
_CUT_SHORT = ("expired", "cancelled")
"""States of batches that are billed only for their answers so far."""


@dataclass(frozen=True)
class Polling:
    """Polling of a batch: after `first` seconds, then less and less often, up to every `longest` seconds."""

    first: float = 2.0
    longest: float = 60.0


class BatchRun:
    """The batches of one job.

    Args:
        save: flushes the stored answers to the disk.
    """

    def __init__(
        self,
        batches: BatchEngine,
        client: BatchClient,
        ledger: BatchLedger,
        spool: RequestSpool,
        *,
        save: Callable[[], None],
    ) -> None:
        engine, model = batches.engine, batches.model
        self._engine, self._model, self._ledger, self._spool, self._save = engine, model, ledger, spool, save
        self._polling, self._most_bytes = batches.polling, batches.most_bytes
        self._account = engine.account
        self._endpoint = BatchEndpoint(client, engine.retrying, model.timeout_seconds)
        self._place = f"model '{model.model}' at {engine.connection.address}"
        self._breaker = CircuitBreaker(self._place, patience=PATIENCE * model.patience_seconds)
        self._wanted: dict[str, Batch] = {}
        self._later: list[str] = []
        self._reported: dict[str, tuple[BatchStatus, float]] = {}

    async def outcomes(self, requests: Iterable[tuple[str, Request]]) -> AsyncGenerator[tuple[str, Outcome], None]:
        """Yield key and outcome of every request, and of others that an earlier job had put into the same batches."""
        await self._settle_unclear()
        ordinary: list[str] = []
        waiting = _Waiting(self._to_submit(requests, ordinary))
        while True:
            await self._hand_over(waiting)
            now, ordinary[:] = list(ordinary), []
            async for outcome in self._one_by_one(now):
                yield outcome
            if not self._wanted:
                if (following := waiting.next()) is None:
                    return
                assert self._account is not None
                raise await self._account.refuse(bound_of(request_body(self._model, following[1])))
            batch, status = await self._next_ended()
            async for outcome in self._collect(batch, status):
                yield outcome
            later, self._later = self._later, []
            waiting.put_back((key, self._spool.get(key)) for key in later)

    async def _settle_unclear(self) -> None:
        """Look up batches that a killed job was about to begin."""
        for batch in [batch for batch in self._ledger.open.values() if not batch.name]:
            name = await self._find(batch) if batch.file else None
            if name is None:
                self._discard(batch)
            else:
                self._ledger.created(batch, name)

    async def _find(self, batch: Batch) -> str | None:
        try:
            return await self._endpoint.find(batch.mark, batch.planned)
        except Fault as fault:
            raise self._batch_lost(batch, fault) from None

    def _batch_lost(self, batch: Batch, fault: Fault) -> UserError:
        return UserError(
            f"{self._place} does not return batch {batch.name or batch.mark}: {fault.kind}: {fault}. The batch is "
            f"recorded in {self._ledger.path}. Fix this and run the same command again to wait for it; if the batch "
            f"is lost, delete that file, and DialEval submits its requests again"
        )

    def _discard(self, batch: Batch) -> None:
        """Close a batch that the endpoint has not taken."""
        if self._account is not None:
            self._account.settle_batch(batch.mark, {})
        self._ledger.close(batch)

    def _to_submit(self, requests: Iterable[tuple[str, Request]], ordinary: list[str]) -> Iterator[tuple[str, Request]]:
        """Yield the requests to submit; records those already submitted and those that no batch takes."""
        for key, request in requests:
            self._spool.put(key, request)
            if key in self._ledger:
                batch = self._ledger.batch_of(key)
                self._wanted[batch.mark] = batch
            elif goes_in_a_batch(self._model, request):
                yield key, request
            else:
                ordinary.append(key)

    async def _hand_over(self, waiting: _Waiting) -> None:
        """Submit waiting requests as far as the budget allows at this time."""
        file: BatchFile | None = None
        try:
            while (following := waiting.next()) is not None:
                key, request = following
                body = request_body(self._model, request)
                reserved = await self._account.reserve_in_batch(bound_of(body)) if self._account else None
                if self._account is not None and reserved is None:
                    waiting.put_back([following])
                    break
                line = request_line(key, body)
                if file is not None and not file.has_room(line):
                    await self._submit(file)
                    file.close()
                    file = None
                file = file or BatchFile(self._model.batch_requests, self._most_bytes)
                file.add(key, RequestFields(request.kind, request.labels), line, reserved)
            if file is not None:
                await self._submit(file)
        finally:
            if file is not None:
                file.close()
                if self._account is not None:
                    self._account.withdraw(file.paid_from.values())

    async def _submit(self, file: BatchFile) -> None:
        mark = uuid.uuid4().hex
        batch = self._ledger.plan(mark, file.requests.items())
        if self._account is not None:
            self._account.hand_over(mark, file.paid_from)
            file.paid_from.clear()
        try:
            uploaded = await self._endpoint.upload(f"dialeval-{batch.mark}.jsonl", file.content(), file.size)
            self._ledger.uploaded(batch, uploaded)
            self._ledger.created(batch, await self._endpoint.create(uploaded, batch.mark, batch.planned))
        except Fault as fault:
            if not (batch.file and fault.passing):  # surely there is no such batch
                self._discard(batch)
            raise UserError(
                f"{self._place} did not accept a batch of {len(batch.requests)} requests: {fault.kind}: {fault}. "
                f"Earlier batches continue: run the same command again to wait for them. For an endpoint without "
                f"batches, set batch: false"
            ) from None
        self._wanted[batch.mark] = batch
        _notify(f"batch {batch.name}: {len(batch.requests)} requests submitted")

    async def _one_by_one(self, keys: Iterable[str]) -> AsyncGenerator[tuple[str, Outcome], None]:
        """Yield outcomes of ordinary requests as they come."""

        async def send(key: str) -> tuple[str, Outcome]:
            try:
                return key, await self._engine.answer(self._spool.get(key))
            except AnswerFailure as failure:
                return key, failure

        waiting = iter(keys)
        in_flight: set[asyncio.Task[tuple[str, Outcome]]] = set()
        try:
            while True:
                while len(in_flight) < self._engine.concurrency and (key := next(waiting, None)) is not None:
                    in_flight.add(asyncio.create_task(send(key)))
                if not in_flight:
                    return
                done, in_flight = await asyncio.wait(in_flight, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    yield task.result()
        finally:
            for task in in_flight:
                task.cancel()

    async def _next_ended(self) -> tuple[Batch, BatchStatus]:
        """Wait until a batch has ended."""
        wait = self._polling.first
        while True:
            for batch in list(self._wanted.values()):
                status = await self._status(batch)
                if status is not None and status.ended:
                    return batch, status
            await asyncio.sleep(wait)
            wait = min(wait * 1.5, self._polling.longest)

    async def _status(self, batch: Batch) -> BatchStatus | None:
        """Return the status of a batch, or None if the endpoint does not give it at this time."""
        try:
            status = await self._endpoint.status(batch.name)
        except Fault as fault:
            self._breaker.failed(fault.kind, str(fault))
            if fault.passing:
                return None
            raise self._batch_lost(batch, fault) from None
        self._breaker.answered()
        last, when = self._reported.get(batch.mark, (None, 0.0))
        if last is None or status.state != last.state or time.monotonic() - when > REPORT_EVERY:
            self._reported[batch.mark] = status, time.monotonic()
            hours = (time.time() - batch.planned) / 3600
            _notify(
                f"batch {batch.name}: {status.state}, {status.completed} of {len(batch.requests)} with a response, "
                f"{status.failed} failed, {hours:.1f} h since submission"
            )
        return status

    async def _collect(self, batch: Batch, status: BatchStatus) -> AsyncGenerator[tuple[str, Outcome], None]:
        """Yield the outcomes of an ended batch, and close it."""
        del self._wanted[batch.mark]
        if status.state == "failed" and self._postpone(batch, status):
            return
        answered: set[str] = set()
        failed: dict[str, AnswerFailure] = {}
        bounds = self._account.bounds_of_batch(batch.mark) if self._account else {}
        bills: dict[str, Billed] = {}
        for file in status.files:
            content = await self._content(batch, file)
            redactor = self._engine.connection.redactor
            lines = read_lines(content, batch.requests, bounds, redactor, self._model.reasoning_end)
            for key, outcome, billed in lines:
                bills[key] = max(
                    bills.get(key, NO_TOKENS), billed, key=lambda one: one.input_tokens + one.output_tokens
                )
                if isinstance(outcome, AnswerFailure):
                    failed.setdefault(key, outcome)
                elif key not in answered:  # the first answer counts
                    answered.add(key)
                    yield key, await self._engine.completed(outcome)
        again: list[str] = []
        for key in batch.requests:
            if key in answered or key not in self._spool:
                continue
            failure = failed.get(key) or _unmentioned(batch, status)
            if failure.kind == "expired" or failure.kind in PASSING:
                again.append(key)
            else:
                yield key, failure
        self._save()
        if self._account is not None:
            unmentioned = {key: largest_bill(bound) for key, bound in bounds.items() if key not in bills}
            with_open = status.state == "failed" or (status.state in _CUT_SHORT and status.completed <= len(answered))
            self._account.settle_batch(batch.mark, bills if with_open else bills | unmentioned)
        self._ledger.close(batch)
        if again:
            _notify(f"batch {batch.name}: {len(again)} requests without a response are sent singly")
        async for one in self._one_by_one(again):
            yield one

    def _postpone(self, batch: Batch, status: BatchStatus) -> bool:
        """Return whether a batch was refused for the time being; its requests then go into another."""
        if status.code != FULL:
            return False
        if not self._wanted:
            raise UserError(
                f"{self._place} refuses batch {batch.name} of {len(batch.requests)} requests: {status.message}. "
                f"Lower batch_requests, or wait until other batches of the account have ended, then run "
                "the same command again"
            )
        self._later += [key for key in batch.requests if key in self._spool]
        self._discard(batch)
        _notify(
            f"batch {batch.name}: refused for now ({status.message}); submitted again after another batch has ended"
        )
        return True

    async def _content(self, batch: Batch, file: str) -> bytes:
        try:
            return await self._endpoint.content(file)
        except Fault as fault:
            if fault.kind == "not_found":  # endpoints delete them after some weeks
                _notify(f"batch {batch.name}: its file {file} no longer exists")
                return b""
            raise self._batch_lost(batch, fault) from None


class _Waiting:
    """A queue of requests, to which some may return."""

    def __init__(self, requests: Iterator[tuple[str, Request]]) -> None:
        self._requests = requests

    def next(self) -> tuple[str, Request] | None:
        """Take out the next request, or None if there is none."""
        return next(self._requests, None)

    def put_back(self, requests: Iterable[tuple[str, Request]]) -> None:
        """Move some requests to the front."""
        self._requests = chain(requests, self._requests)


def _unmentioned(batch: Batch, status: BatchStatus) -> AnswerFailure:
    """Return the failure of a request without a line in a batch's output."""
    match status.state:
        case "expired":
            return AnswerFailure("expired", f"batch {batch.name} expired before the response to this request")
        case "cancelled":
            return AnswerFailure("cancelled", f"batch {batch.name} was cancelled before the response to this request")
        case "failed":
            return AnswerFailure("bad_request", f"batch {batch.name} was refused: {status.code}: {status.message}")
        case _:
            return AnswerFailure("malformed", f"batch {batch.name} does not mention this request")
