"""Whether vLLM is installed, asked before any job runs, without importing it."""

from __future__ import annotations

import importlib.util


def vllm_missing() -> str | None:
    """Returns what to install for models of engine `vllm`, or None if it is there."""
    if importlib.util.find_spec("vllm") is not None:
        return None
    return (
        "engine 'vllm' needs vLLM, which is not installed; with a GPU: pip install -e '.[vllm]'; "
        "without one, its CPU build: see docs/vllm.md"
    )
