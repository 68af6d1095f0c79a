"""Files of labels as filled-in tables and spreadsheets.

A German Excel saves "CSV" with semicolons in Windows-1252, and "Unicode text" with TABs in UTF-16. All that is read, so
by themselves; an ambiguous table is an error.

A row holds one answer, in one of `ANSWERS`, or an answer on every criterion that has a column.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dialeval.corpora.spreadsheets import cell_text, sheet_rows
from dialeval.corpora.text_files import listed
from dialeval.errors import UserError
from dialeval.labels.exports import OTHER_NAMES, Cells, RawLabel, column_name, is_rejected, json_rows, renamed
from dialeval.labels.ledger import COLUMNS as LEDGER_COLUMNS
from dialeval.labels.sheets import SHOWN, comparable
from dialeval.tables.files import unescaped_cell

# Tables of labels: the sheet that a page came with, filled in, or what any other tool exports.

ABOUT = ("item_id", "corpus", "system", "case_id", "opponent", "left", "right", "n_utterances")
"""Columns that identify the unit of a label without a key."""
ANSWERS = ("label", "value", "outcome", "winner")
"""Columns with the answer; a table has one of them."""
COLUMNS = (
    "annotator", *ANSWERS, *ABOUT, "key", "draw", "protocol", "criterion", "place", "skipped", "comment", "round",
    "probability", "options",
)  # fmt: skip
_OURS = {"protocol", "annotator", "draw", "key", "label"}
"""Columns that a sheet and a page's table have; other tools' cells are read as they are."""
_MANY = 3
"""Number of labels after an empty first row that indicates a shifted column."""
QUESTION, RUBRIC = "question", "rubric"
"""Columns with the question and its scale, of tables that pages save; in other tools' tables they may be anything."""
_YES, _NO = ("1", "1.0", "yes", "true", "x", "skipped"), ("", "0", "0.0", "no", "false")


def read_filled(
    path: Path, criteria: Collection[str], note: Callable[[str], None], fault: Callable[[str], None]
) -> Iterator[RawLabel]:
    """Yield the answers of a table; rows without one are counted, and yielded if their text can be compared.

    Args:
        path: the file.
        criteria: names of the protocols' criteria; a table may have a column for each.
        note: receives notes for the log.
        fault: receives the faults of rows.

    Raises:
        UserError: the table cannot be read or lacks a column.
    """
    named = {column_name(name): name for name in criteria}
    sheet = read_spreadsheet(path, (*COLUMNS, *OTHER_NAMES, *named.keys() - {*COLUMNS}))
    for line in sheet.notes:
        note(line)
    rows = sheet.rows
    if set(sheet.columns) >= _OURS:
        rows = [(number, {name: unescaped_cell(cell) for name, cell in cells.items()}) for number, cells in rows]
        for words in (*_moved_questions(path, rows), *_moved_labels(path, rows)):
            fault(words)
        if not {*SHOWN, "round"} & {*sheet.columns}:  # a page's table has rounds and no dialogues
            note(
                f"{path.name}: no column has the dialogues, so DialEval cannot detect a key that was moved to another "
                f"row"
            )
    yield from _answers(path, sheet.columns, rows, named, note, fault, sheet.short)


def read_json_table(
    path: Path,
    document: list[Any],
    criteria: Collection[str],
    note: Callable[[str], None],
    fault: Callable[[str], None],
) -> Iterator[RawLabel]:
    """Yield the answers of a list of objects, as in `read_filled`.

    Raises:
        UserError: a field is missing.
    """
    rows = list(json_rows(document, path.name, fault))
    columns = list(dict.fromkeys(name for _, cells in rows for name in cells))
    yield from _answers(path, columns, rows, {column_name(name): name for name in criteria}, note, fault)


