"""What a kind of table is: one constant each, beside others of its part, named by whoever writes or reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import pyarrow as pa

Kind = Literal["share", "rating", "correlation", "tokens", "count", "number", "text"]
"""How numbers are written."""


@dataclass(frozen=True)
class Interval:
    """Columns that are written into the cell of another: the ends of its interval, and what a paper prints."""

    low: str = ""
    high: str = ""
    published: str = ""


@dataclass(frozen=True, eq=False)
class Table:
    """A kind of table: its columns, and what docs and report say of it. The words are no part of fingerprints.

    Attributes:
        name: stands in the files' metadata; `<part>/<table>` where the report shows it in a part.
        schema: its columns.
        row: what one row is of.
        title: its heading in the report.
        caption: what it shows, in a sentence or two.
        columns: what a column is where neither its name nor `words.COMMON` says it.
        cells: columns of the report that have others in their cells.
        numbers: what its fractional numbers are, but for those of `kinds`.
        kinds: what the numbers of single columns are.
        shown: whether the report holds its rows; where not, it says where they are.
    """

    name: str
    schema: pa.Schema
    row: str
    title: str = ""
    caption: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    cells: Mapping[str, Interval] = field(default_factory=dict)
    numbers: Kind = "number"
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    shown: bool = True

    @property
    def file(self) -> str:
        """Its name without its part, by which its files are called."""
        return self.name.rpartition("/")[2]

    def kind_of(self, column: str) -> Kind:
        """Returns how the numbers of a column are written."""
        of = self.schema.field(column).type
        if not (pa.types.is_integer(of) or pa.types.is_floating(of)):
            return "text"
        if column.endswith(("design_effect", "effective_n")):
            return "rating"
        return self.kinds.get(column, "count" if pa.types.is_integer(of) else self.numbers)
