"""Opens a model that vLLM runs in this process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dialeval.config import VllmModel
from dialeval.engines.request import Engine
from dialeval.engines.vllm_engine import VllmEngine


def open_model(model: VllmModel, learned: Sequence[Path], store: Path | None, protocol: str) -> Engine:
    """Returns the engine of a model; see `engines.opening`."""
    return VllmEngine(model)
