"""Size of a labelling page of 300 pairs of dialogues, and the time to write it, against compressing its texts alone.

The dialogues are made of words drawn at random, 30 tokens an utterance as GPT-4's are in BotChat; text that somebody
wrote compresses better. With `--page` the page is kept, to be opened in a browser. Takes 1 s.
"""

from __future__ import annotations

import json
import random
import sys
import time
import zlib
from pathlib import Path

from dialeval.labels.page import page_html
from dialeval.labels.units import Option, Sheet, SheetQuestion, ShownTurn, ShownUnit
from gates import Gates, arguments


def sheet(pairs: int, utterances: int, n_words: int) -> Sheet:
    rng = random.Random(0)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 8))) for _ in range(3000)]

    def dialogue() -> tuple[ShownTurn, ...]:
        return tuple(ShownTurn("AB"[place % 2], " ".join(rng.choices(words, k=n_words))) for place in range(utterances))

    question = SheetQuestion("", "Which of the two is better?", (Option("A"), Option("B"), Option("Tie")))
    units = tuple(ShownUnit(f"{rng.getrandbits(64):016x}", (dialogue(), dialogue())) for _ in range(pairs))
    return Sheet("better", "anna", "d1", "pair", "dialogue", (question,), units)


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--utterances", type=int, default=16)
    parser.add_argument("--words", type=int, default=23)
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    gates = Gates(__file__, options)
    made = sheet(options.pairs, options.utterances, options.words)
    texts = [turn.text for unit in made.units for dialogue in unit.dialogues for turn in dialogue]
    begun = time.process_time()
    zlib.compress(json.dumps(texts).encode(), 6)
    alone = time.process_time() - begun
    begun = time.process_time()
    page = page_html(made)
    taken = time.process_time() - begun
    said = sum(len(text.encode()) for text in texts)
    what = f"page of {options.pairs} pairs of dialogues, {said / 1e6:.2f} MB of text"
    gates.at_most(what, len(page.encode()) / 1e6, 2.0, unit="MB")
    gates.told("writing it", taken / alone, unit="x", against="compressing the texts alone", note=f"{taken:.2f} CPU s")
    if options.page:
        options.page.write_text(page, encoding="utf-8")
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
