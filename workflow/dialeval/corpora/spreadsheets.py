"""Rows of tables: CSV, TAB-separated text and xlsx workbooks.

TAB files come in two manners. What pandas wrote puts a cell that holds a quote, a TAB or a line break into double
quotes, its own quotes doubled; plain ones know no quoting, and a quote in them is ordinary text. A cell is read as
quoted only if its quotes are closed at its end; should the rows not come out even, no cell is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile, ZipFile

from dialeval.corpora.text_files import is_western, listed, read_csv, read_lines, read_text
from dialeval.errors import UserError

_DELIMITERS = ",\t;"
_WORKBOOK = ".xlsx"
_QUOTED = re.compile(r'"[^"]*"')
_NAMED_DELIMITER = re.compile(r"sep=(.)", re.IGNORECASE)
"""The first line that some programs write before a header."""


def rows_of(path: Path, notes: Counter[str] | None = None) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table that are not blank, each with its line, or its number in a sheet."""
    if is_workbook(path):
        yield from _sheet_texts(path, notes)
        return
    western = is_western(path)
    if western and notes is not None:
        notes[f"tables not in UTF-8 and read as Windows-1252, such as {path.name}; check its letters"] += 1
    delimiter, begun = delimiter_of(path, western=western), False
    if _is_unquoted(path, delimiter, western=western):
        if notes is not None:
            notes[f"tables whose quotes are text, such as {path.name}"] += 1
        lines = enumerate(read_lines(path, western=western), start=1)
        rows: Iterator[tuple[int, list[str]]] = ((line, _cells(text, delimiter)) for line, text in lines)
    else:
        rows = read_csv(path, delimiter, western=western)
    for line, cells in rows:
        if "".join(cells).strip() and (begun or not _NAMED_DELIMITER.fullmatch(delimiter.join(cells))):
            begun = True
            yield line, cells


COMMA = "_comma_"
"""What EmpatheticDialogues writes for a comma within a text."""
_WHOLE_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_GOES_ON = re.compile(r'"[^"]*"[^"]')


def _cells(line: str, delimiter: str) -> list[str]:
    cells = line.rstrip("\r\n").split(delimiter)
    return [cell[1:-1].replace('""', '"') if _WHOLE_QUOTED.fullmatch(cell) else cell for cell in cells]


def _is_unquoted(path: Path, delimiter: str, *, western: bool) -> bool:
    """Return whether a table knows no quoting.

    Then every line has as many cells, and a cell goes on after its quotes, as in `"No" she said`. A quote that is not
    closed says so only where commas of texts are written in another way, as EmpatheticDialogues does.
    """
    n_cells, is_stray, is_open, has_commas = 0, False, False, False
    for line in read_lines(path, western=western):
        cells = line.rstrip("\r\n").split(delimiter)
        n_cells = n_cells or len(cells)
        if line.strip() and len(cells) != n_cells:
            return False
        has_commas = has_commas or COMMA in line
        stray = [cell for cell in cells if cell[:1] == '"' and not _WHOLE_QUOTED.fullmatch(cell)]
        is_stray = is_stray or bool(stray)
        is_open = is_open or any(not _GOES_ON.match(cell) for cell in stray)
    return is_stray and (has_commas or not is_open)


def is_workbook(path: Path) -> bool:
    """Return whether a file is a workbook, by its name."""
    return path.suffix.lower() == _WORKBOOK


def cell_text(value: Any) -> str:
    """Return a cell of a sheet as text: a whole number without the `.0` that sheets keep it with."""
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def delimiter_of(path: Path, *, western: bool = False) -> str:
    """Return the delimiter of a table.

    It is what the first line says (`sep=;`), or has most of outside of quotes; a comma where it has none.
    """
    header = next((line for line in read_lines(path, western=western) if line.strip()), "")
    named = _NAMED_DELIMITER.fullmatch(header.rstrip("\r\n"))
    return named[1] if named else max(_DELIMITERS, key=_QUOTED.sub("", header).count)


# Tables that others published: TAB-separated text, or the first sheet of an xlsx workbook, row by row.

_CELL = re.compile(r'(?:"((?:[^"]++|"")*+)"|([^\t\n]*+))(\t|\n|\Z)')


class Row(NamedTuple):
    """One row: its number, the header being row 1, and its cells by column."""

    number: int
    cells: dict[str, str]


