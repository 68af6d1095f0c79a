"""Reading every rated corpus of the public data into items and ratings.

    python benchmarks/read_rated.py [DATA_FOLDER]

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
from dialeval.corpora.rated import rating_rows
from dialeval.corpora.rated_readers import rated_source_files, read_rated

DATA = Path(__file__).parents[1].parent / "shared" / "data"
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


def main() -> None:
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
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
    rows = [(item_rows(reading.items), rating_rows(reading.ratings)) for _, _, reading in readings]
    making_rows = time.perf_counter() - start

    for reader, path, reading in readings:
        languages = Counter(item.language for item in reading.items)
        clusters = len({item.cluster for item in reading.items})
        print(
            f"{reader:<14}{path.stem.removesuffix('_text'):<22}{len(reading.items):>7} items{len(languages):>4} lang."
            f"{clusters:>5} clusters{len(reading.ratings):>7} ratings{sum(reading.skipped.values()):>6} left out"
        )
    n_items, n_ratings = sum(len(items) for items, _ in rows), sum(len(ratings) for _, ratings in rows)
    print(f"{len(files)} files, {n_bytes / 1e6:.1f} MB: {n_items} items, {n_ratings} ratings")
    print(f"read into items and ratings  {seconds:6.2f} s   {seconds / parsing:5.2f} x parsing without a check")
    print(f"parsed without a check       {parsing:6.2f} s   {parsing / reading_bytes:5.1f} x reading the bytes")
    print(f"rows of tables               {making_rows:6.2f} s")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
