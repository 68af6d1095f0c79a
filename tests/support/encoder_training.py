"""Trainings of tiny encoders on bundled dialogues, in this process or in one that can be killed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from dialeval.config import EncoderModel
from dialeval.tables.files import read_table, write_table
from dialeval.tables.training import TRAINING_CURVE, TRAINING_EXAMPLES, TRAINING_RUNS, TRAINING_SCORES

SHORT: dict[str, Any] = {
    "data": "set", "gpus": 0, "batch_size": 16, "learning_rate": 3e-3, "dropout": 0.1, "evaluations": 3, "max_steps": 9,
}  # fmt: skip
"""A training of seconds."""


class Trained(NamedTuple):
    """What a training left."""

    folder: Path
    digest: Path
    checkpoints: Path

    def weights(self) -> dict[str, bytes]:
        """Return the weights' files."""
        return {path.name: path.read_bytes() for path in sorted(self.folder.glob("*.safetensors"))}

    def rows(self, file: str) -> list[dict[str, Any]]:
        """Return the rows of a table of its folder."""
        kind = {"scores": TRAINING_SCORES, "curve": TRAINING_CURVE, "run": TRAINING_RUNS}[file]
        return list(read_table(self.folder / f"{file}.parquet", kind).to_pylist())


def made_set(path: Path, level: str, kinds: Iterable[str] | None = None, **recipe: Any) -> Path:
    """Make a training set of bundled dialogues, two domains of the English ones."""
    from dialeval.corpora.dialogues import utterance_table
    from dialeval.corpora.readers import read_corpus
    from dialeval.stages import training
    from dialeval.tables.dialogues import UTTERANCES
    from dialeval.training.training_sets import Recipe

    table = utterance_table("all", read_corpus("bundled", None, "en"))
    names = sorted(set(table["dialogue_id"].to_pylist()))
    tables = []
    for number, corpus in enumerate(("home", "away")):
        mine = pa.array([name in set(names[number::2]) for name in table["dialogue_id"].to_pylist()])
        part = table.filter(mine)
        part = part.set_column(0, "corpus", pa.array([corpus] * len(part), pa.string()))
        tables.append(path.with_name(f"{corpus}.parquet"))
        write_table(tables[-1], UTTERANCES, part)
    fields: dict[str, Any] = {"domains": {"home": ["home"], "away": ["away"]}, "max_context": 1, "held_out": 0.2}
    made = Recipe(name="set", level=level, perturbations=None if kinds is None else list(kinds), **fields | recipe)
    training.make_training_data(made, tables, [], path)
    return path


def with_drawn_labels(examples: Path, path: Path) -> Path:
    """Write a set whose pairs are turned around by chance, so that there is nothing to learn."""
    import numpy as np

    table = read_table(examples, TRAINING_EXAMPLES)
    rows = table.to_pylist()
    rng = np.random.default_rng(5)
    for true, spoiled in zip(rows[::2], rows[1::2], strict=True):
        if rng.random() < 0.5:
            for field in ("utterances", "speakers"):
                true[field], spoiled[field] = spoiled[field], true[field]
    write_table(path, TRAINING_EXAMPLES, pa.Table.from_pylist(rows, TRAINING_EXAMPLES.schema))
    return path


def settings(encoder: Path, model: dict[str, Any], train: dict[str, Any], random_seed: int = 0) -> dict[str, Any]:
    fields = {"engine": "encoder", "model": str(encoder), "max_tokens": 48, "gpus": 0, "train": SHORT | train}
    return {"name": "poe", "model": fields | model, "random_seed": random_seed}


def places(folder: Path) -> Trained:
    return Trained(folder / "trained" / "poe", folder / "trained" / "poe.digest", folder / "checkpoints" / "poe")


def train(
    folder: Path,
    encoder: Path,
    examples: Path,
    *,
    random_seed: int = 0,
    model: dict[str, Any] | None = None,
    **fields: Any,
) -> Trained:
    """Trains in this process."""
    from dialeval.stages import training

    made = places(folder)
    training.train_encoder(
        training.TrainEncoderSettings.model_validate(settings(encoder, model or {}, fields, random_seed)),
        examples, *made, code="",
    )  # fmt: skip
    return made


def arguments(folder: Path, encoder: Path, examples: Path, **fields: Any) -> list[str]:
    """Return the stage and its options, with which a process of its own trains."""
    made = places(folder)
    return [
        "train_encoder", "--settings", json.dumps(settings(encoder, {}, fields)), "--examples", str(examples),
        "--trained", str(made.folder), "--digest", str(made.digest), "--checkpoints", str(made.checkpoints),
    ]  # fmt: skip


def model_of(**fields: Any) -> EncoderModel:
    return EncoderModel(**{"engine": "encoder", "model": "m", "train": SHORT} | fields)
