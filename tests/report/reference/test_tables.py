"""The reference of the tables is generated from their constants, and every table says what it is."""

from __future__ import annotations

import re

from dialeval.paths import PROJECT
from dialeval.report.reference.registries import MESSAGES, TABLE_PARTS, formats_text, tables_text
from dialeval.tables.catalogue import TABLES


def test_the_page_has_every_table_once() -> None:
    assert sorted(line[6:-1] for line in tables_text().splitlines() if line.startswith("#### `")) == sorted(TABLES)
    assert {table.name.removesuffix(table.file) for table in TABLES.values()} <= {prefix for _, prefix in TABLE_PARTS}


def test_column_descriptions_belong_to_existing_columns() -> None:
    for table in TABLES.values():
        inside = {column for one in table.cells.values() for column in (one.low, one.high, one.published) if column}
        assert {*table.cells, *table.formats, *inside} <= set(table.schema.names), table.name
        assert table.row, table.name


def test_error_messages_on_the_page_are_messages_of_the_code() -> None:
    paths = (path for path in (PROJECT / "workflow" / "dialeval").rglob("*.py") if path.name != "registries.py")
    code = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    texts = re.sub(r'"\s*\n\s*f?"', "", code)  # a text in several pieces
    assert [message for message in MESSAGES if message not in texts] == []
    assert all(f"| `{message}` |" in formats_text() for message in MESSAGES)
