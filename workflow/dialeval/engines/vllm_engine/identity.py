"""The identity of a model: everything about it that can change an answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dialeval.config.vllm_model import VllmModel

WHOLE_UP_TO = 1 << 28
"""Bytes up to which a file is hashed whole; of a larger one, its size and samples all over it."""
_SAMPLE, _SAMPLES = 1 << 16, 256
_CONTENT = ("*.safetensors", "*.bin", "*.json", "*.model", "*.jinja", "*.py", "*.gguf", "*.txt")

WITHOUT_EFFECT = frozenset(
    {
        "block_size",
        "cpu_offload_gb",
        "disable_log_stats",
        "distributed_executor_backend",
        "download_dir",
        "enable_chunked_prefill",
        "enable_prefix_caching",
        "max_num_batched_tokens",
        "max_num_seqs",
        "max_parallel_loading_workers",
        "num_gpu_blocks_override",
        "scheduling_policy",
        "seed",
    }
)
"""Engine arguments that say how the work is laid out, not what is computed. `seed` is always derived per request."""


def vllm_identity(
    model: VllmModel,
    normalisation: str,
    *,
    weights: str = "",
    template: str = "",
    sampling: Mapping[str, float] | None = None,
    reasoning: str = "",
) -> str:
    """Returns the identity of a model as canonical JSON.

    How the work is spread over GPUs and batches is not part of it: that changes rounding only, as does the number of
    requests that happen to be computed together.

    Args:
        model: its configuration.
        normalisation: how messages are rearranged for its chat template.
        weights: the commit of a model from Hugging Face, or the digest of a folder's content, which then stands for
            the folder's name.
        template: digest of the chat template.
        sampling: sampling values beyond a request's own, of which there are none unless the configuration asks for
            them: what they are, not where they come from, decides.
        reasoning: name of the way in which the model marks its reasoning; empty for `<think>`.
    """
    from_folder = weights.startswith("sha256:")
    content: dict[str, Any] = {
        "engine": "vllm",
        "model": weights if from_folder else model.model,
        "revision": None if from_folder else weights or model.revision,
        "dtype": model.dtype,
        "quantization": model.quantization,
        "max_model_len": model.max_model_len,
        "lora": None if model.lora_path is None else folder_digest(model.lora_path.expanduser()),
        "trust_remote_code": model.trust_remote_code,
        "chat_template": template,
        "chat_template_options": model.chat_template_options,
        "normalisation": normalisation,
        "engine_args": {name: value for name, value in model.engine_args.items() if name not in WITHOUT_EFFECT},
    }
    if sampling:
        content["sampling"] = dict(sampling)
    if reasoning:
        content["reasoning_parser"] = reasoning
    return json.dumps(content, sort_keys=True, ensure_ascii=False, default=str)


def folder_digest(folder: Path) -> str:
    """Returns a digest of a model folder's content, whatever its name and place."""
    digest = hashlib.sha256()
    for path in sorted({path for pattern in _CONTENT for path in folder.glob(pattern)}):
        digest.update(f"{path.name}\0{path.stat().st_size}\0".encode())
        for part in _parts(path):
            digest.update(part)
    return f"sha256:{digest.hexdigest()[:32]}"


def text_digest(text: str) -> str:
    """Returns a short digest of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _parts(path: Path) -> Iterator[bytes]:
    size = path.stat().st_size
    with path.open("rb") as file:
        if size <= WHOLE_UP_TO:
            while part := file.read(1 << 20):
                yield part
            return
        for number in range(_SAMPLES):
            file.seek((size - _SAMPLE) * number // (_SAMPLES - 1))
            yield file.read(_SAMPLE)
