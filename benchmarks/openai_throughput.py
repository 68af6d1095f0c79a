"""How fast requests go through the OpenAI engine, and what that costs in processor time.

    python benchmarks/openai_throughput.py [--requests N] [--in-flight N] [--rounds N] [--profile]

A server of our own answers after 50 ms. In the same run it is asked by a bare loop over asyncio's streams (what the
machine allows), by a bare `httpx2` client, by the bare `openai` client, and by our engine, alone and with the response
store. The goal: 0.9 of the ideal rate or of the bare `httpx2` loop, whichever is lower, and at most 1.5 ms of processor
time a request. Server and client share the machine, so that rates say more with more cores. Rounds take turns, and the
table shows each way's best round. Takes 1 min.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import json
import multiprocessing
import pstats
import tempfile
import time
from collections.abc import Awaitable, Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

import httpx2
import openai

from dialeval.config import OpenAIModel
from dialeval.engines.answering import Answering
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.request import Message, Request, Sampling
from dialeval.engines.store import ResponseStore
from dialeval.progress import Progress

DELAY = 0.05
LIFETIME = 600.0
PROMPT = "Which of these two conversations was written by a person? " * 20
ANSWER = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Choice: Conversation 1\nReason: it is so."},
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 220, "completion_tokens": 12, "total_tokens": 232},
}
Ask = Callable[[int], Awaitable[None]]


class Figures(NamedTuple):
    """One round of one way of asking."""

    rate: float
    milliseconds: float


class _Exchange(asyncio.Protocol):
    _content = json.dumps(ANSWER).encode()
    _answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
        len(_content),
        _content,
    )

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport, self._received = transport, b""

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, found, rest = self._received.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
        if len(rest) >= length:
            self._received = rest[length:]
            asyncio.get_running_loop().call_later(DELAY, self._send)

    def _send(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(self._answer)


def serve(ready: Connection) -> None:
    async def main() -> None:
        server = await asyncio.get_running_loop().create_server(_Exchange, "127.0.0.1", 0, backlog=1024)
        ready.send(server.sockets[0].getsockname()[1])
        await asyncio.sleep(LIFETIME)

    asyncio.run(main())


async def timed(ask: Ask, n_requests: int, in_flight: int, first: int) -> Figures:
    waiting = iter(range(first, first + n_requests))

    async def worker() -> None:
        for number in waiting:
            await ask(number)

    wall, processor = time.perf_counter(), time.process_time()
    await asyncio.gather(*(worker() for _ in range(in_flight)))
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    return Figures(n_requests / wall, 1000 * processor / n_requests)


def body(number: int) -> dict[str, object]:
    messages = [{"role": "user", "content": f"{PROMPT}{number}"}]
    return {"model": "m", "messages": messages, "max_tokens": 64, "temperature": 0.0}


def bare_streams(port: int) -> Ask:
    free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def ask(number: int) -> None:
        reader, writer = free.pop() if free else await asyncio.open_connection("127.0.0.1", port)
        content = json.dumps(body(number)).encode()
        writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(content))
        writer.write(content)
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
        json.loads(await reader.readexactly(length))
        free.append((reader, writer))

    return ask


async def measure(port: int, options: argparse.Namespace) -> dict[str, Figures]:
    url = f"http://127.0.0.1:{port}/v1"
    limits = httpx2.Limits(max_connections=options.in_flight, max_keepalive_connections=options.in_flight)
    plain = httpx2.AsyncClient(limits=limits, timeout=60)
    client = openai.AsyncOpenAI(
        api_key="none", base_url=url, max_retries=0, http_client=httpx2.AsyncClient(limits=limits, timeout=60)
    )
    model = OpenAIModel(engine="openai", model="m", base_url=url, api_key_env=None, concurrency=options.in_flight)
    engine = OpenAIEngine(model)

    def request(number: int) -> Request:
        return Request(f"r/{number}", "arena", "chat", (Message("user", f"{PROMPT}{number}"),), Sampling(max_tokens=64))

    async def by_httpx2(number: int) -> None:
        (await plain.post(f"{url}/chat/completions", json=body(number))).json()

    async def by_openai(number: int) -> None:
        await client.chat.completions.create(**body(number))  # type: ignore[call-overload]

    async def by_engine(number: int) -> None:
        await engine.answer(request(number))

    with (
        tempfile.TemporaryDirectory() as folder,
        ResponseStore(Path(folder), identity=engine.identity, name="m", protocol="arena") as store,
    ):
        answering = Answering(engine, store, Progress("benchmark", None, "answers", every=1e9))

        async def by_answering(number: int) -> None:
            await answering.ask(request(number))

        ways: dict[str, Ask] = {
            "bare asyncio streams": bare_streams(port),
            "bare httpx2": by_httpx2,
            "bare openai client": by_openai,
            "our engine": by_engine,
            "our engine and store": by_answering,
        }
        rounds: dict[str, list[Figures]] = {name: [] for name in ways}
        for number in range(options.rounds + 1):  # the first opens the connections
            for name, ask in ways.items():
                n = options.requests if number else 2 * options.in_flight
                figures = await timed(ask, n, options.in_flight, number * options.requests)
                rounds[name] += [figures] if number else []
        if options.profile:
            profile = cProfile.Profile()
            profile.enable()
            await timed(by_answering, options.requests, options.in_flight, (options.rounds + 1) * options.requests)
            profile.disable()
            pstats.Stats(profile).sort_stats("tottime").print_stats(25)
    await engine.close()
    await client.close()
    await plain.aclose()
    return {
        name: Figures(max(f.rate for f in seen), min(f.milliseconds for f in seen)) for name, seen in rounds.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=4000, help="requests in a round")
    parser.add_argument("--in-flight", type=int, default=256, help="requests under way at once")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each way")
    parser.add_argument("--profile", action="store_true", help="show where one more round of ours spends its time")
    options = parser.parse_args()
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(there,), daemon=True)
    server.start()
    try:
        figures = asyncio.run(measure(here.recv(), options))
    finally:
        server.terminate()
    ideal, bare = options.in_flight / DELAY, figures["bare httpx2"].rate
    print(f"{options.in_flight} in flight, answers after {DELAY * 1000:.0f} ms, ideal rate {ideal:.0f} requests/s\n")
    print("| way | requests/s | of ideal | of bare httpx2 | processor ms a request |\n|---|---|---|---|---|")
    for name, (rate, milliseconds) in figures.items():
        print(f"| {name} | {rate:.0f} | {rate / ideal:.2f} | {rate / bare:.2f} | {milliseconds:.2f} |")
    ours = figures["our engine and store"]
    reached = ours.rate >= 0.9 * min(ideal, bare) and ours.milliseconds <= 1.5
    print(f"\ngoal (0.9 of the lower of ideal and bare httpx2, at most 1.5 ms): {'reached' if reached else 'missed'}")


if __name__ == "__main__":
    main()
