"""Stages that answer a table of requests with one model, from the response store or else by asking it."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from dialeval.config.models import Model
from dialeval.config.running import Answering as AnsweringSettings
from dialeval.criteria import LEVELS, Criterion, with_own
from dialeval.engines.answering import Answering, open_engine, response_row, unsent_row
from dialeval.engines.requests import Engine, Request, Response
from dialeval.engines.store import ResponseStore, run_of
from dialeval.jobs.progress import Progress
from dialeval.measures.usage import TokenSums, Usage, write_usage
from dialeval.prompts.rendering import Templates
from dialeval.protocols.item_prompts import ByLevel, QuestionSettings, shortened
from dialeval.protocols.planned_requests import in_shard, request_from_row
from dialeval.provenance.records import disable_caching
from dialeval.tables.dialogues import NOT_SENT, REQUESTS, RESPONSES
from dialeval.tables.files import TableWriter, count_rows, iterate_rows

_Result = TypeVar("_Result")


class AnswerSettings(BaseModel, defer_build=True):
    """The model that answers; `shard` of `shards` is this job's part of the requests.

    `folder` is the one of the store where answers under a protocol of the user's own lie; null: the protocol's name.
    `question` says how answers are parsed, null for those whose request says it; with `retries_unparsed` each
    unparsed one is requested once more.
    """

    name: str
    protocol: str
    folder: str | None = None
    model: Model
    answering: AnsweringSettings
    shard: int = 1
    shards: int = 1
    question: QuestionSettings | None = None
    criteria: tuple[Criterion, ...] = ()
    retries_unparsed: bool = False


def answer(
    settings: AnswerSettings,
    requests: Path,
    learned: list[Path],
    store: Path,
    responses: Path,
    usage: Path,
) -> None:
    """Write the table `responses`, in the order of the requests, and a record of the usage.

    Stored responses are not requested again. A request that a judge was not trained for has the status `not_asked`.
    """
    write_answers(settings, requests, learned, store, responses, usage)


class AnswerItemsSettings(AnswerSettings):
    """The model and its part, and the protocol's own template."""

    template: str | None = None


def answer_items(
    settings: AnswerItemsSettings,
    requests: Path,
    learned: list[Path],
    store: Path,
    responses: Path,
    usage: Path,
    templates: Templates,
) -> None:
    """Write the table `responses`, in the order of the requests, and a record of the usage."""
    criteria, own = with_own(settings.criteria), settings.template
    names: ByLevel | None = dict.fromkeys(LEVELS, own) if own else None

    def shorten(request: Request, engine: Engine) -> tuple[Request, int]:
        return shortened(request, templates, engine, criteria, names)

    write_answers(settings, requests, learned, store, responses, usage, shorten)


def write_answers(
    settings: AnswerSettings,
    requests: Path,
    learned: list[Path],
    store: Path,
    responses: Path,
    usage: Path,
    shorten: Callable[[Request, Engine], tuple[Request, int]] | None = None,
) -> None:
    """Write the results of `answer`; `shorten` fits a request to the model's window and return the removed number."""
    shard = f"shard-{settings.shard}-of-{settings.shards}"
    engine = open_engine(settings.model, learned, store, settings.protocol)
    takes: Callable[[Request], bool] | None = getattr(engine, "takes", None)
    cut: dict[str, tuple[Request, int]] = {}
    unparsed = import_module("dialeval.stages.unparsed")
    planned_rows = unparsed.PlannedRows()

    def my_rows() -> Iterator[dict[str, Any]]:
        for row in iterate_rows(requests, REQUESTS):
            if in_shard(row["request_id"], settings.shard, settings.shards):
                yield row

    def fitted() -> Iterator[Request]:
        for request in map(request_from_row, planned_rows.noted(my_rows())):
            if takes and not takes(request):
                continue
            shorter, dropped = shorten(request, engine) if shorten else (request, 0)
            if dropped:
                cut[request.request_id] = shorter, dropped
            yield shorter

    with answering_model(
        engine,
        store,
        name=settings.name,
        protocol=settings.protocol,
        max_failure_share=settings.answering.max_failure_share,
        total=count_rows(requests, REQUESTS) if settings.shards == 1 and not takes else None,
        folder=settings.folder,
        writer=f"{settings.protocol}-{shard}" if settings.folder else shard,
        run=run_of(responses.parent, settings.shards),
    ) as judge:
        judge.answering.early_stop.parsing = (
            unparsed.of_question(
                settings.question,
                settings.criteria,
                settings.answering,
                planned_rows,
                retries_unparsed=settings.retries_unparsed,
            )
            if settings.question
            else unparsed.of_request(settings.answering)
        )
        judge.run(judge.answering.ask_all(fitted()))

        def rows() -> Iterator[dict[str, Any]]:
            for planned in map(request_from_row, my_rows()):
                if takes and not takes(planned):
                    yield unsent_row(planned)
                    continue
                request, dropped = cut.get(planned.request_id, (planned, 0))
                yield judge.row(request) | {"dropped": dropped}

        with TableWriter(responses, RESPONSES) as table:
            table.write_all(with_unsupported_counted(rows(), settings.name))
    judge.write_usage(usage)


