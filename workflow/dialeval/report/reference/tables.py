"""The page on all tables.

A test keeps them in step. What stands above the mark is written by hand.
"""

from __future__ import annotations

import pyarrow as pa

from dialeval.paths import PROJECT
from dialeval.tables.catalogue import TABLES
from dialeval.tables.schema import COMMON, Table

DOCS = PROJECT / "docs" / "tables.md"
MARK = "## Reference\n"
HEAD = """
This part is generated from the constants in `workflow/dialeval/tables/` (`python -m dialeval.report.reference`). A
column with a question mark may be empty. Tables with a slash in their names lie in `results/tables/`, Parquet and CSV.
"""
PARTS = (
    ("Between the stages", ""),
    ("Measures of a protocol", "measures/"),
    ("Labels", "labels/"),
    ("BotChat", "botchat/"),
    ("Battles", "battles/"),
    ("Meta-evaluation", "metaeval/"),
    ("Training", "training/"),
    ("Translation", "translation/"),
    ("Robustness", "robustness/"),
    ("DialogBench", "dialogbench/"),
    ("Two runs compared", "comparison/"),
)
_TYPES = {"string": "text", "int32": "integer", "int64": "integer", "double": "number", "bool": "yes or no"}


def docs_text() -> str:
    """Returns the page: what is written by hand, and the reference."""
    by_hand = DOCS.read_text(encoding="utf-8").split(MARK)[0]
    parts = [by_hand + MARK + HEAD, "| in many tables | meaning |\n|---|---|"]
    parts += [f"| `{column}` | {words} |" for column, words in COMMON.items()]
    for title, prefix in PARTS:
        parts.append(f"\n### {title}")
        parts += [_about(table) for table in TABLES.values() if table.name.removesuffix(table.file) == prefix]
    return "\n".join(parts) + "\n"


def _about(table: Table) -> str:
    fields = ", ".join(_field(field) for field in table.schema)
    lines = [f"\n#### `{table.name}`", f"One row per {table.row}. {table.caption}".strip(), f"\nColumns: {fields}."]
    said = [f"| `{name}` | {table.columns[name]} |" for name in table.schema.names if name in table.columns]
    if said:
        lines += ["\n| column | meaning |", "|---|---|", *said]
    return "\n".join(lines)


def _field(field: pa.Field) -> str:
    kind = str(field.type)
    words = _TYPES.get(kind, "texts by name" if kind.startswith("map<string, string") else "")
    words = words or ("numbers by name" if kind.startswith("map") else "list")
    return f"`{field.name}` {words}{'?' if field.nullable else ''}"
