"""The engine of models that are asked in batches."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing

from dialeval.config.openai_model import OpenAIModel
from dialeval.engines.openai_api.batches.client import BatchClient
from dialeval.engines.openai_api.batches.ledger import SUFFIX, BatchLedger
from dialeval.engines.openai_api.batches.run import BatchRun, Outcome, Polling
from dialeval.engines.openai_api.batches.spool import RequestSpool
from dialeval.engines.openai_api.batches.submission import MOST_BYTES
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.request import Message, Request, Response
from dialeval.engines.store import ResponseStore


class BatchEngine:
    """Answers tables of requests through OpenAI's Batch API, and single ones (self-chat) as the engine inside does.

    Args:
        engine: the engine of ordinary requests.
        model: the model's configuration.
        polling: how often a batch is asked after; without it, as configured.
        most_bytes: size of a batch's file.
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
        self._model = model
        self._polling = polling or Polling(longest=model.batch_poll_seconds)
        self._most_bytes = most_bytes

    async def answer(self, request: Request) -> Response:
        """Answers a single request in the ordinary way, or raises AnswerFailure."""
        return await self.engine.answer(request)

    async def answer_all(
        self, requests: Iterable[tuple[str, Request]], store: ResponseStore
    ) -> AsyncGenerator[tuple[str, Outcome], None]:
        """Yields key and outcome of every request as batches end, and of others that were in the same batches.

        A killed job loses nothing: the ledger beside the store says what is under way, and the next job waits for it.

        Args:
            requests: keys and requests, each once, none of them in the store.
            store: where the caller puts each answer before it asks for the next.

        Raises:
            UserError: the endpoint has no batches, refuses them, or is dead.
        """
        with RequestSpool() as spool, BatchLedger(store.beside(SUFFIX), store.left_beside(SUFFIX)) as ledger:
            client = BatchClient(self.engine.connection, self._model.timeout_seconds)
            run = BatchRun(
                self.engine,
                client,
                self._model,
                ledger,
                spool,
                save=store.sync,
                say=_say,
                polling=self._polling,
                most_bytes=self._most_bytes,
            )
            async with client, aclosing(run.outcomes(requests)) as outcomes:
                async for outcome in outcomes:
                    yield outcome

    def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """Returns the length of a prompt as the engine inside counts it."""
        return self.engine.count_tokens(messages)

    async def close(self) -> None:
        """Closes the connections."""
        await self.engine.close()


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
