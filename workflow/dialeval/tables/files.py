"""Tables in files: reading and writing them, also on file systems that show writes late.

Parquet files are written whole or not at all (temporary name, fsync, rename). Their metadata has the table's name and
nothing else, so that equal rows are equal files; where a file comes from is written beside (`provenance`). Reading
checks that the file has the columns that this version expects. In CSV files a text that a spreadsheet program would
take for a formula is escaped (`escaped_cell`), and unescaped wherever such a file is read.

Snakemake waits until a job's files are there before it starts the job on a node. What is there may still be of an
earlier size, or gone from under an open file, so that a node tries for as long as Snakemake would (`--latency-wait`).
"""

from __future__ import annotations

import errno
import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from dialeval.errors import UserError
from dialeval.paths import replacing
from dialeval.tables.schema import Table

METADATA_KEY = b"dialeval"
OTHER_VERSION = "; another version of DialEval made it: run snakemake again to remake it"
HUMAN = "human"
"""Stands for the human dialogues wherever a table names a model."""
_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
"""Beginning of a text that spreadsheet programs compute, and of one that looks escaped."""


def empty_table(kind: Table) -> pa.Table:
    """Return a table without rows."""
    return kind.schema.empty_table()


def to_table(kind: Table, rows: Iterable[dict[str, Any]]) -> pa.Table:
    """Return rows as a table; a missing key and a NaN are null.

    Raises:
        ValueError: a row has a key that is no column.
    """
    listed = list(rows)
    _check_keys(kind.name, kind.schema, listed)
    columns = [
        pa.array(
            [row.get(column.name) for row in listed],
            column.type,
            from_pandas=pa.types.is_floating(column.type) and column.nullable,  # which reads NaN as null
        )
        for column in kind.schema
    ]
    return pa.Table.from_arrays(columns, schema=kind.schema)


class TableWriter:
    """Writes one Parquet table in row groups, so that it need never be whole in memory.

    Use as a context manager around the writing; the file appears when it closes without an error.
    """

    def __init__(self, path: Path, kind: Table) -> None:
        self._name = kind.name
        self._schema = named_schema(kind)
        self._replacing = replacing(path)
        self.rows = 0

    def __enter__(self) -> TableWriter:
        temporary = self._replacing.__enter__()
        try:
            self._writer = pq.ParquetWriter(temporary, self._schema, compression="zstd")
        except OSError as error:  # the disk may be full before the first row
            self._replacing.__exit__(type(error), error, error.__traceback__)
            raise
        return self

    def write(self, rows: Sequence[dict[str, Any]] | pa.Table) -> None:
        """Append rows as one row group."""
        if isinstance(rows, pa.Table):
            table = rows
        else:
            _check_keys(self._name, self._schema, rows)
            table = pa.Table.from_pylist(list(rows), schema=self._schema)
        self._writer.write_table(_checked(table, self._schema))
        self.rows += len(table)

    def write_all(self, rows: Iterable[dict[str, Any]], group_size: int = 2048) -> None:
        """Append rows as they come, in row groups of `group_size`."""
        waiting = iter(rows)
        while group := list(islice(waiting, group_size)):
            self.write(group)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            self._writer.close()
        except OSError as closing:
            if error is None:
                kind, error, trace = type(closing), closing, closing.__traceback__
        self._replacing.__exit__(kind, error, trace)


def write_table(path: Path, kind: Table, table: pa.Table) -> None:
    """Write a table to a Parquet file, whole or not at all."""
    checked = _checked(table, named_schema(kind))
    with replacing(path) as temporary:
        pq.write_table(checked, temporary, compression="zstd")


def write_for_people(parquet: Path, csv: Path, kind: Table, table: pa.Table) -> None:
    """Write a table as Parquet and, for reading by people, as CSV."""
    write_table(parquet, kind, table)
    write_csv(csv, table)


