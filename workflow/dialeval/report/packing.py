"""How the page holds its data: numbers for names, strings that stand once, and rows that go together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dialeval.report.inputs import ReportInputs, Table
from dialeval.tables import HUMAN

Columns = dict[str, list[Any]]


class Names:
    """Numbers of systems and judges; a name that the run does not list gets the next number."""

    def __init__(self, inputs: ReportInputs) -> None:
        self.models = {model: place for place, model in enumerate((HUMAN, *inputs.chatbots))}
        self.judges = {judge: place for place, judge in enumerate(inputs.judges)}
        self.embedded = inputs.embedded
        for judge in sorted(pc.unique(inputs.verdicts["judge"]).to_pylist()):
            self.judge(judge)

    def model(self, name: str) -> int:
        """Returns the number of a system."""
        return self.models.setdefault(name, len(self.models))

    def judge(self, name: str) -> int:
        """Returns the number of a judge."""
        return self.judges.setdefault(name, len(self.judges))


class Pool:
    """Strings that stand once."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def place(self, text: str | None) -> int:
        """Returns the place of a string, -1 for None."""
        return -1 if text is None else self._places.setdefault(text, len(self._places))

    def places(self, texts: Iterable[str | None]) -> list[int]:
        """Returns the places of strings, as `place` does one by one: a page has millions of them."""
        asked = list(texts)
        new = [text for text in dict.fromkeys(asked) if text is not None and text not in self._places]
        self._places.update(zip(new, count(len(self._places)), strict=False))
        places: Mapping[Any, int] = self._places  # None is in it nowhere
        return [places.get(text, -1) for text in asked]

    def strings(self) -> list[str]:
        """Returns all strings by their places."""
        return list(self._places)


class Grouped:
    """A table's rows, group by group, in a fixed order within each; the first column of that order says which group."""

    def __init__(self, table: Table, order: list[str], large: list[str]) -> None:
        for name in large:  # so that sorting can join more than 2 GB of text
            table = table.set_column(table.column_names.index(name), name, table[name].cast(pa.large_string()))
        self._table = table.sort_by([(name, "ascending") for name in order])
        counts = pc.value_counts(self._table[order[0]])
        sizes = sorted((entry["values"], entry["counts"]) for entry in counts.to_pylist())
        self._slices: dict[str, tuple[int, int]] = {}
        start = 0
        for group, size in sizes:
            self._slices[group] = (start, size)
            start += size

    def rows(self, group: str) -> Columns:
        """Returns the columns of one group's rows."""
        columns: Columns = self._table.slice(*self._slices.get(group, (0, 0))).to_pydict()
        return columns


def zipped(rows: Columns, *names: str) -> Iterator[tuple[Any, ...]]:
    """Yields the values of some columns, row by row."""
    return zip(*(rows[name] for name in names), strict=True)
