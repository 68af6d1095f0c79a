"""Checking, deduplicating and planning 10,000 written items of DialogBench for five models.

What a writer returns is made of words drawn at random, as long as published items are; one in twenty is broken, and one
in twenty repeats another one but for a few words. Models are asked by letter, by choice and by perplexity in turn, and
their requests are written to tables. Takes 30 s.
"""

from __future__ import annotations

import json
import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dialeval.dialogbench import examination, written_items
from dialeval.dialogbench.briefs import Brief, plan_briefs
from dialeval.dialogbench.examination import shuffled
from dialeval.dialogbench.tasks import DOMAIN_NAMES
from dialeval.dialogbench.written_items import checked, counts
from dialeval.prompts.rendering import Templates
from dialeval.tables.dialogues import REQUESTS
from dialeval.tables.files import TableWriter
from gates import Gates, arguments

TASKS = ("IC", "DI", "MRG", "DS", "OD")


def answers(briefs: list[Brief], rng: random.Random) -> Iterator[dict[str, Any]]:
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 9))) for _ in range(4000)]
    weights = [1.0 / (rank + 1) for rank in range(len(words))]

    def sentence(n: int) -> str:
        return " ".join(rng.choices(words, weights, k=n)) + "."

    last: dict[str, list[str]] = {}
    for number, brief in enumerate(briefs):
        said = [sentence(16) for _ in range(15 if brief.task == "MRG" else 16)]
        if number % 20 == 7 and brief.task in last:
            said = [*last[brief.task][:-1], sentence(16)]
        last[brief.task] = said
        turns = [dict(zip(("speaker1", "speaker2"), said[at : at + 2], strict=False)) for at in range(0, len(said), 2)]
        options = [sentence(12) for _ in range(4)]
        record = {"dialogue": turns, "test_question": "What is meant?", "response": sentence(12), "label": "B"}
        record["option"] = dict(zip("ABCD", options, strict=True))
        if brief.task == "OD":
            record["option"] = {"A": "offensive", "B": "non-offensive"}
            record["label"] = "A" if brief.drawn[1] == "offensive" else "B"
        text = f"```json\n{json.dumps(record)}\n```"
        yield {"status": "ok", "finish_reason": "stop", "text": text[:-60] if number % 20 == 3 else text}


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--models", type=int, default=5)
    options = parser.parse_args()
    gates = Gates(__file__, options)
    cells = len(TASKS) * len(DOMAIN_NAMES)
    briefs = list(plan_briefs(TASKS, per_cell=-(-options.items // cells)))[: options.items]
    returned = list(answers(briefs, random.Random(0)))

    start = time.process_time()
    outcomes = [written_items.read_written(brief, one, "w") for brief, one in zip(briefs, returned, strict=True)]
    read = time.process_time()
    outcomes = checked(outcomes)
    reasons: dict[str, int] = {}
    for row in counts(outcomes):
        reasons[row["reason"]] = reasons.get(row["reason"], 0) + row["n"]
    done = time.process_time()
    items = [shuffled(one.item, 0) for one in outcomes if one.item and one.accepted]
    templates = Templates()
    n_requests = 0
    with tempfile.TemporaryDirectory() as scratch:
        for model in range(options.models):
            method = examination.METHODS[model % len(examination.METHODS)]
            with TableWriter(Path(scratch) / f"{model}.parquet", REQUESTS) as table:
                table.write_all(planned.to_row() for planned in examination.plan(items, method, templates))
                n_requests += table.rows
    end = time.process_time()

    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(briefs)} items: {reasons}")
    what = f"{len(briefs):,} items, {n_requests:,} requests for {options.models} models"
    gates.at_most(f"{what}: read, checked, planned and written", end - start, 60.0, unit="CPU s")
    gates.told("of that, reading what the writer returned", read - start, unit="CPU s")
    gates.told("checking and removing what repeats another", done - read, unit="CPU s")
    gates.at_most("memory at most", megabytes, 2000.0, unit="MB")
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
