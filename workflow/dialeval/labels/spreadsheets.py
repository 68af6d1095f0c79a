"""Tables as spreadsheet programs save them: CSV with commas, semicolons or TABs, in UTF-8 or not, or a workbook.

A German Excel saves "CSV" with semicolons in Windows-1252, and "Unicode text" with TABs in UTF-16. All that is read, so
that nobody need know; what cannot be read for certain is refused.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dialeval.corpora.row_files import cell_text
from dialeval.corpora.text_files import listed
from dialeval.corpora.workbooks import sheet_rows
from dialeval.errors import UserError
from dialeval.labels.files import UNREADABLE
from dialeval.labels.tool_exports import column_name

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
    """Reads a table.

    Args:
        path: the file.
        known: columns that it may have; they tell which sign stands between cells. Others are passed over.

    Raises:
        UserError: with file, row and remedy: it is empty, no table, in an encoding that is not known, has a known
            column twice or none at all, or a row with more cells than columns.
    """
    if path.suffix.lower() in UNREADABLE:
        raise UserError(f"{path.name}: a file of this kind is not read; save it as .csv or .xlsx, and take it away")
    notes: list[str] = []
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path.name} cannot be read: {error.strerror}; see to its rights") from error
    if not content.strip():
        raise UserError(f"{path.name} is empty; save it again with its labels, or take it away")
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
                f"{path.name}, row {number}: {len(texts)} cells under {len(columns)} columns; a cell with "
                f"the sign between cells, or a line break, in it needs double quotes around it"
            )
        if any(texts):
            widths[number] = len(texts)
            found.append((number, dict(zip(columns, [*texts, *[""] * len(columns)], strict=False))))
    return Spreadsheet(columns, found, {} if is_workbook else _short(widths, len(columns)), notes)


def _short(widths: Mapping[int, int], n_columns: int) -> dict[int, int]:
    """Returns the rows with too few cells.

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
            raise UserError(f"{path.name}: the column '{name}' is there more than once; rename or take out one")
    if not set(known) & set(columns):
        raise UserError(
            f"{path.name}, row 1: none of the columns of labels is there, such as annotator, label and item_id; there "
            f"are: {listed(header)}; name the columns in the first row"
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
            notes.append(f"{path.name} is not UTF-8 and was read as Windows-1252; other letters than a-z may be wrong")
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
    """Returns the sign by which the first line has the most columns that are known."""
    line = text.lstrip().partition("\n")[0].strip()

    def n_known(delimiter: str) -> int:
        return sum(column_name(name.strip(' "')) in known for name in line.split(delimiter))

    return max(_DELIMITERS, key=n_known)


def _workbook(path: Path) -> Iterator[tuple[int, list[str]]]:
    for number, row in sheet_rows(path):
        yield number, [cell_text(value) for value in row]