def _answers(
    path: Path,
    columns: list[str],
    rows: Iterable[tuple[int, Cells]],
    criteria: Mapping[str, str],
    note: Callable[[str], None],
    fault: Callable[[str], None],
    short: Mapping[int, int] = MappingProxyType({}),
) -> Iterator[RawLabel]:
    answers = _answer_columns(path, list(renamed(columns, dict.fromkeys(columns, "some"))), criteria)
    n_rows, empty, rejected = 0, 0, 0
    for row, written in rows:
        n_rows += 1
        cells = renamed(columns, written)
        if is_rejected(cells):
            rejected += 1
            continue
        where = f"{path.name}, row {row}"
        skipped, number = cells.get("skipped", "").lower(), _integer_text(cells.get("round", "")) or "0"
        if skipped not in (*_YES, *_NO):
            fault(f"{where}: skipped is '{skipped:.40}'; write 1 or leave it empty")
            continue
        if not (number.isascii() and number.isdecimal() and len(number) < 4):
            fault(f"{where}: round is '{number:.40}', not an integer; rounds count from 0")
            continue
        given = [column for column in answers if cells.get(column) or skipped in _YES]
        empty += not given
        shown = {name: cells[name] for name in SHOWN if name in columns} if cells.get("key") else {}
        if words := _rows_fault(columns, cells, answers, short.get(row)):
            fault(f"{where}: {words}")
            continue
        for column in given or answers[:1] * any(shown.values()):
            yield RawLabel(
                file=path.name,
                row=row,
                protocol=cells.get("protocol", ""),
                draw=cells.get("draw", ""),
                key=cells.get("key", ""),
                criterion=cells.get("criterion", "") if column in ANSWERS else criteria[column],
                place=cells.get("place", ""),
                comment=cells.get("comment", ""),
                options=cells.get("options", ""),
                question="" if QUESTION in criteria else cells.get(QUESTION, ""),
                rubric="" if RUBRIC in criteria else cells.get(RUBRIC, ""),
                annotator=cells.get("annotator", ""),
                label=cells.get(column, ""),
                column=column if column in ANSWERS else "label",
                skipped=skipped in _YES,
                round=int(number),
                probability=cells.get("probability", ""),
                sampled="probability" in columns,
                shown=shown,
                about={
                    name: _integer_text(cells[name]) if name == "n_utterances" else cells[name]
                    for name in ABOUT
                    if cells.get(name)
                },
            )
    without = [name for column, name in criteria.items() if column not in answers] if answers[0] not in ANSWERS else []
    if without:
        note(f"{path.name}: it has no column {listed(without)}, so it has no labels")
    if empty or not n_rows:
        note(f"{path.name}: {empty} rows have no label yet" if n_rows else f"{path.name}: no row has a label yet")
    if rejected:
        note(f"{path.name}: {rejected} rows with AssignmentStatus Rejected are left out")


def _rows_fault(columns: Sequence[str], cells: Cells, answers: Sequence[str], width: int | None) -> str:
    """Return the fault of a row with lost, emptied or shifted cells; empty without one.

    Args:
        columns: the table's.
        cells: the row's.
        answers: the columns that hold answers.
        width: how many cells the row has, if these are too few.
    """
    given = [cells[name] for name in answers if cells.get(name)]
    if width is not None and (width <= max(map(columns.index, answers)) or not given):
        return (
            f"{width} cells, but {len(columns)} columns; cells of this row are missing: copy the row again from its "
            f"sheet or table"
        )
    if given and not any(cell for name, cell in cells.items() if name not in answers):
        return (
            f"the label '{given[0]:.40}' is in a row without a dialogue; the column {answers[0]} was moved down: "
            f"move every label back to the row of its dialogue"
        )
    if not given or "key" not in columns or any(cells.get(name) for name in ("item_id", "case_id")):
        return ""
    emptied = next((name for name in ("key", "draw") if name in columns and not cells.get(name)), None)
    return f"{emptied} is empty; copy it from the sheet that was filled in" if emptied else ""


