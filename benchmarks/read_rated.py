"""Reading every rated corpus of the public data into items and ratings.

The yardsticks, in the same run: reading the bytes of the same files, and parsing them with `str.split`, `json` and
`csv` without a check. Takes 5 s with the public data.
"""

from __future__ import annotations

import csv
import io
import json
import resource
import sys
import time
from collections import Counter
from pathlib import Path

from dialeval.corpora.items import item_rows
from dialeval.corpora.rated_sources import rating_rows
from dialeval.corpora.readers import rated_source_files, read_rated
from gates import DATA, Gates, arguments

PATTERNS = {
    "comp_turn": "comp-analysis/turn_level_texts*/*_text.txt",
    "comp_dialogue": "comp-analysis/dialog_level_texts/*_text.txt",
    "xdial": "xdial-eval/data/*/*.csv",
}


def parse(path: Path) -> int:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        return len(json.loads(text))
    if path.suffix == ".csv":
        return len(list(csv.reader(io.StringIO(text, newline=""))))
    return len([line.split("\t") for line in text.split("\n")])


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the public data")
    options = parser.parse_args()
    gates = Gates(__file__, options)
    data = options.data
    sources = [(reader, path) for reader, pattern in PATTERNS.items() for path in sorted(data.glob(pattern))]
    files = {file for reader, path in sources for file in rated_source_files(reader, path)}

    start = time.perf_counter()
    n_bytes = sum(len(file.read_bytes()) for file in files)
    reading_bytes = time.perf_counter() - start
    start = time.perf_counter()
    for file in files:
        parse(file)
    parsing = time.perf_counter() - start

    start = time.perf_counter()
    readings = [(reader, path, read_rated(reader, path.stem.removesuffix("_text"), path)) for reader, path in sources]
    seconds = time.perf_counter() - start
    start = time.perf_counter()
    rows = [(list(item_rows(reading.items)), list(rating_rows(reading.ratings))) for _, _, reading in readings]
    making_rows = time.perf_counter() - start

    for reader, path, reading in readings:
        languages = Counter(item.language for item in reading.items)
        clusters = len({item.cluster for item in reading.items})
        print(
            f"{reader:<14}{path.stem.removesuffix('_text'):<22}{len(reading.items):>7} items{len(languages):>4} lang."
            f"{clusters:>5} clusters{len(reading.ratings):>7} ratings{sum(reading.skipped.values()):>6} left out"
        )
    n_items, n_ratings = sum(len(items) for items, _ in rows), sum(len(ratings) for _, ratings in rows)
    what = f"{n_items:,} items and {n_ratings:,} ratings of {len(files)} files, {n_bytes / 1e6:.1f} MB"
    gates.at_most(f"{what}, read", seconds, 30.0, unit="s")
    gates.told("the same", seconds / parsing, unit="x", against="parsing them without a check")
    gates.told("parsing them without a check", parsing / reading_bytes, unit="x", against="reading the bytes")
    gates.told("made into rows of tables", making_rows, unit="s")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    gates.at_most("memory at most", memory, 1500.0, unit="MB")
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
