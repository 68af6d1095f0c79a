"""The wire: answers in every framing, connections that are kept, TLS, proxies, and what is billed where it breaks."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import shutil
import ssl
import subprocess
import tracemalloc
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from dialeval.config.endpoints import OpenAIModel
from dialeval.engines.openai_api import connection
from dialeval.engines.openai_api.connection import Connection
from dialeval.engines.openai_api.retries import Fault
from dialeval.errors import UserError

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
JSON = b'{"choices": []}'
READ = {"choices": []}
PLAIN = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(JSON), JSON)
ZIPPED = gzip.compress(JSON, mtime=0)


async def read_request(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    size = head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]
    return head, await reader.readexactly(int(size or 0))


def ask(address: str, n_requests: int = 1, *, pause: float = 0.0, body: Any = None, **fields: Any) -> Any:
    """Send requests one after the other, within a running loop; return JSON or faults."""

    async def main() -> list[Any]:
        model = {"engine": "openai", "model": "m", "base_url": address, "api_key_env": None, "timeout_seconds": 5}
        way = Connection(OpenAIModel.model_validate(model | fields))
        outcomes = []
        for number in range(n_requests):
            outcomes.append(await way.post("/chat/completions", body or {"a": number}))
            await asyncio.sleep(pause)
        await way.close()
        return outcomes

    return main()


def talk(
    content_of: Callable[[int], bytes], n_requests: int = 2, *, context: ssl.SSLContext | None = None, **options: Any
) -> Any:
    """Asks a server that answers with given bytes; returns answers or faults, and how many connections there were.

    An answer that ends with `!` is followed by the end of the connection.
    """
    connections = answered = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections, answered
        connections += 1
        try:
            while True:
                await read_request(reader)
                content = content_of(answered)
                answered += 1
                writer.write(content.removesuffix(b"!"))
                await writer.drain()
                if content.endswith(b"!"):
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        writer.close()

    async def main() -> tuple[list[Any], int]:
        server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
        scheme, port = "https" if context else "http", server.sockets[0].getsockname()[1]
        outcomes = await ask(f"{scheme}://localhost:{port}/v1", n_requests, **options)
        server.close()
        return outcomes, connections

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("content", "connections"),
    [
        (PLAIN, 1),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n" + JSON[:3] + b"\r\nc\r\n" + JSON[3:]
         + b"\r\n0\r\n\r\n", 1),
        (b"HTTP/1.1 103 Early Hints\r\n\r\n" + PLAIN, 1),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s!" % (len(JSON), JSON), 2),
        (b"HTTP/1.0 200 OK\r\n\r\n" + JSON + b"!", 2),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s" % (len(ZIPPED), ZIPPED), 1),
        (b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 60_000 + PLAIN.removeprefix(b"HTTP/1.1 200 OK"), 1),
    ],
)  # fmt: skip
def test_answers_in_every_framing(content: bytes, connections: int) -> None:
    assert talk(lambda _: content) == ([READ] * 2, connections)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"!", "closed the connection before it responded"),
        (b"HTTP/1.1 200 OK\r\nContent-Le!", "closed the connection before it responded"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\nhello!", "the response is incomplete"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello!", "the response is not HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello!", "gzip"),
        (b"hello!", "the response is not HTTP"),
    ],
)
def test_half_an_answer_is_a_fault_and_the_next_request_finds_its_way(content: bytes, words: str) -> None:
    (first, second), connections = talk(lambda number: PLAIN if number else content)
    assert (first.kind, first.passing, first.billed) == ("connection", True, "everything")
    assert words in str(first)
    assert (second, connections) == (READ, 2)


ENDLESS = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + (b"10000\r\n" + b"a" * 65_536 + b"\r\n") * 400
SMALL_AS_SENT = gzip.compress(bytes(25_000_000), mtime=0)
UNPACKED = (
    b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(SMALL_AS_SENT) + SMALL_AS_SENT
)


@pytest.mark.parametrize("content", [ENDLESS, UNPACKED])
def test_an_answer_without_end_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(connection, "LARGEST_ANSWER", 2 << 20)
    (first, second), connections = talk(lambda number: PLAIN if number else content)
    assert (first.kind, first.passing, first.billed) == ("malformed", False, "everything")
    assert str(first) == "the response is longer than 2 MB; check that base_url is a model's endpoint"
    assert (second, connections) == (READ, 2)


def test_what_unpacks_without_end_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "LARGEST_ANSWER", 2 << 20)
    tracemalloc.start()
    try:
        talk(lambda _: UNPACKED, 1)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 12_000_000  # half of what it unpacks to


def test_a_connection_that_the_endpoint_closed_meanwhile_is_not_used() -> None:
    outcomes, connections = talk(lambda _: PLAIN + b"!", 3, pause=0.05)
    assert (outcomes, connections) == ([READ] * 3, 3)


def test_a_connection_is_not_kept_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "KEPT_IDLE", 0.01)
    assert talk(lambda _: PLAIN, 2, pause=0.05) == ([READ] * 2, 2)


def test_cookies_are_not_kept_and_redirects_to_other_hosts_not_followed() -> None:
    heads = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for content in (PLAIN.replace(b"OK\r\n", b"OK\r\nSet-Cookie: a=b\r\n"), PLAIN):
            heads.append((await read_request(reader))[0])
            writer.write(content)
        await read_request(reader)
        writer.write(b"HTTP/1.1 307 Away\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async def main() -> list[Any]:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        outcomes: list[Any] = await ask(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", 3)
        server.close()
        return outcomes

    *_, away = asyncio.run(main())
    assert "cookie" not in heads[1].decode().lower()
    assert (away.kind, away.billed) == ("bad_request", "nothing")
    assert "correct base_url" in str(away)


def test_nothing_is_billed_where_no_connection_came_about() -> None:
    for address in ("http://127.0.0.1:1/v1", "http://no.such.host.invalid/v1"):
        (fault,) = asyncio.run(ask(address))
        assert (fault.kind, fault.passing, fault.billed) == ("connection", True, "nothing")
        assert str(fault).startswith("no connection: ")


def test_what_was_not_sent_over_a_connection_that_closes_is_not_billed() -> None:
    sent = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        with contextlib.suppress(asyncio.IncompleteReadError):
            while True:
                await read_request(reader)
                sent += 1
                writer.write(PLAIN)
        writer.close()

    async def main() -> tuple[Any, Any]:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        way = Connection(OpenAIModel(engine="openai", model="m", base_url=address, api_key_env=None))
        first = await way.post("/chat/completions", {"a": 1})
        second = asyncio.create_task(way.post("/chat/completions", {"a": 2}))
        await asyncio.sleep(0)  # the connection is taken; whether it was written to depends on the version of Python
        assert way._session is not None
        assert way._session.connector is not None
        for kept in way._session.connector._acquired:
            assert kept.transport is not None
            kept.transport.close()
        outcome = await second
        await way.close()
        server.close()
        return first, outcome

    first, fault = asyncio.run(main())
    assert first == READ
    assert fault.kind == "connection"
    assert fault.billed == ("nothing" if sent == 1 else "everything")
    assert "the endpoint closed the connection before" in str(fault)


def test_an_answer_that_does_not_come_in_time_may_be_billed() -> None:
    async def main() -> Any:
        async def serve(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
            await reader.read(-1)

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        outcome = await ask(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", timeout_seconds=0.05)
        server.close()
        return outcome

    (fault,) = asyncio.run(main())
    assert (fault.kind, fault.billed, str(fault)) == (
        "timeout", "everything", "no response within 0.05 s (timeout_seconds)",
    )  # fmt: skip


def test_a_second_loop_opens_connections_of_its_own() -> None:
    async def once(way: Connection, port: int) -> Any:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await read_request(reader)
            writer.write(PLAIN)
            await reader.read()
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", port)
        return await way.post(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1/x", {"a": 1})

    way = Connection(OpenAIModel(engine="openai", model="m", base_url="http://127.0.0.1:1/v1", api_key_env=None))
    assert [asyncio.run(once(way, 0)), asyncio.run(once(way, 0))] == [READ, READ]


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[ssl.SSLContext, Path]:
    """A server's context for `localhost` and the file with the certificate that it shows."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    key, file = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost,DNS:api.example.org", "-keyout", str(key), "-out", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(file, key)
    return context, file


