"""The sheet on which experts answer: items drawn for each task, with their options and without the right answers.

Which items are drawn depends on their names and the seed alone: what else there is changes nothing, and a larger number
keeps those of a smaller one.
"""

from __future__ import annotations

import csv
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from pathlib import Path

from dialeval.corpora.multiple_choice import LETTERS, TestItem
from dialeval.corpora.text_files import read_csv
from dialeval.dialogbench.questions import extras_of, question_of, render_utterances
from dialeval.errors import UserError
from dialeval.tables import escaped_cell, replacing, unescaped_cell

COLUMNS = ("item", "task", "language", "dialogue", "beside", "question", *LETTERS, "answer", "expert")
_FILLED_IN = ("answer", "expert")


def draw(
    items: Mapping[str, TestItem], origin_of: Mapping[str, Mapping[str, str]], per_task: int, random_seed: int
) -> list[TestItem]:
    """Returns so many items of each source, language and task of the full procedure, in the items' order."""
    ranked = sorted(items, key=lambda name: hashlib.sha256(f"{random_seed}\0sheet\0{name}".encode()).digest())
    counts: Counter[tuple[str, ...]] = Counter()
    drawn = set()
    for name in ranked:
        group = (origin_of[name]["source"], items[name].language, items[name].task)
        if origin_of[name]["variant"] == "full" and counts[group] < per_task:
            counts[group] += 1
            drawn.add(name)
    return [item for name, item in items.items() if name in drawn]


def sheet(items: Iterable[TestItem]) -> str:
    """Returns the sheet as CSV, `answer` and `expert` to be filled in."""
    text = StringIO()
    writer = csv.DictWriter(text, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for item in items:
        about = {
            "item": item.item_id,
            "task": item.task,
            "language": item.language,
            "dialogue": render_utterances(item.utterances, item.language),
            "beside": "\n".join(f"{name}: {words}" for name, words in extras_of(item)),
            "question": question_of(item),
        }
        row = about | dict(zip(LETTERS, item.options, strict=False))
        writer.writerow({name: escaped_cell(cell) for name, cell in row.items()})
    return text.getvalue()


def write_sheet(path: Path, text: str) -> None:
    """Writes the sheet; one that holds answers is kept if it asks the same, and never written over.

    Raises:
        UserError: it holds answers, and asks something else than it would now.
    """
    if path.exists() and (filled := sum(1 for row in _rows(path) if any(row.get(name) for name in _FILLED_IN))):
        if list(_asked(_rows(path))) == list(_asked(csv.DictReader(StringIO(text)))):
            print(f"{path} is as it would be drawn, and {filled} of its rows are filled in: it is left as it is")
            return
        raise UserError(
            f"{path}: {filled} rows are filled in, and other items would be drawn now; move the file elsewhere (name "
            "it under dialogbench.experts.answers), and run again for a new sheet"
        )
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8-sig")  # by the mark spreadsheets know that it is UTF-8


def _rows(path: Path) -> Iterator[dict[str, str]]:
    rows = (row for _, row in read_csv(path) if any(row))
    head = next(rows, [])
    for row in rows:
        yield dict(zip(head, row, strict=False))


def _asked(rows: Iterable[Mapping[str, str]]) -> Iterator[tuple[str, ...]]:
    for row in rows:
        cells = (unescaped_cell(row.get(name) or "") for name in COLUMNS if name not in _FILLED_IN)
        yield tuple(cell.replace("\r\n", "\n") for cell in cells)
