"""Tables of a run, read from their files by the names under which the report knows them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from dialeval.errors import UserError
from dialeval.schemas.every import table_named
from dialeval.schemas.measures import FOLDER
from dialeval.tables import read_name, read_table


def tables_by_name(paths: Iterable[Path]) -> dict[str, pa.Table]:
    """Returns tables by the name of their kind, those of the same one after the other.

    Raises:
        UserError: a file is none of our tables.
    """
    found: dict[str, list[pa.Table]] = {}
    for path in paths:
        name = read_name(path)
        if name.startswith(f"{FOLDER}/"):  # a measure's is known by the protocol in whose folder it lies
            name = f"{path.parent.name}/{path.stem}"
        kind = table_named(name)
        if kind is None:
            raise UserError(f"{path} does not say which of our tables it is; delete it and run again")
        found.setdefault(name, []).append(read_table(path, kind).replace_schema_metadata())
    return {name: pa.concat_tables(parts) for name, parts in found.items()}