def _moved_questions(path: Path, rows: Sequence[tuple[int, Cells]]) -> Iterator[str]:
    """Yield the faults of rows whose question differs from that of most rows of their criterion."""
    wordings: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    written: list[tuple[int, tuple[str, ...], str]] = []
    for row, cells in rows:
        about = (cells.get("protocol", ""), cells.get("criterion", ""), *(name for name in SHOWN if cells.get(name)))
        if question := cells.get("question", ""):
            wordings[about][comparable(question)] += 1
            written.append((row, about, question))
    for row, about, question in written:
        usual, _ = wordings[about].most_common(1)[0]
        if comparable(question) != usual:
            yield (
                f"{path.name}, row {row}: criterion '{about[1]:.60}' is in a row with the question "
                f"'{question:.60}', but its other rows have another question; undo the change of one of the two columns"
            )


def _moved_labels(path: Path, rows: Sequence[tuple[int, Cells]]) -> Iterator[str]:
    """Yield the fault of a sheet whose labels may be shifted down by one row: only the first row has none.

    Shifted labels on one scale show no other sign, and each would count for another dialogue.
    """
    shown = [(row, cells) for row, cells in rows if any(cells.get(name) for name in SHOWN)]
    given = [bool(cells.get("label")) for _, cells in shown]
    n = sum(given)
    if not shown or given[0] or n < _MANY or not all(given[1 : 1 + n]):
        return
    row, first = shown[0]
    if first.get("comment") or first.get("skipped", "").lower() in _YES:
        return
    yield (
        f"{path.name}, row {row}: no label, but the {n} rows after it have one, so the column label may have been "
        f"moved down; undo that, or, if the label is missing on purpose, write 1 into a column skipped of this row"
    )


def _integer_text(cell: str) -> str:
    """Return the text of an integer without the `.0` that programs add in columns with empty cells."""
    return cell.removesuffix(".0")


def _answer_columns(path: Path, columns: list[str], criteria: Mapping[str, str]) -> list[str]:
    """Return the column of answers, or else the columns of criteria.

    Raises:
        UserError: there are none or several columns of answers, or no annotator or unit.
    """
    answers = [name for name in ANSWERS if name in columns]
    by_criterion = [] if answers else [name for name in columns if name in criteria and name not in COLUMNS]
    wanted = {
        "annotator": "annotator" in columns,
        f"label (or {', '.join(ANSWERS[1:])}, or one for each criterion)": bool(answers or by_criterion),
        "key, item_id, or system and case_id": bool({"key", "item_id"} & {*columns})
        or ("case_id" in columns and bool({"system", "left"} & {*columns})),
    }
    if missing := [name for name, there in wanted.items() if not there]:
        raise UserError(
            f"{path.name}, row 1: {' and '.join(f'the column {name}' for name in missing)} "
            f"{'is' if len(missing) == 1 else 'are'} missing; its columns: "
            f"{listed(columns)}; add {'it' if len(missing) == 1 else 'them'} or rename a column"
        )
    if len(answers) > 1:
        raise UserError(
            f"{path.name}, row 1: it has the columns {' and '.join(answers)}; keep one of them for the label"
        )
    return answers or by_criterion


# Tables as spreadsheet programs save them: CSV with commas, semicolons or TABs, in UTF-8 or not, or a workbook.

_DELIMITERS = (",", ";", "\t")
_NAMED_DELIMITER = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)
_ZIP = b"PK\x03\x04"
_LONGEST_CELL = 10_000_000
_BLOCK = 16


