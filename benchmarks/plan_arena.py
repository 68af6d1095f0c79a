"""Planning all of Arena at the paper's scale: 14 chatbots, 222 seeds, both orders, N = 8 and 16.

    python benchmarks/plan_arena.py [--chatbots 14] [--seeds 222]

The dialogues are made of words drawn at random, 30 tokens an utterance as GPT-4's are in the paper.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dialeval.schemas.botchat import GENERATED, SEEDS
from dialeval.schemas.shared import REQUESTS
from dialeval.tables import Provenance, TableWriter, count_rows, to_table, write_table


def generated(chatbot: str, seeds: list[str], rng: random.Random, words: list[str]) -> Iterator[dict[str, Any]]:
    for seed_id in seeds:
        for turn in range(16):
            yield {
                "chatbot": chatbot,
                "seed_id": seed_id,
                "turn": turn,
                "origin": "seed" if turn < 2 else "model",
                "text": " ".join(rng.choices(words, k=23)),
                "dropped": 0,
                "finish_reason": "stop",
            }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--chatbots", type=int, default=14)
    parser.add_argument("--seeds", type=int, default=222)
    options = parser.parse_args()
    rng = random.Random(0)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 8))) for _ in range(3000)]
    seeds = [f"MT-{number}" for number in range(options.seeds)]
    rows = [
        {
            "seed_id": s,
            "corpus": "m",
            "language": "en",
            "utterances": ["a", "b"],
            "n_human": 6,
            "for_arena": True,
            "for_gteval": True,
        }
        for s in seeds
    ]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_table(folder / "seeds.parquet", SEEDS, to_table(SEEDS, rows), Provenance())
        dialogues = []
        for number in range(options.chatbots):
            dialogues.append(folder / f"bot{number}.parquet")
            with TableWriter(dialogues[-1], GENERATED, Provenance()) as table:
                table.write_all(generated(f"bot{number}", seeds, rng, words))
        settings = json.dumps({"n_utterances": [8, 16], "temperature": 0, "max_tokens": 512})
        command = [sys.executable, "-m", "dialeval.stages.arena_plan", "--settings", settings]
        command += ["--seeds", str(folder / "seeds.parquet"), "--requests", str(folder / "requests.parquet")]
        start = time.perf_counter()
        subprocess.run([*command, "--dialogues", *map(str, dialogues)], check=True)
        seconds = time.perf_counter() - start
        requests = count_rows(folder / "requests.parquet", REQUESTS)
        size = (folder / "requests.parquet").stat().st_size
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{requests} requests in {seconds:.1f} s, {size / 1e6:.0f} MB on disk, peak memory {peak:.0f} MB")


if __name__ == "__main__":
    main()
