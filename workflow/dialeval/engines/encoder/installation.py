"""Whether what trained metrics compute with is installed and there; asked without importing it."""

from __future__ import annotations

import importlib.util

from dialeval.engines.vllm_engine.devices import gpus_of_the_driver

TO_SCORE = ("torch", "transformers", "tokenizers", "safetensors")
TO_TRAIN = (*TO_SCORE, "accelerate")


def encoder_missing(*, trains: bool = False) -> str | None:
    """Returns what to install for a trained metric, or None if all is there."""
    needed = TO_TRAIN if trains else TO_SCORE
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if not missing:
        return None
    return (
        f"engine 'encoder' needs {', '.join(missing)}, which is not installed: pip install 'dialeval[train]', or run "
        "snakemake --sdm conda, which makes an environment for such jobs"
    )


def check_precision(precision: str, gpus: int) -> str | None:
    """Returns what is wrong with a number format for where it is computed, or None."""
    if precision == "float16" and not gpus:
        return "float16 is for GPUs; on the CPU (gpus: 0) take precision: float32"
    return None


def no_gpu(gpus: int, what: str) -> str | None:
    """Returns what this machine lacks, and what to do about it, or None if nothing is known to lack.

    Args:
        gpus: how many are needed.
        what: what needs them, the field that says so.
    """
    there = gpus_of_the_driver() if gpus else None
    if there is None or there >= gpus:
        return None
    have = f"this machine has {there}" if there else "this machine has none, or no driver that answers"
    return (
        f"{what}: {gpus} GPU(s) are needed, and {have}; set it to {there or '0 for the CPU, for small encoders'}, or "
        "run its jobs where there are GPUs (docs/running.md: clusters)"
    )
