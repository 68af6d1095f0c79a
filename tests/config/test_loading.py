"""Mistakes in a configuration are found before anything runs, in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from config_example import changed

from dialeval.config import Config, load_config, read_config_file
from dialeval.config.files import WRITTEN_DOWN
from dialeval.config.loading import HIDDEN, write_configuration, written
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
        ("judges", ["retrieval"], ["judges", "'retrieval'", "cannot use (unieval)", "forest"]),
        ("chatbots", ["retrieval", "retrieval"], ["chatbots", "listed twice"]),
        ("seeds.corpus", "bundeld", ["seeds.corpus", "'bundeld'", "did you mean 'bundled'"]),
        ("selfchat.n_utterances", "many", ["selfchat.n_utterances", "'many'", "integer"]),
        ("random_seed", -1, ["random_seed", "-1", "greater than or equal to 0"]),
        ("corpora.mine", {"reader": "jsonl"}, ["corpora.mine", "needs a path"]),
        ("corpora.bundled.path", "x.jsonl", ["corpora.bundled", "has no file; remove path"]),
        ("protocols.arena.n_utterances", [20], ["protocols.arena.n_utterances", "20", "16"]),
        ("models.human", {"engine": "embedded", "method": "ngram"}, ["'human'", "choose another name"]),
        ("models.Retrieval", {"engine": "embedded", "method": "ngram"}, ["'retrieval'", "'Retrieval'", "case"]),
        ("models.retrieval.learn_from", ["mutual"], ["models.retrieval.learn_from", "'mutual' is not a corpus"]),
        ("models", {}, ["models", "at least 1 item"]),
    ],
)
def test_a_mistake_is_reported_with_field_value_and_remedy(path: str, value: Any, words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        load_config(with_change(path, value))
    for word in words:
        assert word in str(caught.value)


def test_all_mistakes_come_in_one_message() -> None:
    raw = with_change("elo.kk", 3) | {"random_seed": "x"}
    with pytest.raises(UserError, match="2 mistakes"):
        load_config(raw)


def test_a_missing_file_is_reported_with_the_path_and_data_dir(tmp_path: Path) -> None:
    raw = with_change("corpora.mine", {"reader": "jsonl", "path": "mine.jsonl"})
    raw["seeds"] = {"corpus": "mine"}
    raw["data_dir"] = str(tmp_path)
    with pytest.raises(UserError, match=r"corpora\.mine\.path.*mine\.jsonl does not exist.*data_dir"):
        load_config(raw)


@pytest.mark.parametrize("address", ["hf://datasets/owner/name@main", "https://example.org/mine.jsonl"])
def test_an_address_in_place_of_a_file_is_refused_with_the_command_that_fetches(address: str, tmp_path: Path) -> None:
    raw = with_change("corpora.mine", {"reader": "jsonl", "path": address})
    raw["seeds"] = {"corpus": "mine"}
    raw["data_dir"] = str(tmp_path)
    with pytest.raises(
        UserError, match=r"corpora\.mine\.path: a run reads local files.*dialeval init FOLDER --dialogues"
    ):
        load_config(raw)


def test_an_unused_corpus_may_be_missing() -> None:
    load_config(with_change("corpora.unused", {"reader": "jsonl", "path": "/nowhere/x.jsonl"}))


def test_two_models_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("models:\n  a: {engine: embedded, method: ngram}\n  a: {engine: embedded, method: random}\n")
    with pytest.raises(UserError, match=r"line 3: 'models.a' occurs twice"):
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


# The configuration that is written down beside the results: whole, readable again, without secrets.

CONFIGURATIONS = [ROOT / "config.yaml", *sorted((ROOT / "configs").glob("*.yaml"))]
KEY = "zQ9-not-of-any-known-shape"


def of_file(path: Path) -> Config:
    return load_config(yaml.safe_load(path.read_text(encoding="utf-8")), files_are_there=False)


def with_endpoint(**fields: object) -> Config:
    model = {"engine": "openai", "model": "m", "api_key_env": "MY_KEY", **fields}
    return load_config({"models": {"m": model}, "chatbots": ["m"], "corpora": {"b": {"reader": "bundled"}},
                        "seeds": {"corpus": "b"}})  # fmt: skip


@pytest.mark.parametrize("path", CONFIGURATIONS, ids=lambda path: path.stem)
def test_what_is_written_is_the_same_configuration_and_stays_as_it_is(path: Path) -> None:
    config = of_file(path)
    text = written(config)
    again = load_config(yaml.safe_load(text), files_are_there=False)
    assert again == config
    assert written(again) == text


def test_defaults_and_what_changes_no_answer_are_written_too() -> None:
    content = yaml.safe_load(written(with_endpoint(family="fam", tags=["small"])))
    assert content["models"]["m"]["family"] == "fam"
    assert content["models"]["m"]["tags"] == ["small"]
    assert content["models"]["m"]["max_tries"] == 8
    assert content["selfchat"]["temperature"] == 0.0
    assert content["random_seed"] == 0
    assert "organisation" not in content["models"]["m"]


def test_a_key_is_written_nowhere_but_its_variables_name_is() -> None:
    config = with_endpoint(headers={"X-Note": f"see {KEY}"}, headers_env={"X-Key": "OTHER"})
    text = written(config, {"MY_KEY": KEY, "OTHER": "another-one"})
    assert KEY not in text
    assert yaml.safe_load(text)["models"]["m"]["headers"] == {"X-Note": HIDDEN}
    assert yaml.safe_load(text)["models"]["m"]["api_key_env"] == "MY_KEY"
    assert KEY in written(config, {})  # what no variable holds and looks like no key is no secret that we can know


def test_what_looks_like_a_key_is_hidden() -> None:
    assert "gsk_abcdefghijk" not in written(with_endpoint(headers={"X-Note": "gsk_abcdefghijk"}), {})
    assert "hf_abcdefghijk" not in written(with_endpoint(headers={"X-Note": "hf_abcdefghijk"}), {})
    assert "hf-internal-testing/tiny" in written(with_endpoint(model="hf-internal-testing/tiny"), {})  # no key


def test_a_file_that_says_the_same_is_left_alone(tmp_path: Path) -> None:
    config = with_endpoint().model_copy(update={"results_dir": tmp_path})
    write_configuration(config)
    before = (tmp_path / WRITTEN_DOWN).stat()
    write_configuration(config)
    assert (tmp_path / WRITTEN_DOWN).stat().st_mtime_ns == before.st_mtime_ns
    assert [path.name for path in tmp_path.iterdir()] == [WRITTEN_DOWN]
    write_configuration(config.model_copy(update={"random_seed": 7}))
    assert yaml.safe_load((tmp_path / WRITTEN_DOWN).read_text(encoding="utf-8"))["random_seed"] == 7
