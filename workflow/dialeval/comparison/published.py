"""Published numbers of two runs, side by side: the rows of both runs' tables, joined by what the numbers are of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from dialeval.comparison.runs import Run, is_measure
from dialeval.schemas.every import table_named
from dialeval.schemas.table import Interval, Table

Key = tuple[tuple[str, Any], ...]
Ends = tuple[float | None, float | None, float | None]
"""A number and the ends of its interval."""
_IN_CELLS = Interval()
PRINTED = "paper"
"""Source of numbers that no run made: a paper's, for show."""


@dataclass(frozen=True)
class Compared:
    """A table whose numbers are compared.

    Attributes:
        value: its column of numbers, with an interval.
        of: the columns that say whose number it is, joined into the column `system`.
        judge: whether a column `judge` says by whose verdicts it is.
        ends: columns of its interval, where the table's cells do not say.
    """

    value: str
    of: tuple[str, ...]
    judge: bool = True
    ends: Interval = _IN_CELLS

    def interval(self, kind: Table) -> Interval:
        """Returns the columns of the ends of its interval."""
        return kind.cells.get(self.value, self.ends)


_MEASURE = Compared("estimate", ("system",))
COMPARED: Mapping[str, Compared] = {
    "measures/pass_rates": _MEASURE,
    "measures/pass_rates_at_gt_length": _MEASURE,
    "measures/ratings": _MEASURE,
    "measures/win_rates": Compared("win_or_tie", ("system", "opponent")),
    "measures/means": _MEASURE,
    "measures/rates": _MEASURE,
    "measures/checklist": _MEASURE,
    "measures/bias": Compared("estimate", ("judge", "other_judge"), judge=False),
    "measures/agreement": Compared("estimate", ("judge", "other_judge"), judge=False),
    "dialogbench/accuracy": Compared("accuracy", ("model", "method"), judge=False),
    "metaeval/correlations": Compared("pearson", ("judge", "method"), judge=False),
    "robustness/robustness": Compared("ratio", ("judge", "method"), judge=False),
    "labels/corrected": Compared("estimate", ("system", "versus")),
    "battles/ratings": Compared("elo", ("model",), judge=False, ends=Interval("low", "high")),
}
"""By the table's kind. What other tables have are means of these, or these in another shape."""
_REPEATED = {"title", "annotators"}
"""Texts that are no part of what a number is of."""


@dataclass
class Number:
    """One number in both runs: the published row of each.

    Attributes:
        table: folder and name below `tables`.
        kind: name of the table's kind.
        key: what it is of, by column.
        a, b: value, low and high, NaN as None.
    """

    table: str
    kind: str
    key: dict[str, Any]
    a: Ends
    b: Ends

    @property
    def how(self) -> Compared:
        """What of its table is compared."""
        return COMPARED[self.kind]

    @property
    def judge(self) -> str:
        """By whose verdicts it is; empty where judges are not told apart."""
        return str(self.key.get("judge") or "") if self.how.judge else ""

    @property
    def measure(self) -> str:
        """What is measured."""
        return str(self.key.get("measure") or self.how.value)

    @property
    def system(self) -> str:
        """Whose number it is."""
        first, *others = [str(self.key[name]) for name in self.how.of if self.key.get(name)] or [""]
        if not others:
            return first
        words = ", ".join(others)
        return (
            f"{first} beside {words}"
            if {"opponent", "versus", "other_judge"} & {*self.how.of}
            else f"{first} ({words})"
        )

    @property
    def scope(self) -> str:
        """At what N, on which criterion, and so on, in words."""
        told = {*self.how.of, "judge", "measure"}
        named = [(name, value) for name, value in self.key.items() if name not in told and value not in (None, "")]
        return ", ".join(f"N = {value}" if name == "n_utterances" else str(value) for name, value in named) or "all"


def published_numbers(a: Run, b: Run) -> Iterator[Number]:
    """Yields the numbers that both runs have published; what cannot be read is told among a run's problems."""
    ours, theirs = a.tables(), b.tables()
    for table in (name for name in ours if name in theirs):
        kind_name = a.kind_name(table)
        if kind_name not in COMPARED:
            continue
        kind = table_named(kind_name)
        if kind is None:
            continue
        read = [run.read([paths[table]], kind) for run, paths in ((a, ours), (b, theirs))]
        if read[0] is None or read[1] is None:
            continue
        both = [_by_key(one, kind, COMPARED[kind_name], run, table) for one, run in zip(read, (a, b), strict=True)]
        if is_measure(kind_name) and kind.file == "win_rates" and table.replace(kind.file, "ratings") in ours:
            continue  # where all are shown with each other their ratings say it, once for each system
        for key, value in both[0].items():
            if key in both[1]:
                yield Number(table, kind_name, dict(key), value, both[1][key])


def only_in(one: Run, other: Run) -> list[str]:
    """Returns the tables that one run has and the other has not, in order."""
    there = other.tables()
    return [name for name in one.tables() if name not in there]


def key_columns(kind: Table, value: str) -> list[str]:
    """Returns the columns that say what the numbers of a table are of: those before the first of its numbers."""
    found = []
    for column in kind.schema:
        if pa.types.is_floating(column.type):
            break
        if column.name == "n_utterances" or not column.name.startswith("n_"):
            found.append(column.name)
    if value not in kind.schema.names:  # a programmer's error
        raise ValueError(f"{kind.name} has no column {value}")
    return [name for name in found if name not in _REPEATED and name != "n"]


def _by_key(rows: pa.Table, kind: Table, compared: Compared, run: Run, table: str) -> dict[Key, Ends]:
    columns = key_columns(kind, compared.value)
    ends = compared.interval(kind)
    found: dict[Key, Ends] = {}
    twice = 0
    for row in rows.to_pylist():
        if row.get("source") == PRINTED:
            continue
        key = tuple((name, row[name]) for name in columns)
        twice += key in found
        found[key] = (row[compared.value], row.get(ends.low), row.get(ends.high))
    if twice:
        run.tell(f"tables/{table}: {twice} rows say they are of the same thing, of which the last was compared")
    return found
