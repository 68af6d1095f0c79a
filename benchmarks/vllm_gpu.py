"""Self-chat and judging on a GPU with randomly initialised models of realistic shape.

No weights are downloaded: the model has the tokenizer of the tiny model, with made-up words up to Llama 3's number, the
shape of a model of that size and random weights (vLLM's load_format dummy). Its utterances make no sense, and how long
each is, from 16 to 80 tokens, is drawn from its sampling seed.

Each side is a process of its own, which has the GPU to itself, and begins with an empty cache: `ours` is engine, store
and all; `llm` is `LLM.chat`, given all prompts beforehand or those of one round after the other, with vLLM's default of
a process for its engine, and `llm-inside` without. `ours-workers` is ours with a further process for vLLM's engine.
`botchat` is the whole of BotChat for two such models: self-chat of both, then the first judges by UniEval and Arena.
A side that is named more than once, or is in the file of what was found already, counts by the median of its runs.
Takes 30 min on a GPU.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ctypes
import itertools
import json
import os
import statistics
import string
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

from dialeval.config import VllmModel
from dialeval.engines.answering import Answering
from dialeval.engines.requests import Message, Request, Sampling
from dialeval.engines.store import ResponseStore
from dialeval.engines.vllm_engine import VllmEngine
from dialeval.engines.vllm_engine.driver import Driver
from dialeval.engines.vllm_engine.process import GenerationRequest, GenerationResult
from dialeval.jobs.progress import Progress
from dialeval.prompts.rendering import render_dialogue
from dialeval.protocols.selfchat import history
from gates import Gates, arguments
from vllm_choice import LABELS, QUESTION
from vllm_choice import requests as choice_requests
from vllm_direct import final, seeds, tiny_model
from vllm_driver import arena_requests
from vllm_selfchat import Dialogues, Task, seed_of, through_the_store

SHAPES: dict[str, dict[str, int]] = {
    "tiny": {},
    "1b": {"hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32},
    "3b": {"hidden_size": 3072, "intermediate_size": 8192, "num_hidden_layers": 28, "num_attention_heads": 24},
    "7b": {"hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28, "num_attention_heads": 28,
           "num_key_value_heads": 4},
    "8b": {"hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32},
}  # fmt: skip
VOCABULARY = 128_256
SHORTEST, LONGEST = 16, 80
SAMPLING = Sampling(temperature=0.8, max_tokens=LONGEST)
VERDICT = 64
"""Tokens of a judge's answer in words."""


def fill_vocabulary(folder: str) -> None:
    """Give every number of the vocabulary a word: what the model says is text, of as many tokens when read again."""
    path = Path(folder) / "tokenizer.json"
    content = json.loads(path.read_text())
    vocabulary, merges = content["model"]["vocab"], []
    parents = [vocabulary_word := "Ġq"]
    merges.append(["Ġ", "q"])
    vocabulary.setdefault(vocabulary_word, len(vocabulary))
    for parent in parents:  # grows as it is walked through
        for letter in string.ascii_lowercase:
            if len(vocabulary) == VOCABULARY:
                break
            vocabulary.setdefault(parent + letter, len(vocabulary))
            merges.append([parent, letter])
            parents.append(parent + letter)
        if len(vocabulary) == VOCABULARY:
            break
    content["model"]["merges"] = merges + content["model"]["merges"]
    path.write_text(json.dumps(content))


def random_model(size: str) -> str:
    """Return a folder with a tokenizer and the shape of a model, without weights."""
    folder = tiny_model(None, steps=0)
    if size == "tiny":
        return folder
    fill_vocabulary(folder)
    path = Path(folder) / "config.json"
    shape = {"num_key_value_heads": 8} | SHAPES[size]
    changes = {
        **shape,
        "head_dim": shape["hidden_size"] // shape["num_attention_heads"],
        "vocab_size": VOCABULARY,
        "max_position_embeddings": 8192,
        "tie_word_embeddings": False,
        "dtype": "bfloat16",
        "torch_dtype": "bfloat16",
    }
    path.write_text(json.dumps(json.loads(path.read_text()) | changes, indent=2))
    (Path(folder) / "model.safetensors").unlink()
    return folder


