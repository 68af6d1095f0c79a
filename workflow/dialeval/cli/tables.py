"""`dialeval tables`: what a run published, for other programs."""

from __future__ import annotations

import argparse
from pathlib import Path

from dialeval.errors import UserError
from dialeval.report.export import Found, chosen_tables, column_words, found_tables, write_csv, write_dataset
from dialeval.text import counted


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what the command understands."""
    parser.epilog = "Without a name, all tables are listed, or exported, that are meant for readers."
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="such as arena/ratings, or a pattern: 'arena/*'; a folder of results may come first",
    )
    parser.add_argument("--results", type=Path, default=Path("results"), metavar="FOLDER", help="of the run (results)")
    parser.add_argument("--all", action="store_true", help="also what passes between stages, such as judgements")
    export = parser.add_mutually_exclusive_group()
    export.add_argument("--columns", action="store_true", help="say what the columns are")
    export.add_argument("--csv", type=Path, metavar="FILE", help="write the table as CSV")
    export.add_argument("--to", type=Path, metavar="FOLDER", help="write a data set of Hugging Face")


def run(arguments: argparse.Namespace) -> int:
    """Lists tables, says their columns, or exports them."""
    names: list[str] = arguments.names
    if names and Path(names[0]).is_dir():  # of another run
        arguments.results = Path(names.pop(0))
    tables = found_tables(arguments.results)
    if names:
        tables = chosen_tables(tables, names)
    elif not arguments.all:
        tables = [table for table in tables if table.is_published]
    if arguments.csv:
        _write_csv(tables, arguments.csv)
    elif arguments.to:
        write_dataset(tables, arguments.results, arguments.to)
        empty = sum(not table.rows for table in tables)
        print(
            f"{arguments.to}: {counted(len(tables), 'table')}"
            f"{f', of which {empty} without rows are left out' if empty else ''}"
        )
    elif arguments.columns:
        for kind in {table.kind.name: table.kind for table in tables}.values():
            print(f"{kind.name}: one row per {kind.row}")
            _print_aligned([(f"  {name}", type_, words) for name, type_, words in column_words(kind)])
    else:
        _print_aligned([(table.name, f"{table.rows:,}", table.kind.title or table.kind.row) for table in tables])
    return 0


def _write_csv(tables: list[Found], path: Path) -> None:
    if len(tables) != 1:
        raise UserError(
            f"--csv writes one table, and this is about {counted(len(tables), 'table')}; name one, or write all with "
            "--to FOLDER"
        )
    write_csv(tables[0], path)
    print(f"{path}: {counted(tables[0].rows, 'row')}")


def _print_aligned(rows: list[tuple[str, str, str]]) -> None:
    widths = [max((len(row[place]) for row in rows), default=0) for place in (0, 1)]
    for name, second, words in rows:
        number = second.rjust(widths[1]) if second[:1].isdigit() else second.ljust(widths[1])
        print(f"{name.ljust(widths[0])}  {number}  {words}".rstrip())
