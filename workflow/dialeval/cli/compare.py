"""`dialeval compare`: which numbers moved between two runs, and which dialogues flipped."""

from __future__ import annotations

import argparse
from pathlib import Path

from dialeval.comparison import compare


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what the command understands."""
    parser.add_argument("results", type=Path, metavar="RESULTS", help="the folder of one run's results")
    parser.add_argument("other", type=Path, metavar="OTHER", help="the folder of the other's")
    parser.add_argument("--to", type=Path, metavar="FOLDER", help="for page and tables (RESULTS/comparison)")


def run(arguments: argparse.Namespace) -> int:
    """Compares, and says what moved."""
    print(compare(arguments.results, arguments.other, arguments.to or arguments.results / "comparison"))
    return 0
