"""An engine for tests: answers by a function, counts its calls, fails where told to."""

from __future__ import annotations

import asyncio
import io
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dialeval.engines.answering import Answering
from dialeval.engines.requests import AnswerFailure, Engine, Message, Request, Response
from dialeval.engines.store import ResponseStore
from dialeval.jobs.progress import Progress


@contextmanager
def asking(folder: Path, engine: Engine, protocol: str = "selfchat", name: str = "m") -> Iterator[Answering]:
    """An engine that is asked what its store in a folder has not; nothing is printed."""
    with ResponseStore(folder, identity=engine.identity, name=name, protocol=protocol) as store:
        yield Answering(engine, store, Progress("t", None, "a", stream=io.StringIO()))


def chat_request(name: str, text: str = "", **more: object) -> Request:
    """A request whose prompt is its text, or its name."""
    return Request(name, "test", "chat", (Message("user", text or name),), **more)  # type: ignore[arg-type]


class ScriptedEngine:
    """Answers with `reply(request)`; a returned exception is raised."""

    reads_subject = False

    def __init__(
        self,
        reply: Callable[[Request], str | AnswerFailure] | None = None,
        *,
        concurrency: int = 4,
        context_window: int | None = None,
        identity: str = '{"engine":"scripted"}',
        seconds: float = 0.0,
    ) -> None:
        self.identity = identity
        self.concurrency = concurrency
        self.context_window = context_window
        self.calls: Counter[str] = Counter()
        self.in_flight = self.most_in_flight = 0
        self._reply = reply or (lambda request: f"answer to {request.messages[-1].content}")
        self._seconds = seconds

    async def answer(self, request: Request) -> Response:
        self.calls[request.messages[-1].content] += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        await asyncio.sleep(self._seconds)
        self.in_flight -= 1
        reply = self._reply(request)
        if isinstance(reply, AnswerFailure):
            raise reply
        return Response(text=reply, completion_tokens=len(reply.split()))

    def count_tokens(self, messages: tuple[Message, ...]) -> int:
        return sum(len(message.content.split()) for message in messages)

    async def close(self) -> None:
        return None