def settings_of(options: argparse.Namespace, number: int = 0) -> VllmModel:
    """Return the configuration of one of the models, which differ in their random weights."""
    arguments: dict[str, Any] = {"load_format": "dummy", "seed": number}
    dtype = "bfloat16"
    if options.size == "tiny":
        arguments, dtype = {"max_num_batched_tokens": 8192}, "float32"
    return VllmModel(
        engine="vllm", model=options.model, dtype=dtype, max_model_len=4096, gpu_memory_utilization=options.memory,
        enforce_eager=options.eager, engine_args=arguments,
    )  # fmt: skip


class Busy:
    """Asks the driver of the GPU, again and again, in what share of the last moments something ran on it."""

    def __init__(self) -> None:
        self.seen: list[int] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Busy:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def idle(self) -> float:
        """The share of time in which nothing ran; -1 without a GPU."""
        return 1 - statistics.fmean(self.seen) / 100 if self.seen else -1.0

    def _look(self) -> None:
        with contextlib.suppress(OSError):
            nvml = ctypes.CDLL("libnvidia-ml.so.1")
            nvml.nvmlInit_v2()
            device, rates = ctypes.c_void_p(), (ctypes.c_uint * 2)()
            nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device))
            while not self._ended.wait(0.2):
                if nvml.nvmlDeviceGetUtilizationRates(device, rates) == 0:
                    self.seen.append(rates[0])


def length_of(seed: int) -> int:
    """Return how many tokens the utterance with a sampling seed has."""
    return SHORTEST + seed % (LONGEST - SHORTEST + 1)


class Uneven:
    """Stands before a driver, gives utterances their lengths, and counts the tokens of answers."""

    def __init__(self, driver: Driver) -> None:
        self.driver, self.size, self.tokens = driver, driver.size, 0

    async def generate(self, generation: GenerationRequest, *, dialogue: Hashable = None) -> GenerationResult:
        if generation.seed is not None:
            generation = generation._replace(max_tokens=length_of(generation.seed))
        answered = await self.driver.generate(generation, dialogue=dialogue)
        self.tokens += len(answered.token_ids)
        return answered

    def close(self) -> None:
        """End the engine."""
        self.driver.close()


def timed(name: str, work: Callable[[], int], hits: Callable[[], float], found: dict[str, Any]) -> None:
    """Do some work that returns its number of answers, and note how long it took and what the GPU did."""
    cpu = os.times()
    start = time.perf_counter()
    with Busy() as busy:
        answers = work()
    seconds = time.perf_counter() - start
    own = sum(os.times()[:2]) - sum(cpu[:2])
    found[name] = {"seconds": seconds, "answers": answers, "idle": busy.idle, "hits": hits(), "own cpu": own}
    print(f"  {name}: {seconds:.1f} s, {answers / seconds:.1f} answers/s, GPU idle {busy.idle:.0%}, "
          f"prefix hits {hits():.2f}, {own:.1f} s of CPU in this process", flush=True)  # fmt: skip


def judge(engine: VllmEngine, table: Sequence[Request]) -> int:
    """Answers a table through engine and store; returns the number of answers."""
    with (
        tempfile.TemporaryDirectory() as folder,
        ResponseStore(Path(folder), identity=engine.identity, name="random", protocol="judging") as store,
    ):
        answering = Answering(engine, store, Progress("judging", None, "answers", stream=StringIO()))
        asyncio.run(answering.ask_all(table))
        assert store.written == len(table), answering.first_message
    return len(table)


