"""Learning the embedded judge, and scoring 10,000 responses on five dimensions and 2,000 dialogues through its engine.

    python benchmarks/embedded_ratings.py [--turns 10000] [--dialogues 2000] [--aucs]

The judge learns from the bundled dialogues. What it scores is put together at random from their utterances, six of them
to a response in its context and twelve to a dialogue, so that nothing is scored twice. Responses are asked about as
`yes_no`, one request for each dimension, dialogues as `rating`; 512 requests are in flight. The yardstick is to
describe the same texts by TF-IDF with scikit-learn, once. `--aucs` prints instead how well each dimension's score tells
held-back utterances and dialogues from damaged ones: the figures of docs/embedded.md. Takes 1 min.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import time
from collections.abc import Iterator
from importlib.resources import files

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from dialeval.criteria import DIMENSIONS
from dialeval.engines.embedded.engine import EmbeddedEngine
from dialeval.engines.embedded.evaluation import held_back_dimensions
from dialeval.engines.embedded.judge import Judge
from dialeval.engines.embedded.learned_file import learned_bytes
from dialeval.engines.embedded.learning import Learned, learn
from dialeval.engines.request import Dialogue, Request
from dialeval.text.folds import split
from dialeval.text.tokens import by_script

IN_FLIGHT = 512


def bundled() -> list[Dialogue]:
    dialogues = []
    for name in ("english.jsonl", "chinese.jsonl"):
        text = (files("dialeval.corpora.bundled") / name).read_text(encoding="utf-8")
        rows = [json.loads(line) for line in text.split("\n") if line]
        dialogues += [tuple(utterance["text"] for utterance in row["utterances"]) for row in rows]
    return dialogues


def mixed(dialogues: list[Dialogue], n: int, length: int, rng: np.random.Generator) -> list[Dialogue]:
    utterances = [utterance for dialogue in dialogues for utterance in dialogue]
    return [tuple(utterances[int(i)] for i in rng.integers(len(utterances), size=length)) for _ in range(n)]


def yes_no(items: list[Dialogue]) -> Iterator[Request]:
    for number, utterances in enumerate(items):
        for dimension in DIMENSIONS["turn"]:
            subject = (utterances, ("turn", dimension))
            yield Request(f"{number}/{dimension}", "yes_no", "choice", (), labels=("Yes", "No"), subject=subject)


def rating(items: list[Dialogue]) -> Iterator[Request]:
    for number, utterances in enumerate(items):
        subject = (utterances, ("dialogue",))
        yield Request(str(number), "rating", "chat", (), labels=DIMENSIONS["dialogue"], subject=subject)


def seconds(learned: Learned, requests: Iterator[Request]) -> float:
    engine = EmbeddedEngine(learned, identity="benchmark")

    async def worker() -> None:
        for request in requests:
            await engine.answer(request)

    async def all_workers() -> None:
        await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))

    start = time.process_time()
    asyncio.run(all_workers())
    return time.process_time() - start


def print_aucs(learned: Learned, dialogues: list[Dialogue]) -> None:
    judges = {key: model for key, model in learned.models.items() if isinstance(model, Judge)}
    parts = {script: split(group) for script, group in by_script(sorted(dialogues)).items()}
    print("level     dimension          damage       n    AUC   noticed")
    for row in held_back_dimensions(judges, parts, random_seed=0):
        print(f"{row.level:9} {row.dimension:18} {row.damage:10} {row.n:4} {row.auc:6.2f} {row.noticed:6.2f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=10_000)
    parser.add_argument("--dialogues", type=int, default=2_000)
    parser.add_argument("--aucs", action="store_true")
    options = parser.parse_args()
    dialogues = bundled()
    rng = np.random.default_rng(0)
    start = time.process_time()
    learned = learn("forest", dialogues, random_seed=0)
    learning = time.process_time() - start
    if options.aucs:
        return print_aucs(learned, dialogues)
    turns, wholes = mixed(dialogues, options.turns, 6, rng), mixed(dialogues, options.dialogues, 12, rng)
    start = time.process_time()
    TfidfVectorizer().fit_transform([utterance for texts in (turns, wholes) for text in texts for utterance in text])
    yardstick = time.process_time() - start
    for_turns, for_wholes = seconds(learned, yes_no(turns)), seconds(learned, rating(wholes))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"learning from {len(dialogues)} dialogues: {learning:.1f} s; {len(learned_bytes(learned)) / 1e6:.0f} MB")
    print(f"{len(turns)} responses x {len(DIMENSIONS['turn'])} dimensions: {for_turns:.1f} s")
    print(f"{len(wholes)} dialogues: {for_wholes:.1f} s; TF-IDF of all: {yardstick:.1f} s; peak memory {peak:.0f} MB")
    return None


if __name__ == "__main__":
    main()
