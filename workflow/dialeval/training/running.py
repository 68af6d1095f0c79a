"""The run of a training: Trainer's arguments, processes, determinism, memory, and reasons to end.

The sizes of the weights are exact: the model is laid out without any content. What is kept of the forward pass for the
backward pass is an estimate for layers of the common kind (attention in one fused kernel, a gated network behind it).
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dialeval.config.training import EncoderTraining, LoraTraining
from dialeval.errors import UserError

_LOGS = 20
"""Rows of the training loss that a curve has at least, where there are so many steps."""


@dataclass(frozen=True)
class Learned:
    """The course of a training.

    Attributes:
        curve: rows of the table `training/curve` without the judge.
        steps, best_step: how many, and whose weights were kept.
        epochs: passes over the examples.
        seconds: of training, those before a restart included.
        n_tokens: of the inputs, where the Trainer counts them.
    """

    curve: list[dict[str, Any]]
    steps: int
    best_step: int
    epochs: float
    seconds: float
    n_tokens: int


def micro_batch(learning: EncoderTraining | LoraTraining) -> tuple[int, int]:
    """Return how many examples are at once on a device, and how often that is done for a step of the optimiser.

    The first is the largest number, not above `micro_batch_size`, that makes up the batch on every device alike; where
    the processes do not divide the batch, each gets the next larger number.
    """
    share = math.ceil(learning.batch_size / processes(learning.gpus))
    most = min(learning.micro_batch_size or share, share)
    at_once = next(number for number in range(most, 0, -1) if share % number == 0)
    return at_once, share // at_once


def steps_of(learning: EncoderTraining | LoraTraining, n_examples: int) -> int:
    """Return how many steps of the optimiser a training has."""
    at_once, accumulated = micro_batch(learning)
    batch = at_once * accumulated * processes(learning.gpus)
    steps = math.ceil(n_examples / batch) * learning.epochs
    return min(steps, learning.max_steps) if learning.max_steps else steps


def training_arguments(
    learning: EncoderTraining | LoraTraining,
    folder: Path,
    steps: int,
    random_seed: int,
    *,
    evaluates: bool = True,
    **more: Any,
) -> Any:
    """Return the arguments of transformers' Trainer.

    The development part is looked at, and a checkpoint kept, `evaluations` times; where there is `patience`, the
    weights of the best look are taken at the end.

    Args:
        learning: the configuration.
        folder: where checkpoints go.
        steps: of the optimiser.
        random_seed: of the order and of dropout.
        evaluates: whether there is a development part to look at.
        more: arguments by the Trainer's names.
    """
    from transformers import TrainingArguments

    at_once, accumulated = micro_batch(learning)
    every = max(1, math.ceil(steps / learning.evaluations))
    on_cpu, best = learning.gpus == 0, evaluates and learning.patience is not None
    arguments: dict[str, Any] = {
        "output_dir": str(folder),
        "per_device_train_batch_size": at_once,
        "gradient_accumulation_steps": accumulated,
        "num_train_epochs": learning.epochs,
        "max_steps": steps if learning.max_steps else -1,
        "learning_rate": learning.learning_rate,
        "lr_scheduler_type": "linear",
        "warmup_steps": round(learning.warmup_share * steps),
        "weight_decay": learning.weight_decay,
        "optim": "adamw_torch",
        "bf16": learning.precision == "bfloat16",
        "fp16": learning.precision == "float16",
        "gradient_checkpointing": learning.gradient_checkpointing,
        "gradient_checkpointing_kwargs": {"use_reentrant": False},
        "eval_strategy": "steps" if evaluates else "no",
        "eval_steps": every,
        "save_strategy": "steps",
        "save_steps": every,
        "save_total_limit": 2,
        "load_best_model_at_end": best,
        "metric_for_best_model": "loss" if best else None,
        "greater_is_better": False if best else None,
        "restore_callback_states_from_checkpoint": True,
        "logging_strategy": "steps",
        "logging_steps": max(1, min(every, steps // _LOGS)),
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


# One training in several processes, one for each GPU, through torch's own launcher.


def launched_by_torch() -> bool:
    """Return whether this process is one of several that share a training."""
    return "LOCAL_RANK" in os.environ and "WORLD_SIZE" in os.environ


def is_first() -> bool:
    """Return whether this process writes the results of the training."""
    return os.environ.get("RANK", "0") == "0"


def processes(gpus: int) -> int:
    """Return how many processes share this training.

    Args:
        gpus: as the configuration has it; what launched this process knows better.
    """
    return int(os.environ["WORLD_SIZE"]) if launched_by_torch() else max(gpus, 1)


def device_name(gpus: int) -> str:
    """Return the device of a training, for the table of runs."""
    if not gpus:
        return "CPU"
    import torch

    name = str(torch.cuda.get_device_name(int(os.environ.get("LOCAL_RANK", "0"))))
    return name if gpus == 1 else f"{gpus} x {name}"


def device_of(gpus: int) -> str:
    """Return the device of this process, in torch's words."""
    return f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if gpus else "cpu"


def spread(gpus: int) -> None:
    """Replace this process by torch's launcher, which starts it again in several, if there are several GPUs.

    It takes the place of this process, so that signals reach it. In processes that were launched it does nothing; in
    one that goes on alone it hides the other GPUs, which the Trainer would split batches over. Call it before torch is
    imported.

    Args:
        gpus: that share the training; 0 and 1 mean this process alone.
    """
    if launched_by_torch():
        return
    if gpus <= 1:
        shown = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")
        os.environ["CUDA_VISIBLE_DEVICES"] = ",".join([one.strip() for one in shown if one.strip()][:gpus])
        return
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(gpus)]
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, [sys.executable, *launcher, *sys.orig_argv[sys.orig_argv.index("-m") :]])


