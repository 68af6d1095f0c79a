"""DialogBench's published question files: one JSON object per line, whatever the file is called, or a list of them.

The task is the record's own, or the file's name where the record has none that is known. Records that are no items
(no options, more than four, an empty one, no readable label, ...) are left out and counted by reason.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from dialeval.corpora.dialogbench_records import RecordProblem, read_record
from dialeval.corpora.dialogbench_tasks import TASKS, Task, find_task
from dialeval.corpora.json_fields import name_of, optional_text
from dialeval.corpora.json_records import Wanted, records_of
from dialeval.corpora.multiple_choice import TestItem
from dialeval.corpora.text_files import JsonLine
from dialeval.errors import UserError
from dialeval.text.counting import noted

SUFFIXES = (".json", ".jsonl")
_QUESTIONS = Wanted(["dialogue"])
_WORDS = re.compile(r"domain|analysis|speaker[12][ _]?(?:personality|emotion)", re.IGNORECASE)
"""Fields that may be left out; what they hold is shown to nobody who answers."""


@dataclass
class ItemReading:
    """What a reader found: the items, how many records it left out, by task and reason, and what is odd of the rest."""

    source: str
    items: list[TestItem] = field(default_factory=list)
    skipped: Counter[tuple[str, str]] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)

    def summary(self) -> str:
        """Returns one line: what was read, and what was left out and why."""
        line = f"{self.source}: {len(self.items)} test items read"
        if self.skipped:
            reasons = "; ".join(f"{count} {task} {reason}" for (task, reason), count in self.skipped.most_common())
            line += f", {sum(self.skipped.values())} records left out ({reasons})"
        for note, count in self.notes.items():
            line += f"; {noted(count, note)}"
        return line


def read(path: Path, language: str, *, origin: str = "published", task: str | None = None) -> ItemReading:
    """Reads one file, or all `.json` and `.jsonl` files of a folder.

    Args:
        path: the file or folder.
        language: language of the items.
        origin: what is noted as the items' origin.
        task: name of the task of records that name none that is known; the file's name if None.

    Raises:
        UserError: nothing to read, a line that is no JSON object, or a task that cannot be told, with file and line.
    """
    reading = ItemReading(str(path))
    seen: Counter[str] = Counter()
    for file in item_files(path):
        for line in records_of(file, _QUESTIONS):
            _read_line(line, task or file.stem, language, origin, reading, seen)
    if not reading.items:
        raise UserError(f"{reading.summary()}; give a file with one question per line")
    return reading


def _read_line(
    line: JsonLine, fallback: str, language: str, origin: str, reading: ItemReading, seen: Counter[str]
) -> None:
    record, where = line.record, line.where
    task = _task(optional_text(record, "task", where), fallback, where)
    item_id = "" if record.get("id") is None else name_of(record["id"], "id", where)
    item_id = item_id or "item"
    if not item_id.startswith(f"{task.abbreviation}-"):
        item_id = f"{task.abbreviation}-{item_id}"
    seen[item_id] += 1
    if seen[item_id] > 1:  # the ids are made up by whoever wrote the item, and repeat
        item_id = f"{item_id}~{seen[item_id]}"
    try:
        reading.items.append(read_record(record, item_id=item_id, task=task, language=language, origin=origin))
    except RecordProblem as problem:
        reading.skipped[task.abbreviation, problem.reason] += 1
        return
    for name, value in record.items():
        if _WORDS.fullmatch(name) and value is not None and not isinstance(value, str | list):
            reading.notes[f"times '{name:.40}' is no text, so that it is taken as empty"] += 1


def _task(name: str, fallback: str, where: str) -> Task:
    task = find_task(name) or find_task(fallback)
    if task is None:
        known = ", ".join(task.abbreviation for task in TASKS)
        raise UserError(f"{where}: neither '{name:.60}' nor '{fallback}' is a task of DialogBench; name one of {known}")
    return task


def item_files(path: Path) -> list[Path]:
    """Returns a file, or the `.json` and `.jsonl` files of a folder.

    Raises:
        UserError: a folder has none.
    """
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES)
    if not files:
        raise UserError(f"{path}: no file ends in {' or '.join(SUFFIXES)}")
    return files
