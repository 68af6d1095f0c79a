"""Which engines can answer on this installation; asked before any job runs, so it imports none of them."""

from __future__ import annotations

import os

from dialeval.config import Model, OpenAIModel, VllmModel
from dialeval.engines.vllm_engine.installation import vllm_missing


def unavailable(model: Model) -> str | None:
    """Returns why a model cannot answer on this installation and what to do about it, or None if it can."""
    if isinstance(model, VllmModel):
        return vllm_missing()
    if isinstance(model, OpenAIModel) and model.api_key_env and not os.environ.get(model.api_key_env):
        return (
            f"the environment variable {model.api_key_env}, which api_key_env names, is not set; "
            "export it, or set api_key_env: null for an endpoint without keys"
        )
    return None
