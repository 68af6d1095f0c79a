"""vLLM's limits: those of vLLM's own class for tables of requests, never our own, and printed at the start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dialeval.config import VllmModel
from dialeval.engines.vllm_engine import VllmEngine

pytestmark = pytest.mark.vllm
GIB = 1 << 30


class _Stopped(Exception):
    """Ends a start once it is known with what vLLM was called."""


class _LargeGpu:
    """The platform of this machine, but for what vLLM asks when it chooses its limits."""

    def __init__(self, real: Any, name: str, memory: int) -> None:
        self._real, self._name, self._memory = real, name, memory

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def is_cpu(self) -> bool:
        return False

    def get_device_total_memory(self, *_: Any) -> int:
        return self._memory

    def get_device_name(self, *_: Any) -> str:
        return self._name


@pytest.fixture
def started_with(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The configurations that vLLM's engine would have been started with."""
    from vllm.usage.usage_lib import UsageContext
    from vllm.v1.engine.llm_engine import LLMEngine

    seen: list[Any] = []

    def stop(engine_args: Any, usage_context: Any = UsageContext.ENGINE_CONTEXT, **_: Any) -> None:
        seen.append(engine_args.create_engine_config(usage_context))
        raise _Stopped

    monkeypatch.setattr(LLMEngine, "from_engine_args", stop)
    return seen


@pytest.mark.parametrize(
    ("name", "memory", "sequences", "tokens"),
    [("NVIDIA H200", 141, 1024, 16384), ("NVIDIA A100-SXM4-80GB", 80, 256, 8192), ("NVIDIA L4", 24, 256, 8192)],
)
def test_the_limits_are_those_of_vllms_own_class(
    name: str,
    memory: int,
    sequences: int,
    tokens: int,
    settings: Callable[..., VllmModel],
    started_with: list[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import vllm.engine.arg_utils
    import vllm.platforms
    from vllm import LLM

    from dialeval.engines.vllm_engine.process import Computing

    gpu = _LargeGpu(vllm.platforms.current_platform, name, memory * GIB)
    monkeypatch.setattr(vllm.engine.arg_utils, "current_platform", gpu)
    monkeypatch.setattr(vllm.platforms, "current_platform", gpu)
    model = settings(engine_args={}, kv_cache_memory_bytes=None)
    with pytest.raises(_Stopped):
        Computing(model)
    with pytest.raises(_Stopped):
        LLM(model=model.model, dtype="float32", enforce_eager=True, max_model_len=model.max_model_len)
    ours, llm = (
        {
            "sequences": config.scheduler_config.max_num_seqs,
            "tokens": config.scheduler_config.max_num_batched_tokens,
            "window": config.model_config.max_model_len,
            "chunked": config.scheduler_config.enable_chunked_prefill,
            "block": config.cache_config.block_size,
            "cached": config.cache_config.enable_prefix_caching,
        }
        for config in started_with
    )
    assert ours == llm
    assert (ours["sequences"], ours["tokens"]) == (sequences, tokens)


def test_enough_requests_are_on_their_way_for_every_copy(settings: Callable[..., VllmModel]) -> None:
    assert VllmEngine(settings()).concurrency >= 2 * 1024
    assert VllmEngine(settings(data_parallel_size=4)).concurrency >= 4 * 2 * 1024
    assert VllmEngine(settings(engine_args={"max_num_seqs": 5000})).concurrency >= 10_000
    assert VllmEngine(settings(concurrency=7)).concurrency == 7


def test_the_log_says_what_is_in_effect(
    settings: Callable[..., VllmModel], capfd: pytest.CaptureFixture[str], engine: VllmEngine
) -> None:
    from dialeval.engines.vllm_engine.engine import limits_in_effect

    size = engine.start().size
    assert (size.sequences, size.window, size.dtype) == (32, 1024, "float32")
    assert size.cache_tokens >= 64 * size.block_size
    assert size.batched_tokens >= size.window  # a prompt is never split here, see arguments.py
    line = limits_in_effect(size, settings(), {"top_k": 20, "repetition_penalty": 1.05})
    assert "max_num_seqs=32" in line
    assert f"max_num_batched_tokens={size.batched_tokens}" in line
    assert "max_model_len=1024" in line
    assert f"KV cache of {size.cache_tokens} tokens" in line
    assert "dtype=float32, quantization=none" in line
    assert "generation_config=vllm (repetition_penalty=1.05, top_k=20)" in line
    assert size.version in line
