"""Trainings that are killed, or whose disk is full, and run again: they end in the weights of undisturbed ones."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from encoder_training import Trained, arguments, places, train
from forked_training import ended, started

from dialeval.training.weights import newest_checkpoint

pytestmark = pytest.mark.train
FIELDS: dict[str, Any] = {"max_steps": 24, "epochs": 60, "evaluations": 8, "patience": 8, "micro_batch_size": 8}


@pytest.fixture(scope="module")
def undisturbed(encoder: Path, turns: Path, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return train(tmp_path_factory.mktemp("undisturbed"), encoder, turns, **FIELDS)


def has_kept(checkpoints: Path, step: int) -> bool:
    """Return whether a checkpoint of a step, or a later one, is written to its end."""
    newest = [path.name.split("-")[1] for folder in checkpoints.glob("*") if (path := newest_checkpoint(folder))]
    return any(int(number) >= step for number in newest)


def test_a_training_that_was_killed_goes_on_and_ends_in_the_same_weights(
    undisturbed: Trained, encoder: Path, turns: Path, tmp_path: Path
) -> None:
    made, log = places(tmp_path), tmp_path / "log"
    killed_at = []
    for step in (6, 12):  # killed twice, after different checkpoints
        process = started(arguments(tmp_path, encoder, turns, **FIELDS), log)
        deadline = time.monotonic() + 180
        while not has_kept(made.checkpoints, step):
            assert process.exitcode is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        process.join()
        assert not made.folder.exists()
        killed_at.append(step)
    # a checkpoint of which the kill left a half
    (half,) = [folder / "checkpoint-23" for folder in made.checkpoints.iterdir()]
    half.mkdir()
    (half / "model.safetensors").write_bytes(b"half")
    assert ended(started(arguments(tmp_path, encoder, turns, **FIELDS), log)) == 0, log.read_text()
    assert log.read_text().count("resuming from") == 2
    assert made.weights() == undisturbed.weights()
    assert made.digest.read_text() == undisturbed.digest.read_text()
    assert made.rows("scores") == undisturbed.rows("scores")
    assert made.rows("curve") == undisturbed.rows("curve")
    (run,), (other,) = made.rows("run"), undisturbed.rows("run")
    about = ("steps", "best_step", "epochs", "n_examples")
    assert [run[name] for name in about] == [other[name] for name in about]
    assert not any(made.checkpoints.glob("*/checkpoint-*"))


def test_a_full_disk_is_reported_and_the_training_goes_on_when_there_is_room(
    undisturbed: Trained, encoder: Path, turns: Path, tmp_path: Path
) -> None:
    """No file of this process may grow beyond 300 kB: the first checkpoint cannot be written."""
    log = tmp_path / "log"
    process = started(arguments(tmp_path, encoder, turns, **FIELDS), log, most_bytes=300_000)
    assert ended(process) == 1, log.read_text()
    assert "error in train_encoder: " in log.read_text()
    assert "Traceback" not in log.read_text()
    assert not places(tmp_path).folder.exists()
    assert ended(started(arguments(tmp_path, encoder, turns, **FIELDS), log)) == 0, log.read_text()
    assert places(tmp_path).weights() == undisturbed.weights()


@pytest.mark.slow
def test_two_processes_train_as_one_that_takes_their_batches_in_turn(
    encoder: Path, turns: Path, tmp_path: Path
) -> None:
    import json
    import shutil

    still = Path(shutil.copytree(encoder, tmp_path / "still"))  # dropout is drawn by every process for itself
    config = json.loads((still / "config.json").read_text())
    config |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (still / "config.json").write_text(json.dumps(config))
    fields: dict[str, Any] = {"max_steps": 4, "dropout": 0.0, "micro_batch_size": 8, "adapter_size": 4}
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    both = [*launcher, "-m", "dialeval.stages", *arguments(tmp_path / "two", still, turns, **fields)]
    done = subprocess.run(both, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr
    one = train(tmp_path / "one", still, turns, **fields)
    two = places(tmp_path / "two")
    assert two.rows("run")[0]["steps"] == one.rows("run")[0]["steps"] == 4
    scores, others = ([row["score"] for row in made.rows("scores")] for made in (one, two))
    np.testing.assert_allclose(scores, others, atol=1e-4)
    assert len(scores) == len(others) > 0
    evaluations = [
        [row["loss"] for row in made.rows("curve") if row["measured"] == "development"] for made in (one, two)
    ]
    np.testing.assert_allclose(*evaluations, atol=1e-4)
