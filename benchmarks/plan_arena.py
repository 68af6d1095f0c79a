"""Planning all of Arena at the paper's scale: 14 chatbots, 222 seeds, both orders, N = 8 and 16.

The dialogues are made of words drawn at random, 30 tokens an utterance as GPT-4's are in the paper. Takes 10 s.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from dialeval.config.protocols import shipped
from dialeval.corpora.items import Item, item_rows
from dialeval.tables.dialogues import REQUESTS
from dialeval.tables.files import TableWriter, count_rows
from dialeval.tables.metaeval import ITEMS
from gates import Gates, arguments
from stage_runs import run_stage

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


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--chatbots", type=int, default=14)
    parser.add_argument("--seeds", type=int, default=222)
    options = parser.parse_args()
    gates = Gates(__file__, options)
    arena = {"name": "arena", "shipped": True, "protocol": shipped("arena").model_dump(mode="json")}
    with tempfile.TemporaryDirectory() as scratch:
        items, requests = (Path(scratch) / f"{name}.parquet" for name in ("items", "requests"))
        with TableWriter(items, ITEMS) as table:
            table.write_all(item_rows(dialogues(options.chatbots, options.seeds)), group_size=512)
        taken = run_stage("plan_pair", arena, items=items, damaged=[], pairs=[], requests=requests)
        n, size = count_rows(requests, REQUESTS), requests.stat().st_size
    gates.at_most(f"{n:,} requests planned and written", taken.cpu, 60.0, unit="CPU s", note=f"{size / 1e6:.0f} MB")
    gates.at_most("memory at most", taken.megabytes, 1000.0, unit="MB")
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
