"""Tables that people keep, row by row: CSV with commas, semicolons or TABs, or the first sheet of a workbook."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dialeval.corpora.text_files import is_western, read_csv, read_lines
from dialeval.corpora.workbooks import sheet_rows

_DELIMITERS = ",\t;"
_WORKBOOK = ".xlsx"
_QUOTED = re.compile(r'"[^"]*"')
_NAMED_DELIMITER = re.compile(r"sep=(.)", re.IGNORECASE)
"""The first line that some programs write before a header."""


def rows_of(path: Path, notes: Counter[str] | None = None) -> Iterator[tuple[int, list[str]]]:
    """Yields the rows of a table that are not blank, each with its line, or its number in a sheet.

    Args:
        path: the file.
        notes: what is worth knowing is counted here.

    Raises:
        UserError: as of `read_csv` and `sheet_rows`.
    """
    if is_workbook(path):
        width = 0
        for number, row in sheet_rows(path):
            cells = [cell_text(value) for value in row]
            width = width or len(cells)
            yield number, cells + [""] * (width - len(cells))  # a sheet leaves out empty cells at a row's end
        return
    western = is_western(path)
    if western and notes is not None:
        notes[f"tables not in UTF-8 and read as Windows-1252, such as {path.name}; see that its letters are right"] += 1
    delimiter, begun = delimiter_of(path, western=western), False
    for line, cells in read_csv(path, delimiter, western=western):
        if "".join(cells).strip() and (begun or not _NAMED_DELIMITER.fullmatch(delimiter.join(cells))):
            begun = True
            yield line, cells


def is_workbook(path: Path) -> bool:
    """Returns whether a file is a workbook, by its name."""
    return path.suffix.lower() == _WORKBOOK


def cell_text(value: Any) -> str:
    """Returns a cell of a sheet as text: a whole number without the `.0` that sheets keep it with."""
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def delimiter_of(path: Path, *, western: bool = False) -> str:
    """Returns what stands between the cells of a table.

    It is what the first line says (`sep=;`), or has most of outside of quotes; a comma where it has none.
    """
    header = next((line for line in read_lines(path, western=western) if line.strip()), "")
    named = _NAMED_DELIMITER.fullmatch(header.rstrip("\r\n"))
    return named[1] if named else max(_DELIMITERS, key=_QUOTED.sub("", header).count)
