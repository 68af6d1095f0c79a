"""What the environment says of the way to an endpoint."""

from __future__ import annotations

import asyncio
import base64

import pytest

from dialeval.config.openai_model import OpenAIModel
from dialeval.engines.openai_api.connection import Connection
from dialeval.engines.openai_api.faults import Fault
from dialeval.engines.openai_api.network import proxy_for
from dialeval.errors import UserError


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


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


def test_the_proxy_for_all_is_used_where_none_is_for_the_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "https://all.example.org")
    monkeypatch.setenv("HTTP_PROXY", "http://one.example.org")
    assert proxy_for("http://api.example.org/v1") == "http://one.example.org"
    assert proxy_for("https://api.example.org/v1") == "https://all.example.org"


def test_a_proxy_of_another_kind_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://user:hidden-word@proxy.example.org:1080")
    with pytest.raises(UserError, match="'socks5' for api.example.org") as caught:
        proxy_for("https://api.example.org/v1")
    assert "hidden-word" not in str(caught.value)


@pytest.mark.parametrize("host", ["127.0.0.1:port", "127.0.0.1:99999", "", "[::1", "word/127.0.0.1:1"])
def test_a_proxy_that_is_no_address_is_refused_before_anything_is_sent_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"http://user:hidden/{host}" if "word" in host else f"http://user:hidden@{host}")
    with pytest.raises(UserError, match=r"api.example.org that is no address") as caught:
        proxy_for("https://api.example.org/v1")
    assert "hidden" not in str(caught.value)


def test_the_password_of_a_proxy_is_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sent = base64.b64encode(b"user:hidden@password")
        writer.write(b"HTTP/1.1 407 hidden@password\r\nContent-Length: 60\r\n\r\n")
        writer.write((b"who is hidden@password, alias " + sent).ljust(60))
        writer.close()

    async def asked() -> object:
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

    fault = asyncio.run(asked())
    assert isinstance(fault, Fault)
    assert "who is [secret], alias" in str(fault)
    assert "hidden" not in str(fault)
    assert base64.b64encode(b"hidden@password").decode()[:12] not in str(fault)
