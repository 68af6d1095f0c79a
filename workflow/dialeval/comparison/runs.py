"""A finished, or half finished, run as what it left: its tables, its judgements, and the records of its jobs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from dialeval.errors import UserError
from dialeval.provenance.records import FOLDER as RECORDS
from dialeval.provenance.records import read_provenance, read_record
from dialeval.schemas.every import TABLES
from dialeval.schemas.measures import FOLDER as MEASURES
from dialeval.schemas.table import Table
from dialeval.tables import OTHER_VERSION, read_name, read_tables


@dataclass
class Run:
    """One of the two runs.

    Attributes:
        name: what it is called in words: its folder, as it was given.
        folder: of the results.
        problems: what of it could not be read, in words, each once.
    """

    name: str
    folder: Path
    problems: list[str] = field(default_factory=list)

    def tables(self) -> dict[str, Path]:
        """Returns the published tables by folder and name below `tables`, such as `arena/ratings`."""
        below = self.folder / "tables"
        found = sorted(path for path in below.rglob("*.parquet") if not path.name.startswith("."))
        return {str(path.relative_to(below).with_suffix("")): path for path in found}

    def kind_name(self, table: str) -> str:
        """Returns the name of a table's kind, or "" where the file is none of ours; a measure's is `measures/...`."""
        try:
            name = read_name(self.folder / "tables" / f"{table}.parquet")
        except (OSError, pa.ArrowInvalid, ValueError) as error:
            self.tell(f"{self.folder}/tables/{table}.parquet cannot be read: {error}")
            return ""
        return name if name in TABLES else f"{MEASURES}/{name.rpartition('/')[2]}"

    def read(self, paths: Iterable[Path], kind: Table, columns: Sequence[str] | None = None) -> pa.Table | None:
        """Returns tables of one kind as one; None, and a word among the problems, where one cannot be read."""
        try:
            return read_tables(paths, kind, columns)
        except UserError as error:
            self.tell(str(error).replace("; delete it and run again", "").replace(OTHER_VERSION, ""))
            return None

    def tell(self, words: str) -> None:
        """Writes down what could not be compared."""
        if words not in self.problems:
            self.problems.append(words)

    def made(self, table: str) -> dict[str, Any]:
        """Returns the record of the job that made a published table; empty where there is none."""
        return read_provenance(self.folder / "tables" / f"{table}.parquet", self.folder)

    def inputs(self, record: dict[str, Any], option: str) -> list[Path]:
        """Returns the files that a job read under an option and that are still there."""
        return [path for name in record.get("inputs", {}).get(option, ()) if (path := self.folder / name).is_file()]

    def records(self) -> dict[str, dict[str, Any]]:
        """Returns the records of all jobs, by the name of the first file that each made."""
        below = self.folder / RECORDS
        named = {str(path.relative_to(below))[: -len(".json")]: path for path in sorted(below.rglob("*.json"))}
        return {name: record for name, path in named.items() if (record := read_record(path))}


def open_run(folder: Path) -> Run:
    """Returns the run whose results lie in a folder.

    Raises:
        UserError: there is no such folder, or it holds no results.
    """
    if not folder.is_dir():
        raise UserError(f"{folder} is no folder; name the folder of a run's results, such as results")
    if not any((folder / part).is_dir() for part in ("tables", "judgements", RECORDS)):
        inside = folder / "results"
        remedy = f"did you mean {inside}?" if inside.is_dir() else "name the folder that a run's `results_dir` names"
        raise UserError(f"{folder} holds no results: neither tables/ nor judgements/ nor {RECORDS}/ is in it; {remedy}")
    return Run(str(folder), folder)


def is_measure(kind_name: str) -> bool:
    """Returns whether a kind is a protocol's measure."""
    return kind_name.startswith(f"{MEASURES}/")
