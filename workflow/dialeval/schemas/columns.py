"""The kinds of columns, and a schema made of them."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

TEXT, INT, LARGE, FLOAT, BOOL = pa.string(), pa.int32(), pa.int64(), pa.float64(), pa.bool_()
TEXTS, PLACES = pa.list_(TEXT), pa.list_(INT)


class Maybe(NamedTuple):
    """A column that may hold nulls."""

    kind: pa.DataType


def maybe(kind: pa.DataType) -> Maybe:
    """Returns a kind of column that may hold nulls."""
    return Maybe(kind)


def schema(**columns: pa.DataType | Maybe) -> pa.Schema:
    """Returns a schema of columns in the order given."""
    fields = []
    for name, kind in columns.items():
        nullable = isinstance(kind, Maybe)
        fields.append(pa.field(name, kind.kind if isinstance(kind, Maybe) else kind, nullable=nullable))
    return pa.schema(fields)


BEHIND: dict[str, Maybe] = {"n_clusters": maybe(INT), "design_effect": maybe(FLOAT), "effective_n": maybe(FLOAT)}
"""What stands beside every interval; empty where it is not defined."""
