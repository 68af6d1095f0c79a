"""Models computed on this machine: libraries, GPUs, and batches of like length."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from dialeval.text import counted

TRANSLATES = ("torch", "transformers", "tokenizers")
SCORES = (*TRANSLATES, "safetensors")
LEARNS_TO_SCORE = (*SCORES, "accelerate")
LEARNS_TO_ANSWER = ("torch", "transformers", "peft", "accelerate", "safetensors")


def missing_libraries(what: str, packages: Iterable[str]) -> str | None:
    """Returns the advice to install missing packages, or None.

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
    """Returns the number of missing GPUs as a message, or None if none is known to lack.

    Args:
        wanted: how many; 0 for the CPU.
        field: the configuration's field of that number.
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
    """Returns why a number format does not fit the device, or None."""
    if precision == "float16" and not gpus:
        return "float16 is for GPUs; on the CPU (gpus: 0) take precision: float32"
    return None


def free_memory(*, on_cpu: bool) -> int | None:
    """Return the bytes that are free where this process computes; None where that cannot be asked."""
    if on_cpu:
        try:
            found = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(encoding="ascii"))
        except OSError:
            return None
        return int(found[1]) * 1024 if found else None
    import torch

    return int(torch.cuda.mem_get_info(int(os.environ.get("LOCAL_RANK", "0")))[0])


def gpu_memory() -> int | None:
    """Return the bytes of this machine's largest GPU, without a CUDA context; None where NVML cannot be asked."""
    try:
        import pynvml

        pynvml.nvmlInit()
    except Exception:  # neither the package nor the driver need be there, and each has errors of its own
        return None
    try:
        devices = [pynvml.nvmlDeviceGetHandleByIndex(number) for number in range(pynvml.nvmlDeviceGetCount())]
        return max((int(pynvml.nvmlDeviceGetMemoryInfo(device).total) for device in devices), default=None)
    except pynvml.NVMLError:  # memory that CPU and GPU share is not counted
        return None
    finally:
        pynvml.nvmlShutdown()


# How many GPUs this machine has, and how many of them a process may use; asked of NVIDIA's driver alone.

_JETSON = Path("/etc/nv_tegra_release")  # where NVML does not count GPUs


def gpus_of_the_driver() -> int | None:
    """Returns the number of GPUs that NVIDIA's driver shows, 0 without a driver; None where NVML cannot count them."""
    if _JETSON.exists():
        return None
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return 0
    if nvml.nvmlInit_v2() != 0:
        return 0
    try:
        number = ctypes.c_uint(0)
        return number.value if nvml.nvmlDeviceGetCount_v2(ctypes.byref(number)) == 0 else 0
    finally:
        nvml.nvmlShutdown()


def usable_gpus(environment: Mapping[str, str] | None = None) -> int | None:
    """Returns the number of GPUs that CUDA_VISIBLE_DEVICES leaves to a process; None where NVML cannot count them.

    Args:
        environment: environment variables; the process's own by default.
    """
    total = gpus_of_the_driver()
    named = (os.environ if environment is None else environment).get("CUDA_VISIBLE_DEVICES")
    return total if total is None or named is None else min(total, _named_devices(named))


def _named_devices(named: str) -> int:
    """Returns how many devices CUDA_VISIBLE_DEVICES names; CUDA reads up to the first that is none, such as -1."""
    count = 0
    for name in (part.strip() for part in named.split(",")):
        if not name or name.startswith("-"):
            break
        count += 1
    return count


def by_length(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """Yields the indices of each batch of sequences of similar length, the longest first.

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
