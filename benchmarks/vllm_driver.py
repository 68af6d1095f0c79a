"""CPU time of the process that drives vLLM: requests through engine and store, with a vLLM that responds at once.

No model computes: the driver is replaced by one that has every answer ready, so that what remains is this process's own
work on a request: its key, the rendered prompt, its tokens, the store. Figures are of CPU time, which other work on the
machine changes less than wall time: requests for each second of it, all of which one thread spends.
Takes 3 min with vLLM.
"""

from __future__ import annotations

import asyncio
import itertools
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Hashable, Sequence
from io import StringIO
from pathlib import Path
from unittest.mock import patch

from vllm_direct import cpu_settings, seeds, tiny_model  # isort: skip

from dialeval.corpora.dialogues import bundled_dialogues
from dialeval.engines.answering import Answering
from dialeval.engines.requests import Message, Request, Sampling
from dialeval.engines.store import ResponseStore
from dialeval.engines.vllm_engine import VllmEngine
from dialeval.engines.vllm_engine import engine as engine_module
from dialeval.engines.vllm_engine.process import EngineSize, GenerationRequest, GenerationResult
from dialeval.jobs.progress import Progress
from dialeval.prompts.rendering import Templates, render_dialogue
from dialeval.protocols.selfchat import SELFCHAT, Talk, chat_all
from gates import Gates, arguments
from vllm_choice import requests as choice_requests


class AtOnce:
    """A driver whose vLLM takes no time."""

    size = EngineSize(cache_tokens=1 << 24, block_size=16, window=32_768, sequences=1024)

    def __init__(self, answer: Sequence[int]) -> None:
        self.answer = list(answer)

    async def generate(self, generation: GenerationRequest, *, dialogue: Hashable = None) -> GenerationResult:
        return GenerationResult(self.answer[: generation.max_tokens], None, "stop", 0, [-4.0] * len(generation.labels))

    def close(self) -> None:
        """End nothing."""


def arena_requests(number: int) -> list[Request]:
    """Return comparisons of two dialogues of 16 utterances: of every seed those of 14 chatbots, each with each."""
    instruction = (
        "Two conversations are shown below. In each of them two people talk; one of them may be a machine. Compare "
        "them and say which of the two is more like one between humans, and why."
    )
    said = [part.text for dialogue in bundled_dialogues("en").dialogues for part in dialogue.utterances]
    dialogues = [[said[(7 * first + turn) % len(said)] for turn in range(16)] for first in range(len(said))]
    shown = list(map(render_dialogue, dialogues))
    groups = (range(start, min(start + 14, len(shown))) for start in itertools.cycle(range(0, len(shown), 14)))
    pairs = itertools.islice((pair for group in groups for pair in itertools.permutations(group, 2)), number)
    texts = (f"{instruction}\n\nFirst one\n{shown[a]}\n\nSecond one\n{shown[b]}\n" for a, b in pairs)
    return [
        Request(f"arena/{n}", "arena", "chat", (Message("user", f"{text}\n({n})"),), Sampling(max_tokens=256))
        for n, text in enumerate(texts)
    ]


def cpu_seconds() -> float:
    """Return the CPU time of all threads of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def fresh_engine(folder: str) -> VllmEngine:
    """Return an engine that remembers nothing yet."""
    engine = VllmEngine(cpu_settings(folder, max_model_len=AtOnce.size.window))
    driver = AtOnce(engine._prompts.encode("Chatbot A is better, since it is more like a human, as I see it."))
    with patch.object(engine_module, "start", lambda _: driver):
        engine.start()
    return engine


def measured(folder: str, number: int, work: Callable[[VllmEngine, Answering], None]) -> tuple[float, float]:
    """Return CPU and wall seconds of some work, through a store of its own."""
    engine = fresh_engine(folder)
    with (
        tempfile.TemporaryDirectory() as place,
        ResponseStore(Path(place), identity=engine.identity, name="tiny", protocol="benchmark") as store,
    ):
        answering = Answering(engine, store, Progress("asking", None, "answers", stream=StringIO()))
        cpu, wall = cpu_seconds(), time.perf_counter()
        work(engine, answering)
        spent = cpu_seconds() - cpu, time.perf_counter() - wall
        assert not answering.failures, answering.first_message
        assert store.written == number, f"{store.written} answers of {number}"
    return spent


def main() -> int:
    """Print what each kind of request costs."""
    parser = arguments(__doc__)
    parser.add_argument("--model", help="folder of a tiny model; built if not given")
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--only", choices=["arena", "choice", "self-chat"], help="one kind alone")
    parser.add_argument("--profile", action="store_true", help="prints where the time goes")
    options = parser.parse_args()
    gates = Gates(__file__, options)
    folder = tiny_model(options.model, 0)
    arena, choice = arena_requests(options.requests), list(choice_requests(options.requests))
    begun = seeds(max(2, options.requests // 14))
    system = Templates().render("selfchat.j2")

    def chat(engine: VllmEngine, answering: Answering) -> None:
        talk = Talk.alone(engine, n_utterances=16, system=system, sampling=Sampling(temperature=0.8, max_tokens=64))
        asyncio.run(chat_all(talk, {SELFCHAT: answering}, begun))

    kinds: dict[str, tuple[int, float, Callable[[VllmEngine, Answering], None]]] = {
        "arena": (len(arena), 2000, lambda _, answering: asyncio.run(answering.ask_all(arena))),
        "choice": (len(choice), 4000, lambda _, answering: asyncio.run(answering.ask_all(choice))),
        "self-chat": (14 * len(begun), 2000, chat),
    }
    prompts = fresh_engine(folder)._prompts
    print(
        "mean prompt: "
        + ", ".join(
            f"{name} {sum(len(prompts.prompt(r.messages)[1]) for r in table[:200]) / len(table[:200]):.0f} tokens"
            for name, table in (("arena", arena), ("choice", choice))
        )
    )
    for name, (number, wanted, work) in kinds.items():
        if options.only not in (None, name):
            continue
        if options.profile:
            import cProfile
            import pstats

            profile = cProfile.Profile()
            profile.runcall(measured, folder, number, work)
            pstats.Stats(profile).sort_stats("tottime").print_stats(25)
            continue
        cpu, wall = measured(folder, number, work)
        what = f"{name}: requests a second of processor time"
        note = f"{1000 * cpu / number:.2f} ms each; {number / wall:,.0f} a second by the clock"
        gates.at_least(what, number / cpu, wanted, note=note)
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
