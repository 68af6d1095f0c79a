"""What the environment says of the way to an endpoint."""

from __future__ import annotations

import pytest

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
