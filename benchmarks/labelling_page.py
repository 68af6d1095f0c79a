"""Size of a labelling page of 300 pairs of dialogues, and what writing it takes against compressing its texts alone.

    python benchmarks/labelling_page.py [--pairs 300] [--utterances 16] [--words 23] [--page page.html]

The dialogues are made of words drawn at random, 30 tokens an utterance as GPT-4's are in BotChat; text that somebody
wrote compresses better. With `--page` the page is kept, to be opened in a browser. Takes 5 s.
"""

from __future__ import annotations

import argparse
import json
import random
import time
import zlib
from pathlib import Path

from dialeval.labels.page import page_html
from dialeval.labels.sheet import Option, Sheet, SheetQuestion, ShownTurn, Thing

MOST_BYTES = 2_000_000


def sheet(pairs: int, utterances: int, n_words: int) -> Sheet:
    rng = random.Random(0)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 8))) for _ in range(3000)]

    def dialogue() -> tuple[ShownTurn, ...]:
        return tuple(ShownTurn("AB"[place % 2], " ".join(rng.choices(words, k=n_words))) for place in range(utterances))

    question = SheetQuestion("", "Which of the two is better?", (Option("A"), Option("B"), Option("Tie")))
    things = tuple(Thing(f"{rng.getrandbits(64):016x}", (dialogue(), dialogue())) for _ in range(pairs))
    return Sheet("better", "anna", "d1", "pair", "dialogue", (question,), things)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--utterances", type=int, default=16)
    parser.add_argument("--words", type=int, default=23)
    parser.add_argument("--page", type=Path)
    arguments = parser.parse_args()
    made = sheet(arguments.pairs, arguments.utterances, arguments.words)
    texts = [turn.text for thing in made.things for dialogue in thing.dialogues for turn in dialogue]
    started = time.perf_counter()
    zlib.compress(json.dumps(texts).encode(), 6)
    alone = time.perf_counter() - started
    started = time.perf_counter()
    page = page_html(made)
    taken = time.perf_counter() - started
    size = len(page.encode())
    said = sum(len(text.encode()) for text in texts)
    print(f"{arguments.pairs} pairs, {said / 1e6:.2f} MB of text")
    print(f"page of {size / 1e6:.2f} MB (to reach: {MOST_BYTES / 1e6:g} MB)")
    print(f"written in {taken:.2f} s, {taken / alone:.2f} x compressing the texts alone")
    if arguments.page:
        arguments.page.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
