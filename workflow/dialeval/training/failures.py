"""What ends a training that is no mistake of ours, in words: memory, disk, numbers that are none."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dialeval.errors import UserError

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