def write_csv(path: Path, table: pa.Table) -> None:
    """Write a table to a CSV file, whole or not at all; texts are escaped (`escaped_cell`), numbers are not."""
    for place, column in enumerate(table.schema):
        if pa.types.is_string(column.type):
            cells = table[place].to_pylist()
            if any(cell and _FORMULA.match(cell) for cell in cells):
                escaped = pa.array([cell and escaped_cell(cell) for cell in cells], column.type)
                table = table.set_column(place, column, escaped)
    with replacing(path) as temporary:
        pyarrow.csv.write_csv(table, temporary)


def escaped_cell(text: str) -> str:
    """Return a text as a CSV cell, with an apostrophe before it if spreadsheet programs would execute it.

    That is before `=`, `+`, `-`, `@`, their full-width forms, a tab and a line break. A text that begins with
    apostrophes and such a sign gets one more, so that `unescaped_cell` returns every text as it was. Numbers are not
    escaped.
    """
    return f"'{text}" if _FORMULA.match(text) else text


def unescaped_cell(cell: str) -> str:
    """Return the text of a cell that `escaped_cell` wrote, also where a spreadsheet program took the escape out."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def write_rows(folder: Path, kind: Table, rows: pa.Table | Iterable[dict[str, Any]]) -> None:
    """Write a table, or its rows, into a folder as `write_for_people` does, into files called as the table is."""
    path, table = folder / kind.file, rows if isinstance(rows, pa.Table) else to_table(kind, rows)
    write_for_people(path.with_suffix(".parquet"), path.with_suffix(".csv"), kind, table)


def named_schema(kind: Table) -> pa.Schema:
    """Return the table's schema with its name as metadata."""
    return kind.schema.with_metadata({METADATA_KEY: json.dumps({"table": kind.name})})


def read_name(path: Path) -> str:
    """Return the name of the table in a file; "" if DialEval did not write the file."""
    content = json.loads((pq.read_schema(path).metadata or {}).get(METADATA_KEY, b"{}"))
    return str(content.get("table", ""))


def differences_from(path: Path, kind: Table) -> list[str]:
    """Return in words how the columns of a Parquet file differ from those of a table.

    Raises:
        OSError: the file cannot be read.
        pyarrow.ArrowInvalid: it is no Parquet file.
    """
    return _differences(pq.read_schema(path), kind.schema)


def read_table(path: Path, kind: Table, columns: Sequence[str] | None = None) -> pa.Table:
    """Return the table of a file.

    Args:
        path: Parquet file.
        kind: description of the table; the file must have its columns.
        columns: columns to read; None for all.

    Raises:
        UserError: the file is missing, not Parquet, or has other columns; the message names the differences.
    """
    with _open(path, kind) as file:
        return file.read(columns=list(columns) if columns else None)


def read_tables(paths: Iterable[Path], kind: Table, columns: Sequence[str] | None = None) -> pa.Table:
    """Return the concatenation of several tables with the same columns."""
    parts = [read_table(path, kind, columns) for path in paths]
    if not parts:
        empty = kind.schema.empty_table()
        return empty.select(list(columns)) if columns else empty
    return pa.concat_tables([part.replace_schema_metadata() for part in parts])


