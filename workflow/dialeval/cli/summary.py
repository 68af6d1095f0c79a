"""`dialeval summary`: the results in the terminal, as a run ends with them."""

from __future__ import annotations

import argparse
from pathlib import Path

from dialeval.report.terminal_summary import tables_since, words_of_results


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what the command understands."""
    parser.add_argument(
        "results", nargs="?", type=Path, default=Path("results"), metavar="RESULTS", help="of the run (results)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Prints the summary."""
    print(words_of_results(arguments.results))
    if older := tables_since(arguments.results):
        print(f"\n{older}")
    return 0
