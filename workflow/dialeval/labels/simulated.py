"""Simulated annotators: fill in sheets by a rule, to try the workflow without human labels.

    python -m dialeval.labels.simulated FOLDER SHEET.csv ...

Their answers are no human judgements. The score of a text grows with its number of different words. Each annotator has
a leniency and random errors that follow from its name and the sheet, so that the same sheet gets the same answers. Name
them under `labels.simulated`, so that every table marks them as simulated.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import math
import re
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from dialeval.corpora.text_files import number_in
from dialeval.errors import UserError
from dialeval.paths import replacing
from dialeval.tables.files import escaped_cell, unescaped_cell

ENOUGH_WORDS = 30.0
"""Number of different words that gives a score of one half."""
LENIENCY, ERROR = 0.08, 0.12
"""Standard deviations between annotators and between answers, on a scale from 0 to 1."""
AI_BELOW = 0.4
"""Score below which a simulated annotator answers that an AI took part."""
A_TIE = 0.05
_NUMBERS = re.compile(r"a number from (\S+) to (\S+)")
_OPTION = re.compile(r"([^;(]+?)(?: \([^)]*\))?(?:; |$)")
_LINE = re.compile(r"(?P<judged>> )?(?:(?P<number>\d+)\. )?[^:]*: (?P<text>.*)")


def fill_in(sheet: Path, filled: Path) -> int:
    """Write a sheet with a label in every row, and return how many there are.

    Raises:
        UserError: the file is no sheet.
    """
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        columns, rows = list(reader.fieldnames or ()), list(reader)
    if missing := {"annotator", "key", "criterion", "options", "label"} - {*columns}:
        raise UserError(
            f"{sheet} is not a labelling sheet: it has no column {', '.join(sorted(missing))}; run "
            f"`snakemake --cores 1 annotation_pages` again"
        )
    for row in rows:
        answer = _answer({name: unescaped_cell(cell or "") for name, cell in row.items()})
        row |= {name: cell if number_in(cell) is not None else escaped_cell(cell) for name, cell in answer.items()}
    with replacing(filled) as temporary, temporary.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\r\n")
        writer.writeheader()
        writer.writerows(rows)
    return len(rows)


def _answer(row: dict[str, str]) -> dict[str, str]:
    """Return the answer of a simulated annotator to one question."""
    if "first" in row and "second" in row:
        gap = _liking(row, row["first"], "first") - _liking(row, row["second"], "second")
        options = _options(row["options"])
        place = 2 if abs(gap) < A_TIE and len(options) > 2 else int(gap < 0.0)
        return {"label": options[place]}
    text = row.get("dialogue") or row.get("turn") or ""
    liking = _liking(row, text)
    if "place" in row:
        return {"label": "No", "place": ""} if liking >= AI_BELOW else {"label": "Yes", "place": _first_judged(text)}
    if found := _NUMBERS.fullmatch(row["options"]):
        low, high = map(float, found.groups())
        return {"label": f"{low + liking * (high - low):.1f}"}
    options = _options(row["options"])
    return {"label": options[min(int(liking * len(options)), len(options) - 1)]}


def _liking(row: dict[str, str], text: str, side: str = "") -> float:
    """Return the score of a text, from 0 to 1."""
    lines = [found for found in map(_LINE.fullmatch, text.splitlines()) if found]
    judged = [line for line in lines if line["judged"]] or lines
    words = {word.lower() for line in judged for word in re.findall(r"\w+", line["text"])}
    who, what = row["annotator"], f"{row['annotator']} {row['key']} {row['criterion']} {side}"
    liking = len(words) / (len(words) + ENOUGH_WORDS) + LENIENCY * _normal(who) + ERROR * _normal(what)
    return min(max(liking, 0.0), 1.0)


def _first_judged(text: str) -> str:
    lines = [found for found in map(_LINE.fullmatch, text.splitlines()) if found]
    first = next((line for line in lines if line["judged"]), lines[0])
    return first["number"] or "1"


def _options(words: str) -> list[str]:
    return _OPTION.findall(words)


def _normal(words: str) -> float:
    """Return a standard normal number that follows from the words."""
    share = int.from_bytes(hashlib.sha256(words.encode()).digest()[:6]) / 2**48
    return statistics.NormalDist().inv_cdf(min(max(share, math.ulp(1.0)), 1.0 - math.ulp(1.0)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Fill in the sheets that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m dialeval.labels.simulated", description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder of labels")
    parser.add_argument("sheets", type=Path, nargs="+", help="sheets of the target `annotation_pages`")
    given = parser.parse_args(arguments)
    try:
        for sheet in given.sheets:
            print(f"{given.folder / sheet.name}: {fill_in(sheet, given.folder / sheet.name)} simulated labels")
    except (UserError, OSError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
