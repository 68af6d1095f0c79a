"""How much memory a training takes, and what ends a training, in words.

The sizes of the weights are exact: the model is laid out without any content. What is kept of the forward pass for the
backward pass is an estimate for layers of the common kind (attention in one fused kernel, a gated network behind it).
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dialeval.errors import UserError

# How much memory a training takes, estimated before a model is loaded, and whether there is so much.

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
            f"what learns, {_gigabytes(self.kept)} kept of the forward pass"
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
    """Returns an estimate of the memory that a training takes.

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


def free_memory(*, on_cpu: bool) -> float | None:
    """Returns the bytes that are free where this process computes; None where that cannot be asked."""
    if on_cpu:
        try:
            found = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(encoding="ascii"))
        except OSError:
            return None
        return float(found[1]) * 1024 if found else None
    import torch

    return float(torch.cuda.mem_get_info(int(os.environ.get("LOCAL_RANK", "0")))[0])


def check_memory(name: str, needed: Memory, free: float | None, *, on_cpu: bool, checkpointing: bool) -> None:
    """Says what a training takes, and ends it where there is not so much.

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
    print(f"{name}: the training takes {needed}" + ("" if free is None else f"; {_gigabytes(free)} free"), flush=True)
    if free is None or needed.total <= free:
        return
    smaller = SMALLER.replace(" set gradient_checkpointing: true,", "") if checkpointing else SMALLER
    if needed.weights + needed.learned + SPARE > free:
        smaller = f"the weights alone do not fit: take a smaller model or a larger GPU, or {smaller}"
    raise UserError(f"{name}: the training takes {needed}, and {where} has {_gigabytes(free)} free; {smaller}")


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
    """Says of a training what it ran out of.

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
        said = str(error)
        if type(error).__name__ == "OutOfMemoryError" or "out of memory" in said or "can't allocate memory" in said:
            raise UserError(f"{name}: the memory is too small for this training; {SMALLER}: {_line(said)}") from error
        if any(words in said for words in _FULL):
            raise UserError(
                f"{name}: the disk of results_dir is full, or takes no file of this size: {_line(said)}; make room and "
                "run the same command again: the training goes on from its last whole checkpoint"
            ) from error
        raise


def check_numbers(name: str, curve: list[dict[str, Any]]) -> None:
    """Ends a training whose loss is no number.

    Args:
        name: the judge's.
        curve: its rows of the table `training/curve`.

    Raises:
        UserError: the step from which on it is none.
    """
    broken = [row["step"] for row in curve if row["loss"] is not None and not math.isfinite(row["loss"])]
    if broken:
        raise UserError(
            f"{name}: from step {min(broken)} on the loss is not a number: lower the learning_rate, raise "
            "warmup_share, or take precision: bfloat16 or float32 in place of float16"
        )


def _line(said: str) -> str:
    return " ".join(said.split())[:200]
