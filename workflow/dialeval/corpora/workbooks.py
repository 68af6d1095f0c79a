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
"""No table here has as many; a cell further out is a stray one."""
MOST_BYTES = 1 << 29
"""Of the unpacked workbook; a small file can claim to unpack to anything."""


def sheet_rows(path: Path) -> Iterator[tuple[int, list[Any]]]:
    """Yields the rows that are not blank, to their last cell, each with its number as the sheet counts it.

    An empty cell is None.

    Raises:
        UserError: the file cannot be read as a workbook, unpacks to more than `MOST_BYTES`, or has a cell beyond
            `MOST_COLUMNS`.
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
            sheet = workbook.worksheets[0]
            sheet.reset_dimensions()  # some programs write wrong ones, which would cut off cells
            for number, row in enumerate(sheet.iter_rows(max_row=MOST_ROWS, values_only=True), start=1):
                cells = list(row)
                while cells and cells[-1] is None:
                    cells.pop()
                if len(cells) > MOST_COLUMNS:
                    raise UserError(
                        f"{path}, row {number}: a cell in column {len(cells)}; remove what is not the table's"
                    )
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
