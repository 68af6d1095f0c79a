"""All tables by their names.

No stage that reads or writes a table of its own imports this: its fingerprint would then change with every other table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from dialeval.tables import dialogbench, dialogues, labels, measures, metaeval, robustness, training
from dialeval.tables.schema import Table

TABLES: Mapping[str, Table] = MappingProxyType(
    {
        table.name: table
        for module in (dialogues, measures, labels, metaeval, robustness, dialogbench, training)
        for table in vars(module).values()
        if isinstance(table, Table)
    }
)


def table_named(name: str) -> Table | None:
    """Return the description of a table of a run, such as `quality/means` (in `TABLES`, it is `measures/means`)."""
    protocol, _, measure = name.rpartition("/")
    table = TABLES.get(f"{measures.FOLDER}/{measure}")
    if name in TABLES or table is None:
        return TABLES.get(name)
    return replace(table, name=name, title=f"{protocol}: {table.title}")
