"""A chat endpoint on loopback that answers as a test tells it to: with errors, pauses, cut connections, anything."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

MOST_CONNECTIONS = 600


@dataclass(frozen=True)
class Call:
    """What the endpoint was sent: `text` is the last message or the prompt, `number` its askings so far.

    A form is found in `raw` only.
    """

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    text: str
    number: int
    method: str = "POST"
    raw: bytes = b""


@dataclass(frozen=True)
class Reply:
    """What the endpoint answers; `cut` closes the connection in the middle of it, `delay` comes before it."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: bool = False

    def encode(self) -> bytes:
        content = self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()
        lines = [f"HTTP/1.1 {self.status} Told", "Content-Type: application/json", f"Content-Length: {len(content)}"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


def completion(text: str | None, *, finish: str = "stop", usage: Any = None, **message: Any) -> dict[str, Any]:
    """Return the JSON of a chat completion."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
    usage = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14} if usage is None else usage
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def refusal(message: str, **more: Any) -> dict[str, Any]:
    """Return the JSON of an error."""
    return {"error": {"message": message, **more}}


class LoopbackEndpoint:
    """Serves on 127.0.0.1 in a thread of its own, as long as a test needs it, and keeps a log.

    Args:
        script: what to answer.
    """

    def __init__(self, script: Callable[[Call], Reply]) -> None:
        self.script = script
        self.log: list[tuple[Call, Reply]] = []
        self.calls: Counter[str] = Counter()
        self.in_flight = self.most_in_flight = self.connections = 0
        self._ready, self._loop = threading.Event(), asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        server = await self._loop.create_server(lambda: _Exchange(self), "127.0.0.1", 0, backlog=MOST_CONNECTIONS)
        self.port: int = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()


class _Exchange(asyncio.Protocol):
    """One connection."""

    def __init__(self, endpoint: LoopbackEndpoint) -> None:
        self._endpoint, self._received = endpoint, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._endpoint.connections += 1

    def connection_lost(self, _: Exception | None) -> None:
        self._endpoint.connections -= 1

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, found, rest = self._received.partition(b"\r\n\r\n")
        if not found:
            return
        first, *lines = head.decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        length = int(headers.get("content-length", 0))
        if len(rest) < length:
            return
        self._received = rest[length:]
        method, path, _ = first.split()
        self._answer(method, path, headers, rest[:length])

    def _answer(self, method: str, path: str, headers: dict[str, str], raw: bytes) -> None:
        endpoint = self._endpoint
        form = headers.get("content-type", "").startswith("multipart/")
        body = {} if form or not raw else json.loads(raw)
        text = body["messages"][-1]["content"] if "messages" in body else str(body.get("prompt"))
        endpoint.calls[text] += 1
        call = Call(path, headers, body, text, endpoint.calls[text], method, raw)
        reply = Reply({}, 503) if endpoint.connections > MOST_CONNECTIONS else endpoint.script(call)
        endpoint.log.append((call, reply))
        endpoint.in_flight += 1
        endpoint.most_in_flight = max(endpoint.most_in_flight, endpoint.in_flight)
        if reply.delay:
            asyncio.get_running_loop().call_later(reply.delay, self._send, reply)
        else:
            self._send(reply)

    def _send(self, reply: Reply) -> None:
        self._endpoint.in_flight -= 1
        if self._transport.is_closing():
            return
        content = reply.encode()
        if reply.cut:
            self._transport.write(content[: len(content) // 2])
            self._transport.abort() if reply.status != 200 else self._transport.close()
        else:
            self._transport.write(content)
