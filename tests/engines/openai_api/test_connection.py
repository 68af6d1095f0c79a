"""The way to an endpoint: what each request sends, and what each answer has beside its JSON."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import socket
from collections.abc import Mapping
from typing import Any, cast

import aiohttp
import pytest
from loopback_endpoint import Call, LoopbackEndpoint, Reply, completion, refusal

from dialeval.config.endpoints import OpenAIModel
from dialeval.engines.openai_api import connection
from dialeval.engines.openai_api.connection import AnswerReader, Connection, proxy_for
from dialeval.engines.openai_api.retries import Fault
from dialeval.errors import UserError


def test_the_headers_of_answers_and_refusals_are_heard() -> None:
    def script(call: Call) -> Reply:
        headers = {"X-RateLimit-Remaining-Requests": call.text}
        if call.text == "9":
            return Reply(completion("Hi."), headers=headers)
        return Reply(refusal("slowly"), 429, headers)

    heard: list[str | None] = []

    def hear(headers: Mapping[str, str]) -> None:
        heard.append(headers.get("x-ratelimit-remaining-requests"))

    async def ask(connection: Connection) -> list[object]:
        bodies = [{"model": "m", "messages": [{"role": "user", "content": text}]} for text in ("9", "0")]
        try:
            return [await connection.post("/chat/completions", body, hear) for body in bodies]
        finally:
            await connection.close()

    with LoopbackEndpoint(script) as endpoint:
        connection = Connection(OpenAIModel(engine="openai", model="m", base_url=endpoint.url, api_key_env=None))
        answered, refused = asyncio.run(ask(connection))
    assert isinstance(answered, dict)
    assert isinstance(refused, Fault)
    assert heard == ["9", "0"]


def test_of_two_headers_of_one_name_the_last_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is configured takes the place of ours, and a key that of an authorization, however they are spelt."""
    monkeypatch.setenv("MY_KEY", "sk-mine-0123456789")
    monkeypatch.setenv("MY_OTHER", "other-0123456789")
    fields = {"engine": "openai", "model": "m", "api_key_env": "MY_KEY", "organisation": "org-1"}
    fields |= {"headers": {"user-agent": "größer", "openai-organization": "org-0"}}
    fields |= {"headers_env": {"authorization": "MY_OTHER"}}
    assert Connection(OpenAIModel.model_validate(fields)).headers == {
        "Accept": "application/json",
        "Content-Type": "application/json",
        "user-agent": "größer",
        "Authorization": "Bearer sk-mine-0123456789",
        "OpenAI-Organization": "org-1",
    }
    monkeypatch.setenv("MY_KEY", "")
    fields["api_key_env"] = None
    assert Connection(OpenAIModel.model_validate(fields)).headers["authorization"] == "other-0123456789"


