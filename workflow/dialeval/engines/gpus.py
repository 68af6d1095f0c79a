"""How many GPUs this machine has, and how many of them a process may use; asked of NVIDIA's driver alone."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from pathlib import Path

_JETSON = Path("/etc/nv_tegra_release")  # where NVML does not count GPUs


def gpus_of_the_driver() -> int | None:
    """Returns how many GPUs NVIDIA's driver shows, 0 without a driver; None where it cannot be asked."""
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
    """Returns how many of them CUDA_VISIBLE_DEVICES leaves to a process; None where the driver cannot be asked.

    Args:
        environment: variables to look at; the process's own by default.
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
