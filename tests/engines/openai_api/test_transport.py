"""The wire: answers in every framing, connections that are kept, TLS, and proxies."""

from __future__ import annotations

import asyncio
import gzip
import shutil
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from dialeval.engines.openai_api import transport
from dialeval.engines.openai_api.transport import StreamTransport, transport_for

Told = Callable[[int], bytes]
PLAIN = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


def talk(told: Told, n_requests: int = 2, *, pause: float = 0.0, context: ssl.SSLContext | None = None) -> Any:
    """Asks a server that answers with given bytes; returns answers or errors, and how many connections there were.

    An answer that ends with `!` is followed by the end of the connection.
    """

    async def main() -> tuple[list[Any], int]:
        connections = asked = 0

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal connections, asked
            connections += 1
            try:
                while True:
                    head = await reader.readuntil(b"\r\n\r\n")
                    await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]))
                    content = told(asked)
                    asked += 1
                    writer.write(content.removesuffix(b"!"))
                    await writer.drain()
                    if content.endswith(b"!"):
                        break
            except (asyncio.IncompleteReadError, ConnectionError):
                pass
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
        scheme, port = "https" if context else "http", server.sockets[0].getsockname()[1]
        address = f"{scheme}://localhost:{port}"
        outcomes: list[Any] = []
        async with httpx2.AsyncClient(transport=transport_for(address, 4, 5.0), timeout=None) as client:
            for _ in range(n_requests):
                try:
                    answer = await client.post(f"{address}/v1", json={"a": 1})
                    outcomes.append((answer.status_code, answer.text))
                except httpx2.HTTPError as error:
                    outcomes.append(error)
                await asyncio.sleep(pause)
        server.close()
        return outcomes, connections

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("told", "connections"),
    [
        (PLAIN, 1),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", 1),
        (b"HTTP/1.1 103 Early Hints\r\n\r\n" + PLAIN, 1),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello!", 2),
        (b"HTTP/1.0 200 OK\r\n\r\nhello!", 2),
        (
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s"
            % (len(gzip.compress(b"hello", mtime=0)), gzip.compress(b"hello", mtime=0)),
            1,
        ),
    ],
)
def test_answers_in_every_framing(told: bytes, connections: int) -> None:
    assert talk(lambda _: told) == ([(200, "hello")] * 2, connections)


@pytest.mark.parametrize(
    "told", [b"!", b"HTTP/1.1 200 OK\r\nContent-Le!", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello!", b"hello!"]
)
def test_half_an_answer_is_an_error_and_the_next_request_finds_its_way(told: bytes) -> None:
    (first, second), connections = talk(lambda number: PLAIN if number else told)
    assert isinstance(first, httpx2.HTTPError)
    assert (second, connections) == ((200, "hello"), 2)


def test_a_connection_that_the_endpoint_closed_meanwhile_is_not_used() -> None:
    outcomes, connections = talk(lambda _: PLAIN + b"!", 3, pause=0.05)
    assert (outcomes, connections) == ([(200, "hello")] * 3, 3)


def test_a_connection_is_not_kept_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "KEPT_IDLE", 0.01)
    assert talk(lambda _: PLAIN, 2, pause=0.05) == ([(200, "hello")] * 2, 2)


def test_over_tls_the_certificate_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    (unknown, _), _ = talk(lambda _: PLAIN, context=context)
    assert isinstance(unknown, httpx2.ConnectError)
    assert "certificate" in str(unknown).lower()
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert talk(lambda _: PLAIN, context=context) == ([(200, "hello")] * 2, 1)


def test_a_proxy_of_the_environment_is_used_but_not_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "proxy.example.org:3128")
    monkeypatch.setenv("NO_PROXY", "inside.example.org")
    assert isinstance(transport_for("https://api.example.org/v1", 4, 5.0), httpx2.AsyncHTTPTransport)
    for address in ("https://inside.example.org/v1", "https://localhost/v1", "http://127.0.0.1:8000/v1"):
        assert isinstance(transport_for(address, 4, 5.0), StreamTransport)