def test_an_unreachable_place_gets_no_request() -> None:
    """Where the wait for a connection is as long as that for an answer, which of the two ends must not be chance."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server, contextlib.ExitStack() as waiting:
        for _ in range(3):  # who fills the queue of a server that takes nobody in
            client = waiting.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(server.getsockname())
        address = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        model = OpenAIModel.model_validate(
            {"engine": "openai", "model": "m", "base_url": address, "api_key_env": None, "timeout_seconds": 0.4}
        )

        async def call() -> dict[str, Any] | Fault:
            connection = Connection(model)
            try:
                return await connection.post("/chat/completions", {})
            finally:
                await connection.close()

        outcome = asyncio.run(call())
    assert isinstance(outcome, Fault)
    assert (outcome.kind, outcome.billed) == ("connection", "nothing")
    assert "no connection within 0.2 s" in str(outcome)


# What the environment says of the way to an endpoint.


@pytest.fixture
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.usefixtures("_no_proxies")
def test_a_proxy_is_used_but_not_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    assert proxy_for("https://api.example.org/v1") is None
    monkeypatch.setenv("HTTPS_PROXY", "proxy.example.org:3128")
    monkeypatch.setenv("NO_PROXY", "inside.example.org,.cluster.local")
    assert proxy_for("https://api.example.org/v1") == "http://proxy.example.org:3128"
    assert proxy_for("http://api.example.org/v1") is None
    for address in (
        "https://inside.example.org/v1", "https://node7.cluster.local/v1", "https://localhost/v1",
        "http://127.0.0.1:8000/v1", "http://[::1]:8000/v1",
    ):  # fmt: skip
        assert proxy_for(address) is None


@pytest.mark.usefixtures("_no_proxies")
def test_the_proxy_for_all_is_used_where_none_is_for_the_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "https://all.example.org")
    monkeypatch.setenv("HTTP_PROXY", "http://one.example.org")
    assert proxy_for("http://api.example.org/v1") == "http://one.example.org"
    assert proxy_for("https://api.example.org/v1") == "https://all.example.org"


@pytest.mark.usefixtures("_no_proxies")
def test_a_proxy_of_another_kind_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://user:hidden-word@proxy.example.org:1080")
    with pytest.raises(UserError, match="'socks5' for api.example.org") as caught:
        proxy_for("https://api.example.org/v1")
    assert "hidden-word" not in str(caught.value)


@pytest.mark.usefixtures("_no_proxies")
@pytest.mark.parametrize("host", ["127.0.0.1:port", "127.0.0.1:99999", "", "[::1", "word/127.0.0.1:1"])
def test_a_proxy_that_is_no_address_is_refused_before_anything_is_sent_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"http://user:hidden/{host}" if "word" in host else f"http://user:hidden@{host}")
    with pytest.raises(UserError, match=r"api.example.org that is not a valid address") as caught:
        proxy_for("https://api.example.org/v1")
    assert "hidden" not in str(caught.value)


@pytest.mark.usefixtures("_no_proxies")
def test_the_password_of_a_proxy_is_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sent = base64.b64encode(b"user:hidden@password")
        writer.write(b"HTTP/1.1 407 hidden@password\r\nContent-Length: 60\r\n\r\n")
        writer.write((b"who is hidden@password, alias " + sent).ljust(60))
        writer.close()

    async def call() -> object:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        monkeypatch.setenv("HTTP_PROXY", f"http://user:hidden%40password@127.0.0.1:{port}")
        raw = {"engine": "openai", "model": "m", "base_url": "http://api.example.org/v1", "api_key_env": None}
        connection = Connection(OpenAIModel.model_validate(raw))
        try:
            return await connection.post("/chat/completions", {})
        finally:
            await connection.close()
            server.close()

    fault = asyncio.run(call())
    assert isinstance(fault, Fault)
    assert "who is [secret], alias" in str(fault)
    assert "hidden" not in str(fault)
    assert base64.b64encode(b"hidden@password").decode()[:12] not in str(fault)


# Answers that are read at once: long ones share the memory, those without end are cut, and nobody else is.

PIECE, LONG, TOGETHER, LARGEST = 10, 100, 500, 1000


@pytest.fixture
def few_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "LONG", LONG)
    monkeypatch.setattr(connection, "MOST_HELD", TOGETHER)
    monkeypatch.setattr(connection, "LARGEST_ANSWER", LARGEST)


class Wire:
    """What all answers have given that are not read to their end, and the most of it."""

    def __init__(self) -> None:
        self.held = self.most = 0


class Answer:
    """An answer of so many bytes that come in pieces; it is its own content, as `aiohttp` names it."""

    def __init__(self, wire: Wire, size: int, *, broken_at: int | None = None, stalls_at: int | None = None) -> None:
        self.wire, self.size, self.given, self.is_closed = wire, size, 0, False
        self.broken_at, self.stalls_at = broken_at, stalls_at
        self.content = self

    async def readany(self) -> bytes:
        await asyncio.sleep(0)
        if self.given == self.broken_at:
            raise ConnectionResetError
        if self.given == self.stalls_at:
            await asyncio.sleep(1e6)
        piece = min(PIECE, self.size - self.given)
        self.given += piece
        self.wire.held += piece if piece else -self.given
        self.wire.most = max(self.wire.most, self.wire.held)
        return b"a" * piece

    def close(self) -> None:
        self.is_closed = True
        self.wire.held -= self.given


async def read(answers: AnswerReader, answer: Answer) -> int | None:
    body = await answers.read(cast(aiohttp.ClientResponse, answer))
    return None if body is None else len(body)


async def read_all(answers: list[Answer]) -> list[int | None]:
    reading = AnswerReader()
    return await asyncio.wait_for(asyncio.gather(*(read(reading, answer) for answer in answers)), 20)


@pytest.mark.usefixtures("few_bytes")
def test_answers_without_end_take_no_more_memory_than_a_few_long_ones() -> None:
    wire = Wire()
    endless = [Answer(wire, 10**9) for _ in range(16)]
    assert asyncio.run(read_all(endless)) == [None] * 16
    assert all(answer.is_closed for answer in endless)
    assert wire.most <= TOGETHER + 16 * (LONG + PIECE) + LARGEST + PIECE
    assert wire.held == 0


@pytest.mark.usefixtures("few_bytes")
@pytest.mark.parametrize("size", [0, 1, LONG, LONG + 1, TOGETHER, LARGEST])
def test_no_other_answer_is_cut_among_them(size: int) -> None:
    wire = Wire()
    answers = [Answer(wire, 10**9 if number % 2 else size) for number in range(16)]
    assert asyncio.run(read_all(answers)) == [None if number % 2 else size for number in range(16)]
    assert wire.held == 0


@pytest.mark.usefixtures("few_bytes")
def test_a_short_answer_waits_for_no_long_one() -> None:
    async def story() -> int | None:
        wire, reading = Wire(), AnswerReader()
        stalled = [Answer(wire, LARGEST, stalls_at=LARGEST - PIECE) for _ in range(4)]
        tasks = [asyncio.create_task(read(reading, answer)) for answer in stalled]
        await asyncio.sleep(0.05)
        size = await asyncio.wait_for(read(reading, Answer(wire, LONG)), 5)
        for task in tasks:
            task.cancel()
        return size

    assert asyncio.run(story()) == LONG


@pytest.mark.usefixtures("few_bytes")
def test_an_aborted_writer_leaves_the_turn_to_others() -> None:
    async def story() -> int | None:
        wire, reading = Wire(), AnswerReader()
        broken = [Answer(wire, LARGEST, broken_at=TOGETHER + 20 * n) for n in range(4)]
        stalled = [Answer(wire, LARGEST, stalls_at=LARGEST - PIECE) for _ in range(2)]
        tasks = [asyncio.create_task(read(reading, answer)) for answer in (*broken, *stalled)]
        last = asyncio.create_task(read(reading, Answer(wire, LARGEST)))
        await asyncio.sleep(0.05)
        for task in tasks[4:]:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(one) for one in ended] == [ConnectionResetError] * 4 + [asyncio.CancelledError] * 2
        return await asyncio.wait_for(last, 5)

    assert asyncio.run(story()) == LARGEST


@pytest.mark.usefixtures("few_bytes")
def test_long_answers_that_fit_are_read_side_by_side_whatever_came_before() -> None:
    async def story() -> int | None:
        wire, reading = Wire(), AnswerReader()
        await asyncio.gather(*(read(reading, Answer(wire, 10**9)) for _ in range(4)))
        slow = asyncio.create_task(read(reading, Answer(wire, 2 * LONG, stalls_at=2 * LONG - PIECE)))
        await asyncio.sleep(0.05)
        size = await asyncio.wait_for(read(reading, Answer(wire, 2 * LONG)), 5)
        slow.cancel()
        return size

    assert asyncio.run(story()) == 2 * LONG
