"""The reference of the tables is generated from their constants, and every table says what it is."""

from __future__ import annotations

import ast

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
    texts = [
        node.value
        for path in (PROJECT / "workflow" / "dialeval").rglob("*.py")
        if path.name != "registries.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    missing = [message for message in MESSAGES if not any(message in text for text in texts)]
    assert missing == []
    assert all(f"| `{message}` |" in formats_text() for message in MESSAGES)
