"""Commands about finished runs: `dialeval summary`, `dialeval compare` and `dialeval tables`."""

from __future__ import annotations

import argparse
from pathlib import Path

from dialeval import layout
from dialeval.errors import UserError
from dialeval.report.comparison import bounds
from dialeval.report.comparison import compare as compare_runs
from dialeval.report.export import Found, chosen_tables, column_words, found_tables, write_csv
from dialeval.report.terminal_summary import stale_files_note, words_of_results
from dialeval.tables.comparison import NUMBERS
from dialeval.tables.files import read_table
from dialeval.text import counted


def add_summary(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `dialeval summary`."""
    parser.add_argument(
        "results",
        nargs="?",
        type=Path,
        default=Path("results"),
        metavar="RESULTS",
        help="results folder (default: results)",
    )


def summary(arguments: argparse.Namespace) -> int:
    """Prints the summary that a run ends with."""
    print(words_of_results(arguments.results))
    if older := stale_files_note(arguments.results):
        print(f"\n{older}")
    return 0


def add_compare(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `dialeval compare`."""
    parser.add_argument("results", type=Path, metavar="RESULTS", help="results folder of the first run")
    parser.add_argument("other", type=Path, metavar="OTHER", help="results folder of the second run")
    parser.add_argument(
        "--to", type=Path, metavar="FOLDER", help="folder for report and tables (default: RESULTS/comparison)"
    )
    parser.add_argument(
        "--fail-if",
        action="append",
        default=[],
        metavar="BOUND",
        help="exit with status 1 unless the 95%% interval of each such difference, OTHER minus RESULTS, is within the "
        "bound: 'unieval/pass_rates < -0.05', 'TABLE:MEASURE[SYSTEM] < NUMBER', or @FILE with one bound per line",
    )


def compare(arguments: argparse.Namespace) -> int:
    """Prints which numbers moved between two runs, writes page and tables of the comparison, and checks bounds."""
    checked = bounds.parse_bounds(arguments.fail_if)
    folder = arguments.to or arguments.results / layout.COMPARISON
    print(compare_runs(arguments.results, arguments.other, folder))
    if not checked:
        return 0
    failed = bounds.exceeded(checked, read_table(folder / "numbers.parquet", NUMBERS).to_pylist())
    print(bounds.verdict(checked, failed))
    return 1 if failed else 0


def add_tables(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `dialeval tables`."""
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
    """Lists tables, describes their columns, or writes one as CSV."""
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
        _print_aligned([(table.name, f"{table.rows:,}", table.kind.title or table.kind.row) for table in found])
    return 0


def _write_csv(tables: list[Found], path: Path) -> None:
    if len(tables) != 1:
        raise UserError(
            f"--csv writes one table, and this is about {counted(len(tables), 'table')}; name one, or write all with "
            "`dialeval export hub --to FOLDER`"
        )
    write_csv(tables[0], path)
    print(f"{path}: {counted(tables[0].rows, 'row')}")


def _print_aligned(rows: list[tuple[str, str, str]]) -> None:
    widths = [max((len(row[place]) for row in rows), default=0) for place in (0, 1)]
    for name, second, words in rows:
        number = second.rjust(widths[1]) if second[:1].isdigit() else second.ljust(widths[1])
        print(f"{name.ljust(widths[0])}  {number}  {words}".rstrip())
