"""Tables that others published: TAB-separated text, or the first sheet of an xlsx workbook, row by row.

TAB files come in two manners. What pandas wrote puts a cell that holds a quote, a TAB or a line break into double
quotes, its own quotes doubled; plain ones know no quoting, and a quote in them is ordinary text. A cell is read as
quoted only if its quotes are closed at its end; should the rows not come out even, no cell is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from dialeval.corpora.text_files import listed, read_text
from dialeval.corpora.workbooks import sheet_rows
from dialeval.errors import UserError

_CELL = re.compile(r'(?:"((?:[^"]++|"")*+)"|([^\t\n]*+))(\t|\n|\Z)')


class Row(NamedTuple):
    """One row: its number, the header being row 1, and its cells by column."""

    number: int
    cells: dict[str, str]


def read_rows(path: Path, needed: Sequence[str]) -> Iterator[Row]:
    """Yields the rows of a table; blank rows are passed over and an empty cell is an empty text.

    Args:
        path: an .xlsx workbook, or else TAB-separated text in UTF-8.
        needed: columns that it must have.

    Raises:
        UserError: the file cannot be read, lacks a column, or a row has more or fewer cells than the header.
    """
    rows = _sheet_rows(path) if path.suffix.lower() == ".xlsx" else _text_rows(path)
    _, header = next(rows, (1, []))
    for column in needed:
        if header.count(column) != 1:
            fault = "is there more than once" if column in header else "is missing"
            raise UserError(f"{path}: the column '{column}' {fault}; the columns are: {listed(header)}")
    for number, cells in rows:
        if len(cells) != len(header):
            raise UserError(
                f"{path}, row {number}: {len(cells)} cells under {len(header)} columns; a TAB or a line break inside a "
                "cell needs double quotes around the cell, as pandas writes it"
            )
        yield Row(number, dict(zip(header, cells, strict=True)))


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


def _sheet_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    width = 0
    for number, row in sheet_rows(path):
        cells = ["" if cell is None else str(cell) for cell in row]
        width = width or len(cells)
        if any(cells):
            yield number, cells + [""] * (width - len(cells))  # a sheet leaves out empty cells at a row's end
