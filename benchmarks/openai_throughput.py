"""Throughput of requests to an endpoint, and its CPU time, against a bare aiohttp loop.

    python benchmarks/openai_throughput.py [--requests N] [--in-flight N] [--rounds N] [--profile]

A stub in processes of its own answers after 20 ms. It is asked by a bare loop over `aiohttp`, the yardstick; by the
`openai` client over `aiohttp`; by our wire alone; and by the engine as a job uses it: store, limits (requests in flight
and a minute), budget, a key that is masked. Rounds take turns, each with its connections open; a ratio is the median
of those within a round. All of them, the stub too, run on asyncio's own event loop.
Takes 40 s.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import cProfile
import json
import os
import pstats
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from chat_stub import Stub
from dialeval.config.endpoints import OpenAIModel
from dialeval.engines.answering import Answering
from dialeval.engines.openai_api.connection import Connection
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.requests import Message, Request, Sampling
from dialeval.engines.spending.account import Account
from dialeval.engines.spending.prices import Terms, digest_of, run_terms
from dialeval.engines.store import ResponseStore
from dialeval.jobs.process_setup import freeze_loaded_objects
from dialeval.jobs.progress import Progress
from gates import Gates, arguments

DELAY = 0.02
KEY = "sk-bench-0123456789abcdefghijklmnopqrstuvwxyz"
PROMPT = "Which of these two conversations was written by a person? " * 20
BUDGET = 1e6
Ask = Callable[[int], Awaitable[object]]
YARDSTICK, CLIENT, WIRE = "bare aiohttp", "openai client over aiohttp", "our wire alone"
OURS, TOKENS = "all on", "all on, tokens limited, too"


class Figures(NamedTuple):
    """One round of one way of asking: requests a second, and milliseconds of CPU a request, here and in the stub."""

    rate: float
    cpu: float
    stub: float


def body(number: int) -> dict[str, object]:
    messages = [{"role": "user", "content": f"{PROMPT}{number}"}]
    return {"model": "m", "messages": messages, "max_tokens": 64, "temperature": 0.0}


@contextlib.asynccontextmanager
async def bare_aiohttp(stub: Stub, in_flight: int) -> AsyncIterator[Ask]:
    import aiohttp

    headers = {"Authorization": f"Bearer {KEY}"}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=in_flight), headers=headers) as session:

        async def ask(number: int) -> None:
            async with session.post(f"{stub.url}/chat/completions", json=body(number)) as response:
                json.loads(await response.read())

        yield ask


@contextlib.asynccontextmanager
async def openai_over_aiohttp(stub: Stub, in_flight: int) -> AsyncIterator[Ask]:
    import httpx2
    import openai

    http = openai.DefaultAioHttpClient(limits=httpx2.Limits(max_connections=in_flight))
    async with openai.AsyncOpenAI(api_key=KEY, base_url=stub.url, max_retries=0, http_client=http) as client:

        async def ask(number: int) -> None:
            await client.post("/chat/completions", cast_to=httpx2.Response, body=body(number))

        yield ask


def model_for(stub: Stub, in_flight: int, **fields: float) -> OpenAIModel:
    return OpenAIModel.model_validate(
        {"engine": "openai", "model": "m", "base_url": stub.url, "api_key_env": "BENCH_KEY", "concurrency": in_flight}
        | {"price_input": 1.0, "price_output": 4.0, "budget": BUDGET, "requests_per_minute": 1e9}
        | fields
    )


@contextlib.asynccontextmanager
async def wire_alone(stub: Stub, in_flight: int) -> AsyncIterator[Ask]:
    connection = Connection(model_for(stub, in_flight))

    async def ask(number: int) -> None:
        await connection.post("/chat/completions", body(number))

    yield ask
    await connection.close()


@contextlib.asynccontextmanager
async def all_on(stub: Stub, in_flight: int, **fields: float) -> AsyncIterator[Ask]:
    model = model_for(stub, in_flight, **fields)
    run = run_terms({"m": model}, BUDGET)
    with tempfile.TemporaryDirectory() as folder:
        account = Account(Path(folder), Terms(digest_of(model), run.models[digest_of(model)], run), "arena")
        engine = OpenAIEngine(model, account=account)
        with ResponseStore(Path(folder), identity=engine.identity, name="m", protocol="arena") as store:
            answering = Answering(engine, store, Progress("benchmark", None, "answers", every=1e9))

            async def ask(number: int) -> None:
                messages = (Message("user", f"{PROMPT}{number}"),)
                await answering.ask(Request(f"r/{number}", "arena", "chat", messages, Sampling(max_tokens=64)))

            yield ask
            await engine.close()


WAYS = {
    YARDSTICK: bare_aiohttp,
    CLIENT: openai_over_aiohttp,
    WIRE: wire_alone,
    OURS: all_on,
    TOKENS: partial(all_on, tokens_per_minute=1e12),
}


async def timed(ask: Ask, numbers: range, in_flight: int, stub: Stub) -> Figures:
    waiting = iter(numbers)

    async def worker() -> None:
        for number in waiting:
            await ask(number)

    wall, cpu, elsewhere = time.perf_counter(), time.process_time(), stub.cpu_seconds()
    await asyncio.gather(*(worker() for _ in range(in_flight)))
    wall, cpu, elsewhere = time.perf_counter() - wall, time.process_time() - cpu, stub.cpu_seconds() - elsewhere
    n = len(numbers)
    return Figures(n / wall, 1000 * cpu / n, 1000 * elsewhere / n)


async def measure(stub: Stub, options: argparse.Namespace) -> dict[str, list[Figures]]:
    rounds: dict[str, list[Figures]] = {name: [] for name in WAYS}
    async with contextlib.AsyncExitStack() as stack:
        asks = {name: await stack.enter_async_context(way(stub, options.in_flight)) for name, way in WAYS.items()}
        first = 0
        for _ in range(options.rounds):
            for name, ask in asks.items():
                for n in (2 * options.in_flight, options.requests):  # the first open connections and are not counted
                    figures = await timed(ask, range(first, first + n), options.in_flight, stub)
                    first += n
                rounds[name].append(figures)
        if options.profile:
            profile = cProfile.Profile()
            profile.enable()
            await timed(asks[OURS], range(first, first + options.requests), options.in_flight, stub)
            profile.disable()
            pstats.Stats(profile).sort_stats("tottime").print_stats(50)
    return rounds


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--requests", type=int, default=4000, help="requests in a round")
    parser.add_argument("--in-flight", type=int, default=256, help="requests under way at once")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each way")
    parser.add_argument("--profile", action="store_true", help="show where one more round of ours spends its time")
    options = parser.parse_args()
    gates = Gates(__file__, options)
    os.environ["BENCH_KEY"] = KEY
    freeze_loaded_objects()  # as every job does; the yardstick gains as well
    with Stub(DELAY) as stub:
        rounds = asyncio.run(measure(stub, options))

    def ratio(name: str, figure: str) -> float:
        pairs = zip(rounds[name], rounds[YARDSTICK], strict=True)
        return statistics.median(getattr(ours, figure) / getattr(bare, figure) for ours, bare in pairs)

    def middle(name: str, figure: str) -> float:
        return statistics.median(getattr(one, figure) for one in rounds[name])

    for name in WAYS:
        gates.told(f"{name}: requests a second", middle(name, "rate"))
    gates.at_least("store, limits, budget, masking: rate", ratio(OURS, "rate"), 0.5, unit="x", against=YARDSTICK)
    gates.at_most("the same: CPU a request", middle(OURS, "cpu"), 0.4, unit="ms")
    gates.told("a bare aiohttp loop: CPU a request", middle(YARDSTICK, "cpu"), unit="ms")
    for name in (OURS, TOKENS, WIRE, CLIENT):
        gates.told(f"{name}: CPU a request", ratio(name, "cpu"), unit="x", against=YARDSTICK)
    allowed = 1000 / max(one.stub for seen in rounds.values() for one in seen)
    gates.told("the stub allows, requests a second and process", allowed, note="two processes, by their CPU")
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