def read_rows(path: Path, needed: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of a table; blank rows are passed over and an empty cell is an empty text.

    Args:
        path: an .xlsx workbook, or else TAB-separated text in UTF-8.
        needed: columns that it must have.

    Raises:
        UserError: the file cannot be read, lacks a column, or a row has more or fewer cells than the header.
    """
    rows = _sheet_texts(path) if is_workbook(path) else _text_rows(path)
    _, header = next(rows, (1, []))
    for column in needed:
        if header.count(column) != 1:
            fault = "occurs more than once" if column in header else "is missing"
            remedy = "rename one of them" if column in header else "add it, or rename a column"
            raise UserError(f"{path}: the column '{column}' {fault}; its columns: {listed(header)}; {remedy}")
    for number, cells in rows:
        if len(cells) != len(header):
            raise UserError(
                f"{path}, row {number}: {len(cells)} cells, but {len(header)} columns; put a cell with a TAB or a "
                f"line break into double quotes"
            )
        yield Row(number, dict(zip(header, cells, strict=True)))


def _sheet_texts(path: Path, notes: Counter[str] | None = None) -> Iterator[tuple[int, list[str]]]:
    width = 0
    for number, row in sheet_rows(path, notes):
        cells = [cell_text(value) for value in row]
        width = width or len(cells)
        if any(cells):
            yield number, cells + [""] * (width - len(cells))  # a sheet leaves out empty cells at a row's end


def _text_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    text = read_text(path).replace("\r\n", "\n")
    rows = list(_quoted_rows(text))
    if any(len(cells) != len(rows[0][1]) for _, cells in rows):
        plain = list(_plain_rows(text))
        if all(len(cells) == len(plain[0][1]) for _, cells in plain):
            rows = plain
    return iter(rows)


def _quoted_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    cells: list[str] = []
    number = 1
    for cell in _CELL.finditer(text):
        quoted, plain, end = cell.groups()
        cells.append(plain if quoted is None else quoted.replace('""', '"'))
        if end != "\t":
            if cells != [""]:
                yield number, cells
            cells, number = [], number + 1


def _plain_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line:
            yield number, line.split("\t")


# The first sheet of an xlsx workbook, row by row.

MOST_ROWS = 1_048_576
"""What a sheet can have."""
MOST_COLUMNS = 1024
"""No table here has as many; a cell further out is a stray one."""
MOST_BYTES = 1 << 29
"""Of the unpacked workbook; a small file can claim to unpack to anything."""


def sheet_rows(path: Path, notes: Counter[str] | None = None) -> Iterator[tuple[int, list[Any]]]:
    """Yield the rows that are not blank, to their last cell, each with its number as the sheet counts it.

    An empty cell is None.

    Raises:
        UserError: the file cannot be read as a workbook, unpacks to more than `MOST_BYTES`, or has a cell beyond
            `MOST_COLUMNS`.
    """
    import openpyxl  # takes half a second, which a run without a workbook need not wait

    remedy = "open it in a spreadsheet program and save it again as .xlsx, or save the table as TAB-separated text"
    try:
        with ZipFile(path) as archive:
            n_bytes = sum(part.file_size for part in archive.infolist())
        if n_bytes > MOST_BYTES:
            raise UserError(f"{path} unpacks to {n_bytes >> 20} MiB, more than {MOST_BYTES >> 20}; {remedy}")
        workbook = openpyxl.load_workbook(path, read_only=True, data_only=True)
        try:
            if not workbook.worksheets:
                raise UserError(f"{path} has no sheet; {remedy}")
            sheet, *others = workbook.worksheets
            if others and notes is not None:
                notes[f"sheets after the first, skipped: {listed(one.title for one in others)}"] += len(others)
            sheet.reset_dimensions()  # some programs write wrong ones, which would cut off cells
            for number, row in enumerate(sheet.iter_rows(max_row=MOST_ROWS, values_only=True), start=1):
                cells = list(row)
                while cells and cells[-1] is None:
                    cells.pop()
                if len(cells) > MOST_COLUMNS:
                    raise UserError(f"{path}, row {number}: a cell in column {len(cells)}, beyond the table; remove it")
                if cells:
                    yield number, cells
        finally:
            workbook.close()
    except (UserError, GeneratorExit):
        raise
    except (OSError, BadZipFile) as error:
        raise UserError(f"{path} cannot be read as an xlsx workbook: {error!s:.200}; {remedy}") from error
    except Exception as error:  # openpyxl meets what is broken inside a workbook with almost any exception
        reason = f"{type(error).__name__}: {error!s:.200}"
        raise UserError(f"{path} cannot be read as an xlsx workbook ({reason}); {remedy}") from error
