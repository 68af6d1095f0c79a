"""Self-chat with the limits that vLLM's own class takes against the smallest ones, with which the engine once started.

Both make the same dialogues; the figure is a ratio of wall times. Each begins with an empty cache.
Takes 10 min with vLLM.
"""

from __future__ import annotations

import sys

from dialeval.engines.request import Sampling
from dialeval.engines.vllm_engine import VllmEngine
from gates import Gates, arguments
from vllm_direct import Scheme, cpu_settings, interleaved, restart, seeds, tiny_model
from vllm_selfchat import Dialogues, Task, through_the_store

SMALLEST = {"max_num_seqs": 128, "max_num_batched_tokens": 2048}


def main() -> int:
    """Runs both in turn and prints the ratio of their medians."""
    parser = arguments(__doc__)
    parser.add_argument("--model", help="folder of a tiny model; built if not given")
    parser.add_argument("--steps", type=int, default=100, help="training steps of the model that is built")
    parser.add_argument("--seeds", type=int, default=300)
    parser.add_argument("--utterances", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    gates = Gates(__file__, options)
    folder = tiny_model(options.model, options.steps)
    task = Task(seeds(options.seeds), options.utterances, Sampling(temperature=0.8, max_tokens=64))
    engines = {
        name: VllmEngine(cpu_settings(folder, engine_args=limits, kv_cache_memory_bytes=1 << 30))
        for name, limits in (("vLLM's own limits", {}), ("the smallest", SMALLEST))
    }
    dialogues: dict[str, Dialogues] = {}

    def run(name: str) -> None:
        dialogues[name] = through_the_store(engines[name], task)

    schemes = {
        name: Scheme(prepare=lambda engine=engine: restart(engine), run=lambda name=name: run(name))  # type: ignore[misc]
        for name, engine in engines.items()
    }
    seconds = interleaved(schemes, options.rounds)
    own, smallest = seconds.values()
    same = len({str(sorted(each.items())) for each in dialogues.values()}) == 1
    note = "the same dialogues" if same else "other dialogues"
    gates.at_most("time", own / smallest, 1.0, unit="x", against="that with the smallest limits", note=note)
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
