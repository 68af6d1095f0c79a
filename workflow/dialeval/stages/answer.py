"""Answers a table of requests with one model: the only kind of stage, with self-chat, that costs money or GPU time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from dialeval.config.models import Model
from dialeval.config.running import Answering as AnsweringSettings
from dialeval.criteria import Criterion
from dialeval.engines.answering import unasked_row
from dialeval.engines.opening import open_engine
from dialeval.engines.request import Engine, Request
from dialeval.engines.store import run_of
from dialeval.protocols.planning import in_shard, request_from_row
from dialeval.protocols.question_settings import QuestionSettings
from dialeval.schemas.shared import REQUESTS, RESPONSES
from dialeval.stages.asking import asking, said_if_unasked
from dialeval.tables import TableWriter, count_rows, iterate_rows


class Settings(BaseModel, defer_build=True):
    """The model that answers; `shard` of `shards` is this job's part of the requests.

    `folder` is the one of the store where answers under a protocol of the user's own lie; null: the protocol's name.
    `question` says how answers are parsed, null for those whose request says it; with `asks_again` an unparsed one is
    asked for once more.
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
    asks_again: bool = False


def stage(
    settings: Settings,
    requests: Path,
    learned: list[Path],
    store: Path,
    responses: Path,
    usage: Path,
) -> None:
    """Writes the table `responses`, in the order of the requests, and a record of the usage.

    What the store has is not asked again. What a judge was not trained for is not asked at all: its row says so.
    """
    answer(settings, requests, learned, store, responses, usage)


def answer(
    settings: Settings,
    requests: Path,
    learned: list[Path],
    store: Path,
    responses: Path,
    usage: Path,
    shorten: Callable[[Request, Engine], tuple[Request, int]] | None = None,
) -> None:
    """Does what `stage` says; `shorten` fits a request to the model's window and says how much it left out."""
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

    with asking(
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
                asks_again=settings.asks_again,
            )
            if settings.question
            else unparsed.of_request(settings.answering)
        )
        judge.run(judge.answering.ask_all(fitted()))

        def rows() -> Iterator[dict[str, Any]]:
            for planned in map(request_from_row, my_rows()):
                if takes and not takes(planned):
                    yield unasked_row(planned)
                    continue
                request, dropped = cut.get(planned.request_id, (planned, 0))
                yield judge.row(request) | {"dropped": dropped}

        with TableWriter(responses, RESPONSES) as table:
            table.write_all(said_if_unasked(rows(), settings.name))
    judge.write_usage(usage)
