"""The files of a run: tables, judgements and job records; and the published numbers of two runs, matched by key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from dialeval import layout
from dialeval.errors import UserError
from dialeval.provenance.records import FOLDER as RECORDS
from dialeval.provenance.records import read_provenance, read_record
from dialeval.tables.catalogue import TABLES, table_named
from dialeval.tables.files import OTHER_VERSION, read_name, read_tables
from dialeval.tables.measures import FOLDER as MEASURES
from dialeval.tables.schema import Interval, Table

Key = tuple[tuple[str, Any], ...]
Estimate = tuple[float | None, float | None, float | None]
"""A number and the ends of its interval."""
_IN_CELLS = Interval()
PRINTED = "paper"
"""Source of numbers that no run made: a paper's, for show."""
_REPEATED = {"title", "annotators"}
"""Texts that are no part of what a number is of."""


@dataclass
class Run:
    """One of the two runs.

    Attributes:
        name: what it is called in words: its folder, as it was given.
        folder: of the results.
        problems: messages on files that could not be read, each once.
    """

    name: str
    folder: Path
    problems: list[str] = field(default_factory=list)

    def tables(self) -> dict[str, Path]:
        """Return the published tables by folder and name below `tables`, such as `arena/ratings`."""
        below = self.folder / layout.folder_of(layout.TABLE)
        found = sorted(path for path in below.rglob("*.parquet") if not path.name.startswith("."))
        return {str(path.relative_to(below).with_suffix("")): path for path in found}

    def path_of(self, table: str) -> Path:
        """Return the file of a published table."""
        return self.folder / layout.TABLE.format(name=table, suffix="parquet")

    def schema_name(self, table: str) -> str:
        """Return the name of a table's kind, or "" where the file is none of ours; a measure's is `measures/...`."""
        try:
            name = read_name(self.path_of(table))
        except (OSError, pa.ArrowInvalid, ValueError) as error:
            self.add_note(f"{self.path_of(table)} cannot be read: {error}")
            return ""
        return name if name in TABLES else f"{MEASURES}/{name.rpartition('/')[2]}"

    def read(self, paths: Iterable[Path], kind: Table, columns: Sequence[str] | None = None) -> pa.Table | None:
        """Return tables of one kind as one; None, with a noted problem, if one cannot be read."""
        try:
            return read_tables(paths, kind, columns)
        except UserError as error:
            self.add_note(
                str(error).replace("; delete it and run the same command again", "").replace(OTHER_VERSION, "")
            )
            return None

    def add_note(self, words: str) -> None:
        """Note a part that could not be compared."""
        if words not in self.problems:
            self.problems.append(words)

    def job_record(self, table: str) -> dict[str, Any]:
        """Return the record of the job that made a published table; empty where there is none."""
        return read_provenance(self.path_of(table), self.folder)

    def inputs(self, record: dict[str, Any], option: str) -> list[Path]:
        """Return the files that a job read under an option and that are still there."""
        return [path for name in record.get("inputs", {}).get(option, ()) if (path := self.folder / name).is_file()]

    def outputs(self, record: dict[str, Any], below: str) -> list[Path]:
        """Return the files below a folder that a job made and that are still there."""
        made = [self.folder / name for name in record.get("outputs", {}) if name.startswith(f"{below}/")]
        return [path for path in made if path.is_file()]

    def records(self) -> dict[str, dict[str, Any]]:
        """Return the records of all jobs, by the name of the first file that each made."""
        below = self.folder / RECORDS
        named = {str(path.relative_to(below))[: -len(".json")]: path for path in sorted(below.rglob("*.json"))}
        return {name: record for name, path in named.items() if (record := read_record(path))}


def open_run(folder: Path) -> Run:
    """Return the run whose results lie in a folder.

    Raises:
        UserError: there is no such folder, or it holds no results.
    """
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder; name the folder of a run's results, such as results")
    parts = (layout.folder_of(layout.TABLE), layout.folder_of(layout.JUDGEMENTS), RECORDS)
    if not any((folder / part).is_dir() for part in parts):
        inside = folder / "results"
        remedy = f"did you mean {inside}?" if inside.is_dir() else "name the folder that a run's `results_dir` names"
        raise UserError(f"{folder} has no results (neither {'/ nor '.join(parts)}/); {remedy}")
    return Run(str(folder), folder)


