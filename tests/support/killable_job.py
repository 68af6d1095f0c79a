"""Answers requests through the store in processes that can be killed; started once, it forks a job per line of input.

    python killable_job.py     lines of JSON: {"url", "store", "writer", "first", "last", "concurrency", "batch"}

It prints the process number of each job; jobs are not waited for.
"""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from dialeval.config import OpenAIModel
from dialeval.engines.answering import Answering
from dialeval.engines.openai_api.batch_engine import BatchEngine, Polling
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.requests import Engine, Message, Request
from dialeval.engines.store import ResponseStore
from dialeval.jobs.progress import Progress


def a_request(number: int) -> Request:
    return Request(f"r/{number}", "arena", "chat", (Message("user", f"question {number}"),))


def answer(job: dict[str, Any]) -> None:
    model = OpenAIModel(
        engine="openai", model="m", base_url=job["url"], api_key_env=None, concurrency=job["concurrency"]
    )
    engine: Engine = OpenAIEngine(model)
    if job.get("batch"):
        in_batches = model.model_copy(update={"batch": True, "batch_requests": job["batch"]})
        engine = BatchEngine(OpenAIEngine(in_batches), in_batches, polling=Polling(0.01, 0.02))
    with ResponseStore(
        Path(job["store"]), identity="same for every address", name="m", protocol="arena", writer=job["writer"]
    ) as store:
        answering = Answering(engine, store, Progress("job", None, "answers", every=1e9))
        answering.key = lambda request: f"{int(request.request_id[2:]):032x}"  # type: ignore[method-assign]
        asyncio.run(answering.ask_all(a_request(number) for number in range(job["first"], job["last"])))
        answering.check_failures()


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended jobs leave nothing behind
    for line in sys.stdin:
        process = os.fork()
        if not process:
            sys.stdout = sys.stderr
            try:
                answer(json.loads(line))
            finally:
                os._exit(0)
        print(process, flush=True)


if __name__ == "__main__":
    main()
