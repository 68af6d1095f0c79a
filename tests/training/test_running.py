"""How one training becomes several processes."""

from __future__ import annotations

import os
import random
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dialeval.engines.installation import free_memory
from dialeval.errors import UserError
from dialeval.training import running
from dialeval.training.running import (
    Memory,
    check_memory,
    in_words,
    make_deterministic,
    training_memory,
)


def test_several_gpus_go_through_the_launcher_with_the_jobs_own_settings_and_one_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,3")
    run: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda program, command: run.append(command))
    monkeypatch.setattr(sys, "argv", ["train_lora.py", "--a", "b c"])
    monkeypatch.setattr(sys, "orig_argv", ["python", "-u", "-m", "dialeval.stages", "train_lora", "--a", "b c"])
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
        make_deterministic(3, on_cpu=True)
        drawn.append((random.random(), float(np.random.rand()), float(torch.rand(1))))
    assert drawn[0] == drawn[1]
    assert torch.are_deterministic_algorithms_enabled()
    assert torch.get_num_threads() == 1


# The memory of a training, estimated before it begins: against what is known and what is really kept.

LLAMA_2 = SimpleNamespace(hidden_size=4096, intermediate_size=11008, num_hidden_layers=32, vocab_size=32000)
PARAMETERS = 6_738_415_616
RANK_8_OF_Q_AND_K = 4_194_304
GB = 2**30


def _llama(**changes: Any) -> Memory:
    options = {"precision": "bfloat16", "tokens": 32 * 1024, "checkpointing": True, "words": 64}
    return training_memory(PARAMETERS, RANK_8_OF_Q_AND_K, LLAMA_2, **options | changes)


def test_a_model_of_seven_billion_parameters_is_trained_where_the_paper_trained_it() -> None:
    needed = _llama()
    assert needed.weights == PARAMETERS * 2  # 13.5e9 bytes
    assert needed.learned == RANK_8_OF_Q_AND_K * 16
    assert 20 * GB < needed.total < 40 * GB  # an A100 of 40 GB, with checkpointing
    assert _llama(checkpointing=False).total > 100 * GB
    assert _llama(precision="float32").weights == PARAMETERS * 4
    assert _llama(tokens=8 * 1024).kept == pytest.approx(needed.kept / 4, rel=0.01)


@pytest.mark.parametrize(
    ("at_once", "checkpointing", "measured"), [(8, True, 16.4), (32, True, 27.7), (8, False, 51.7)]
)
def test_the_estimate_is_no_less_than_what_a_gpu_took_and_little_more(
    at_once: int, checkpointing: bool, measured: float
) -> None:
    """What tensors took at their most on an H100, of rows all of 1,024 tokens (benchmarks/GPU.md)."""
    estimate = _llama(tokens=at_once * 1024, checkpointing=checkpointing, words=2 * at_once).total / GB
    assert measured <= estimate <= 1.15 * measured


def test_what_does_not_fit_is_reported_with_what_helps(capsys: pytest.CaptureFixture[str]) -> None:
    check_memory("judge", _llama(), 40e9, on_cpu=False, checkpointing=True)
    assert capsys.readouterr().out.startswith("judge: the training needs about 28.2 GB: 12")
    with pytest.raises(UserError, match=r"the GPU's memory has 22\.4 GB free; lower micro_batch_size") as error:
        check_memory("judge", _llama(), 24e9, on_cpu=False, checkpointing=True)
    assert "gradient_checkpointing" not in str(error.value)  # it is on already
    with pytest.raises(UserError, match="set gradient_checkpointing: true"):
        check_memory("judge", _llama(checkpointing=False), 80e9, on_cpu=False, checkpointing=False)
    with pytest.raises(UserError, match="the weights alone do not fit: use a smaller model or a larger GPU"):
        check_memory("judge", _llama(), 12e9, on_cpu=False, checkpointing=True)
    with pytest.raises(UserError, match="the machine's memory"):
        check_memory("judge", _llama(), 12e9, on_cpu=True, checkpointing=True)
    check_memory("judge", _llama(), None, on_cpu=False, checkpointing=True)  # nobody knows


def test_the_machine_says_what_is_free() -> None:
    free = free_memory(on_cpu=True)
    assert free is not None
    assert 2**20 < free < 2**50


@pytest.mark.train
@pytest.mark.parametrize(("width", "inner", "precision"), [(256, 688, "float32"), (128, 352, "bfloat16")])
def test_what_is_kept_of_the_forward_pass_is_estimated_well(width: int, inner: int, precision: str) -> None:
    import torch
    import transformers

    from dialeval.config.training import LoraTraining
    from dialeval.training.lora import with_adapter
    from dialeval.training.lora_questions import padded

    shape = transformers.LlamaConfig(
        vocab_size=512, hidden_size=width, intermediate_size=inner, num_hidden_layers=4, num_attention_heads=4,
        num_key_value_heads=4,
    )  # fmt: skip
    model: Any = transformers.LlamaForCausalLM(shape).to(getattr(torch, precision))
    model = with_adapter(model, LoraTraining(train=["turns"], gpus=0)).train()
    weights = {part.untyped_storage().data_ptr() for part in model.parameters()}
    kept: dict[int, Any] = {}

    def keep(tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            kept[storage.data_ptr()] = storage  # held, so that no other takes its place
        return tensor

    rows = [[1] * 256, [1] * 249, [1] * 256]
    with (
        torch.autocast("cpu", torch.bfloat16, enabled=precision == "bfloat16"),
        torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor),
    ):
        model(**padded(rows, 0), use_cache=False, logits_to_keep=2)
    measured = sum(storage.nbytes() for storage in kept.values())
    estimate = training_memory(1, 1, shape, precision=precision, tokens=3 * 256, checkpointing=False).kept
    assert 0.75 < estimate / measured < 1.35


# What ends a training from outside is told in words, and what is a mistake of ours is not.


class OutOfMemoryError(RuntimeError):
    """Called as torch's is."""


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"),
            "judge: the memory is too small .*lower micro",
        ),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), "gradient_checkpointing: true"),
        (
            RuntimeError("[enforce fail] PytorchStreamWriter failed writing file data/3"),
            "the disk of results_dir is full",
        ),
        (RuntimeError("[enforce fail at inline_container.cc:672] . unexpected pos 344896 vs 344788"), "free space and"),
        (
            OSError(28, "No space left on device"),
            "run the same command again: the training resumes from its last",
        ),
    ],
)
def test_what_ran_out_is_reported(error: Exception, words: str) -> None:
    with pytest.raises(UserError, match=words), in_words("judge"):
        raise error


def test_a_mistake_of_ours_stays_what_it_is() -> None:
    with pytest.raises(KeyError), in_words("judge"):
        raise KeyError("input_ids")
