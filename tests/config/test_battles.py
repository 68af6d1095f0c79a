"""A configuration of nothing but battles, and the families of models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dialeval.config import load_config
from dialeval.errors import UserError


@pytest.fixture
def battles(tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "mine.csv").write_text("left,right,winner\na,b,left\n", encoding="utf-8")
    return {"data_dir": str(tmp_path), "battles": {"mine": {"path": "mine.csv"}}}


def test_battles_need_no_models(battles: dict[str, Any], tmp_path: Path) -> None:
    config = load_config(battles)
    assert config.models == {}
    assert config.battles_path("mine") == tmp_path / "mine.csv"
    columns = dict.fromkeys(("left", "right", "winner", "cluster"))
    assert config.battles["mine"].columns() == columns | {"outcomes": {}}


def test_numbers_that_stand_for_winners_are_words(battles: dict[str, Any]) -> None:
    battles["battles"]["mine"]["outcomes"] = {1: "left", 2.0: "right", 1.5: "tie", "": "skip"}
    outcomes = load_config(battles).battles["mine"].outcomes
    assert outcomes == {"1": "left", "2": "right", "1.5": "tie", "": "skip"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"battles": {}}, ["models: this field is needed", "seeds: this field is needed"]),
        ({"battles": {"mine": {}}}, ["battles.mine.path: this field is needed"]),
        ({"battles": {"mine": {"path": "x.csv"}}}, ["battles.mine.path: ", "x.csv does not exist", "data_dir"]),
        ({"battles": {"mine": {"path": "x.csv", "lft": "a"}}}, ["battles.mine.lft: there is no such field", "'left'"]),
        (
            {"battles": {"mine": {"path": "mine.csv", "outcomes": {"A": "won"}}}},
            ["battles.mine.outcomes.A: 'won'", "skip"],
        ),
        ({"battles": {"mine": {"path": "mine.csv", "outcomes": {True: "left"}}}}, ["battles.mine.outcomes"]),
        ({"models": {}}, ["corpora: this field is needed"]),
        ({"judges": ["forest"]}, ["judges: 'forest' is not a model"]),
    ],
)
def test_a_mistake_is_reported(battles: dict[str, Any], changes: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        load_config(battles | changes)
    for word in words:
        assert word in str(caught.value)


def test_a_family_is_no_part_of_any_settings() -> None:
    model = {"engine": "embedded", "method": "generic"}
    raw = {
        "models": {"plain": model, "kin": model | {"family": "stock"}},
        "chatbots": ["plain", "kin"],
        "corpora": {"bundled": {"reader": "bundled"}},
        "seeds": {"corpus": "bundled"},
    }
    config = load_config(raw)
    assert config.families() == {"plain": "plain", "kin": "stock"}
    assert config.models["plain"].canonical() == config.models["kin"].canonical()
