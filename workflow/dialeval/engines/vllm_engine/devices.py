"""Whether the machine has the GPUs that a model needs; asked before vLLM starts, which ends without words."""

from __future__ import annotations

import os
from collections.abc import Mapping

from dialeval.config.vllm_model import VllmModel
from dialeval.engines import gpus
from dialeval.engines.vllm_engine.installation import build, installed

ELSEWHERE = (
    "run its jobs where there are GPUs (docs/running.md: clusters), or serve the model elsewhere with `vllm serve` and "
    "reach it by engine: openai (docs/api.md), or install vLLM's CPU build in an environment of its own for a small "
    "model (docs/vllm.md)"
)


def no_device(
    model: VllmModel, *, own_environment: bool = False, environment: Mapping[str, str] | None = None
) -> str | None:
    """Returns what this machine lacks to run a model and what to do about it, or None if nothing is known to lack.

    NVIDIA's driver is asked; builds of vLLM for other devices are trusted to find them.

    Args:
        model: its configuration.
        own_environment: whether its jobs run in an environment that is made for them, which has vLLM for NVIDIA GPUs.
        environment: variables to look at; the process's own by default.
    """
    if not own_environment and build() != "cuda":
        return None
    total, usable = gpus.gpus_of_the_driver(), gpus.usable_gpus(environment)
    if total is None or usable is None:
        return None
    named = (os.environ if environment is None else environment).get("CUDA_VISIBLE_DEVICES")
    needed = model.tensor_parallel_size * model.data_parallel_size * _stages(model)
    if usable >= needed:
        return None
    what = " ".join(f"{name} {number}" for name, number in installed().items())
    computes = f"{'vLLM' if own_environment or not what else what} computes on NVIDIA GPUs, and"
    if not total:
        return f"{computes} this machine has none, or no driver that answers; {ELSEWHERE}"
    if not usable:
        return (
            f"{computes} CUDA_VISIBLE_DEVICES is '{named}', which hides the {total} of this machine; unset it or name "
            f"those to use; or else {ELSEWHERE}"
        )
    here = f"this machine has {total}" if named is None else f"CUDA_VISIBLE_DEVICES leaves {usable} ({named})"
    return (
        f"tensor_parallel_size {model.tensor_parallel_size} x data_parallel_size {model.data_parallel_size}"
        f"{f' x pipeline_parallel_size {_stages(model)}' if _stages(model) > 1 else ''} need {needed} GPUs, and "
        f"{here}; lower one of them, or let the job have more GPUs"
    )


def _stages(model: VllmModel) -> int:
    stages = model.engine_args.get("pipeline_parallel_size", 1)
    return stages if isinstance(stages, int) else 1