@dataclass(frozen=True)
class Spreadsheet:
    """A table.

    Attributes:
        columns: names, in lower case and with underscores.
        rows: number of each row, as a spreadsheet program counts them, and its cells by column, without blanks around.
        short: rows with fewer cells than columns, and how many they have, but for those that Excel leaves short.
        notes: what is odd and was read all the same.
    """

    columns: list[str]
    rows: list[tuple[int, dict[str, str]]]
    short: dict[int, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read_spreadsheet(path: Path, known: Collection[str]) -> Spreadsheet:
    """Read a table.

    Args:
        path: the file.
        known: columns that it may have; they identify the delimiter. Other columns are ignored.

    Raises:
        UserError: with file, row and remedy: it is empty, no table, in an encoding that is not known, has a known
            column twice or none at all, or a row with more cells than columns.
    """
    if path.suffix.lower() in UNREADABLE:
        raise UserError(
            f"{path.name}: DialEval does not read this file format; save it as .csv or .xlsx, and remove this file"
        )
    notes: list[str] = []
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path.name} cannot be read: {error.strerror}; check its permissions") from error
    if not content.strip():
        raise UserError(f"{path.name} is empty; save it again with its labels, or remove it")
    is_workbook = content.startswith(_ZIP)
    rows = _workbook(path) if is_workbook else _text_rows(path, _decoded(path, content, notes), known)
    first, header = next(rows, (1, []))
    widths = {first: len(header)}
    columns = [column_name(name) for name in header]
    _check_columns(path, columns, header, known)
    found = []
    for number, cells in rows:
        texts = [cell.strip() for cell in cells]
        if any(texts[len(columns) :]):
            raise UserError(
                f"{path.name}, row {number}: {len(texts)} cells, but {len(columns)} columns; put a cell with a "
                f"separator or a line break into double quotes"
            )
        if any(texts):
            widths[number] = len(texts)
            found.append((number, dict(zip(columns, [*texts, *[""] * len(columns)], strict=False))))
    return Spreadsheet(columns, found, {} if is_workbook else _short(widths, len(columns)), notes)


def _short(widths: Mapping[int, int], n_columns: int) -> dict[int, int]:
    """Return the rows with too few cells.

    Excel leaves out what is empty at the end of sixteen rows together (1 to 16, 17 to 32, ...), never of one alone.
    """
    widest: dict[int, int] = {}
    for number, width in widths.items():
        block = (number - 1) // _BLOCK
        widest[block] = max(width, widest.get(block, 0))
    return {
        number: width
        for number, width in widths.items()
        if width < n_columns and width < widest[(number - 1) // _BLOCK]
    }


def _check_columns(path: Path, columns: list[str], header: Iterable[str], known: Collection[str]) -> None:
    for name in known:
        if columns.count(name) > 1:
            raise UserError(f"{path.name}: the column '{name}' occurs more than once; rename or remove one")
    if not set(known) & set(columns):
        raise UserError(
            f"{path.name}, row 1: it has no column of labels, such as annotator, label and item_id; its columns: "
            f"{listed(header)}; write the names of the columns into the first row"
        )


def _decoded(path: Path, content: bytes, notes: list[str]) -> str:
    utf16 = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    encodings = ["utf-16"] if utf16 else ["utf-8-sig", "cp1252"]
    for encoding in encodings:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" in text:
            break
        if encoding == "cp1252":
            notes.append(f"{path.name} is not UTF-8 and was read as Windows-1252; check letters other than a to z")
        return text
    raise UserError(f"{path.name} is neither UTF-8 nor Windows-1252 text; save it as CSV in UTF-8")


def _text_rows(path: Path, text: str, known: Collection[str]) -> Iterator[tuple[int, list[str]]]:
    named = _NAMED_DELIMITER.match(text)
    text, first = (text[named.end() :], 2) if named else (text, 1)
    delimiter = named[1] if named else _delimiter(text, known)
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    number = first - 1
    try:
        for number, row in enumerate(reader, start=first):
            if any(cell.strip() for cell in row):
                yield number, row
    except csv.Error as error:
        raise UserError(
            f"{path.name}, row {number + 1}: not readable as CSV ({error}); check the quotes there"
        ) from None


def _delimiter(text: str, known: Collection[str]) -> str:
    """Return the sign by which the first line has the most columns that are known."""
    line = text.lstrip().partition("\n")[0].strip()

    def n_known(delimiter: str) -> int:
        return sum(column_name(name.strip(' "')) in known for name in line.split(delimiter))

    return max(_DELIMITERS, key=n_known)


def _workbook(path: Path) -> Iterator[tuple[int, list[str]]]:
    for number, row in sheet_rows(path):
        yield number, [cell_text(value) for value in row]


# Files of labels and ledgers of draws in the folder of labels.

TABLES = (".csv", ".tsv", ".xlsx")
READ = (*TABLES, ".json")
UNREADABLE = (".xls", ".ods", ".numbers")
"""Spreadsheet formats that DialEval does not read; such a file is an error, since ignoring it would lose labels."""
_HEADER = ",".join(LEDGER_COLUMNS).encode()


def label_files(folder: Path) -> list[Path]:
    """Return the files of labels, sorted by name; none without a folder.

    Hidden files, locks of spreadsheet programs, ledgers and other file formats are left out.

    Raises:
        UserError: the folder cannot be read, or a file name has braces, line breaks or control characters.
    """
    return [path for path in _files(folder) if not _is_ledger(path)]


def ledger_files(folder: Path) -> list[Path]:
    """Return the ledgers of draws, by name; of protocols that are not configured any more, too."""
    return [path for path in _files(folder) if _is_ledger(path)]


def passed_over(folder: Path) -> list[str]:
    """Return the names of ignored entries: folders and files of other formats."""
    if not folder.is_dir():
        return []
    read = {path.name for path in _files(folder)}
    return sorted(path.name for path in folder.iterdir() if path.name not in read and not _is_hidden(path.name))


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    try:
        there = [path for path in folder.iterdir() if path.suffix.lower() in (*READ, *UNREADABLE)]
        found = sorted(path for path in there if path.is_file() and not _is_hidden(path.name))
    except OSError as error:
        raise UserError(f"{folder} cannot be read: {error.strerror}; check its permissions") from error
    if odd := [path.name for path in found if not path.name.isprintable() or {"{", "}"} & {*path.name}]:
        raise UserError(
            f"{folder}: files of labels are named {', '.join(map(repr, odd))}; remove braces, line breaks and "
            f"control characters from their names"
        )
    return found


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "~"))


