"""Whether what trains judges is installed, and whether there are the GPUs that a training asks for; imports neither."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec

from dialeval.engines.vllm_engine.devices import usable_gpus

LORA_PACKAGES = ("torch", "transformers", "peft", "accelerate", "safetensors")


def training_missing(packages: Iterable[str] = LORA_PACKAGES) -> str | None:
    """Returns what to install for training, or None if it is there."""
    missing = [name for name in packages if find_spec(name) is None]
    if not missing:
        return None
    return (
        f"it is trained with {', '.join(missing)}, not installed here; pip install -e '.[train]', or run snakemake "
        "--sdm conda, which makes an environment for such jobs"
    )


def too_few_gpus(wanted: int, field: str) -> str | None:
    """Returns what this machine lacks of the GPUs that a training asks for, or None if nothing is known to lack.

    Args:
        wanted: how many; 0 for the CPU.
        field: where the configuration says so.
    """
    usable = usable_gpus() if wanted else None
    if usable is None or usable >= wanted:
        return None
    there = f"{usable} NVIDIA GPU{'' if usable == 1 else 's'}" if usable else "no NVIDIA GPU"
    return (
        f"{field}: {wanted}, and this machine has {there} for it; run the job where there are (docs/running.md: "
        f"clusters), or set {field}: {usable}" + ("" if usable else ", the CPU, for a small model")
    )
