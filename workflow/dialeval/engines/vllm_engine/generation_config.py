"""The sampling values that a model's makers publish with it, in `generation_config.json`.

vLLM's engine does not use them; its server (`vllm serve`) does, wherever a request says nothing of its own, so the same
model answers differently behind the one and the other. `generation_config: auto` makes the engine answer as the server:
requests always say their temperature and their budget; a `top_p` other than 1 is said too; `top_k`, `min_p` and the
penalties, of which requests never speak, are the file's. Tokens that end an answer (`eos_token_id`) are read from the
file by both, whatever is chosen here.
"""

from __future__ import annotations

from typing import Any

from dialeval.config.vllm_model import VllmModel
from dialeval.errors import UserError

OVERRIDE = "override_generation_config"
"""vLLM's engine argument with values that stand above the file's, and count without it too."""
_APPLIED = ("frequency_penalty", "min_p", "presence_penalty", "repetition_penalty", "top_k", "top_p")
_CAP = "max_new_tokens"


def sampling_defaults(model: VllmModel) -> dict[str, float]:
    """Returns the sampling values beyond a request's own, by vLLM's names.

    They are those of the file (`generation_config: auto`) and of the engine argument `override_generation_config`.
    `max_new_tokens` bounds every answer if the latter names it; the file's is no bound, at the server neither.

    Args:
        model: its configuration, with the commit of its weights as `revision`.

    Raises:
        UserError: a value is no number.
    """
    override = model.engine_args.get(OVERRIDE) or {}
    values = (_published(model) if model.generation_config == "auto" else {}) | override
    found = {name: values[name] for name in _APPLIED if values.get(name) is not None}
    if override.get(_CAP) is not None:
        found[_CAP] = override[_CAP]
    for name, value in found.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            place = f"engine_args.{OVERRIDE}" if name in override else "the model's generation_config.json"
            raise UserError(f"{name}: {value!r} in {place} is no number")
    return found


def _published(model: VllmModel) -> dict[str, Any]:
    """Returns what a model's generation_config.json says beside the defaults, or else its config.json of old."""
    from transformers import AutoConfig, GenerationConfig

    from dialeval.engines.vllm_engine.loading import name_or_folder

    name = name_or_folder(model)
    try:
        found = GenerationConfig.from_pretrained(name, revision=model.revision)
    except OSError:  # there is none: older models have such values in their config.json
        config = AutoConfig.from_pretrained(name, revision=model.revision, trust_remote_code=model.trust_remote_code)
        found = GenerationConfig.from_model_config(config)
    values: dict[str, Any] = found.to_diff_dict()
    return values
