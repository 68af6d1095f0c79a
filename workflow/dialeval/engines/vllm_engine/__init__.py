"""The engine of models that vLLM runs in processes of its own. Importing it imports neither vLLM nor torch."""

from dialeval.engines.installation import no_device, vllm_missing
from dialeval.engines.vllm_engine.engine import VllmEngine
from dialeval.engines.vllm_engine.model_files import vllm_identity

__all__ = ["VllmEngine", "no_device", "vllm_identity", "vllm_missing"]
