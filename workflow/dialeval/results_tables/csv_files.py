"""A table as CSV. Lists and values by name stand in their cells as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa

from dialeval import tables
from dialeval.results_tables.found import Found


def write_csv(table: Found, path: Path) -> None:
    """Writes a table of a run as CSV.

    Args:
        table: the table.
        path: the file; it is replaced.

    Raises:
        UserError: the table cannot be read, or the file not be written.
    """
    content = tables.read_table(table.path, table.kind).replace_schema_metadata()
    for place, field in enumerate(content.schema):
        if pa.types.is_nested(field.type):
            cells = [_as_json(value, pa.types.is_map(field.type)) for value in content[place].to_pylist()]
            content = content.set_column(place, field.name, pa.array(cells, pa.string()))
    tables.write_csv(path, content)


def _as_json(value: object, is_map: bool) -> str | None:
    if value is None:
        return None
    return json.dumps(dict(value) if is_map else value, ensure_ascii=False)  # type: ignore[call-overload]
