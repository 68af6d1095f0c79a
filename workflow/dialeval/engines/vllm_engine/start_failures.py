"""What to do about a start that failed, from vLLM's own words."""

from __future__ import annotations

import re

from dialeval.engines.vllm_engine.installation import version_note

_MEMORY = (
    "the memory does not suffice: lower max_model_len, raise gpu_memory_utilization if nothing else uses the GPU, take "
    "quantization: fp8, or split the model with tensor_parallel_size"
)
_REMEDIES = (
    (r"out of memory|KV cache is needed|memory for the cache|Free memory on device|SIGKILL", _MEMORY),
    (
        r"not supported anymore|are not supported for now|not supported in-tree",
        "this vLLM has no such model; an older one may serve it for engine: openai, see docs/vllm.md, 'Models that "
        "vLLM has dropped'",
    ),
    (
        r"trust_remote_code",
        "with trust_remote_code: true the Python code that comes with the model is run; read it first",
    ),
    (r"gated|401 Client|403 Client", "set HF_TOKEN to a token of an account that was given access to the model"),
)
_ELSE = "see the message above; fields of the model and its engine_args are explained in docs/vllm.md"


def remedy(reason: str) -> str:
    """Returns what to do about a failed start, with the installed version if it is not the tested one.

    Args:
        reason: what vLLM or transformers said.
    """
    fitting = [advice for pattern, advice in _REMEDIES if re.search(pattern, reason, re.IGNORECASE)]
    return "; ".join(fitting or [_ELSE]) + version_note()
