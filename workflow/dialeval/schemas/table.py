"""What a kind of table is: one constant each, beside others of its part, named by whoever writes or reads it."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Table:
    """A kind of table.

    Attributes:
        name: stands in the files' metadata; `<part>/<table>` where the report shows it in a part.
        schema: its columns.
    """

    name: str
    schema: pa.Schema

    @property
    def file(self) -> str:
        """Its name without its part, by which its files are called."""
        return self.name.rpartition("/")[2]
