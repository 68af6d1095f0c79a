"""What the benchmarks of the vLLM engine share: the same vLLM driven directly, seeds, and a table of ratios.

The direct engine is the yardstick. It is started with the same arguments in the same process and gets prompts that are
already tokenised, so that what it takes is vLLM's own time.
"""

from __future__ import annotations

import itertools
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

from dialeval.config import VllmModel
from dialeval.corpora import bundled
from dialeval.engines.request import Dialogue
from dialeval.engines.tiny_model import build_tiny_model
from dialeval.engines.vllm_engine.arguments import engine_arguments, prepare_environment


class Direct:
    """vLLM's engine in this thread: prompts in, all outputs out."""

    def __init__(self, model: VllmModel) -> None:
        prepare_environment(model)
        from vllm import EngineArgs
        from vllm.platforms import current_platform
        from vllm.v1.engine.llm_engine import LLMEngine

        self.engine = LLMEngine.from_engine_args(
            EngineArgs(**engine_arguments(model, on_cpu=current_platform.is_cpu()))
        )
        self._numbers = itertools.count()

    def run(self, prompts: Sequence[Sequence[int]], parameters: Sequence[Any]) -> list[Any]:
        """Submits all prompts at once and returns vLLM's outputs in their order."""
        names = [str(next(self._numbers)) for _ in prompts]
        for name, prompt, params in zip(names, prompts, parameters, strict=True):
            self.engine.add_request(name, {"type": "token", "prompt_token_ids": list(prompt)}, params)
        found: dict[str, Any] = {}
        while len(found) < len(names):
            found.update((output.request_id, output) for output in self.engine.step() if output.finished)
        return [found[name] for name in names]

    def forget(self) -> None:
        """Empties the prefix cache."""
        self.engine.reset_prefix_cache()


def final(**options: Any) -> Any:
    """Returns sampling parameters whose output comes once, at the end."""
    from vllm import SamplingParams
    from vllm.sampling_params import RequestOutputKind

    return SamplingParams(output_kind=RequestOutputKind.FINAL_ONLY, **options)


def tiny_model(folder: str | None, steps: int) -> str:
    """Returns the folder of a tiny model, built if none is given."""
    if folder is None:
        folder = tempfile.mkdtemp(prefix="tiny-model-")
        build_tiny_model(Path(folder), steps=steps)
    return folder


def cpu_settings(folder: str, **changes: Any) -> VllmModel:
    """Returns a configuration of the tiny model on the CPU."""
    fields: dict[str, Any] = {
        "engine": "vllm", "model": folder, "dtype": "float32", "enforce_eager": True, "max_model_len": 2048,
        "engine_args": {"max_num_seqs": 256},
    }  # fmt: skip
    return VllmModel(**fields | changes)


def seeds(number: int) -> dict[str, Dialogue]:
    """Returns pairs of consecutive utterances of the bundled dialogues."""
    pairs = (
        (f"{dialogue.dialogue_id}-{start}", tuple(part.text for part in dialogue.utterances[start : start + 2]))
        for start in range(0, 40, 2)
        for dialogue in bundled.read("en").dialogues
        if len(dialogue.utterances) >= start + 2
    )
    return dict(itertools.islice(pairs, number))


def interleaved(calls: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Returns the median wall seconds of each call; every round runs all of them, forwards and backwards in turn."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(rounds):
        for name in list(calls) if number % 2 == 0 else list(reversed(calls)):
            start, processor = time.perf_counter(), time.process_time()
            calls[name]()
            seconds[name].append(time.perf_counter() - start)
            processor = time.process_time() - processor
            print(f"  {name}: {seconds[name][-1]:.1f} s, {processor:.1f} s of processor time", flush=True)
    return {name: statistics.median(values) for name, values in seconds.items()}


def megabytes_now() -> float:
    """Returns the resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def report(lines: Sequence[tuple[str, float, str, float]]) -> None:
    """Prints one line per figure: what, how much, and the bound it is held against."""
    for what, value, sign, bound in lines:
        kept = value <= bound if sign == "<=" else value >= bound
        print(f"{what}: {value:.3f} ({sign} {bound}: {'reached' if kept else 'NOT reached'})", flush=True)
