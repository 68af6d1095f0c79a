"""A chat endpoint in processes of its own that costs next to nothing: every request is answered after a while.

It reads no more of a request than where it ends. What it takes itself is said by `Stub.milliseconds`, so that a
benchmark can show that the stub held nobody up.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import socket
from multiprocessing.connection import Connection
from typing import Self

LIFETIME = 600.0
"""Seconds after which a forgotten stub ends by itself."""
_ANSWER = {
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
_HEADERS = (
    "Date: Mon, 01 Jan 2024 00:00:00 GMT\r\nContent-Type: application/json\r\nServer: stub\r\nX-Request-Id: req-0\r\n"
    "x-ratelimit-limit-requests: 1000000\r\nx-ratelimit-remaining-requests: 999999\r\n"
    "x-ratelimit-reset-requests: 6ms\r\nx-ratelimit-limit-tokens: 1000000000\r\n"
    "x-ratelimit-remaining-tokens: 999999999\r\nx-ratelimit-reset-tokens: 1ms\r\n"
)
"""As many as an endpoint of OpenAI's kind sends."""


class _Exchange(asyncio.Protocol):
    """One connection."""

    def __init__(self, delay: float) -> None:
        content = json.dumps(_ANSWER).encode()
        self._answer = f"HTTP/1.1 200 OK\r\n{_HEADERS}Content-Length: {len(content)}\r\n\r\n".encode() + content
        self._delay, self._received = delay, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, found, rest = self._received.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
        if len(rest) >= length:
            self._received = rest[length:]
            asyncio.get_running_loop().call_later(self._delay, self._send)

    def _send(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(self._answer)


def _serve(ready: Connection, port: int, delay: float) -> None:
    async def main() -> None:
        listening = socket.create_server(("127.0.0.1", port), backlog=1024, reuse_port=True)
        await asyncio.get_running_loop().create_server(lambda: _Exchange(delay), sock=listening, backlog=1024)
        ready.send(listening.getsockname()[1])
        await asyncio.sleep(LIFETIME)

    asyncio.run(main())


class Stub:
    """Serves on 127.0.0.1 as long as the block lasts.

    Args:
        delay: seconds before each answer.
        processes: among which the kernel shares connections out.
    """

    def __init__(self, delay: float, processes: int = 2) -> None:
        self._delay, self._n = delay, processes

    def __enter__(self) -> Self:
        spawn = multiprocessing.get_context("spawn")
        here, there = spawn.Pipe()
        self.port = 0
        self._processes = []
        for _ in range(self._n):
            process = spawn.Process(target=_serve, args=(there, self.port, self._delay), daemon=True)
            process.start()
            self._processes.append(process)
            self.port = here.recv()
        self.url = f"http://127.0.0.1:{self.port}/v1"
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.terminate()

    def cpu_seconds(self) -> float:
        """Processor time of all its processes so far."""
        ticks = 0
        for process in self._processes:
            with open(f"/proc/{process.pid}/stat") as file:  # noqa: PTH123
                fields = file.read().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")
