"""What a started engine works with, in words for the job's log."""

from __future__ import annotations

from collections.abc import Mapping

from dialeval.config.vllm_model import VllmModel
from dialeval.engines.vllm_engine.exchange import EngineSize
from dialeval.engines.vllm_engine.installation import version_note
from dialeval.engines.vllm_engine.reasoning import Reasoning


def limits_in_effect(size: EngineSize, model: VllmModel, sampling: Mapping[str, float]) -> str:
    """Returns the line of a log that says what vLLM settled on, by vLLM's own names.

    Args:
        size: what the engine told when it had started.
        model: the model's configuration.
        sampling: sampling values beyond a request's own.
    """
    values = ", ".join(f"{name}={value:g}" for name, value in sorted(sampling.items())) or "no values of its own"
    each = f" in each of {model.data_parallel_size} copies" if model.data_parallel_size > 1 else ""
    all_copies = " in all" if model.data_parallel_size > 1 else ""
    return (
        f"vLLM {size.version} has started {model.model}: max_num_seqs={size.sequences} and "
        f"max_num_batched_tokens={size.batched_tokens}{each}, max_model_len={size.window}, KV cache of "
        f"{size.cache_tokens} tokens{all_copies}, dtype={size.dtype}, quantization={size.quantization or 'none'}, "
        f"generation_config={model.generation_config} ({values}){version_note()}"
    )


def reasoning_in_effect(reasoning: Reasoning, model: VllmModel) -> str:
    """Returns the line of a log that says how reasoning is told from the answer."""
    how = "found out from the model" if model.reasoning_parser is None else "as configured"
    return (
        f"reasoning is told from the answer by {reasoning.words} (reasoning_parser, {how}: {reasoning.name or 'none'})"
    )
