"""The first sheet of an xlsx workbook, row by row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from dialeval.errors import UserError

MOST_ROWS = 1_048_576
"""What a sheet can have."""
MOST_COLUMNS = 1024
"""Columns after these are not read: no table here has as many, and a stray cell far out would widen every row."""
MOST_BYTES = 1 << 29
"""Of the unpacked workbook; a small file can claim to unpack to anything."""


def sheet_rows(path: Path) -> Iterator[tuple[int, list[Any]]]:
    """Yields the rows, each with its number as the sheet counts it; an empty cell is None.

    Raises:
        UserError: the file cannot be read as a workbook, or unpacks to more than `MOST_BYTES`.
    """
    import openpyxl  # takes half a second, which a run without a workbook need not wait

    remedy = "open it in a spreadsheet program and save it anew as .xlsx, or give the table as TAB-separated text"
    try:
        with ZipFile(path) as archive:
            n_bytes = sum(part.file_size for part in archive.infolist())
        if n_bytes > MOST_BYTES:
            raise UserError(f"{path} unpacks to {n_bytes >> 20} MiB, more than {MOST_BYTES >> 20}; {remedy}")
        workbook = openpyxl.load_workbook(path, read_only=True, data_only=True)
        try:
            if not workbook.worksheets:
                raise UserError(f"{path} has no sheet; {remedy}")
            rows = workbook.worksheets[0].iter_rows(max_row=MOST_ROWS, max_col=MOST_COLUMNS, values_only=True)
            for number, row in enumerate(rows, start=1):
                yield number, list(row)
        finally:
            workbook.close()
    except (UserError, GeneratorExit):
        raise
    except (OSError, BadZipFile) as error:
        raise UserError(f"{path} cannot be read as an xlsx workbook: {error}; {remedy}") from error
    except Exception as error:  # openpyxl meets what is broken inside a workbook with almost any exception
        reason = f"{type(error).__name__}: {error!s:.200}"
        raise UserError(f"{path} cannot be read as an xlsx workbook ({reason}); {remedy}") from error