def _is_ledger(path: Path) -> bool:
    """Return whether a file is called as a ledger is, or begins as one does."""
    if path.suffix.lower() != ".csv":
        return False
    try:
        with path.open("rb") as file:
            return file.read(len(_HEADER)) == _HEADER
    except OSError:
        return False  # the reader reports the error


COLUMN_WORDS = {
    "annotator": "name of the annotator, always spelled the same; the column can also be named `worker_id`, `rater`, "
    "`participant_id` and the like",
    "label": "label: a number on the scale (`4`, `4.5`, `4,5`, `4 (good)`), an option of the scale, `Yes` or `No`. "
    "The column can also be named `value`",
    "item_id": "id of the dialogue. `system` and `case_id` (or `dialogue_id`) can replace this column. Add `corpus` "
    "if two sources share an id",
    "case_id": "case of a pair. The columns `left` (shown first) and `right`, or `system` and `opponent`, name its "
    "two systems. Add `n_utterances` if dialogues were cut to several lengths",
    "winner": "for pairs, instead of `label`: the name of the better system, or `tie`. The column can also be named "
    "`outcome`, with "
    "`left`, `right`, `tie` or an option of the protocol",
    "protocol": "name of the protocol; needed if a label could belong to several protocols. The file name can begin "
    "with the protocol instead",
    "criterion": "name of the criterion; needed if the protocol has several criteria",
    "place": "number, from 1, of the first utterance by an AI, or of the first one that shows the criterion",
    "round": "1 for the annotator's second label of the item; otherwise 0 or empty",
    "skipped": "1 if the annotator skipped the item",
    "comment": "free text",
    "question": "question that the annotator read. The columns `options` and `rubric` have its options and its "
    "rubric. DialEval refuses labels of a changed question or scale",
    "probability": "inclusion probability, if DialEval did not draw the sample",
}
"""The columns of a table of labels, for the documentation."""
