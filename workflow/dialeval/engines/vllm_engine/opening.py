"""Opens a model that vLLM runs in this process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dialeval.config.vllm_model import VllmModel
from dialeval.engines.request import Engine
from dialeval.engines.vllm_engine import VllmEngine


def open_model(model: VllmModel, learned: Sequence[Path], store: Path | None, protocol: str) -> Engine:
    """Returns the engine of a model; see `engines.opening`.

    Of a model with an adapter that the run has trained, `learned` begins with the adapter's folder. From there on it is
    a model with an adapter like any other: whose folder it lies in and how it was trained change no answer.
    """
    if model.lora and learned:
        model = model.model_copy(update={"lora_path": learned[0], "lora": None})
    return VllmEngine(model)
