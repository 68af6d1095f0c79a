"""Whether a translation model fits where it is to compute: asked before its weights are read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from dialeval.errors import UserError

BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
SMALLER = (
    "take precision: bfloat16, a smaller model such as facebook/nllb-200-distilled-600M, or run it where there is more"
)
_GIGABYTE = 2**30


def weights_bytes(config: Any, precision: str) -> int:
    """Returns the bytes of a model's weights, laid out without any content.

    Args:
        config: of transformers.
        precision: the number format.
    """
    import torch
    from transformers import AutoModelForSeq2SeqLM

    with torch.device("meta"):
        empty = AutoModelForSeq2SeqLM.from_config(config)
    return BYTES[precision] * sum(int(part.numel()) for part in empty.parameters())


def free_bytes(*, on_gpu: bool) -> int | None:
    """Returns the bytes that are free on the first GPU or in the machine's memory; None where that cannot be asked."""
    if on_gpu:
        import torch

        return int(torch.cuda.mem_get_info()[0])
    try:
        found = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(encoding="ascii"))
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None


def check_memory(name: str, needed: int, free: int | None, *, on_gpu: bool) -> None:
    """Ends where the weights do not fit.

    Args:
        name: of the model.
        needed: bytes of its weights.
        free: bytes that are there; None: not known.
        on_gpu: where.

    Raises:
        UserError: they do not fit, and what to do.
    """
    if free is not None and needed > free:
        where = "the GPU" if on_gpu else "this machine"
        raise UserError(
            f"the weights of '{name}' take {needed / _GIGABYTE:.1f} GB, and {where} has {free / _GIGABYTE:.1f} GB of "
            f"memory free; {SMALLER}"
        )
