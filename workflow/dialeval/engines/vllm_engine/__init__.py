"""The engine of models that vLLM runs in processes of its own. Importing it imports neither vLLM nor torch."""

from dialeval.engines.vllm_engine.engine import VllmEngine

__all__ = ["VllmEngine"]
