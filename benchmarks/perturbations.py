"""Perturbation by rule of 10,000 different responses and 1,000 different human dialogues: the whole stage.

The items are of all files of comp-analysis and of MuTual, and none is there twice. The stage runs in a process of its
own, on tables, as the workflow runs it: nothing is known beforehand, and reading, drawing replacements and writing
count. Then it is told what each strategy takes, how often it applies, and why not where it does not.
Takes 40 s with the public data.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd

from dialeval.corpora import readers
from dialeval.corpora.items import Item, item_rows
from dialeval.corpora.readers import read_rated
from dialeval.criteria import Level
from dialeval.perturbations.registry import STRATEGIES, perturb
from dialeval.perturbations.suite import pools
from dialeval.tables.files import TableWriter, read_table
from dialeval.tables.metaeval import ITEMS
from dialeval.tables.robustness import PAIRS
from gates import DATA, Gates, arguments
from stage_runs import Taken, run_stage

FILES = {
    "comp_turn": "comp-analysis/turn_level_texts*/*_text.txt",
    "comp_dialogue": "comp-analysis/dialog_level_texts/*_text.txt",
}
SECONDS = 60.0


def different_items(data: Path) -> Iterator[Item]:
    """Yield the items of all files, and two responses of every dialogue; none of a level is there twice."""
    seen: set[tuple[Level, tuple[str, ...]]] = set()
    for item in items_of_files(data):
        said = item.utterances if item.level == "dialogue" else (item.response,)
        if (item.level, said) not in seen:
            seen.add((item.level, said))
            yield replace(item, corpus="all")


def items_of_files(data: Path) -> Iterator[Item]:
    for reader, pattern in FILES.items():
        for path in sorted(data.glob(pattern)):
            for item in read_rated(reader, path.stem.removesuffix("_text"), path).items:
                yield item
                for end in (len(item.utterances) // 2, len(item.utterances)) if item.level == "dialogue" else ():
                    said = {"speakers": item.speakers[:end], "utterances": item.utterances[:end]}
                    yield replace(item, item_id=f"{item.item_id}/{end}", level="turn", **said)
    for dialogue in readers.read_mutual_folder(data / "mutual" / "test", "en").dialogues:
        texts = tuple(said.text for said in dialogue.utterances)
        speakers = tuple("BA"[(len(texts) - turn) % 2] for turn in range(len(texts)))
        yield Item("mutual", dialogue.dialogue_id, "en", "turn", dialogue.dialogue_id, speakers, texts)


def spread(items: list[Item], level: Level, n: int) -> list[Item]:
    """Return n items of a level from all files alike."""
    there = [item for item in items if item.level == level]
    assert len(there) >= n, f"{len(there)} different items of level {level} for {n}"
    return [there[place * len(there) // n] for place in range(n)]


def damageable(data: Path, turns: int, dialogues: int) -> list[Item]:
    """Return so many different responses and dialogues."""
    there = list(different_items(data))
    return [*spread(there, "turn", turns), *spread(there, "dialogue", dialogues)]


def perturb_items(items: list[Item], folder: Path) -> Taken:
    """Run the stage on some items: `given.parquet` in a folder becomes `items.parquet` and `pairs.parquet`."""
    settings = {
        "strategies": None, "limit": None, "dialogue_draws": 1, "turn_draws": 1, "ladder_strategies": [],
        "ladder_steps": 2, "ladder_limit": None, "published": None, "random_seed": 0,
    }  # fmt: skip
    given, perturbed, pairs = (folder / f"{name}.parquet" for name in ("given", "items", "pairs"))
    with TableWriter(given, ITEMS) as table:
        table.write_all(item_rows(items))
    return run_stage("perturb_items", settings, dialogues=[], rated=[given], ratings=[], items=perturbed, pairs=pairs)


def by_strategy(items: list[Item]) -> dict[str, float]:
    """Return the processor seconds of each strategy in this process; what one has looked up, the next ones know."""
    pool = pools(items)["all"]
    seconds = {}
    for strategy in STRATEGIES.values():
        begin = time.process_time()
        for item in items:
            if item.level == strategy.level:
                perturb(item, strategy, pool, random_seed=0)
        seconds[strategy.name] = time.process_time() - begin
    return seconds


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the public data")
    parser.add_argument("--turns", type=int, default=10_000)
    parser.add_argument("--dialogues", type=int, default=1_000)
    options = parser.parse_args()
    gates = Gates(__file__, options)
    items = damageable(options.data, options.turns, options.dialogues)
    with tempfile.TemporaryDirectory() as scratch:
        taken = perturb_items(items, Path(scratch))
        made = read_table(Path(scratch) / "pairs.parquet", PAIRS).to_pandas()
    what = f"{options.turns:,} responses and {options.dialogues:,} dialogues, every perturbation"
    gates.at_most(what, taken.cpu, SECONDS, unit="CPU s", note="the whole stage, nothing known beforehand")
    gates.told("the same by the clock", taken.wall, unit="s")
    gates.told("its memory at most", taken.megabytes, unit="MB")
    gates.told("perturbed items for each second of processor time", (made["status"] == "ok").sum() / taken.cpu)
    tell(made, by_strategy(items))
    return gates.finish()


def tell(pairs: pd.DataFrame, seconds: dict[str, float]) -> None:
    """Print each strategy's time, the share of items that it applies to by its ways, and why it does not apply."""
    for name, of in pairs.groupby("perturbation", sort=False):
        ways = of["generator"].value_counts()
        shares = ", ".join(f"{way} {count}" for way, count in ways.items())
        print(f"  {name:<25} {seconds[str(name)]:6.2f} s  applies to {(of['status'] == 'ok').mean():6.1%}  ({shares})")
        for reason, count in of["reason"].value_counts().head(3).items():
            print(f"  {'':<25} {count:>8}  {reason}")


if __name__ == "__main__":
    sys.exit(main())
