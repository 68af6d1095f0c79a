"""A table of 100,000 UniEval requests planned, answered from the store and parsed, by the stages themselves.

    python benchmarks/answering.py [--requests 100000] [--profile]

Dialogues of 16 utterances are made of words drawn at random; the answers are in the store before the clock starts.
Each stage is a process of its own, as in a run. The yardstick, in the same run: hashing every prompt and reading every
answer with `json`, which any way of doing this must do.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dialeval.config import OpenAIModel
from dialeval.engines.openai_api.identity import openai_identity
from dialeval.engines.request import Response, request_key
from dialeval.engines.store import ResponseStore
from dialeval.protocols.planning import request_from_row
from dialeval.schemas import botchat, shared
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.tables import Provenance, TableWriter, count_rows, iterate_rows, to_table, write_table

SEEDS, UTTERANCES = 1000, 16
MODEL = {"engine": "openai", "model": "gpt-4o-2024-11-20", "base_url": "http://127.0.0.1:1/v1", "api_key_env": None}
VERDICTS = (
    "Choice: No\nIndex: None\nReason: Both speakers stay on the subject, are brief and answer each other as people do.",
    "Choice: Yes\nIndex: 5\nReason: Utterance 5 offers help in the manner of an assistant and does not answer.",
    "I cannot tell from so little.",
)


def generated(chatbot: str, rng: random.Random, words: list[str]) -> Iterator[dict[str, Any]]:
    for seed in range(SEEDS):
        for turn in range(UTTERANCES):
            yield {
                "chatbot": chatbot, "seed_id": f"S-{seed}", "turn": turn, "origin": "seed" if turn < 2 else "model",
                "text": " ".join(rng.choices(words, k=23)), "dropped": 0, "finish_reason": "stop",
            }  # fmt: skip


def write_dialogues(folder: Path, chatbots: int) -> list[Path]:
    """Writes a corpus of human dialogues, seeds taken from it, and the dialogues of chatbots."""
    rng = random.Random(0)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 8))) for _ in range(3000)]
    human = [
        {"corpus": "c", "dialogue_id": row["seed_id"], "turn": row["turn"], "speaker": "AB"[row["turn"] % 2],
         "text": row["text"], "language": "en"}
        for row in generated("human", rng, words)
    ]  # fmt: skip
    seeds = [
        {"seed_id": f"S-{seed}", "corpus": "c", "language": "en", "utterances": ["a", "b"], "n_human": UTTERANCES,
         "for_arena": True, "for_gteval": True}
        for seed in range(SEEDS)
    ]  # fmt: skip
    write_table(folder / "human.parquet", shared.UTTERANCES, to_table(shared.UTTERANCES, human), Provenance())
    write_table(folder / "seeds.parquet", botchat.SEEDS, to_table(botchat.SEEDS, seeds), Provenance())
    paths = [folder / f"bot-{number}.parquet" for number in range(chatbots)]
    for path in paths:
        with TableWriter(path, botchat.GENERATED, Provenance()) as table:
            table.write_all(generated(path.stem, rng, words))
    return paths


def fill_store(requests: Path, store: Path) -> float:
    """Stores an answer to every request, and returns how long the yardstick takes for them."""
    identity = openai_identity(OpenAIModel.model_validate(MODEL))
    seconds = 0.0
    with ResponseStore(store, identity=identity, name="judge", protocol="unieval", writer="benchmark") as kept:
        for number, row in enumerate(iterate_rows(requests, shared.REQUESTS)):
            text = VERDICTS[2 if number % 50 == 0 else number % 2]
            response = Response(text, prompt_tokens=700, completion_tokens=30)
            kept.append(request_key(request_from_row(row), identity), response)
            start = time.perf_counter()
            hashlib.sha256(row["messages"][0]["content"].encode()).hexdigest()
            json.loads(response.to_json())
            seconds += time.perf_counter() - start
    return seconds


def timed(stage: str, settings: dict[str, Any], profile: bool, **paths: Path | list[Path]) -> tuple[float, float]:
    """Runs a stage, and returns its seconds and its peak memory in MB."""
    profiling = ["-m", "cProfile", "-o", f"{stage}.prof"] if profile else []
    command = [sys.executable, *profiling, "-m", f"dialeval.stages.{stage}", "--settings", json.dumps(settings)]
    for name, path in paths.items():
        command += [f"--{name}", *map(str, path if isinstance(path, list) else [path])]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, stage
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--profile", action="store_true", help="write STAGE.prof for each stage")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        dialogues = write_dialogues(folder, max(1, options.requests // SEEDS - 1))
        requests, responses, judgements = (
            folder / f"{name}.parquet" for name in ("requests", "responses", "judgements")
        )
        plan = timed(
            "unieval_plan", {"temperature": 0, "max_tokens": 512}, options.profile,
            human=folder / "human.parquet", seeds=folder / "seeds.parquet", dialogues=dialogues, requests=requests,
        )  # fmt: skip
        yardstick = fill_store(requests, folder / "store")
        settings = {"name": "judge", "protocol": "unieval", "model": MODEL, "answering": {}}
        answer = timed(
            "answer", settings, options.profile,
            requests=requests, learned=[], store=folder / "store", responses=responses, usage=folder / "usage.json",
        )  # fmt: skip
        parse = timed(
            "unieval_parse", {"judge": "judge"}, options.profile,
            requests=requests, responses=[responses], judgements=judgements,
        )  # fmt: skip
        n = count_rows(judgements, JUDGEMENTS)
        size = requests.stat().st_size
    print(f"{n} requests, {size / 1e6:.0f} MB of them; hashing prompts and reading answers alone: {yardstick:.1f} s\n")
    print("| stage | seconds | peak memory, MB |\n|---|---|---|")
    for name, (seconds, megabytes) in {"plan": plan, "answer": answer, "parse": parse}.items():
        print(f"| {name} | {seconds:.1f} | {megabytes:.0f} |")
    total, peak = sum(part[0] for part in (plan, answer, parse)), max(part[1] for part in (plan, answer, parse))
    reached = total <= 60 and peak <= 1500
    print(
        f"| together | {total:.1f} | {peak:.0f} |\n\n{n:,} in 60 s and 1,500 MB: {'reached' if reached else 'missed'}"
    )


if __name__ == "__main__":
    main()
