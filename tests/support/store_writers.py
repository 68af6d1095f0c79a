"""Writers of a response store that tests start as processes of their own.

They stand here because a started process imports them by name, which it cannot do from a test module.
"""

from __future__ import annotations

import asyncio
import io
import os
from pathlib import Path

from dialeval.engines.answering import Answering
from dialeval.engines.requests import Message, Request, Response
from dialeval.engines.store import ResponseStore
from dialeval.jobs.progress import Progress


def key(number: int) -> str:
    return f"{number:032x}"


def opened(folder: Path, **more: str) -> ResponseStore:
    return ResponseStore(folder, **({"identity": "model", "name": "gpt 4/x", "protocol": "arena"} | more))


def write_until_killed(folder: str, written: object) -> None:
    with opened(Path(folder)) as store:
        for number in range(10**6):
            store.append(key(number), Response("x" * 200))
            written.value = number + 1  # type: ignore[attr-defined]


def answer_common(folder: str, writer: str, results: str, n_calls: object) -> None:
    """Answers 60 requests as a stage does, all of them another job's too, and counts those that this job asks."""
    with opened(Path(folder), writer=writer, run=writer) as store:
        engine = CountingEngine(n_calls)
        answering = Answering(engine, store, Progress("test", 60, "answers", stream=io.StringIO()))
        requests = [Request(str(n), "arena", "chat", (Message("user", str(n)),)) for n in range(60)]
        answering.run(answering.ask_all(requests))
        rows = [store.get(answering.key(request)) for request in requests]
        Path(results).write_text("\n".join(row.text if row else "none" for row in rows), encoding="utf-8")


class CountingEngine:
    """Answers with its process's number, so that one can see whose answer it is."""

    identity, reads_subject, concurrency, context_window = "model", False, 4, None

    def __init__(self, n_calls: object) -> None:
        self._n_calls = n_calls

    async def answer(self, request: Request) -> Response:
        with self._n_calls:  # type: ignore[attr-defined]
            self._n_calls.value += 1  # type: ignore[attr-defined]
        await asyncio.sleep(0.01)
        return Response(f"{os.getpid()} {request.request_id}")

    def count_tokens(self, messages: tuple[Message, ...]) -> int:
        return len(messages)

    async def close(self) -> None:
        pass


def hold(folder: str, ready: object, leave: object, **more: str) -> None:
    """Store one answer, claim another request and stay."""
    with opened(Path(folder), **more) as store:
        store.append(key(1), Response("first"))
        assert store.claim_all([key(2)]) == [True]
        ready.set()  # type: ignore[attr-defined]
        leave.wait()  # type: ignore[attr-defined]
