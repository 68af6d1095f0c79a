"""Mistakes in a configuration are found before anything runs, in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from config_example import changed

from dialeval.config import Config, load_config, read_config_file
from dialeval.errors import UserError

ROOT = Path(__file__).parents[2]
BASE: dict[str, Any] = {
    "models": {
        "retrieval": {"engine": "embedded", "method": "retrieval"},
        "forest": {"engine": "embedded", "method": "forest"},
    },
    "chatbots": ["retrieval"],
    "judges": ["forest"],
    "corpora": {"bundled": {"reader": "bundled"}},
    "seeds": {"corpus": "bundled"},
}


def with_change(path: str, value: Any) -> dict[str, Any]:
    return changed(path, value, BASE)


def test_a_correct_configuration_is_taken() -> None:
    config = load_config(BASE)
    assert config.selfchat.n_utterances == 16
    assert config.used_corpora() == ["bundled"]


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("chatbotz", ["retrieval"], ["chatbotz", "no such field", "did you mean 'chatbots'"]),
        ("elo.kk", 3, ["elo.kk", "did you mean 'k'"]),
        ("models.retrieval.methd", "ngram", ["models.retrieval.methd", "did you mean 'method'"]),
        ("models.retrieval.method", "retrieve", ["models.retrieval.method", "'retrieve'", "did you mean 'retrieval'"]),
        ("models.gpt", {"engine": "opnai", "model": "x"}, ["models.gpt.engine", "'opnai'", "did you mean 'openai'"]),
        ("models.gpt", {"model": "x"}, ["models.gpt.engine"]),
        ("judges", ["forrest"], ["judges", "'forrest' is not a model", "did you mean 'forest'"]),
        ("judges", ["retrieval"], ["judges", "'retrieval'", "cannot serve", "forest"]),
        ("chatbots", ["retrieval", "retrieval"], ["chatbots", "listed twice"]),
        ("seeds.corpus", "bundeld", ["seeds.corpus", "'bundeld'", "did you mean 'bundled'"]),
        ("selfchat.n_utterances", "many", ["selfchat.n_utterances", "'many'", "integer"]),
        ("random_seed", -1, ["random_seed", "-1", "greater than or equal to 0"]),
        ("corpora.mine", {"reader": "jsonl"}, ["corpora.mine", "needs a path"]),
        ("corpora.bundled.path", "x.jsonl", ["corpora.bundled", "takes no path"]),
        ("protocols.arena.n_utterances", [20], ["protocols.arena.n_utterances", "20", "16"]),
        ("models.human", {"engine": "embedded", "method": "ngram"}, ["'human'", "choose another name"]),
        ("models.Retrieval", {"engine": "embedded", "method": "ngram"}, ["'retrieval'", "'Retrieval'", "case"]),
        ("models.retrieval.learn_from", ["mutual"], ["models.retrieval.learn_from", "'mutual' is not a corpus"]),
        ("models", {}, ["models", "at least 1 item"]),
    ],
)
def test_a_mistake_is_told_with_field_value_and_remedy(path: str, value: Any, words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        load_config(with_change(path, value))
    for word in words:
        assert word in str(caught.value)


def test_all_mistakes_come_in_one_message() -> None:
    raw = with_change("elo.kk", 3) | {"random_seed": "x"}
    with pytest.raises(UserError, match="2 mistakes"):
        load_config(raw)


def test_a_missing_file_is_told_with_the_path_and_data_dir(tmp_path: Path) -> None:
    raw = with_change("corpora.mine", {"reader": "jsonl", "path": "mine.jsonl"})
    raw["seeds"] = {"corpus": "mine"}
    raw["data_dir"] = str(tmp_path)
    with pytest.raises(UserError, match=r"corpora\.mine\.path.*mine\.jsonl does not exist.*data_dir"):
        load_config(raw)


def test_a_corpus_that_nobody_uses_may_be_missing() -> None:
    load_config(with_change("corpora.unused", {"reader": "jsonl", "path": "/nowhere/x.jsonl"}))


def test_two_models_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("models:\n  a: {engine: embedded, method: ngram}\n  a: {engine: embedded, method: random}\n")
    with pytest.raises(UserError, match=r"line 3: 'models\.a' is there twice"):
        read_config_file(path)


def test_every_field_is_described() -> None:
    def undescribed(schema: dict[str, Any], name: str) -> list[str]:
        return [
            f"{name}.{field}"
            for field, content in schema.get("properties", {}).items()
            if not {"description", "$ref", "const", "anyOf"} & set(content)
        ]

    schema = Config.model_json_schema()
    missing = undescribed(schema, "Config")
    for name, part in schema["$defs"].items():
        missing += undescribed(part, name)
    assert not missing


SHIPPED = [ROOT / "config.yaml", *sorted((ROOT / "configs").glob("*.yaml"))]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_every_shipped_configuration_is_valid(path: Path) -> None:
    Config.model_validate(read_config_file(path))


def test_the_same_settings_are_the_same_text() -> None:
    one = load_config(with_change("models.gpt", {"engine": "openai", "model": "m", "base_url": "http://x/v1"}))
    other = load_config(with_change("models.gpt", {"base_url": "http://x/v1", "model": "m", "engine": "openai"}))
    assert one.models["gpt"].canonical() == other.models["gpt"].canonical()
