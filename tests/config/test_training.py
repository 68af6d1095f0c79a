"""What a configuration need not say where judges are trained, and nothing else is asked for."""

from __future__ import annotations

import pytest

from dialeval.config import load_config
from dialeval.errors import UserError

ALONE = {
    "corpora": {"mine": {"reader": "bundled", "language": "en"}},
    "training": {"turns": {"level": "turn", "domains": {"daily": ["mine"]}}},
    "models": {"poe": {"engine": "encoder", "model": "tiny", "train": {"data": "turns"}}},
    "judges": ["poe"],
}


def test_a_judge_can_be_trained_and_asked_nothing() -> None:
    config = load_config(ALONE, files_are_there=False)
    assert (config.used_training(), config.talks(), config.seeds.corpus) == (["turns"], False, "mine")


def test_a_judge_that_is_not_trained_here_must_be_asked_something() -> None:
    models = {**ALONE["models"], "other": {"engine": "embedded", "method": "forest"}}
    with pytest.raises(UserError, match="'other' is asked nothing"):
        load_config({**ALONE, "models": models, "judges": ["poe", "other"]}, files_are_there=False)


@pytest.mark.parametrize("name", ["training", "translation"])
def test_a_protocol_takes_no_parts_folder(name: str) -> None:
    protocols = {name: {"form": "pair", "of": {"source": "selfchat"}}}
    with pytest.raises(UserError, match=f"'{name}' is the name of a part of the run"):
        load_config({**ALONE, "protocols": protocols}, files_are_there=False)
