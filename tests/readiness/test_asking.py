"""One short question to each model: what it shows of key, name and address, and that it is never more than one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from loopback_endpoint import Asked, LoopbackEndpoint, Reply, completion, refusal

from dialeval.config.loading import load_config
from dialeval.config.whole import Config
from dialeval.engines.spending import terms
from dialeval.readiness.asking import MAX_TOKENS, asked_once
from dialeval.readiness.finding import State

KEY = "secret-0123456789"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    monkeypatch.setenv(terms.VARIABLE, "{}")  # so that what is announced does not outlive the test


def answered(asked: Asked) -> Reply:
    """Answers as an endpoint that knows one key and one model does."""
    if asked.headers.get("authorization") != f"Bearer {KEY}":
        return Reply(refusal("no such key", code="invalid_api_key"), 401)
    if asked.body["model"] == "shy":
        return Reply(completion("", finish="length"))
    if asked.body["model"] != "known":
        return Reply(refusal("no such model"), 404)
    return Reply(completion("Yes, indeed."))


def configured(url: str, tmp_path: Path, models: dict[str, dict[str, Any]], **more: Any) -> Config:
    whole = {
        name: {"engine": "openai", "model": "known", "base_url": url, "api_key_env": "MY_KEY", **fields}
        for name, fields in models.items()
    }
    raw = {
        "models": {**whole, "forest": {"engine": "embedded", "method": "forest"}},
        "chatbots": list(whole),
        "judges": ["forest"],
        "corpora": {"bundled": {"reader": "bundled", "language": "en"}},
        "seeds": {"corpus": "bundled"},
        "store_dir": str(tmp_path / "store"),
        **more,
    }
    return load_config(raw)


def test_each_model_is_asked_once_and_cheaply(tmp_path: Path) -> None:
    with LoopbackEndpoint(answered) as endpoint:
        found = asked_once(configured(endpoint.url, tmp_path, {"one": {}, "two": {"batch": True}}))
    assert [(one.state, one.about) for one in found] == [(State.OK, "models.one"), (State.OK, "models.two")]
    assert found[0].words == "was asked, and answered 'Yes, indeed.' (11 tokens read, 3 written)"
    assert [asked.body["max_tokens"] for asked, _ in endpoint.log] == [MAX_TOKENS, MAX_TOKENS]


def test_what_is_wrong_is_told_with_its_remedy_and_without_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WRONG_KEY", "wrong-0123456789")
    models: dict[str, dict[str, Any]] = {
        "unknown": {"model": "unknown"},
        "stranger": {"api_key_env": "WRONG_KEY"},
        "nowhere": {"base_url": "http://127.0.0.1:9/v1"},
        "shy": {"model": "shy"},
    }
    with LoopbackEndpoint(answered) as endpoint:
        found = {one.about: one for one in asked_once(configured(endpoint.url, tmp_path, models))}
    told = {about.removeprefix("models."): one.words for about, one in found.items()}
    assert "correct `model`, or `base_url`" in told["unknown"]
    assert "put the right key into the variable" in told["stranger"]
    assert "start the endpoint, or correct `base_url`" in told["nowhere"]
    assert [one.state for one in found.values()] == [State.MISSING, State.MISSING, State.MISSING, State.OK]
    assert not any("0123456789" in words for words in told.values())
    assert len(endpoint.log) == 3, "nothing is tried again"


def test_prices_are_told_and_what_was_spent_is_written_down(tmp_path: Path) -> None:
    priced = {"price_input": 1000.0, "price_output": 2000.0}
    with LoopbackEndpoint(answered) as endpoint:
        (found,) = asked_once(configured(endpoint.url, tmp_path, {"one": priced}, budget=1.0))
        assert found.words.endswith(" for 0.017000")
        spent = [path.read_text() for path in (tmp_path / "store").rglob("*") if path.is_file()]
        assert any(json.dumps("check") in text for text in spent), spent


def test_a_budget_that_is_used_up_asks_nothing(tmp_path: Path) -> None:
    priced = {"price_input": 1e6, "price_output": 1e6}
    with LoopbackEndpoint(answered) as endpoint:
        (found,) = asked_once(configured(endpoint.url, tmp_path, {"one": priced}, budget=1.0))
    assert found.state is State.MISSING
    assert "budget" in found.words
    assert endpoint.log == []
