"""A tiny decoder at its random start, and what trains it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dialeval.config import VllmModel
from dialeval.prompts.rendering import Templates
from dialeval.tables.files import to_table, write_table
from dialeval.tables.training import TRAINING_EXAMPLES

Row = dict[str, Any]


@pytest.fixture(scope="session")
def decoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the tiny decoder."""
    from dialeval.engines.tiny_model import build_tiny_model

    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    folder = tmp_path_factory.mktemp("models") / "tiny-model"
    build_tiny_model(folder, steps=0, random_seed=1)
    return folder


@pytest.fixture(scope="session")
def judge(decoder: Path) -> Callable[..., VllmModel]:
    """Return the configuration of a judge: `judge(rank=8, ...)` with fields of `lora`."""

    def configuration(**learning: Any) -> VllmModel:
        fields: Row = {
            "train": ["turns"],
            "gpus": 0,
            "target_modules": ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
            "learning_rate": 5e-3,
            "batch_size": 16,
            "micro_batch_size": 8,
            "cutoff": 512,
            "evaluations": 3,
        }
        return VllmModel(engine="vllm", model=str(decoder), dtype="float32", lora=fields | learning, enforce_eager=True)

    return configuration


@pytest.fixture(scope="session")
def train(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Trains a judge and returns the folder: `train(model, rows, folder=...)`."""
    from dialeval.stages import training

    def trained(model: VllmModel, *sets: list[Row], folder: Path | None = None, random_seed: int = 0) -> Path:
        folder = folder or tmp_path_factory.mktemp("trained")
        tables = []
        for number, rows in enumerate(sets):
            tables.append(folder / f"examples-{number}.parquet")
            write_table(tables[-1], TRAINING_EXAMPLES, to_table(TRAINING_EXAMPLES, rows))
        training.train_lora(
            training.TrainLoraSettings(name="judge", model=model, random_seed=random_seed),
            tables,
            folder / "trained" / "judge",
            folder / "trained" / "judge.digest",
            folder / "checkpoints" / "judge",
            Templates(),
            code="",
        )
        return folder / "trained" / "judge"

    return trained
