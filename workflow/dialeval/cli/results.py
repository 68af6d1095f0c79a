"""Commands about finished runs: `dialeval summary`, `dialeval compare` and `dialeval tables`."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from dialeval import layout
from dialeval.errors import UserError, nearest
from dialeval.report.comparison import compare as compare_runs
from dialeval.report.export import Found, chosen_tables, column_words, found_tables, write_csv
from dialeval.report.terminal_summary import print_in_columns, stale_files_note, words_of_results
from dialeval.tables.files import HUMAN, read_table
from dialeval.tables.measures import COMPARED_NUMBERS
from dialeval.text import counted


def add_summary(parser: argparse.ArgumentParser) -> None:
    """Add the options of `dialeval summary`."""
    parser.add_argument(
        "results",
        nargs="?",
        type=Path,
        default=Path("results"),
        metavar="RESULTS",
        help="results folder (default: results)",
    )


def summary(arguments: argparse.Namespace) -> int:
    """Print the summary that a run ends with."""
    print_in_columns(words_of_results(arguments.results), sys.stdout)
    if older := stale_files_note(arguments.results):
        print(f"\n{older}")
    return 0


def add_compare(parser: argparse.ArgumentParser) -> None:
    """Add the options of `dialeval compare`."""
    parser.add_argument("results", type=Path, metavar="RESULTS", help="results folder of the first run (run_a)")
    parser.add_argument("other", type=Path, metavar="OTHER", help="results folder of the second run (run_b)")
    parser.add_argument(
        "--to", type=Path, metavar="FOLDER", help="folder for report and tables (default: RESULTS/comparison)"
    )
    parser.add_argument(
        "--fail-if",
        action="append",
        default=[],
        metavar="BOUND",
        help="exit with status 1 if the 95%% interval of a difference (OTHER minus RESULTS) is missing or extends "
        "beyond a bound. 'unieval/pass_rates < -0.05' fails if the lower limit is below -0.05. Form: "
        "'TABLE:MEASURE[SYSTEM] > NUMBER'; MEASURE and SYSTEM are optional. @FILE reads one bound per line",
    )


def compare(arguments: argparse.Namespace) -> int:
    """Print the changed numbers of two runs, write page and tables of the comparison, and check bounds."""
    checked = parse_bounds(arguments.fail_if)
    folder = arguments.to or arguments.results / layout.COMPARISON
    print(compare_runs(arguments.results, arguments.other, folder))
    if not checked:
        return 0
    failed = exceeded(checked, read_table(folder / "numbers.parquet", COMPARED_NUMBERS).to_pylist())
    print(verdict(checked, failed))
    return 1 if failed else 0


def add_tables(parser: argparse.ArgumentParser) -> None:
    """Add the options of `dialeval tables`."""
    parser.epilog = "Without a name it lists all final tables."
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="table or pattern, such as arena/ratings or 'arena/*'; a results folder may come first",
    )
    parser.add_argument(
        "--results", type=Path, default=Path("results"), metavar="FOLDER", help="results folder (default: results)"
    )
    parser.add_argument(
        "--all", action="store_true", help="include intermediate tables: dialogues, requests, responses, judgements"
    )
    export = parser.add_mutually_exclusive_group()
    export.add_argument("--columns", action="store_true", help="describe the columns")
    export.add_argument("--csv", type=Path, metavar="FILE", help="write the table as CSV")


def tables(arguments: argparse.Namespace) -> int:
    """List tables, describe their columns, or write one as CSV."""
    names: list[str] = arguments.names
    if names and Path(names[0]).is_dir():  # of another run
        arguments.results = Path(names.pop(0))
    found = found_tables(arguments.results)
    if names:
        found = chosen_tables(found, names)
    elif not arguments.all:
        found = [table for table in found if table.is_published]
    if arguments.csv:
        _write_csv(found, arguments.csv)
    elif arguments.columns:
        for kind in {table.kind.name: table.kind for table in found}.values():
            print(f"{kind.name}: one row per {kind.row}")
            _print_aligned([(f"  {name}", type_, words) for name, type_, words in column_words(kind)])
    else:
        _print_aligned(
            [(table.name, f"{table.rows:,}", table.kind.title or f"one row per {table.kind.row}") for table in found]
        )
    return 0


def _write_csv(tables: list[Found], path: Path) -> None:
    if len(tables) != 1:
        raise UserError(
            f"--csv writes one table, not {counted(len(tables), 'table')}; name one, or write all with "
            "`dialeval export hub --to FOLDER`"
        )
    write_csv(tables[0], path)
    print(f"{path}: {counted(tables[0].rows, 'row')}")


def _print_aligned(rows: list[tuple[str, str, str]]) -> None:
    widths = [max((len(row[place]) for row in rows), default=0) for place in (0, 1)]
    for name, second, words in rows:
        number = second.rjust(widths[1]) if second[:1].isdigit() else second.ljust(widths[1])
        print(f"{name.ljust(widths[0])}  {number}  {words}".rstrip())


# Bounds on the differences of two runs, by which `dialeval compare` fails: the gate of continuous integration.
#
# A bound is written `TABLE < NUMBER` or `TABLE > NUMBER`. `unieval/pass_rates < -0.05` fails where the 95% interval of
# a difference, second run minus first, reaches below -0.05: the second run is not shown to be at most 0.05 worse.

_BOUND = re.compile(
    r"\s*(?P<table>[^\s:\[<>]+)(?::(?P<measure>[^\s\[<>]+))?(?:\[(?P<system>[^\]]+)\])?"
    r"\s*(?P<side>[<>])\s*(?P<value>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*"
)
SYNTAX = "write TABLE < NUMBER, such as 'unieval/pass_rates < -0.05' or 'gteval/win_rates:win_or_tie[heron] < -0.1'"


@dataclass(frozen=True)
class Bound:
    """A bound on differences.

    Attributes:
        text: the bound as the user wrote it.
        table: table below `tables`, or a pattern of these; a protocol alone stands for all of its tables.
        measure: column or measure of the table, or a pattern.
        system: system, or a pattern; of a pair ("heron beside human") the pair or its first system.
        below: whether the bound is a lower one.
        value: the bound.
    """

    text: str
    table: str
    measure: str
    system: str
    below: bool
    value: float

    def is_met_by(self, row: Mapping[str, Any]) -> bool:
        """Return whether the whole interval of a difference is within the bound; False without an interval."""
        if row["ci_low"] is None and row["p"] != 1.0:
            return False
        limits = row["ci_low"], row["ci_high"]
        low, high = (row["difference"],) * 2 if row["ci_low"] is None else limits  # equal values have no interval
        return bool(low >= self.value if self.below else high <= self.value)

    def covers(self, row: Mapping[str, Any]) -> bool:
        """Return whether the bound is on a row of `comparison/numbers`; human dialogues count only if named."""
        is_reference = row["system"] == HUMAN and self.system == "*"
        return not is_reference and (
            any(fnmatchcase(row["table"], pattern) for pattern in (self.table, f"{self.table}/*"))
            and fnmatchcase(row["measure"], self.measure)
            and any(fnmatchcase(name, self.system) for name in (row["system"], row["system"].partition(" beside ")[0]))
        )


def parse_bounds(texts: Sequence[str]) -> list[Bound]:
    """Return bounds from their texts; for `@FILE`, from the lines of a file, in which `#` begins a comment.

    Raises:
        UserError: a text is no bound, or a file cannot be read.
    """
    lines: list[str] = []
    for text in texts:
        lines += _lines_of(Path(text[1:])) if text.startswith("@") else [text]
    return [_parse(line) for line in lines]


def exceeded(bounds: Iterable[Bound], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each difference that is not shown to be within its bound.

    Args:
        bounds: the bounds.
        rows: rows of `comparison/numbers`, read from the table: None for a missing number.

    Raises:
        UserError: the two runs have no number that a bound is on.
    """
    lines = []
    for bound in bounds:
        covered = [row for row in rows if bound.covers(row)]
        if not covered:
            hint = _hint(bound, rows)
            raise UserError(f"--fail-if '{bound.text}': this number is missing in one or both runs; {hint}")
        lines += [_line(bound, row) for row in covered if not bound.is_met_by(row)]
    return lines