def arena(number: int) -> list[Request]:
    """Return comparisons that are answered in words."""
    return [Request(r.request_id, r.protocol, r.kind, r.messages, Sampling(max_tokens=VERDICT))
            for r in arena_requests(number)]  # fmt: skip


def begin(engine: VllmEngine, name: str) -> Uneven:
    """Start an engine and say how long that took."""
    start = time.perf_counter()
    driver = engine.start()
    uneven = Uneven(driver)
    engine._driver = uneven
    print(f"  {name}: started in {time.perf_counter() - start:.0f} s, cache of {driver.size.cache_tokens} tokens, "
          f"{driver.size.sequences} sequences", flush=True)  # fmt: skip
    return uneven


def emptied(engine: VllmEngine) -> Callable[[], float]:
    """Return what tells the share of prompt tokens that were cached from now on."""
    engine.prompt_tokens = engine.cached_tokens = 0
    return lambda: engine.prefix_hit_rate


def side_ours(options: argparse.Namespace, found: dict[str, Any]) -> None:
    """Self-chat and judging through engine and store."""
    engine = VllmEngine(settings_of(options))
    uneven = begin(engine, options.side)
    judge(engine, [*arena(8), *choice_requests(8)])  # what vLLM compiles with the first requests is not to count
    task = Task(seeds(options.dialogues), options.utterances, SAMPLING)
    said: Dialogues = {}

    def chat() -> int:
        said.update(through_the_store(engine, task))
        return sum(map(len, said.values()))

    uneven.tokens = 0
    timed("self-chat", chat, emptied(engine), found)
    found["self-chat"]["tokens"] = uneven.tokens
    found["dialogues"] = said
    table = list(choice_requests(options.judgements))
    timed("choice", lambda: judge(engine, table), emptied(engine), found)
    compared = arena(options.comparisons)
    timed("arena", lambda: judge(engine, compared), emptied(engine), found)
    asyncio.run(engine.close())


def side_llm(options: argparse.Namespace, found: dict[str, Any]) -> None:
    """The same by `LLM.chat`."""
    from dialeval.engines.vllm_engine.process import engine_arguments

    os.environ["VLLM_LOGGING_LEVEL"] = "ERROR"
    os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0" if options.side == "llm-inside" else "1"
    from vllm import LLM
    from vllm.platforms import current_platform

    start = time.perf_counter()
    llm = LLM(**engine_arguments(settings_of(options), on_cpu=current_platform.is_cpu()))
    print(f"  {options.side}: started in {time.perf_counter() - start:.0f} s", flush=True)
    cached, prompts = 0, 0

    def chat(histories: Sequence[Sequence[Message]], parameters: Sequence[Any]) -> list[str]:
        nonlocal cached, prompts
        conversations: list[Any] = [[message._asdict() for message in messages] for messages in histories]
        outputs = llm.chat(conversations, list(parameters), use_tqdm=False)
        cached += sum(output.num_cached_tokens or 0 for output in outputs)
        prompts += sum(len(output.prompt_token_ids or ()) for output in outputs)
        return [output.outputs[0].text for output in outputs]

    def fresh() -> Callable[[], float]:
        nonlocal cached, prompts
        llm.reset_prefix_cache()
        cached = prompts = 0
        return lambda: cached / max(prompts, 1)

    def utterance(messages: tuple[Message, ...]) -> Any:
        seed = seed_of(messages, SAMPLING)
        assert seed is not None
        return final(temperature=SAMPLING.temperature, seed=seed, max_tokens=length_of(seed))

    verdicts = final(temperature=0.0, max_tokens=VERDICT)
    chat([request.messages for request in arena(8)], [verdicts] * 8)
    task = Task(seeds(options.dialogues), options.utterances, SAMPLING)
    said: dict[str, list[str]] = json.loads(options.found.read_text())["ours"][0]["dialogues"]
    histories = [
        history(task.system, [*task.seeds[seed_id], *texts[:turn]])
        for turn in range(options.utterances - 2)
        for seed_id, texts in said.items()
        if turn < len(texts)
    ]

    def beforehand() -> int:
        return len(chat(histories, list(map(utterance, histories))))

    def rounds() -> int:
        texts = {seed_id: list(seed) for seed_id, seed in task.seeds.items()}
        for _ in range(options.utterances - 2):
            asked = [history(task.system, utterances) for utterances in texts.values()]
            for utterances, text in zip(texts.values(), chat(asked, list(map(utterance, asked))), strict=True):
                utterances.append(text.strip() or "q")
        return len(texts) * (options.utterances - 2)

    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(options.model)
    labels = [tokenizer(label, add_special_tokens=False)["input_ids"][0] for label in LABELS]
    one = final(temperature=0.0, max_tokens=1, logprob_token_ids=[*labels, *range(8 - len(labels))], detokenize=False)
    choices = [request.messages for request in choice_requests(options.judgements)]
    compared = [request.messages for request in arena(options.comparisons)]
    chat(choices[:8], [one] * 8)
    timed("self-chat", beforehand, fresh(), found)
    timed("self-chat by rounds", rounds, fresh(), found)
    timed("choice", lambda: len(chat(choices, [one] * len(choices))), fresh(), found)
    timed("arena", lambda: len(chat(compared, [verdicts] * len(compared))), fresh(), found)


