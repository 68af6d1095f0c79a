"""Self-chat through the engine and the store against other ways of driving the same vLLM.

All schemes produce the same dialogues with the same model; figures are ratios of wall times. Each begins with an empty
cache, ours by a new start of the engine, which is not timed. `--only` takes one half, whose figures are kept apart: the
other ways, or a cache for a fifth. Takes 20 min with vLLM.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Hashable
from dataclasses import dataclass
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

from dialeval.config import VllmModel
from dialeval.engines.answering import Answering
from dialeval.engines.requests import Dialogue, Message, Request, Sampling
from dialeval.engines.store import ResponseStore
from dialeval.engines.vllm_engine import VllmEngine
from dialeval.engines.vllm_engine.driver import Driver
from dialeval.engines.vllm_engine.engine import sampler_seed
from dialeval.engines.vllm_engine.process import GenerationRequest, GenerationResult
from dialeval.jobs.progress import Progress
from dialeval.prompts.rendering import Templates
from dialeval.protocols.selfchat import SELFCHAT, Talk, chat_all, history
from gates import Gates, arguments
from vllm_direct import (
    Direct,
    Scheme,
    cpu_settings,
    final,
    interleaved,
    own_megabytes,
    restart,
    seeds,
    tiny_model,
)  # isort: skip

Dialogues = dict[str, list[str]]


class Task:
    """What every scheme does: continue the seeds."""

    def __init__(self, by_id: dict[str, Dialogue], n_utterances: int, sampling: Sampling) -> None:
        self.seeds, self.n_utterances, self.sampling = by_id, n_utterances, sampling
        self.system = Templates().render("selfchat.j2")


def through_the_store(engine: VllmEngine, task: Task) -> Dialogues:
    """Ours: engine, store and all."""
    with (
        tempfile.TemporaryDirectory() as folder,
        ResponseStore(Path(folder), identity=engine.identity, name="tiny", protocol="selfchat") as store,
    ):
        answering = Answering(engine, store, Progress("self-chat", None, "utterances", stream=StringIO()))
        talk = Talk.alone(engine, n_utterances=task.n_utterances, system=task.system, sampling=task.sampling)
        dialogues = asyncio.run(chat_all(talk, {SELFCHAT: answering}, task.seeds))
        empty = {"empty", "truncated"}  # the tiny model says nothing at times; such a dialogue is left out
        assert answering.failures.keys() <= empty, answering.first_message
        return {seed_id: [turn.text for turn in turns] for seed_id, turns in dialogues.items()}


def by_rounds(direct: Direct, task: Task, by_id: dict[str, Dialogue]) -> Dialogues:
    """One call of `LLM.chat` per round over all dialogues: the next round begins when the last answer is there."""
    chat = task.sampling
    going_on = {seed_id: list(seed) for seed_id, seed in by_id.items()}
    for _ in range(task.n_utterances - 2):
        histories = [history(task.system, utterances) for utterances in going_on.values()]
        parameters = [
            final(temperature=chat.temperature, max_tokens=chat.max_tokens, seed=seed_of(messages, chat))
            for messages in histories
        ]
        conversations: list[Any] = [[message._asdict() for message in messages] for messages in histories]
        outputs = direct.llm.chat(conversations, parameters, use_tqdm=False)
        for seed_id, output in zip(list(going_on), outputs, strict=True):
            text = output.outputs[0].text.rstrip("\N{REPLACEMENT CHARACTER}").strip()  # as the engine does
            going_on[seed_id].append(text)
            if not text:  # the dialogue cannot go on, and is left out as by the stage
                del going_on[seed_id]
    return {seed_id: utterances[2:] for seed_id, utterances in going_on.items()}


def seed_of(messages: tuple[Message, ...], sampling: Sampling) -> int | None:
    """Return the sampling seed that the engine gives to these messages, so that the dialogues can be compared."""
    return sampler_seed(Request("", "", "chat", messages, sampling)) if sampling.temperature > 0 else None


class Recorder:
    """Stands before a driver and writes down prompts, the lengths of the answers and the sampling seeds."""

    def __init__(self, driver: Driver) -> None:
        self.driver, self.size = driver, driver.size
        self.seen: list[tuple[list[int], int, int | None]] = []

    async def generate(self, generation: GenerationRequest, *, dialogue: Hashable = None) -> GenerationResult:
        answered = await self.driver.generate(generation, dialogue=dialogue)
        self.seen.append((generation.prompt, len(answered.token_ids), generation.seed))
        return answered

    def close(self) -> None:
        self.driver.close()


def record(engine: VllmEngine, task: Task) -> tuple[Dialogues, list[tuple[list[int], int, int | None]]]:
    """Run ours once, for the prompts and the lengths of the answers."""
    driver = engine.start()
    recorder = Recorder(driver)
    engine._driver = recorder
    dialogues = through_the_store(engine, task)
    engine._driver = driver
    return dialogues, recorder.seen


def same_length(n_tokens: int, seed: int | None, sampling: Sampling) -> Any:
    """Return sampling parameters for an answer of a given length."""
    length = {"max_tokens": n_tokens, "min_tokens": n_tokens, "ignore_eos": True}
    return final(temperature=sampling.temperature, seed=seed, **length)


@dataclass
class Ours:
    """Our way, which has run once.

    Attributes:
        engine: of the model that every scheme asks.
        task: what is done.
        expected: the dialogues that every scheme must give.
        seen: of each request the prompt, the length of its answer and its sampling seed.
    """

    engine: VllmEngine
    task: Task
    expected: Dialogues
    seen: list[tuple[list[int], int, int | None]]

    def scheme(self, engine: VllmEngine) -> Scheme:
        """Return our way with an engine, which starts anew for it."""

        def run() -> None:
            assert through_the_store(engine, self.task) == self.expected

        return Scheme(partial(restart, engine), run)


def against_other_ways(gates: Gates, ours: Ours, settings: VllmModel, options: argparse.Namespace) -> None:
    """Time ours, one batch per round, all requests at once, and dialogues one at a time."""
    direct, task = Direct(settings, apart=options.apart), ours.task

    def rounds() -> None:
        assert by_rounds(direct, task, task.seeds) == ours.expected

    def ceiling() -> None:
        same = [same_length(n, seed, task.sampling) for _, n, seed in ours.seen]
        direct.run([prompt for prompt, *_ in ours.seen], same)

    schemes = {
        "ours": ours.scheme(ours.engine),
        "one batch per round": Scheme(direct.forget, rounds),
        "ceiling": Scheme(direct.forget, ceiling),
    }
    seconds = interleaved(schemes, options.rounds)
    direct.forget()
    few = dict(list(task.seeds.items())[: options.alone])
    start = time.perf_counter()
    for seed_id, seed in few.items():
        by_rounds(direct, task, {seed_id: seed})
    alone = (time.perf_counter() - start) * len(task.seeds) / len(few)
    batch = f"one batch per round, {'each with a process of its own' if options.apart else 'in the process that asks'}"
    known, scaled = "all prompts and lengths known beforehand", f"scaled up from {len(few)} dialogues: {alone:.0f} s"
    gates.told("self-chat through engine and store", seconds["ours"], unit="s")
    gates.at_most("time", seconds["ours"] / seconds["one batch per round"], 0.85, unit="x", against=batch)
    gates.at_most("time", seconds["ours"] / alone, 0.2, unit="x", against="one dialogue at a time", note=scaled)
    gates.at_least("rate", seconds["ceiling"] / seconds["ours"], 0.95, unit="x", against=known)
    gates.told(
        "time of what is known beforehand, the least that there is",
        seconds["ceiling"] / seconds["one batch per round"], unit="x", against=batch,
    )  # fmt: skip


def with_little_cache(gates: Gates, ours: Ours, settings: VllmModel, options: argparse.Namespace) -> None:
    """Time ours with a cache for a fifth of what all dialogues need at their end, and with one for all."""
    size = ours.engine.start().size
    # the prompts of the last turn, which are the longest of each dialogue
    last = sorted((len(prompt) + n for prompt, n, _ in ours.seen), reverse=True)[: len(ours.task.seeds)]
    needed = sum(-(-length // size.block_size) * size.block_size for length in last)
    fifth = int(needed * options.cache_bytes / size.cache_tokens / 5)
    small = VllmEngine(settings.model_copy(update={"kv_cache_memory_bytes": fifth}))
    schemes = {"cache for all": ours.scheme(ours.engine), "cache for a fifth": ours.scheme(small)}
    seconds = interleaved(schemes, options.rounds)
    print(
        f"cache for a fifth: {small.start().size.cache_tokens} of {needed} tokens, "
        f"at most {small.admission.most_in_hand} requests in hand"
    )
    ratio = seconds["cache for a fifth"] / seconds["cache for all"]
    gates.at_most("time with a cache for a fifth", ratio, 1.15, unit="x", against="a cache for all")


HALVES = {"ways": against_other_ways, "cache": with_little_cache}


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--model", help="folder of a tiny model; built if not given")
    parser.add_argument("--steps", type=int, default=100, help="training steps of the model that is built")
    parser.add_argument("--seeds", type=int, default=547)
    parser.add_argument("--utterances", type=int, default=16)
    parser.add_argument("--max-tokens", type=int, default=64)
    parser.add_argument("--temperature", type=float, default=0.8)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--apart", action="store_true", help="vLLM driven directly has a process of its own, too")
    parser.add_argument("--alone", type=int, default=6, help="dialogues of the one-at-a-time scheme, scaled up")
    parser.add_argument("--cache-bytes", type=int, default=2 << 30, help="KV cache of the first run")
    parser.add_argument("--only", choices=HALVES, help="one half; its figures are kept apart")
    options = parser.parse_args()
    gates = Gates(__file__, options, part=options.only or "")
    sampling = Sampling(temperature=options.temperature, max_tokens=options.max_tokens)
    task = Task(seeds(options.seeds), options.utterances, sampling)
    settings = cpu_settings(tiny_model(options.model, options.steps), kv_cache_memory_bytes=options.cache_bytes)

    engine = VllmEngine(settings)
    expected, seen = record(engine, task)
    megabytes = own_megabytes()
    tokens = sum(len(prompt) for prompt, *_ in seen)
    print(
        f"{len(task.seeds)} seeds x {options.utterances - 2} utterances, mean prompt {tokens / len(seen):.0f} tokens, "
        f"mean answer {sum(n for _, n, _ in seen) / len(seen):.1f} tokens, prefix hits {engine.prefix_hit_rate:.2f}",
        flush=True,
    )
    for half in [options.only] if options.only else HALVES:
        HALVES[half](gates, Ours(engine, task, expected, seen), settings, options)
    gates.at_most("memory beside the engine's process", megabytes, 500, unit="MB")
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
