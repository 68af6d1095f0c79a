"""All tables by their names, for those who read whatever table they are given: the report and the docs.

No stage that reads or writes a table of its own imports this: its fingerprint would then change with every other table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from dialeval.schemas import (
    battles,
    botchat,
    by_language,
    comparison,
    dialogbench,
    judgements,
    labels,
    measures,
    metaeval,
    raters,
    robustness,
    scenarios,
    shared,
    training,
    transcripts,
    translation,
    trust,
)
from dialeval.schemas.table import Table

TABLES: Mapping[str, Table] = MappingProxyType(
    {
        table.name: table
        for module in (
            shared,
            botchat,
            scenarios,
            battles,
            judgements,
            measures,
            labels,
            trust,
            metaeval,
            raters,
            by_language,
            robustness,
            dialogbench,
            transcripts,
            training,
            translation,
            comparison,
        )
        for table in vars(module).values()
        if isinstance(table, Table)
    }
)


def table_named(name: str) -> Table | None:
    """Returns the table of a name; that of a measure stands under the names of protocols, and says of which it is."""
    protocol, _, measure = name.rpartition("/")
    table = TABLES.get(f"{measures.FOLDER}/{measure}")
    if name in TABLES or table is None:
        return TABLES.get(name)
    return replace(table, name=name, title=f"{protocol}: {table.title}")