def side_botchat(options: argparse.Namespace, found: dict[str, Any]) -> None:
    """Self-chat of two models, one after the other on this GPU, and both judged by the first."""
    start = time.perf_counter()
    texts: list[Dialogues] = []
    engine = VllmEngine(settings_of(options, 1))
    for number in (1, 0):
        engine = VllmEngine(settings_of(options, number))
        begin(engine, f"model {number}")

        # random weights are the same for all models: what they say differs by the seed
        task = Task(seeds(options.botchat), 16, replace(SAMPLING, seed=number))

        def chat(engine: VllmEngine = engine, task: Task = task) -> int:
            texts.append(through_the_store(engine, task))
            return 14 * len(task.seeds)

        timed(f"self-chat of model {number}", chat, emptied(engine), found)
        if number:
            asyncio.run(engine.close())
    shown = {seed_id: [render_dialogue([*task.seeds[seed_id], *said[seed_id]]) for said in texts]
             for seed_id in task.seeds}  # fmt: skip

    def unieval() -> Iterator[Request]:
        for seed_id, dialogues in shown.items():
            for place, dialogue in enumerate(dialogues):
                message = Message("user", f"{QUESTION}{dialogue}\nAnswer:")
                yield Request(f"{seed_id}/{place}", "unieval", "choice", (message,), labels=LABELS)

    def compared() -> Iterator[Request]:
        for seed_id, dialogues in shown.items():
            for place, (one, two) in enumerate(itertools.permutations(dialogues)):
                text = f"Which of two conversations is the more human one?\n\nFirst one\n{one}\n\nSecond one\n{two}\n"
                yield Request(f"{seed_id}/{place}", "arena", "chat", (Message("user", text),), Sampling(max_tokens=64))

    timed("UniEval", lambda: judge(engine, list(unieval())), emptied(engine), found)
    timed("Arena", lambda: judge(engine, list(compared())), emptied(engine), found)
    asyncio.run(engine.close())
    found["all"] = {"seconds": time.perf_counter() - start}
    print(f"  the whole of BotChat, both starts included: {found['all']['seconds']:.0f} s", flush=True)


SIDES: dict[str, Callable[[argparse.Namespace, dict[str, Any]], None]] = {
    "ours": side_ours, "llm": side_llm, "llm-inside": side_llm, "ours-workers": side_ours, "botchat": side_botchat,
}  # fmt: skip


def one_side(options: argparse.Namespace) -> int:
    """Measures one side and adds it to the file of what was found."""
    found: dict[str, Any] = {}
    try:
        SIDES[options.side](options, found)
    finally:
        known = json.loads(options.found.read_text()) if options.found.exists() else {}
        known.setdefault(options.side, []).append(found)
        options.found.write_text(json.dumps(known))
    return 0


