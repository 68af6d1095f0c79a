"""Asking one model within a stage that needs the answers to go on: through the store, with progress and usage."""

from __future__ import annotations

import time
from collections.abc import Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from dialeval.aggregation.usage import TokenSums, Usage, write_usage
from dialeval.engines.answering import Answering, response_row
from dialeval.engines.request import Engine, Request, Response
from dialeval.engines.store import ResponseStore
from dialeval.progress import Progress
from dialeval.provenance.kept import keep_nothing
from dialeval.schemas.shared import NOT_ASKED

_Result = TypeVar("_Result")


class Asked:
    """One model under one protocol, and what was asked of it.

    Args:
        answering: the model and its store.
        name: the model's name.
        protocol: the protocol.
    """

    def __init__(self, answering: Answering, name: str, protocol: str) -> None:
        self.answering = answering
        self._name, self._protocol = name, protocol
        self._tokens, self._seconds = TokenSums(), 0.0

    def run(self, work: Coroutine[Any, Any, _Result], others: Sequence[Asked] = ()) -> _Result:
        """Runs work that asks this model, and others perhaps, to its end.

        Raises:
            UserError: more requests failed than the configuration allows.
        """
        start = time.monotonic()
        for other in others:
            work = other.answering.closing(work)
        result = self.answering.run(work)
        for asked in (self, *others):
            asked._seconds = time.monotonic() - start
            asked.answering.progress.finish()
        for asked in (self, *others):
            asked.answering.check_failures()
        return result

    async def ask(self, requests: Sequence[Request]) -> list[dict[str, Any]]:
        """Returns a row of `responses` for each request, in their order; what the store has is not asked again.

        Raises:
            UserError: more requests failed than the configuration allows.
        """
        await self.answering.ask_all(requests)
        self.answering.check_failures()
        return [self.row(request) for request in requests]

    def row(self, request: Request) -> dict[str, Any]:
        """Returns the row of `responses` of a request that was asked, whose tokens count from now on."""
        key = self.answering.key(request)
        response = self.answering.answer_to(key)
        if response is not None:
            self.count(key, response)
        return response_row(request, key, response)

    def count(self, key: str, response: Response) -> None:
        """Counts the tokens of an answer that the job rests on."""
        self._tokens.add(key, response)

    def write_usage(self, path: Path) -> None:
        """Writes the record of the usage; a job whose requests are not all answered asks again when it runs again."""
        if failed := sum(self.answering.failures.values()):
            keep_nothing(f"{failed} requests to {self._name} have no answer, and are asked again")
        write_usage(path, Usage.of_job(self._name, self._protocol, self.answering, self._tokens, self._seconds))


def said_if_unasked(rows: Iterable[dict[str, Any]], name: str) -> Iterator[dict[str, Any]]:
    """Yields rows of `responses`, and says in the log how many requests the model was not trained for."""
    unasked = total = 0
    for row in rows:
        total += 1
        unasked += row["status"] == NOT_ASKED
        yield row
    if unasked:
        print(f"{name} was not trained for {unasked} of {total} requests; they were not asked", flush=True)


@contextmanager
def asking(
    engine: Engine,
    store: Path,
    *,
    name: str,
    protocol: str,
    max_failure_share: float,
    total: int | None,
    unit: str = "answers",
    folder: str | None = None,
    writer: str = "whole",
    run: str = "",
) -> Iterator[Asked]:
    """Gives a model to be asked, with its store open.

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
        yield Asked(answering, name, protocol)
