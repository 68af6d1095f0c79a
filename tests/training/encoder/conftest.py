"""A tiny encoder and sets of bundled dialogues, made once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from encoder_training import Trained, made_set, train
from tiny_metrics import tiny_encoder


@pytest.fixture(scope="session")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("encoder") / "tiny")


@pytest.fixture(scope="session")
def turns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Responses and the same with words twice."""
    return made_set(tmp_path_factory.mktemp("turns") / "examples.parquet", "turn", ["repetition"])


@pytest.fixture(scope="session")
def dialogues(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Dialogues, and the same spoiled in ways that lower two criteria."""
    kinds = ["utterance_duplication", "content_reduction", "generic_utterance"]
    criteria = ["engagingness", "informativeness"]
    return made_set(tmp_path_factory.mktemp("dialogues") / "examples.parquet", "dialogue", kinds, criteria=criteria)


@pytest.fixture(scope="session")
def panel(encoder: Path, turns: Path, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """A panel of two heads after a short training."""
    return train(tmp_path_factory.mktemp("panel"), encoder, turns)


@pytest.fixture
def trained(encoder: Path, turns: Path, tmp_path: Path) -> Callable[..., Trained]:
    """Trains on the turns, with changes."""

    def make(name: str = "one", **fields: Any) -> Trained:
        return train(tmp_path / name, fields.pop("encoder", encoder), fields.pop("examples", turns), **fields)

    return make