def is_measure(schema_name: str) -> bool:
    """Return whether a kind is a protocol's measure."""
    return schema_name.startswith(f"{MEASURES}/")


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
    a: Estimate
    b: Estimate

    @property
    def how(self) -> Compared:
        """Return how numbers of its table are compared."""
        return COMPARED[self.kind]

    @property
    def judge(self) -> str:
        """Return the judge; empty if the table has none."""
        return str(self.key.get("judge") or "") if self.how.judge else ""

    @property
    def measure(self) -> str:
        """Return the name of the measure."""
        return str(self.key.get("measure") or self.how.value)

    @property
    def system(self) -> str:
        """Return the system."""
        first, *others = [str(self.key[name]) for name in self.how.of if self.key.get(name)] or [""]
        if not others:
            return first
        words = ", ".join(others)
        return f"{first} beside {words}" if {"opponent", "other_judge"} & {*self.how.of} else f"{first} ({words})"

    @property
    def scope(self) -> str:
        """Return N, criterion and other columns of the key as text."""
        own_columns = {*self.how.of, "judge", "measure"}
        named = [
            (name, value) for name, value in self.key.items() if name not in own_columns and value not in (None, "")
        ]
        return ", ".join(f"N = {value}" if name == "n_utterances" else str(value) for name, value in named) or "all"


def published_numbers(a: Run, b: Run) -> Iterator[Number]:
    """Yield the numbers that both runs have published; unreadable files are among a run's problems."""
    ours, theirs = a.tables(), b.tables()
    for table in (name for name in ours if name in theirs):
        schema_name = a.schema_name(table)
        if schema_name not in COMPARED:
            continue
        kind = table_named(schema_name)
        if kind is None:
            continue
        read = [run.read([paths[table]], kind) for run, paths in ((a, ours), (b, theirs))]
        if read[0] is None or read[1] is None:
            continue
        both = [_by_key(one, kind, COMPARED[schema_name], run, table) for one, run in zip(read, (a, b), strict=True)]
        if is_measure(schema_name) and kind.file == "win_rates" and table.replace(kind.file, "ratings") in ours:
            continue  # where all are shown with each other their ratings say it, once for each system
        for key, value in both[0].items():
            if key in both[1]:
                yield Number(table, schema_name, dict(key), value, both[1][key])


def _by_key(rows: pa.Table, kind: Table, compared: Compared, run: Run, table: str) -> dict[Key, Estimate]:
    columns = key_columns(kind, compared.value)
    ends = compared.interval(kind)
    found: dict[Key, Estimate] = {}
    twice = 0
    for row in rows.to_pylist():
        if row.get("source") == PRINTED:
            continue
        key = tuple((name, row[name]) for name in columns)
        twice += key in found
        found[key] = (row[compared.value], row.get(ends.low), row.get(ends.high))
    if twice:
        name = f"{layout.folder_of(layout.TABLE)}/{table}"
        run.add_note(f"{name}: {twice} rows have the same key; the last one was compared")
    return found


def key_columns(kind: Table, value: str) -> list[str]:
    """Return the columns that identify a row of a table: those before its first number."""
    found = []
    for column in kind.schema:
        if pa.types.is_floating(column.type):
            break
        if column.name == "n_utterances" or not column.name.startswith("n_"):
            found.append(column.name)
    if value not in kind.schema.names:  # a programmer's error
        raise ValueError(f"{kind.name} has no column {value}")
    return [name for name in found if name not in _REPEATED and name != "n"]


def only_in(one: Run, other: Run) -> list[str]:
    """Return the tables that one run has and the other has not, in order."""
    there = other.tables()
    return [name for name in one.tables() if name not in there]


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
        """Return the columns of the ends of its interval."""
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
    "labels/estimates": Compared("estimate", ("system", "opponent")),
    "battles/ratings": Compared("elo", ("system",), judge=False, ends=Interval("ci_low", "ci_high")),
}
"""By the table's kind. What other tables have are means of these, or these in another shape."""
