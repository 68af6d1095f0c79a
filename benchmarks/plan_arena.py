"""Planning all of Arena at the paper's scale: 14 chatbots, 222 seeds, both orders, N = 8 and 16.

    python benchmarks/plan_arena.py [--chatbots 14] [--seeds 222]

The dialogues are made of words drawn at random, 30 tokens an utterance as GPT-4's are in the paper. Takes 1 min.
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

from dialeval.config.resolved import shipped
from dialeval.corpora.items import Item, item_rows
from dialeval.schemas.metaeval import ITEMS
from dialeval.schemas.shared import REQUESTS
from dialeval.tables import TableWriter, count_rows

N_UTTERANCES = 16


def dialogues(systems: int, seeds: int) -> Iterator[Item]:
    rng = random.Random(0)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 8))) for _ in range(3000)]
    for system in range(systems):
        for seed in range(seeds):
            case = f"MT-{seed}"
            said = tuple(" ".join(rng.choices(words, k=23)) for _ in range(N_UTTERANCES))
            about = (f"{case}/bot{system}", "en", "dialogue", case, ("A", "B") * (N_UTTERANCES // 2), said)
            yield Item("selfchat", *about, system=f"bot{system}", case_id=case)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--chatbots", type=int, default=14)
    parser.add_argument("--seeds", type=int, default=222)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with TableWriter(folder / "items.parquet", ITEMS) as table:
            table.write_all(item_rows(dialogues(options.chatbots, options.seeds)), group_size=512)
        arena = {"name": "arena", "shipped": True, "protocol": shipped("arena").model_dump(mode="json")}
        command = [sys.executable, "-m", "dialeval.stages.plan_pair", "--settings", json.dumps(arena)]
        command += ["--items", str(folder / "items.parquet"), "--damaged", "--pairs"]
        start = time.perf_counter()
        subprocess.run([*command, "--requests", str(folder / "requests.parquet")], check=True)
        seconds = time.perf_counter() - start
        requests = count_rows(folder / "requests.parquet", REQUESTS)
        size = (folder / "requests.parquet").stat().st_size
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{requests} requests in {seconds:.1f} s, {size / 1e6:.0f} MB on disk, peak memory {peak:.0f} MB")


if __name__ == "__main__":
    main()
