"""Which tables lie in a folder of results, and which of them another version of DialEval made."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dialeval.errors import UserError, nearest
from dialeval.provenance.records import FOLDER as RECORDS
from dialeval.schemas.every import table_named
from dialeval.schemas.measures import FOLDER as MEASURES
from dialeval.schemas.table import Table
from dialeval.schemas.words import COMMON
from dialeval.tables import differences_from, read_name

PUBLISHED = "tables"
"""The folder of what is meant for readers; the others pass between stages."""
BETWEEN = "stages"
FEW = 12


@dataclass(frozen=True)
class Found:
    """A table of a run.

    Attributes:
        name: its path without suffix, below the published tables or else below the results; where both have one of that
            path, the latter's begins with `stages/`.
        path: its Parquet file.
        kind: what it is.
        rows: how many there are.
        is_published: whether it is meant for readers, and does not only pass between stages.
    """

    name: str
    path: Path
    kind: Table
    rows: int
    is_published: bool


def found_tables(results: Path) -> list[Found]:
    """Returns the tables of a run, those for readers first.

    Args:
        results: the folder of its results.

    Raises:
        UserError: there is none.
    """
    published = list(_below(results / PUBLISHED, is_published=True))
    taken = {table.name for table in published}
    between = [
        replace(table, name=f"{BETWEEN}/{table.name}") if table.name in taken else table
        for table in _below(results, is_published=False)
    ]
    tables = published + between
    if not tables:
        raise UserError(
            f"there is no table of a run in {results}; name the folder of its results, which `results_dir` of the "
            "configuration says, or run snakemake first"
        )
    return tables


def chosen_tables(tables: Sequence[Found], names: Sequence[str]) -> list[Found]:
    """Returns the tables of some names, or of patterns such as `judgements/*`.

    Raises:
        UserError: no table has a name, or fits a pattern.
    """
    chosen: dict[str, Found] = {}
    for name in names:
        fitting = [table for table in tables if fnmatchcase(table.name, name)]
        if not fitting:
            hint = nearest(name, [table.name for table in tables])
            is_long = hint.startswith("known") and len(tables) > FEW
            raise UserError(f"the run has no table '{name}'; {'dialeval tables lists them' if is_long else hint}")
        chosen |= {table.name: table for table in fitting}
    return list(chosen.values())


def outdated_files(results: Path, is_known: Callable[[Path], bool]) -> dict[Path, str]:
    """Returns the files below the results that another version of DialEval made, with how each differs from this one's.

    These are tables with other columns, and in a folder without any record of a job (`provenance`) all files that
    nothing is known of: a version before there were records has made them.

    Args:
        results: the folder of the results, which need not be there.
        is_known: returns whether Snakemake knows how a file was made.
    """
    found, is_ours = {}, False
    files = list(_files(results))
    for path in files:
        if path.suffix != ".parquet":
            continue
        with suppress(OSError, ValueError):  # pyarrow's error of what is no table is a ValueError
            if name := read_name(path):
                is_ours = True
                kind = _kind_of(path, name)
                differences = differences_from(path, kind) if kind else ["this version has no such table"]
                if differences:
                    found[path] = "; ".join(differences)
    if is_ours and not (results / RECORDS).exists():
        found |= {path: "no record of its job" for path in files if path not in found and not is_known(path)}
    return found


def _files(results: Path) -> Iterator[Path]:
    """Yields the files below the results, without hidden folders, and without links and what lies behind them."""
    for folder, folders, names in os.walk(results):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths = (Path(folder, name) for name in sorted(names) if not name.startswith("."))
        yield from (path for path in paths if not path.is_symlink())


def _kind_of(path: Path, name: str) -> Table | None:
    """Returns what a table is; that of a measure is named by its folder, which is a protocol's."""
    return table_named(f"{path.parent.name}/{path.stem}" if name.startswith(f"{MEASURES}/") else name)


def column_words(kind: Table) -> Iterator[tuple[str, str, str]]:
    """Yields the columns of a table: name, type with a question mark where it may be empty, and what is said of it."""
    for field in kind.schema:
        words = kind.columns.get(field.name) or COMMON.get(field.name, "")
        yield field.name, f"{_type(field.type)}{'?' if field.nullable else ''}", words


def _type(kind: pa.DataType) -> str:
    for fits, words in (
        (pa.types.is_string, "text"),
        (pa.types.is_integer, "integer"),
        (pa.types.is_floating, "number"),
        (pa.types.is_boolean, "yes or no"),
        (pa.types.is_map, "values by name"),
    ):
        if fits(kind):
            return words
    return "list"


def _below(folder: Path, is_published: bool) -> Iterator[Found]:
    for path in sorted(folder.rglob("*.parquet")):
        below = path.relative_to(folder)
        if any(part.startswith(".") for part in below.parts) or (not is_published and below.parts[0] == PUBLISHED):
            continue
        try:
            name = read_name(path)
            kind = _kind_of(path, name)
            if kind is not None:  # another's file
                yield Found(str(below.with_suffix("")), path, kind, pq.read_metadata(path).num_rows, is_published)
        except (pa.ArrowInvalid, OSError) as error:
            raise UserError(f"{path} cannot be read as a Parquet table: {error}; delete it and run again") from error
