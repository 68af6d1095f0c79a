"""A model's configuration as arguments of vLLM's engine."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from dialeval.config.vllm_model import VllmModel
from dialeval.errors import UserError

CPU_BLOCK_SIZE = 32
CPU_CACHE_BYTES = 1 << 29
LORA_RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)
"""Ranks that vLLM can be told as the highest; one between them gets the next."""
LABELS_AT_ONCE = 128
"""Most tokens whose probability vLLM gives in one step."""


def computing_environment(model: VllmModel, environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the environment of the process that vLLM computes in; what the user has set stays."""
    ours = {
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",  # it is a process of its own already
        "VLLM_LOGGING_LEVEL": "ERROR",
        "VLLM_NO_USAGE_STATS": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
    if model.enforce_eager:
        ours["TORCHDYNAMO_DISABLE"] = "1"
    return ours | dict(environment)


def engine_arguments(model: VllmModel, *, on_cpu: bool) -> dict[str, Any]:
    """Returns keyword arguments of vLLM's EngineArgs.

    Args:
        model: the configuration.
        on_cpu: whether vLLM computes on the CPU, where a prefill that is split ends the engine as soon as a request
            has a sampling seed, and where the share of the memory means all of it.
    """
    arguments: dict[str, Any] = {
        "model": os.path.expanduser(model.model),  # noqa: PTH111 - a name at Hugging Face is no path
        "revision": model.revision,
        "tokenizer_revision": model.revision,
        "dtype": model.dtype,
        "quantization": model.quantization,
        "tensor_parallel_size": model.tensor_parallel_size,
        "max_model_len": model.max_model_len,
        "gpu_memory_utilization": model.gpu_memory_utilization,
        "kv_cache_memory_bytes": model.kv_cache_memory_bytes,
        "trust_remote_code": model.trust_remote_code,
        "enforce_eager": model.enforce_eager,
        "enable_prefix_caching": True,
        "disable_log_stats": True,
        "seed": 0,
        # between the fields of a structured answer a model could otherwise write blanks until its budget is gone
        "structured_outputs_config": {"backend": "xgrammar", "disable_any_whitespace": True},
    }
    if on_cpu:
        arguments |= {
            "block_size": CPU_BLOCK_SIZE,
            "enable_chunked_prefill": False,
            "kv_cache_memory_bytes": model.kv_cache_memory_bytes or CPU_CACHE_BYTES,
        }
    if model.lora_path is not None:
        arguments |= {"enable_lora": True, "max_loras": 1, "max_lora_rank": _lora_rank(model)}
    return arguments | model.engine_args


def _lora_rank(model: VllmModel) -> int:
    assert model.lora_path is not None
    path = model.lora_path.expanduser() / "adapter_config.json"
    try:
        rank = int(json.loads(path.read_text(encoding="utf-8"))["r"])
    except (OSError, KeyError, ValueError) as error:
        raise UserError(
            f"lora_path: {model.lora_path} is not a LoRA adapter ({path.name} with its rank 'r' is needed): {error}"
        ) from error
    if rank > LORA_RANKS[-1]:
        raise UserError(f"the adapter in {model.lora_path} has rank {rank}, and vLLM takes up to {LORA_RANKS[-1]}")
    return next(possible for possible in LORA_RANKS if possible >= rank)
