"""The sheet on which experts answer, and reading their answers.

Which items are drawn depends on their names and the seed alone: what else there is changes nothing, and a larger number
keeps those of a smaller one.

    item,answer,expert
    bundled/en/SF-1,B,ann

Cells may stand between commas, semicolons or tabs, as spreadsheets write them. An answer is the letter of an option,
or the option's words. Where the file has the options too (columns A, B, ...), as the sheet that is drawn has them, a
letter means the words beside it, wherever that option stands now. Further columns are not read.
"""

from __future__ import annotations

import csv
import difflib
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

from dialeval.corpora.text_files import listed, read_csv, read_text
from dialeval.dialogbench.examination import extras_of, question_of, render_utterances
from dialeval.dialogbench.items import LETTERS, TestItem
from dialeval.errors import UserError
from dialeval.paths import replacing
from dialeval.tables.files import escaped_cell, unescaped_cell

COLUMNS = ("item", "task", "language", "dialogue", "beside", "question", *LETTERS, "answer", "expert")
_FILLED_IN = ("answer", "expert")


def draw(
    items: Mapping[str, TestItem], origin_of: Mapping[str, Mapping[str, str]], per_task: int, random_seed: int
) -> list[TestItem]:
    """Return so many items of each source, language and task of the full procedure, in the items' order."""
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
    """Return the sheet as CSV, `answer` and `expert` to be filled in."""
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
    """Write the sheet; a sheet with answers to the same items is kept, and is never overwritten.

    Raises:
        UserError: the sheet has answers, and its items differ from those of this run.
    """
    if path.exists() and (filled := sum(1 for row in _rows(path) if any(row.get(name) for name in _FILLED_IN))):
        if list(_question_cells(_rows(path))) == list(_question_cells(csv.DictReader(StringIO(text)))):
            print(f"{path} is up to date, and {filled} of its rows are filled in: it is not changed")
            return
        raise UserError(
            f"{path}: {filled} rows are filled in, and the sample of items has changed; move the file (and "
            f"set dialogbench.experts.answers to it), then run the same command again for a new sheet"
        )
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8-sig")  # by the mark spreadsheets know that it is UTF-8


def _rows(path: Path) -> Iterator[dict[str, str]]:
    rows = (row for _, row in read_csv(path) if any(row))
    head = next(rows, [])
    for row in rows:
        yield dict(zip(head, row, strict=False))


def _question_cells(rows: Iterable[Mapping[str, str]]) -> Iterator[tuple[str, ...]]:
    for row in rows:
        cells = (unescaped_cell(row.get(name) or "") for name in COLUMNS if name not in _FILLED_IN)
        yield tuple(cell.replace("\r\n", "\n") for cell in cells)


# What experts answered to test items: a CSV file of item and answer, and of the expert where there are several.

ONLY = "expert"
"""Name of the expert of a file that names none."""
_NAMES = {"item": ("item", "item_id", "itemid"), "answer": ("answer", "choice"), "expert": ("expert", "annotator")}
_LETTER = re.compile(r"[(（\[]?([A-Da-d])[)）\].．:：]?")
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class ExpertAnswer:
    """One answer: the item's id, the annotator, and the letter of the chosen option in the present order."""

    item_id: str
    expert: str
    choice: str


@dataclass
class ExpertReading:
    """The answers of a file, the number of blank cells, and the number of letters mapped to new positions."""

    answers: list[ExpertAnswer] = field(default_factory=list)
    blank: int = 0
    moved: int = 0


