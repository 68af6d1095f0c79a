"""The engine of models that vLLM runs in processes of its own. Importing it imports neither vLLM nor torch."""

from dialeval.engines.vllm_engine.devices import no_device
from dialeval.engines.vllm_engine.engine import VllmEngine
from dialeval.engines.vllm_engine.identity import vllm_identity
from dialeval.engines.vllm_engine.installation import vllm_missing

__all__ = ["VllmEngine", "no_device", "vllm_identity", "vllm_missing"]
