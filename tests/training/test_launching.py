"""How one training becomes several processes."""

from __future__ import annotations

import os
import sys

import pytest

from dialeval.training import launching


def test_several_gpus_go_through_the_launcher_and_one_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,3")
    run: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda program, command: run.append(command))
    monkeypatch.setattr(sys, "orig_argv", ["python", "-m", "dialeval.stages", "train_lora", "--a", "b c"])
    launching.spread(1)
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "2"
    launching.spread(0)
    assert os.environ["CUDA_VISIBLE_DEVICES"] == ""
    assert run == []
    launching.spread(3)
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
    launching.spread(2)
    assert [command[-len(job) - 1 :] for command in run] == [["-m", *job]]


def test_a_launched_process_launches_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "execv", lambda *_: pytest.fail("it launched again"))
    monkeypatch.setenv("LOCAL_RANK", "1")
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "3")
    launching.spread(3)
    assert not launching.is_first()
    monkeypatch.setenv("RANK", "0")
    assert launching.is_first()
