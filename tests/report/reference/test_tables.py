"""The reference of the tables is generated from their constants, and every table says what it is."""

from __future__ import annotations

from dialeval.report.reference.registries import TABLE_PARTS, tables_text
from dialeval.tables.catalogue import TABLES


def test_the_page_has_every_table_once() -> None:
    assert sorted(line[6:-1] for line in tables_text().splitlines() if line.startswith("#### `")) == sorted(TABLES)
    assert {table.name.removesuffix(table.file) for table in TABLES.values()} <= {prefix for _, prefix in TABLE_PARTS}


def test_what_is_said_of_columns_is_of_columns_that_there_are() -> None:
    for table in TABLES.values():
        inside = {column for one in table.cells.values() for column in (one.low, one.high, one.published) if column}
        assert {*table.cells, *table.kinds, *inside} <= set(table.schema.names), table.name
        assert table.row, table.name
