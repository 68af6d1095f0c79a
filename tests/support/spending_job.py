"""A job that asks a billing endpoint for a table of requests, in this process or in one that can be killed.

python spending_job.py JSON     {"url", "store", "writer", "first", "last", "run_budget", ...}
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from billing_service import PRICE

from dialeval.config import OpenAIModel
from dialeval.engines.answering import Answering
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.openai_api.retries import RetryPolicy
from dialeval.engines.requests import Message, Request, Sampling
from dialeval.engines.spending import account
from dialeval.engines.spending.entries import FOLDER, Ledger, Sums
from dialeval.engines.spending.prices import RunTerms, Terms, digest_of, run_terms
from dialeval.engines.store import ResponseStore
from dialeval.errors import UserError
from dialeval.jobs.progress import Progress

MOST = 16
"""Tokens of an answer."""
account.POLL_SECONDS = 0.02


def a_request(number: int) -> Request:
    sampling = Sampling(max_tokens=MOST)
    return Request(f"r/{number}", "arena", "chat", (Message("user", f"question {number}"),), sampling)


def a_model(url: str, **fields: Any) -> OpenAIModel:
    known = {"engine": "openai", "model": "m", "base_url": url, "api_key_env": None, "timeout_seconds": 30}
    prices = {"price_input": PRICE, "price_output": PRICE}
    return OpenAIModel.model_validate(known | prices | {"patience_seconds": 60, "concurrency": 8} | fields)


def ask(
    url: str, store: Path, first: int, last: int, *, writer: str = "job", run_budget: float | None = None,
    others: Mapping[str, Any] | None = None, protocol: str = "arena", **fields: Any,
) -> tuple[int, str]:  # fmt: skip
    """Asks for what the store lacks, and returns how many answers it then has and what stopped the job.

    Args:
        url: the endpoint.
        store: the folder of the stores.
        first: number of the first request.
        last: the number after the last.
        writer: the job's name in the store.
        run_budget: the budget of the run.
        others: fields of a further model that the run has.
        protocol: what is asked under.
        fields: of the model.
    """
    model = a_model(url, **fields)
    models = {"m": model} | ({"other": a_model(url, **others)} if others else {})
    run: RunTerms = run_terms(models, run_budget)
    terms = Terms(digest_of(model), run.models[digest_of(model)], run)
    policy = RetryPolicy(model.max_tries, 60.0, first_wait=0.005, longest_wait=0.02)
    engine = OpenAIEngine(model, retrying=policy, account=account.Account(store, terms, protocol))
    requests = [a_request(number) for number in range(first, last)]
    with ResponseStore(store, identity=engine.identity, name="m", protocol=protocol, writer=writer) as kept:
        progress = Progress("job", None, "answers", every=1e9, stream=io.StringIO())
        answering = Answering(engine, kept, progress, max_failure_share=1.0)
        stopped = ""
        try:
            answering.run(answering.ask_all(requests))
        except UserError as error:
            stopped = str(error)
        return sum(answering.key(request) in kept for request in requests), stopped


def spent(store: Path) -> Sums:
    """Return what the ledger says was spent on all models."""
    return Ledger(store / FOLDER).total()


if __name__ == "__main__":
    job = json.loads(sys.argv[1])
    print(*ask(job.pop("url"), Path(job.pop("store")), job.pop("first"), job.pop("last"), **job))
