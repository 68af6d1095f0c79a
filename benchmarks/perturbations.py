"""How long the damage by rules takes, how often each strategy applies, and why not where it does not.

    python benchmarks/perturbations.py [--data DIR] [--turns N] [--dialogues N]

Every strategy damages 10,000 responses or 1,000 dialogues of the public data, repeated under new ids as often as that
needs, so that no draw is the same. The goal: all of it within 60 seconds on one core. Takes 1 min.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from dialeval.corpora.items import Item
from dialeval.criteria import Level
from dialeval.perturbations.item_damage import Damaged
from dialeval.perturbations.pool import build_pool
from dialeval.perturbations.registry import STRATEGIES, damage

GOAL_SECONDS = 60.0
TURN_FILES = (
    "turn_level_texts/fed-turn_text.txt",
    "turn_level_texts/persona-usr_text.txt",
    "turn_level_texts/dailydialog-zhao_text.txt",
    "turn_level_texts/conture-turn_text.txt",
    "turn_level_texts_268be7c/convai2-grade_text.txt",
    "turn_level_texts_268be7c/dailydialog-grade_text.txt",
    "turn_level_texts_268be7c/dstc10-persona_clean_text.txt",
)
DIALOGUE_FILES = (
    "dialog_level_texts/fed-dial_text.txt",
    "dialog_level_texts/conture-dial_text.txt",
    "dialog_level_texts/persona-see_text.txt",
)


def read_items(folder: Path, level: Level) -> Iterator[Item]:
    for file in TURN_FILES if level == "turn" else DIALOGUE_FILES:
        for line in (folder / file).read_text(encoding="utf-8").rstrip("\n").split("\n"):
            item_id, *texts = line.split("\t")
            if level == "dialogue":
                texts = [text.partition(":")[2] for text in texts]
            speakers = tuple("BA"[(len(texts) - 1 - turn) % 2] for turn in range(len(texts)))
            yield Item("real", item_id, "en", level, item_id, speakers, tuple(text.strip() for text in texts))


def many(items: list[Item], n: int) -> list[Item]:
    """Returns n items: all of them under new ids again and again."""
    repeated = itertools.cycle(enumerate(items))
    return [
        replace(item, item_id=f"{item.item_id}/{number // len(items)}")
        for number, (_, item) in enumerate(itertools.islice(repeated, n))
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = Path(__file__).parents[2] / "shared" / "data" / "comp-analysis"
    parser.add_argument("--data", type=Path, default=data, help="folder comp-analysis of the public data")
    parser.add_argument("--turns", type=int, default=10_000)
    parser.add_argument("--dialogues", type=int, default=1_000)
    options = parser.parse_args()

    total = 0.0
    for level, n in (("turn", options.turns), ("dialogue", options.dialogues)):
        items = many(list(read_items(options.data, level)), n)
        begin = time.perf_counter()
        pool = build_pool(items)
        seconds = time.perf_counter() - begin
        total += seconds
        print(f"{level}: {n} items; pool in {seconds:.2f} s")
        for strategy in STRATEGIES.values():
            if strategy.level != level:
                continue
            begin = time.perf_counter()
            results = [damage(item, strategy, pool, random_seed=0) for item in items]
            seconds = time.perf_counter() - begin
            total += seconds
            damaged = [result for result in results if isinstance(result, Damaged)]
            ways = Counter(result.way for result in damaged)
            shares = ", ".join(f"{way} {count}" for way, count in ways.most_common())
            print(f"  {strategy.name:<25} {seconds:6.2f} s  applies to {len(damaged) / n:6.1%}  ({shares})")
            reasons = Counter(result.reason for result in results if not isinstance(result, Damaged))
            for reason, count in reasons.most_common(3):
                print(f"  {'':<25} {count:>8}  {reason}")
    print(f"all: {total:.1f} s; the goal is {GOAL_SECONDS:.0f} s: {'met' if total <= GOAL_SECONDS else 'NOT met'}")


if __name__ == "__main__":
    main()