# The same training gives the same weights: on a CPU bit by bit, on a GPU as far as its kernels go.


def make_deterministic(random_seed: int, *, on_cpu: bool) -> None:
    """Seed every source of randomness and have torch compute the same way every time.

    On the CPU one thread computes, since sums are split among threads. On a GPU kernels that have a deterministic
    variant take it; for the others torch warns.

    Args:
        random_seed: of torch, numpy and random.
        on_cpu: whether the training computes there.
    """
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import torch
    from transformers import set_seed

    set_seed(random_seed)
    torch.use_deterministic_algorithms(True, warn_only=not on_cpu)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    if on_cpu:
        torch.set_num_threads(1)


# How much memory a training takes, and what ends a training, in words.

BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
LEARNED = 16
"""Bytes of a parameter that learns: itself, its gradient and AdamW's two means, in float32."""
HIDDEN, INNER = 12, 4
"""Numbers kept of a token and layer, for each of its width and of the network's inner width."""
COMPUTED_AGAIN = 1.25
"""Times what a layer keeps that it takes while it is computed again, with its gradients (benchmarks/GPU.md)."""
SPARE = 0.5 * 2**30
"""Bytes for the libraries' kernels and the parts that memory is cut into."""


@dataclass(frozen=True)
class Memory:
    """Bytes that a training takes on each device."""

    weights: float
    learned: float
    kept: float

    @property
    def total(self) -> float:
        """All of it."""
        return self.weights + self.learned + self.kept + SPARE

    def __str__(self) -> str:
        return (
            f"about {_gigabytes(self.total)}: {_gigabytes(self.weights)} of weights, {_gigabytes(self.learned)} for "
            f"gradients and optimizer, {_gigabytes(self.kept)} of activations"
        )


def training_memory(
    parameters: int,
    trained: int,
    shape: Any,
    *,
    precision: str,
    tokens: int,
    checkpointing: bool,
    words: int = 0,
) -> Memory:
    """Return an estimate of the memory that a training takes.

    Args:
        parameters: of the model without what learns.
        trained: parameters that learn.
        shape: the model's configuration in transformers: `hidden_size`, `intermediate_size`, `num_hidden_layers`.
        precision: number format of the computation and of the frozen weights.
        tokens: examples at once times the longest.
        checkpointing: whether only the layers' inputs are kept.
        words: places for which the whole vocabulary is computed.
    """
    size, width = BYTES[precision], int(shape.hidden_size)
    inner, layers = int(getattr(shape, "intermediate_size", None) or 4 * width), int(shape.num_hidden_layers)
    of_a_layer = tokens * (HIDDEN * width + INNER * inner) * size
    inputs = layers * tokens * width * size
    kept = COMPUTED_AGAIN * of_a_layer + inputs if checkpointing else layers * of_a_layer
    vocabulary = int(getattr(shape, "vocab_size", 0) or 0)
    return Memory(parameters * size, trained * LEARNED, kept + 3 * words * vocabulary * 4)


def check_memory(name: str, needed: Memory, free: float | None, *, on_cpu: bool, checkpointing: bool) -> None:
    """Print the memory that a training takes, and end it where the device has less.

    Args:
        name: the judge's.
        needed: the estimate.
        free: of `free_memory`.
        on_cpu: whether it computes there.
        checkpointing: whether that is on already.

    Raises:
        UserError: it does not fit, and what makes it smaller.
    """
    where = "the machine's memory" if on_cpu else "the GPU's memory"
    print(f"{name}: the training needs {needed}" + ("" if free is None else f"; {_gigabytes(free)} free"), flush=True)
    if free is None or needed.total <= free:
        return
    smaller = SMALLER.replace(" set gradient_checkpointing: true,", "") if checkpointing else SMALLER
    if needed.weights + needed.learned + SPARE > free:
        smaller = f"the weights alone do not fit: use a smaller model or a larger GPU, or {smaller}"
    raise UserError(f"{name}: the training needs {needed}, and {where} has {_gigabytes(free)} free; {smaller}")


def _gigabytes(number: float) -> str:
    return f"{number / 2**30:.1f} GB"


# What ends a training that is no mistake of ours, in words: memory, disk, numbers that are none.

SMALLER = (
    "lower micro_batch_size (the batch stays as large), set gradient_checkpointing: true, precision: bfloat16, or a "
    "lower limit of tokens"
)
_FULL = (
    "No space left", "PytorchStreamWriter failed writing", "Disk quota exceeded", "File too large", "os error 28",
    "os error 27", "os error 122", ". unexpected pos ",
)  # fmt: skip


@contextmanager
def in_words(name: str) -> Iterator[None]:
    """Turn an out-of-memory error into a message with a remedy.

    Args:
        name: the judge's.

    Raises:
        UserError: memory or disk is full.
    """
    try:
        yield
    except UserError:
        raise
    except Exception as error:  # torch and safetensors raise several kinds
        message = str(error)
        if (
            type(error).__name__ == "OutOfMemoryError"
            or "out of memory" in message
            or "can't allocate memory" in message
        ):
            raise UserError(
                f"{name}: the memory is too small for this training; {SMALLER}: {_line(message)}"
            ) from error
        if any(words in message for words in _FULL):
            raise UserError(
                f"{name}: the disk of results_dir is full, or accepts no file of this size: {_line(message)}; free "
                "space and run the same command again: the training resumes from its last checkpoint"
            ) from error
        raise


def _line(message: str) -> str:
    return " ".join(message.split())[:200]
