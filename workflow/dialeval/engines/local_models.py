"""What models that transformers computes need of this machine: libraries and GPUs; asked without importing any."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec

from dialeval.engines.gpus import usable_gpus
from dialeval.text.counting import counted

TRANSLATES = ("torch", "transformers", "tokenizers")
SCORES = (*TRANSLATES, "safetensors")
LEARNS_TO_SCORE = (*SCORES, "accelerate")
LEARNS_TO_ANSWER = ("torch", "transformers", "peft", "accelerate", "safetensors")


def missing_libraries(what: str, packages: Iterable[str]) -> str | None:
    """Returns what to install, or None if all is there.

    Args:
        what: what needs the packages, as the beginning of the message.
        packages: their names when they are imported.
    """
    missing = [name for name in packages if find_spec(name) is None]
    if not missing:
        return None
    return (
        f"{what} needs {', '.join(missing)}, which is not installed: pip install 'dialeval[train]', or run snakemake "
        "--sdm conda, which makes an environment for such jobs"
    )


def too_few_gpus(wanted: int, field: str) -> str | None:
    """Returns what this machine lacks of the GPUs that are asked for, or None if nothing is known to lack.

    Args:
        wanted: how many; 0 for the CPU.
        field: where the configuration says so.
    """
    usable = usable_gpus() if wanted else None
    if usable is None or usable >= wanted:
        return None
    there = counted(usable, "NVIDIA GPU") if usable else "no NVIDIA GPU"
    return (
        f"{field}: {wanted}, and this machine has {there} for it; run the job where there are (docs/running.md: "
        f"clusters), or set {field}: {usable}" + ("" if usable else ", the CPU, for a small model")
    )


def check_precision(precision: str, gpus: int) -> str | None:
    """Returns what is wrong with a number format for where it is computed, or None."""
    if precision == "float16" and not gpus:
        return "float16 is for GPUs; on the CPU (gpus: 0) take precision: float32"
    return None
