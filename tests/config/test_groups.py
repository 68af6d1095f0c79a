"""Kinds and tags of models: what they group, and that they change no settings."""

from __future__ import annotations

from typing import Any

import pytest

from dialeval.config import load_config
from dialeval.config.groups import grouped, kinds, tagged, unknown_in_group
from dialeval.errors import UserError


def with_models(**models: dict[str, Any]) -> dict[str, Any]:
    return {
        "models": {name: {"engine": "embedded", "method": "generic", **model} for name, model in models.items()},
        "chatbots": [*models],
        "corpora": {"bundled": {"reader": "bundled"}},
        "seeds": {"corpus": "bundled"},
    }


def test_kinds_and_tags_group_models_in_the_order_of_the_configuration() -> None:
    config = load_config(
        with_models(
            b={"kind": "base", "tags": ["open", "small"]}, plain={}, a={"kind": "chat", "tags": ["closed", "open"]}
        )
    )
    assert kinds(config) == {"b": "base", "a": "chat"}
    assert tagged(config) == {"open": ["b", "a"], "small": ["b"], "closed": ["a"]}
    assert grouped(config, ["plain", "open"]) == ["plain", "b", "a"]
    assert grouped(config, ["a", "open", "ready"]) == ["a", "b", "ready"]
    assert [entry for entry, _ in unknown_in_group(config, ["opne", "a", "small", "ready"], ["ready"])] == ["opne"]
    assert "did you mean 'open'" in dict(unknown_in_group(config, ["opne"]))["opne"]


def test_neither_is_part_of_any_settings() -> None:
    config = load_config(with_models(plain={}, said={"kind": "chat", "tags": ["open"]}))
    assert config.models["plain"].canonical() == config.models["said"].canonical()


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ({"tags": ["other"]}, ["models.one.tags", "'other' is a name under models, too", "choose another tag"]),
        ({"tags": ["open", "open"]}, ["models.one.tags", "open is listed twice"]),
        ({"tags": ["open source"]}, ["models.one.tags", "open source"]),
        ({"tags": "open"}, ["models.one.tags"]),
        ({"kind": "instruct"}, ["models.one.kind", "known: base, chat"]),
    ],
)
def test_a_mistake_is_told(model: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        load_config(with_models(one=model, other={}))
    for word in words:
        assert word in str(caught.value)
