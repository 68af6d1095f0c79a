"""A job that has a table of requests answered in batches, as tests run it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dialeval.config import OpenAIModel
from dialeval.engines.answering import Answering
from dialeval.engines.cl100k import Tokenizer
from dialeval.engines.openai_api.batch_engine import BatchEngine, Polling
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.openai_api.retries import RetryPolicy
from dialeval.engines.requests import Message, Request, Response, Sampling
from dialeval.engines.spending.account import Account
from dialeval.engines.spending.entries import FOLDER, Ledger
from dialeval.engines.spending.prices import terms_for
from dialeval.engines.store import ResponseStore
from dialeval.jobs.progress import Progress

POLICY = RetryPolicy(max_tries=3, first_wait=0.01, longest_wait=0.02)
WORDS = Tokenizer("words", lambda texts: [len(text.split()) for text in texts])


def a_request(number: int, **fields: Any) -> Request:
    fields = {"kind": "chat", "sampling": Sampling(max_tokens=16)} | fields
    return Request(f"r/{number}", "arena", messages=(Message("user", f"question {number}"),), **fields)


class Job:
    """One job at an endpoint with a store; a new object is a new job."""

    def __init__(
        self,
        url: str,
        store: Path,
        *,
        most_bytes: int = 10**8,
        writer: str = "job",
        retrying: RetryPolicy = POLICY,
        **options: Any,
    ) -> None:
        fields = {"engine": "openai", "model": "m", "base_url": url, "api_key_env": None, "batch": True}
        self.model = OpenAIModel.model_validate(fields | {"patience_seconds": 0} | options)
        terms = terms_for(self.model)
        self.account = Account(store, terms, "arena") if terms else None
        engine = OpenAIEngine(self.model, tokenizer=WORDS, retrying=retrying, account=self.account)
        self.engine: Any = BatchEngine(engine, self.model, polling=Polling(0.01, 0.02), most_bytes=most_bytes)
        self.store, self.writer = store, writer

    @property
    def spent(self) -> float:
        """What the ledger says was spent on all models."""
        return Ledger(self.store / FOLDER).total().spent

    def run(self, requests: Iterable[Request]) -> dict[str, Response]:
        """Asks a table and returns the answers that the store then holds, by request."""
        requests = list(requests)
        with ResponseStore(self.store, identity="same", name="m", protocol="arena", writer=self.writer) as store:
            self.answering = Answering(self.engine, store, Progress("test", None, "answers", every=1e9))
            try:
                self.answering.run(self.answering.ask_all(iter(requests)))
            finally:
                stored = {request.request_id: store.get(self.answering.key(request)) for request in requests}
        return {name: response for name, response in stored.items() if response is not None}


def replies(numbers: Iterable[int]) -> dict[str, str]:
    return {f"r/{number}": f"reply to question {number}" for number in numbers}


def texts(answers: dict[str, Response]) -> dict[str, str]:
    return {name: response.text for name, response in answers.items()}
