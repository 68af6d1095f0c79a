"""How one training becomes several processes."""

from __future__ import annotations

import os
import random
import sys

import numpy as np
import pytest

from dialeval.training import running
from dialeval.training.running import settle

# How one training becomes several processes.


def test_several_gpus_go_through_the_launcher_and_one_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,3")
    run: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda program, command: run.append(command))
    monkeypatch.setattr(sys, "orig_argv", ["python", "-m", "dialeval.stages", "train_lora", "--a", "b c"])
    running.spread(1)
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "2"
    running.spread(0)
    assert os.environ["CUDA_VISIBLE_DEVICES"] == ""
    assert run == []
    running.spread(3)
    assert run == [
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "3",
         "-m", "dialeval.stages", "train_lora", "--a", "b c"],
    ]  # fmt: skip


def test_what_is_launched_is_told_what_the_job_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    run: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda program, command: run.append(command))
    job = ["dialeval.stages", "train_lora", "--makes", "trained/poe", "--examples", "a b"]
    monkeypatch.setattr(sys, "argv", ["train_lora.py", "--examples", "a b"])
    monkeypatch.setattr(sys, "orig_argv", ["python", "-u", "-m", *job])
    running.spread(2)
    assert [command[-len(job) - 1 :] for command in run] == [["-m", *job]]


def test_a_launched_process_launches_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "execv", lambda *_: pytest.fail("it launched again"))
    monkeypatch.setenv("LOCAL_RANK", "1")
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "3")
    running.spread(3)
    assert not running.is_first()
    monkeypatch.setenv("RANK", "0")
    assert running.is_first()


# Settled, torch draws and computes the same every time.


@pytest.mark.train
def test_every_source_of_randomness_begins_anew() -> None:
    import torch

    drawn = []
    for _ in range(2):
        settle(3, on_cpu=True)
        drawn.append((random.random(), float(np.random.rand()), float(torch.rand(1))))
    assert drawn[0] == drawn[1]
    assert torch.are_deterministic_algorithms_enabled()
    assert torch.get_num_threads() == 1
