"""A training's part of the configuration as arguments of transformers' Trainer."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from dialeval.config.training import EncoderTraining, LoraTraining
from dialeval.training.launching import launched_by_torch, processes

LOGS = 20
"""Rows of the training loss that a curve has at least, where there are so many steps."""


def micro_batch(learning: EncoderTraining | LoraTraining) -> tuple[int, int]:
    """Returns how many examples are at once on a device, and how often that is done for a step of the optimiser.

    The first is the largest number, not above `micro_batch_size`, that makes up the batch on every device alike; where
    the processes do not divide the batch, each gets the next larger number.
    """
    share = math.ceil(learning.batch_size / processes(learning.gpus))
    most = min(learning.micro_batch_size or share, share)
    at_once = next(number for number in range(most, 0, -1) if share % number == 0)
    return at_once, share // at_once


def steps_of(learning: EncoderTraining | LoraTraining, n_examples: int) -> int:
    """Returns how many steps of the optimiser a training has."""
    at_once, accumulated = micro_batch(learning)
    batch = at_once * accumulated * processes(learning.gpus)
    steps = math.ceil(n_examples / batch) * learning.epochs
    return min(steps, learning.max_steps) if learning.max_steps else steps


def training_arguments(
    learning: EncoderTraining | LoraTraining,
    folder: Path,
    n_examples: int,
    random_seed: int,
    *,
    looks: bool = True,
    **more: Any,
) -> Any:
    """Returns the arguments of transformers' Trainer.

    The development part is looked at, and a checkpoint kept, `evaluations` times; where there is `patience`, the
    weights of the best look are taken at the end.

    Args:
        learning: the configuration.
        folder: where checkpoints go.
        n_examples: that are learned from.
        random_seed: of the order and of dropout.
        looks: whether there is a development part to look at.
        more: arguments by the Trainer's names.
    """
    from transformers import TrainingArguments

    at_once, accumulated = micro_batch(learning)
    steps = steps_of(learning, n_examples)
    every = max(1, math.ceil(steps / learning.evaluations))
    on_cpu, best = learning.gpus == 0, looks and learning.patience is not None
    arguments: dict[str, Any] = {
        "output_dir": str(folder),
        "per_device_train_batch_size": at_once,
        "gradient_accumulation_steps": accumulated,
        "num_train_epochs": learning.epochs,
        "max_steps": learning.max_steps or -1,
        "learning_rate": learning.learning_rate,
        "lr_scheduler_type": "linear",
        "warmup_steps": round(learning.warmup_share * steps),
        "weight_decay": learning.weight_decay,
        "optim": "adamw_torch",
        "bf16": learning.precision == "bfloat16",
        "fp16": learning.precision == "float16",
        "gradient_checkpointing": learning.gradient_checkpointing,
        "gradient_checkpointing_kwargs": {"use_reentrant": False},
        "eval_strategy": "steps" if looks else "no",
        "eval_steps": every,
        "save_strategy": "steps",
        "save_steps": every,
        "save_total_limit": 2,
        "load_best_model_at_end": best,
        "metric_for_best_model": "loss" if best else None,
        "greater_is_better": False if best else None,
        "restore_callback_states_from_checkpoint": True,
        "logging_strategy": "steps",
        "logging_steps": max(1, min(every, steps // LOGS)),
        "logging_nan_inf_filter": False,
        "report_to": [],
        "disable_tqdm": True,
        "use_cpu": on_cpu,
        "seed": random_seed,
        "data_seed": random_seed,
        "remove_unused_columns": False,
        "dataloader_pin_memory": not on_cpu,
        "average_tokens_across_devices": False,
    }
    if on_cpu and launched_by_torch():
        arguments["ddp_backend"] = "gloo"
    return TrainingArguments(**arguments | more)
