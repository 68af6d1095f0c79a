"""Time and memory for 100,000 training pairs, against reading and writing the same number of rows.

People's dialogues of MuTual are repeated with other words in the place of their long ones, as often as the pairs need,
so that no two share a passage. Each measurement is a process of its own, as in a run; the yardstick reads the same
dialogues and writes two rows of the same length for each pair. Takes 3 min with the public data.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from dialeval.corpora import readers
from dialeval.stages.training import make_training_data
from dialeval.tables.dialogues import UTTERANCES
from dialeval.tables.files import TableWriter, count_rows
from dialeval.tables.training import TRAINING_EXAMPLES
from dialeval.training.human_dialogues import Placed, number_of, read_dialogues
from dialeval.training.pairs import Negative, Pair, Side, rows_of
from dialeval.training.training_sets import Recipe
from gates import DATA, Gates, arguments
from stage_runs import run_python

SHARE_OF_NEW_WORDS = 0.5
_LONG_WORD = re.compile(r"[a-z]{5,}")
_SYLLABLES = [one + two for one in "bdfgklmnprstvz" for two in "aeiou"]


def reworded(text: str, copy: int) -> str:
    """Return a text with about half of its long words replaced, by other ones in every copy."""

    def other(found: re.Match[str]) -> str:
        drawn = number_of(found[0], copy)
        if copy == 0 or drawn % 1000 > 1000 * SHARE_OF_NEW_WORDS:
            return found[0]
        drawn %= 40_000  # a vocabulary as large as people's
        return "".join(_SYLLABLES[drawn // 70**place % 70] for place in range(3))

    return _LONG_WORD.sub(other, text)


def rows(folder: Path, level: str, n_pairs: int, joined: int) -> Iterator[dict[str, object]]:
    dialogues = readers.read_mutual_folder(folder, "en").dialogues
    number = made = 0
    while made < n_pairs:
        copy, place = divmod(number * joined, len(dialogues))
        said = [text for step in range(joined) for text in dialogues[(place + step) % len(dialogues)].utterances]
        for turn, one in enumerate(said):
            yield {"corpus": "mutual", "dialogue_id": f"d{number}", "turn": turn, "speaker": "mf"[turn % 2],
                   "text": reworded(one.text, copy), "language": "en"}  # fmt: skip
        number, made = number + 1, made + (len(said) - 1 if level == "turn" else 3)


def recipe(level: str) -> Recipe:
    return Recipe(name="mine", level=level, domains={"daily": ["mutual"]})


def make(level: str, utterances: Path, examples: Path) -> None:
    make_training_data(recipe(level), [utterances], [], examples)


def copy(level: str, utterances: Path, examples: Path) -> None:
    with TableWriter(examples, TRAINING_EXAMPLES) as table:
        table.write_all(row for pair in copies(level, utterances) for row in rows_of(pair, "mine"))


def copies(level: str, utterances: Path) -> Iterator[Pair]:
    placed = Placed("mutual", "train")
    for one in read_dialogues([utterances], {"mutual": "daily"}):
        for turn in range(1, len(one.utterances)) if level == "turn" else range(3):
            end = turn + 1 if level == "turn" else None
            side = Side(one.speakers[:end], one.utterances[:end])
            yield Pair(one, placed, turn, "relevance", side, Negative(side, "none"))


def main() -> int:
    parser = arguments(__doc__)
    data = DATA / "mutual" / "test"
    parser.add_argument("--data", type=Path, default=data, help="folder of MuTual's test_<n>.txt")
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--joined", type=int, default=1, help="MuTual dialogues, of four utterances, behind each other")
    parser.add_argument("--level", choices=["turn", "dialogue"], action="append")
    parser.add_argument("--doing", choices=["make", "copy"], help=argparse.SUPPRESS)
    parser.add_argument("--files", nargs=2, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.doing:
        {"make": make, "copy": copy}[options.doing](options.level[0], *options.files)
        return 0
    gates = Gates(__file__, options)
    with tempfile.TemporaryDirectory() as folder:
        for level in options.level or ["turn", "dialogue"]:
            files = utterances, examples = [Path(folder, f"{name}.parquet") for name in ("utterances", "examples")]
            with TableWriter(utterances, UTTERANCES) as table:
                table.write_all(rows(options.data, level, options.pairs, options.joined))
            copied, made = (
                run_python(__file__, "--level", level, "--doing", doing, "--files", *map(str, files))
                for doing in ("copy", "make")
            )
            what = f"{count_rows(examples, TRAINING_EXAMPLES) // 2:,} pairs of {level}s"
            gates.at_most(what, made.cpu, 60.0, unit="CPU s")
            gates.told("the same", made.cpu / copied.cpu, unit="x", against="reading and writing as many rows")
            gates.at_most(f"{what}, memory at most", made.megabytes, 1000.0, unit="MB")
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