def median(runs: Sequence[dict[str, Any]], name: str, figure: str) -> float | None:
    """Return the median of a figure over a side's runs; None if no run has come to it."""
    values = [run[name][figure] for run in runs if figure in run.get(name, {})]
    return statistics.median(values) if values else None


def tell(gates: Gates, found: dict[str, list[dict[str, Any]]]) -> None:
    """Hold ours against `LLM.chat`, and say what else the sides have shown."""
    for name in ("self-chat", "choice", "arena"):
        for side, other in itertools.product(found, found):
            ours, theirs = median(found[side], name, "seconds"), median(found[other], name, "seconds")
            if side.startswith("ours") and other.startswith("llm") and ours and theirs:
                gates.at_least(f"{name}: rate of {side}", theirs / ours, 0.95, unit="x", against=f"`{other}`")
    by_rounds = median(found.get("llm", []), "self-chat by rounds", "seconds")
    for side, runs in found.items():
        seconds = median(runs, "self-chat", "seconds")
        if side.startswith("ours") and seconds and by_rounds:
            gates.at_most(
                f"self-chat: time of {side}", seconds / by_rounds, 0.85, unit="x", against="one batch per round"
            )
        for name in dict.fromkeys(itertools.chain.from_iterable(runs)):
            if (seconds := median(runs, name, "seconds")) is None:
                continue
            gates.told(f"{side}, {name}", seconds, unit="s", note=f"median of {len(runs)}" if len(runs) > 1 else "")
            if (idle := median(runs, name, "idle")) is not None:
                gates.told(f"{side}, {name}: GPU idle", idle, unit="of the time")
            if (hits := median(runs, name, "hits")) is not None:
                gates.told(f"{side}, {name}: cached", hits, unit="of prompt tokens")
            if (tokens := median(runs, name, "tokens")) is not None:
                gates.told(f"{side}, {name}: tokens a second", tokens / seconds)


def main() -> int:
    """Run every side in a process of its own and print the ratios."""
    parser = arguments(__doc__)
    parser.add_argument("--size", choices=SHAPES, default="7b")
    parser.add_argument("--model", help="folder of the model; made if not given")
    parser.add_argument("--dialogues", type=int, default=547)
    parser.add_argument("--utterances", type=int, default=16)
    parser.add_argument("--judgements", type=int, default=5000)
    parser.add_argument("--comparisons", type=int, default=1000)
    parser.add_argument("--botchat", type=int, default=100, help="seeds of the whole of BotChat")
    parser.add_argument("--memory", type=float, default=0.9, help="share of the GPU")
    parser.add_argument("--eager", action="store_true", help="without CUDA graphs and compilation: starts sooner")
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=["ours", "llm", "botchat"])
    parser.add_argument("--seconds", type=int, default=3600, help="for one side")
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--found", type=Path, help="file for what was found, which later sides read")
    options = parser.parse_args()
    if options.side:
        return one_side(options)
    gates = Gates(__file__, options)
    options.model = options.model or random_model(options.size)
    options.found = options.found or Path(tempfile.mkdtemp()) / "found.json"
    for side in options.sides:
        given = itertools.chain.from_iterable(
            (f"--{name}", str(getattr(options, name)))
            for name in ("size", "model", "dialogues", "utterances", "judgements", "comparisons", "botchat", "memory",
                         "found")
        )  # fmt: skip
        workers = {"VLLM_ENABLE_V1_MULTIPROCESSING": "1"} if side == "ours-workers" else {}
        command = [sys.executable, __file__, "--side", side, *given, *(["--eager"] if options.eager else [])]
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(command, env=os.environ | workers, timeout=options.seconds, check=False)
    tell(gates, json.loads(options.found.read_text()))
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
