"""An adapter that a tiny decoder learns: what the job leaves, that it is repeatable, what is said."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest
from forked_training import ended, started
from lora_examples import examples_of

from dialeval.config import VllmModel
from dialeval.config.training import LoraTraining
from dialeval.engines.vllm_engine.model_files import folder_digest
from dialeval.errors import UserError
from dialeval.tables.files import read_table, to_table, write_table
from dialeval.tables.training import TRAINING_CURVE, TRAINING_EXAMPLES, TRAINING_RUNS, TRAINING_SCORES
from dialeval.training.running import steps_of, training_arguments
from dialeval.training.weights import newest_checkpoint

pytestmark = pytest.mark.train
EXAMPLES = examples_of(40)


@pytest.fixture(scope="module")
def trained(judge: Callable[..., VllmModel], train: Callable[..., Path]) -> Path:
    """The folder of an adapter that was trained without a disturbance."""
    return train(judge(), EXAMPLES)


def test_the_folder_holds_adapter_scores_curve_and_run(trained: Path) -> None:
    assert {path.name for path in trained.iterdir()} == {
        "adapter_config.json", "adapter_model.safetensors", "scores.parquet", "curve.parquet", "run.parquet",
    }  # fmt: skip
    held_out = {row["example_id"] for row in EXAMPLES if row["part"] == "held_out"}
    scores = read_table(trained / "scores.parquet", TRAINING_SCORES)
    for moment in ("before", "after"):
        rows = scores.filter(pc.field("moment") == moment)
        assert {*rows["example_id"].to_pylist()} == held_out
        assert len(rows) == len(held_out)
    (run,) = read_table(trained / "run.parquet", TRAINING_RUNS).to_pylist()
    assert run["n_examples"] == 48
    assert (run["steps"], run["best_step"], run["epochs"]) == (9, 9, 3.0)
    assert run["parameters"] > run["trained_parameters"] > 0
    assert run["device"] == "CPU"
    assert not list(trained.parents[1].glob("checkpoints/judge/*/checkpoint-*"))


@pytest.mark.parametrize(("max_steps", "steps"), [(None, 30), (1000, 30), (7, 7)])
def test_a_training_ends_at_the_smaller_of_epochs_and_steps(tmp_path: Path, max_steps: int | None, steps: int) -> None:
    learning = LoraTraining(train=["pairs"], epochs=3, max_steps=max_steps, gpus=0)
    assert steps_of(learning, 1280) == steps
    arguments = training_arguments(learning, tmp_path, steps, 0)
    assert arguments.max_steps == (-1 if max_steps is None else steps)  # it takes precedence over epochs


def test_the_loss_falls_and_the_answers_are_learned(trained: Path) -> None:
    curve = read_table(trained / "curve.parquet", TRAINING_CURVE).to_pylist()
    evaluations = [row for row in curve if row["measured"] == "development"]
    assert [row["step"] for row in evaluations] == [3, 6, 9]
    assert evaluations[-1]["loss"] < evaluations[0]["loss"]
    training = [row["loss"] for row in curve if row["measured"] == "training"]
    assert training[-1] < training[0] - 2
    (run,) = read_table(trained / "run.parquet", TRAINING_RUNS).to_pylist()
    assert run["label_mass_after"] > 1.5 * run["label_mass_before"]


def test_the_adapter_says_nothing_of_this_machine(trained: Path, decoder: Path) -> None:
    settings = json.loads((trained / "adapter_config.json").read_text())
    assert settings["r"] == 8
    assert settings["base_model_name_or_path"] == decoder.name
    assert str(decoder.parent) not in (trained / "adapter_config.json").read_text()
    assert (trained / "adapter_model.safetensors").stat().st_mode & 0o777 == 0o644


def _arguments(folder: Path, model: VllmModel) -> list[str]:
    write_table(folder / "examples-0.parquet", TRAINING_EXAMPLES, to_table(TRAINING_EXAMPLES, EXAMPLES))
    settings = {"name": "judge", "model": json.loads(model.canonical()), "random_seed": 0}
    return [
        "train_lora", "--settings", json.dumps(settings),
        "--examples", str(folder / "examples-0.parquet"), "--trained", str(folder / "trained" / "judge"),
        "--digest", str(folder / "trained" / "judge.digest"), "--checkpoints", str(folder / "checkpoints" / "judge"),
    ]  # fmt: skip


def test_killed_in_mid_training_it_ends_in_the_weights_of_an_undisturbed_run(
    judge: Callable[..., VllmModel], trained: Path, tmp_path: Path
) -> None:
    arguments, log = _arguments(tmp_path, judge()), tmp_path / "log"
    process = started(arguments, log)
    deadline = time.monotonic() + 240
    while not any(map(newest_checkpoint, tmp_path.glob("checkpoints/judge/*"))):  # a whole one
        assert process.exitcode is None, log.read_text()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.join()
    assert not (tmp_path / "trained").exists()
    assert ended(started(arguments, log)) == 0, log.read_text()
    assert "resuming from" in log.read_text()
    adapter = "adapter_model.safetensors"
    assert (tmp_path / "trained" / "judge" / adapter).read_bytes() == (trained / adapter).read_bytes()
    assert (tmp_path / "trained" / "judge.digest").read_bytes() == trained.with_suffix(".digest").read_bytes()
    curve = read_table(tmp_path / "trained" / "judge" / "curve.parquet", TRAINING_CURVE)
    assert curve.equals(read_table(trained / "curve.parquet", TRAINING_CURVE))


def test_the_same_training_is_not_done_twice_and_another_is(
    judge: Callable[..., VllmModel], train: Callable[..., Path], trained: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder, before = trained.parents[1], folder_digest(trained)
    started = time.monotonic()
    train(judge(), EXAMPLES, folder=folder)
    assert "the same training has finished before" in capfd.readouterr().out
    assert time.monotonic() - started < 10
    assert folder_digest(trained) == before
    other = train(judge(rank=4, max_steps=1), EXAMPLES)
    assert json.loads((other / "adapter_config.json").read_text())["r"] == 4
    assert folder_digest(other) != before


@pytest.mark.parametrize(
    ("fields", "learning", "words"),
    [
        ({}, {"target_modules": ["q_proj", "W_pack"]}, r"has no W_pack; its projections are down_proj, .*q_proj"),
        ({}, {"cutoff": 8192}, r"lora\.cutoff: 8192 tokens are beyond the window of .*, 4096; set cutoff: 4096"),
        ({}, {"cutoff": 20}, r"no example is left for training; .*raise lora\.cutoff"),
        ({"model": "nobody/nothing-like-this"}, {}, r"model 'nobody/nothing-like-this' cannot be loaded"),
    ],
)
def test_what_cannot_be_trained_is_reported_before_it_begins(
    judge: Callable[..., VllmModel],
    train: Callable[..., Path],
    fields: dict[str, Any],
    learning: dict[str, Any],
    words: str,
) -> None:
    with pytest.raises(UserError, match=words):
        train(judge(**learning).model_copy(update=fields), EXAMPLES[:10])


def test_a_memory_that_is_too_small_is_reported_with_what_helps(
    judge: Callable[..., VllmModel], train: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from dialeval.stages import training as train_lora

    monkeypatch.setattr(train_lora, "free_memory", lambda *, on_cpu: 1e9 * (0.1 if on_cpu else 1))
    with pytest.raises(UserError, match=r"judge: the training needs about .* GB free; .*lower micro_batch_size"):
        train(judge(), EXAMPLES[:10])


def test_a_tokenizer_without_a_token_to_fill_up_with_is_reported_and_serves(
    decoder: Path, judge: Callable[..., VllmModel], train: Callable[..., Path], tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    folder = tmp_path / "bare"
    shutil.copytree(decoder, folder)
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    settings.pop("pad_token")
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    model = judge(max_steps=1).model_copy(update={"model": str(folder)})
    trained = train(model, EXAMPLES[:10])
    assert "has no padding token;  its end-of-sequence token is used" in capfd.readouterr().out
    assert (trained / "adapter_model.safetensors").exists()


def test_without_a_development_part_it_goes_to_its_end(
    judge: Callable[..., VllmModel], train: Callable[..., Path]
) -> None:
    rows = [row | {"part": "train"} for row in EXAMPLES[:8]]
    folder = train(judge(max_steps=2, patience=1, batch_size=4, micro_batch_size=4), rows)
    (run,) = read_table(folder / "run.parquet", TRAINING_RUNS).to_pylist()
    assert (run["steps"], run["label_mass_after"]) == (2, None)
    assert len(read_table(folder / "scores.parquet", TRAINING_SCORES)) == 0


def test_patience_ends_it_and_the_best_weights_are_kept(
    judge: Callable[..., VllmModel], train: Callable[..., Path]
) -> None:
    # a rate at which what was learned is soon lost again
    learning = {"max_steps": 8, "evaluations": 8, "patience": 2, "learning_rate": 0.5}
    folder = train(judge(batch_size=4, micro_batch_size=4, dropout=0.0, **learning), EXAMPLES[:30])
    (run,) = read_table(folder / "run.parquet", TRAINING_RUNS).to_pylist()
    evaluations = [
        (row["loss"], row["step"])
        for row in read_table(folder / "curve.parquet", TRAINING_CURVE).to_pylist()
        if row["measured"] == "development"
    ]
    assert run["best_step"] == min(evaluations)[1]
    assert run["steps"] == min(run["best_step"] + 2, 8)


@pytest.mark.slow
def test_two_processes_learn_what_one_does(judge: Callable[..., VllmModel], tmp_path: Path) -> None:
    from safetensors.torch import load_file

    weights = []
    for number in (1, 2):
        folder = tmp_path / str(number)
        folder.mkdir()
        # without dropout, which each process draws for itself
        stage = ["dialeval.stages", *_arguments(folder, judge(dropout=0.0, max_steps=4, micro_batch_size=4))]
        launcher = ["torch.distributed.run", "--standalone", "--nproc-per-node", str(number), "-m"]
        command = [sys.executable, "-m", *(launcher if number > 1 else []), *stage]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stderr
        weights.append(load_file(folder / "trained" / "judge" / "adapter_model.safetensors"))
    assert weights[0].keys() == weights[1].keys()
    for name, one in weights[0].items():
        assert float((one - weights[1][name]).abs().max()) < 1e-4, name