class AnsweringModel:
    """One model under one protocol: its requests, responses and usage.

    Args:
        answering: the model and its store.
        name: the model's name.
        protocol: the protocol.
    """

    def __init__(self, answering: Answering, name: str, protocol: str) -> None:
        self.answering = answering
        self._name, self._protocol = name, protocol
        self._tokens, self._seconds = TokenSums(), 0.0

    def run(self, work: Coroutine[Any, Any, _Result], others: Sequence[AnsweringModel] = ()) -> _Result:
        """Run work that makes requests to this model, and perhaps to others, to its end.

        Raises:
            UserError: more requests failed than the configuration allows.
        """
        start = time.monotonic()
        for other in others:
            work = other.answering.closing(work)
        result = self.answering.run(work)
        for model in (self, *others):
            model._seconds = time.monotonic() - start
            model.answering.progress.finish()
        for model in (self, *others):
            model.answering.check_failures()
        return result

    async def ask(self, requests: Sequence[Request]) -> list[dict[str, Any]]:
        """Return a row of `responses` for each request, in their order; stored responses are not requested again.

        Raises:
            UserError: more requests failed than the configuration allows.
        """
        await self.answering.ask_all(requests)
        self.answering.check_failures()
        return [self.row(request) for request in requests]

    def row(self, request: Request) -> dict[str, Any]:
        """Return the row of `responses` of a request and count its tokens."""
        key = self.answering.key(request)
        response = self.answering.answer_to(key)
        if response is not None:
            self.count(key, response)
        return response_row(request, key, response)

    def count(self, key: str, response: Response) -> None:
        """Count the tokens of an answer."""
        self._tokens.add(key, response)

    def write_usage(self, path: Path) -> None:
        """Write the record of the usage; a job with unanswered requests sends them again in its next run."""
        if failed := sum(self.answering.failures.values()):
            disable_caching(f"{failed} requests to {self._name} have no response, and are sent again")
        write_usage(path, Usage.of_job(self._name, self._protocol, self.answering, self._tokens, self._seconds))


def with_unsupported_counted(rows: Iterable[dict[str, Any]], name: str) -> Iterator[dict[str, Any]]:
    """Yield rows of `responses`, and print how many requests the model was not trained for."""
    unsupported = total = 0
    for row in rows:
        total += 1
        unsupported += row["status"] == NOT_SENT
        yield row
    if unsupported:
        print(f"{name} was not trained for {unsupported} of {total} requests; these were not sent", flush=True)


@contextmanager
def answering_model(
    engine: Engine,
    store: Path,
    *,
    name: str,
    protocol: str,
    max_failure_share: float,
    total: int | None,
    unit: str = "requests",
    folder: str | None = None,
    writer: str = "whole",
    run: str = "",
) -> Iterator[AnsweringModel]:
    """Open a model's store and yield the model.

    Args:
        engine: the model's engine.
        store: where stores lie.
        name: the model's name.
        protocol: the protocol.
        max_failure_share: the share of requests that may fail.
        total: how many answers are wanted, as far as that is known.
        unit: what the progress counts.
        folder: the store's for the protocol; None for the protocol's name.
        writer, run: see `ResponseStore`.
    """
    progress = Progress(f"{protocol} by {name}", total, unit)
    with ResponseStore(
        store, identity=engine.identity, name=name, protocol=folder or protocol, writer=writer, run=run
    ) as responses:
        answering = Answering(
            engine, responses, progress, max_failure_share=max_failure_share, name=name, protocol=protocol
        )
        yield AnsweringModel(answering, name, protocol)