def _hint(bound: Bound, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the nearest names of the first part of a bound that no row has."""
    table = replace(bound, measure="*", system="*")
    wider = {"table": table, "measure": replace(table, measure=bound.measure), "system": bound}
    for part, so_far in wider.items():
        covered = [row for row in rows if so_far.covers(row)]
        if not covered and rows:
            return f"no {part} {getattr(bound, part)}; {nearest(getattr(bound, part), {row[part] for row in rows})}"
        rows = covered
    return "the two runs have no number in common"


def verdict(bounds: Sequence[Bound], failed: Sequence[str]) -> str:
    """Return the result of all bounds in words."""
    if not failed:
        return f"All differences are within the bounds ({len(bounds)})."
    return "\n".join([f"{counted(len(failed), 'difference')} not within bounds:", *(f"  {line}" for line in failed)])


def _lines_of(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"--fail-if @{path}: the file cannot be read: {error}; name a text file of bounds") from error
    lines = [line for row in text.splitlines() if (line := row.partition("#")[0].strip())]
    if not lines:
        raise UserError(f"--fail-if @{path}: the file contains no bound; {SYNTAX}")
    return lines


def _parse(text: str) -> Bound:
    found = _BOUND.fullmatch(text)
    if found is None:
        raise UserError(f"--fail-if '{text}' is not a bound; {SYNTAX}")
    return Bound(
        text,
        found["table"],
        found["measure"] or "*",
        found["system"] or "*",
        found["side"] == "<",
        float(found["value"]),
    )


def _line(bound: Bound, row: Mapping[str, Any]) -> str:
    about = ", ".join(part for part in (row["system"], row["judge"], row["scope"]) if part)
    result = f"no interval ({row['note'] or 'not identifiable'})"
    if row["ci_low"] is not None:
        result = f"{row['difference']:+.3g} (95% CI {row['ci_low']:+.3g} to {row['ci_high']:+.3g})"
    return f"{row['table']}:{row['measure']} of {about}: {result}, bound {bound.text}"