def iterate_rows(
    path: Path, kind: Table, columns: Sequence[str] | None = None, batch_size: int = 1024
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table as dictionaries, read in batches."""
    with _open(path, kind) as file:
        for batch in file.iter_batches(batch_size, columns=list(columns) if columns else None):
            yield from batch.to_pylist()


def chosen_rows(
    path: Path, kind: Table, chosen: Sequence[bool] | NDArray[np.bool_], batch_size: int = 1024
) -> Iterator[dict[str, Any]]:
    """Yield some rows of a table as dictionaries, those that are `chosen` by place, reading it piece by piece.

    Groups of rows without any that is chosen are not read.
    """
    place = 0
    with _open(path, kind) as file:
        for group in range(file.num_row_groups):
            n_rows = file.metadata.row_group(group).num_rows
            here = np.asarray(chosen[place : place + n_rows], dtype=np.bool_)
            place += n_rows
            start = 0
            for batch in file.iter_batches(batch_size, row_groups=[group]) if here.any() else ():
                of_batch = here[start : start + len(batch)]
                start += len(batch)
                if of_batch.any():
                    yield from batch.filter(pa.array(of_batch)).to_pylist()


def count_rows(path: Path, kind: Table) -> int:
    """Return the number of rows, from the file's footer."""
    with _open(path, kind) as file:
        rows: int = file.metadata.num_rows
        return rows


@contextmanager
def _open(path: Path, kind: Table) -> Iterator[pq.ParquetFile]:
    try:
        file = once_visible(path, pq.ParquetFile)
    except FileNotFoundError:
        raise UserError(
            f"{path} does not exist; it should be a table '{kind.name}': run the same command again"
        ) from None
    except (pa.ArrowInvalid, OSError) as error:
        raise UserError(
            f"{path} cannot be read as a Parquet table: {error}; delete it and run the same command again"
        ) from error
    with file:
        differences = _differences(file.schema_arrow, kind.schema)
        if differences:
            raise UserError(
                f"{path} is not a table '{kind.name}' as this version writes it: "
                + "; ".join(differences)
                + OTHER_VERSION
            )
        yield file


def _differences(found: pa.Schema, expected: pa.Schema) -> list[str]:
    messages = []
    for label, names in (
        ("missing columns", [n for n in expected.names if n not in found.names]),
        ("unknown columns", [n for n in found.names if n not in expected.names]),
    ):
        if names:
            messages.append(f"{label}: {', '.join(names)}")
    for field in expected:
        if field.name in found.names and not found.field(field.name).type.equals(field.type):
            messages.append(f"column {field.name} is {found.field(field.name).type}, expected {field.type}")
    return messages


def _check_keys(name: str, schema: pa.Schema, rows: Iterable[Mapping[str, Any]]) -> None:
    """Refuse keys of rows that are no columns: a programmer's error."""
    if unknown := {key for row in rows for key in row}.difference(schema.names):
        raise ValueError(
            f"table '{name}' has no column {', '.join(map(repr, sorted(unknown)))}; its columns are "
            f"{', '.join(schema.names)}"
        )


def _checked(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return the table under the schema; refuses other columns and forbidden nulls, a programmer's error."""
    if table.schema.names != schema.names:
        raise ValueError(f"columns {table.schema.names} do not fit the schema {schema.names}")
    same = table.schema.types == schema.types  # casting loads what takes a tenth of a small job's start
    table = pa.Table.from_arrays(table.columns, schema=schema) if same else table.cast(schema)
    for field in schema:
        if not field.nullable and table[field.name].null_count:
            raise ValueError(f"column {field.name} has {table[field.name].null_count} nulls and must have none")
    return table


# Files on file systems that show writes late

LATENCY_WAIT = "DIALEVAL_LATENCY_WAIT"
"""The environment variable that says how long a job on a cluster's node waits; without it, none does."""
T = TypeVar("T")


def once_visible(path: Path, read: Callable[[Path], T]) -> T:
    """Return the content of a file; on a cluster's node it waits until reading succeeds.

    Args:
        path: the file.
        read: reads it, and fails where it is not there or not whole.

    Raises:
        OSError: the file is not there, or cannot be read.
        pyarrow.ArrowInvalid: it is no Parquet file.
    """
    until, is_reported = time.monotonic() + float(os.environ.get(LATENCY_WAIT) or 0), False
    while True:
        try:
            return read(path)
        except (OSError, pa.ArrowInvalid) as error:
            if time.monotonic() >= until or not _may_pass(error):
                raise
            if not is_reported:
                print(f"waiting: this node does not see the complete {path} yet ({error})", flush=True)
                is_reported = True
        with suppress(OSError):
            list(path.parent.iterdir())  # many file systems look again when a folder is listed
        time.sleep(min(1.0, max(0.0, until - time.monotonic())))


def _may_pass(error: Exception) -> bool:
    """Return whether an error is typical of a lagging file system."""
    return isinstance(error, pa.ArrowInvalid | FileNotFoundError) or (
        isinstance(error, OSError) and error.errno in (errno.ESTALE, None)  # pyarrow gives no number
    )
