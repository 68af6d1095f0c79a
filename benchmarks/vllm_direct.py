"""What the benchmarks of the vLLM engine share: the same vLLM driven directly, and seeds.

The direct engine is the yardstick. It is started with the same arguments.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

from dialeval.config import VllmModel
from dialeval.corpora.dialogues import bundled_dialogues
from dialeval.engines.requests import Dialogue
from dialeval.engines.vllm_engine import VllmEngine
from dialeval.engines.vllm_engine.process import computing_environment, engine_arguments
from stage_runs import run_python

BUILD = """
import sys
from pathlib import Path
from dialeval.engines.tiny_model import build_tiny_model
build_tiny_model(Path(sys.argv[1]), steps=int(sys.argv[2]))
"""


class Direct:
    """vLLM as its users drive it: `llm` for whole batches, `run` for prompts in tokens.

    Args:
        model: what to start.
        apart: whether it computes in a process of its own, as ours does and as is vLLM's default, or in this one.
    """

    def __init__(self, model: VllmModel, *, apart: bool = False) -> None:
        os.environ |= computing_environment(model, os.environ)
        os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = str(int(apart))
        from vllm import LLM
        from vllm.platforms import current_platform

        self.llm = LLM(**engine_arguments(model, on_cpu=current_platform.is_cpu()))
        self.engine = self.llm.llm_engine
        self._numbers = itertools.count()

    def run(self, prompts: Sequence[Sequence[int]], parameters: Sequence[Any]) -> list[Any]:
        """Submit all prompts at once and return vLLM's outputs in their order."""
        names = [str(next(self._numbers)) for _ in prompts]
        for name, prompt, params in zip(names, prompts, parameters, strict=True):
            self.engine.add_request(name, {"type": "token", "prompt_token_ids": list(prompt)}, params)
        found: dict[str, Any] = {}
        while len(found) < len(names):
            found.update((output.request_id, output) for output in self.engine.step() if output.finished)
        return [found[name] for name in names]

    def forget(self) -> None:
        """Empty the prefix cache."""
        self.engine.reset_prefix_cache()


def final(**options: Any) -> Any:
    """Return sampling parameters whose output comes once, at the end."""
    from vllm import SamplingParams
    from vllm.sampling_params import RequestOutputKind

    return SamplingParams(output_kind=RequestOutputKind.FINAL_ONLY, **options)


def tiny_model(folder: str | None, steps: int) -> str:
    """Return the folder of a tiny model, built if none is given: elsewhere, as what builds it would count as ours."""
    if folder is None:
        folder = tempfile.mkdtemp(prefix="tiny-model-")
        run_python("-c", BUILD, folder, str(steps))
    return folder


def cpu_settings(folder: str, **changes: Any) -> VllmModel:
    """Return a configuration of the tiny model on the CPU."""
    fields: dict[str, Any] = {
        "engine": "vllm", "model": folder, "dtype": "float32", "enforce_eager": True, "max_model_len": 2048,
        "engine_args": {"max_num_seqs": 256},
    }  # fmt: skip
    return VllmModel(**fields | changes)


def seeds(number: int) -> dict[str, Dialogue]:
    """Return pairs of consecutive utterances of the bundled dialogues."""
    pairs = (
        (f"{dialogue.dialogue_id}-{start}", tuple(part.text for part in dialogue.utterances[start : start + 2]))
        for start in range(0, 40, 2)
        for dialogue in bundled_dialogues("en").dialogues
        if len(dialogue.utterances) >= start + 2
    )
    return dict(itertools.islice(pairs, number))


@dataclass
class Scheme:
    """One way to do the work.

    Attributes:
        prepare: empties the cache; not timed.
        run: does the work.
    """

    prepare: Callable[[], object]
    run: Callable[[], object]


def interleaved(schemes: Mapping[str, Scheme], rounds: int) -> dict[str, float]:
    """Return the median wall seconds of each scheme; every round runs all, forwards and backwards in turn."""
    seconds: dict[str, list[float]] = {name: [] for name in schemes}
    for number in range(rounds):
        for name in list(schemes) if number % 2 == 0 else list(reversed(schemes)):
            schemes[name].prepare()
            start = time.perf_counter()
            schemes[name].run()
            seconds[name].append(time.perf_counter() - start)
            print(f"  {name}: {seconds[name][-1]:.1f} s", flush=True)
    return {name: statistics.median(values) for name, values in seconds.items()}


def restart(engine: VllmEngine) -> None:
    """End the engine and start it again, which empties its cache."""
    asyncio.run(engine.close())
    engine.start()


def own_megabytes() -> float:
    """Return the memory that this process shares with no other."""
    parts = re.findall(r"^Private_\w+:\s+(\d+) kB", Path("/proc/self/smaps").read_text(), re.MULTILINE)
    return sum(map(int, parts)) * 1024 / 1e6
