"""Published models in the configuration: mistakes are found before anything runs."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from dialeval.config import load_config
from dialeval.errors import UserError

ROOT = Path(__file__).parents[2]
BASE: dict[str, Any] = {
    "models": {
        "bot": {"engine": "published", "dialogues": "convs.tsv"},
        "judge": {"engine": "published", "unieval": "u.tsv", "gteval": "g.tsv", "names": {"b": "bot"}},
    },
    "chatbots": ["bot"],
    "judges": ["judge"],
    "corpora": {"bundled": {"reader": "bundled"}},
    "seeds": {"corpus": "bundled"},
    "protocols": {"unieval": {}, "gteval": {}},
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name in ("convs.tsv", "u.tsv", "g.tsv", "a8.tsv", "a16.tsv"):
        (tmp_path / name).touch()
    return tmp_path


def changed(data: Path, model: str = "judge", drop: str = "", **fields: Any) -> dict[str, Any]:
    raw = copy.deepcopy(BASE) | {"data_dir": str(data)}
    raw["models"][model] |= fields
    raw["models"][model].pop(drop, None)
    return raw


def test_files_lie_in_data_dir(data: Path) -> None:
    config = load_config(changed(data))
    assert config.published_dialogues("bot") == data / "convs.tsv"
    assert config.published_answers("judge", "gteval") == [data / "g.tsv"]
    assert config.published_answers("judge", "arena") == []


def test_arena_has_a_file_for_each_n(data: Path) -> None:
    raw = changed(data, arena={16: "a16.tsv", 8: "a8.tsv"})
    raw["protocols"]["arena"] = {"n_utterances": [8, 16]}
    assert load_config(raw).published_answers("judge", "arena") == [data / "a8.tsv", data / "a16.tsv"]
    raw["models"]["judge"]["arena"] = {8: "a8.tsv"}
    with pytest.raises(UserError, match=r"judges: 'judge'.*models\.judge\.arena\.16"):
        load_config(raw)


@pytest.mark.parametrize(
    ("model", "drop", "fields", "words"),
    [
        ("bot", "dialogues", {}, ["chatbots: 'bot'", "without dialogues", "models.bot.dialogues"]),
        ("judge", "gteval", {}, ["judges: 'judge'", "protocols.gteval", "remove the protocol"]),
        ("judge", "", {"names": {"b": "bott"}}, ["models.judge.names", "'bott' is not a model", "did you mean 'bot'"]),
        ("judge", "", {"names": {"GT": "bot"}}, ["models.judge.names", "GT always"]),
        (
            "judge",
            "",
            {"names": {"b": "bot", "c": "bot"}},
            ["models.judge.names", "two names in the files stand for bot"],
        ),
        ("judge", "", {"unieval": "no.tsv"}, ["models.judge.unieval: ", "no.tsv does not exist", "data_dir"]),
        ("bot", "", {"dialogues": "no.tsv"}, ["models.bot.dialogues: ", "no.tsv does not exist"]),
        ("bot", "", {"shards": 2}, ["models.bot.shards", "2"]),
        ("bot", "", {"dialogs": "x"}, ["models.bot.dialogs", "did you mean 'dialogues'"]),
    ],
)
def test_a_mistake_is_reported(data: Path, model: str, drop: str, fields: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        load_config(changed(data, model, drop, **fields))
    for word in words:
        assert word in str(caught.value)


def test_the_shipped_configuration_names_the_authors_columns(data: Path) -> None:
    raw = yaml.safe_load((ROOT / "configs" / "botchat-published.yaml").read_text(encoding="utf-8"))
    folder = data / "botchat"
    folder.mkdir()
    for name in ("MuTual_test.xlsx", "MuTualTest-convs.tsv", "UniEval.tsv", "GTEval.tsv"):
        (folder / name).touch()
    config = load_config({**raw, "data_dir": str(data)})
    assert len(config.chatbots) == 14
    assert sorted(config.published_sources()) == sorted(
        [*(f"models.{name}.dialogues" for name in config.chatbots), "models.GPT-4.unieval", "models.GPT-4.gteval"]
    )