def test_over_tls_the_certificate_is_checked(
    certificate: tuple[ssl.SSLContext, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    context, file = certificate
    (unknown, _), _ = talk(lambda _: PLAIN, context=context)
    assert isinstance(unknown, Fault)
    assert (unknown.kind, unknown.billed) == ("connection", "nothing")
    assert "certificate" in str(unknown).lower()
    assert not unknown.passing
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    assert talk(lambda _: PLAIN, context=context) == ([READ] * 2, 1)


def test_certificates_that_are_not_there_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "gone.pem")
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    with pytest.raises(UserError, match=r"SSL_CERT_FILE=gone\.pem\): No such file"):
        asyncio.run(ask("https://localhost:1/v1"))


def test_a_system_without_certificates_has_those_of_certifi(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(ssl, "create_default_context", lambda **_: ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
    assert len(connection.certificates().get_ca_certs()) > 50


def by_proxy(address: str, monkeypatch: pytest.MonkeyPatch, serve: Handler, credentials: str = "") -> Any:
    async def main() -> Any:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        monkeypatch.setenv("HTTPS_PROXY", f"http://{credentials}127.0.0.1:{server.sockets[0].getsockname()[1]}")
        monkeypatch.setenv("HTTP_PROXY", f"{credentials}127.0.0.1:{server.sockets[0].getsockname()[1]}")
        (outcome,) = await ask(address)
        server.close()
        return outcome

    return asyncio.run(main())


def test_a_proxy_passes_requests_on(monkeypatch: pytest.MonkeyPatch) -> None:
    heads = []

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await read_request(reader))[0])
        writer.write(PLAIN)
        await writer.drain()
        writer.close()

    assert by_proxy("http://api.example.org/v1", monkeypatch, proxy, "me:secret@") == READ
    assert heads[0].startswith(b"POST http://api.example.org/v1/chat/completions HTTP/1.1\r\n")
    assert b"Proxy-Authorization: Basic bWU6c2VjcmV0" in heads[0]


def test_a_proxy_is_a_tunnel_for_tls(certificate: tuple[ssl.SSLContext, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """What the proxy sees of a request is where it goes; the certificate is the endpoint's."""
    context, file = certificate
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    seen: list[bytes] = []

    async def endpoint(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head, content = await read_request(reader)
        assert head.startswith(b"POST /v1/chat/completions")
        assert json.loads(content) == {"a": 0}
        writer.write(PLAIN)
        await writer.drain()
        writer.close()

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(4096):
            seen.append(data)
            writer.write(data)
        writer.close()

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        server = await asyncio.start_server(endpoint, "127.0.0.1", 0, ssl=context)
        there = await asyncio.open_connection("127.0.0.1", server.sockets[0].getsockname()[1])
        await asyncio.gather(copy(reader, there[1]), copy(there[0], writer), return_exceptions=True)
        server.close()

    assert by_proxy("https://api.example.org/v1", monkeypatch, proxy) == READ
    assert seen[0].startswith(b"CONNECT api.example.org:443 HTTP/1.1\r\n")
    assert not any(b"completions" in data for data in seen)


def test_a_proxy_that_refuses_bills_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    fault = by_proxy("https://api.example.org/v1", monkeypatch, proxy, "me:hunter22@")
    assert (fault.kind, fault.billed) == ("connection", "nothing")
    assert "the proxy responded 407" in str(fault)
    assert "hunter22" not in str(fault)