def read_expert_answers(path: Path, items: Mapping[str, TestItem]) -> ExpertReading:
    """Read a file of answers; blank ones are counted and left out.

    Args:
        path: the CSV file.
        items: the items by id.

    Raises:
        UserError: no such file, no answer at all, or in a line: no item, one that is not there, an answer that is none
            of its options, no expert among others who are named, or an item that an expert answers twice.
    """
    rows = _table(path)
    head, first = next(rows, ([], 1))
    place = _columns(head, f"{path}, line {first}")
    options = {name.strip().upper(): number for number, name in enumerate(head) if name.strip().upper() in LETTERS}
    reading = ExpertReading()
    seen: dict[tuple[str, str], int] = {}
    for cells, line in rows:
        where = f"{path}, line {line}"
        cell = {name: cells[number].strip() if number < len(cells) else "" for name, number in place.items()}
        item = _item(cell["item"], items, where)
        if not cell["answer"]:
            reading.blank += 1
            continue
        if "expert" in cell and not cell["expert"]:
            raise UserError(f"{where}: no expert; write the expert's name in every row, or remove the column")
        expert = cell.get("expert", ONLY)
        if before := seen.get((expert, item.item_id)):
            raise UserError(
                f"{where}: {expert} already answered '{item.item_id}' in line {before}; keep one of the two, or "
                f"correct the expert's name"
            )
        seen[expert, item.item_id] = line
        shown = {letter: cells[number].strip() for letter, number in options.items() if number < len(cells)}
        choice = _choice(cell["answer"], item, {letter: text for letter, text in shown.items() if text}, where)
        stood = _LETTER.fullmatch(cell["answer"])
        reading.moved += bool(stood and stood[1].upper() != choice)
        reading.answers.append(ExpertAnswer(item.item_id, expert, choice))
    if not reading.answers:
        raise UserError(f"{path}: no answer in {reading.blank} rows; fill in the column answer")
    return reading


def _table(path: Path) -> Iterator[tuple[list[str], int]]:
    """Yield the rows that are not blank with their lines, for any delimiter."""
    head = read_text(path).partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    for line, row in read_csv(path, delimiter):
        if any(cell.strip() for cell in row):
            yield row, line


def _columns(head: Sequence[str], where: str) -> dict[str, int]:
    names = [name.strip().casefold() for name in head]
    if twice := [name for name, n in Counter(names).items() if name and n > 1]:
        raise UserError(f"{where}: the column {listed(twice)} occurs twice; keep one")
    found = {column: names.index(name) for column, known in _NAMES.items() for name in reversed(known) if name in names}
    for column in ("item", "answer"):
        if column not in found:
            raise UserError(
                f"{where}: no column '{column}'; the first line must name the columns item and answer, and expert "
                f"where there are several (found: {listed(head)})"
            )
    return found


def _item(name: str, items: Mapping[str, TestItem], where: str) -> TestItem:
    if not name:
        raise UserError(f"{where}: no item; write its id as in the sheet")
    if name not in items and unescaped_cell(name) not in items:
        close = difflib.get_close_matches(name, items, n=1)
        meant = f" (did you mean '{close[0]}'?)" if close else ""
        raise UserError(f"{where}: '{name:.80}' is not an item{meant}; correct its id, or remove the row")
    return items[name] if name in items else items[unescaped_cell(name)]


def _choice(answer: str, item: TestItem, shown: Mapping[str, str], where: str) -> str:
    """Return the letter of the chosen option in the present order."""
    letter_of = {_folded(text): letter for letter, text in zip(item.letters, item.options, strict=True)}
    found = _LETTER.fullmatch(answer)
    if found is None:
        if _folded(answer) in letter_of:
            return letter_of[_folded(answer)]
        raise UserError(
            f"{where}: the answer {answer!r:.60} is neither one of the letters {', '.join(item.letters)} nor the "
            f"text of an option; correct it, or leave it blank"
        )
    letter = found[1].upper()
    if not shown:
        if letter in item.letters:
            return letter
        raise UserError(
            f"{where}: the answer {letter} is not an option of '{item.item_id}', which has {', '.join(item.letters)}; "
            "correct it, or leave it blank"
        )
    if letter not in shown:
        raise UserError(f"{where}: the answer {letter} is not an option of that row; correct it, or leave it blank")
    if letter in item.letters and _folded(item.options[LETTERS.index(letter)]) == _folded(shown[letter]):
        return letter
    if _folded(shown[letter]) not in letter_of:
        raise UserError(
            f"{where}: option {letter} ({shown[letter]!r:.60}) is not an option of the item, which was rewritten after "
            f"the sheet was drawn; remove the row"
        )
    return letter_of[_folded(shown[letter])]


def _folded(text: str) -> str:
    """Return an option's words for comparison; the sheet escapes those that look like a formula."""
    return _BLANKS.sub(" ", unescaped_cell(text)).strip().casefold()
