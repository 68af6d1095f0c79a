"""Compares two runs by the folders of their results, and says what moved."""

from __future__ import annotations

from pathlib import Path

from dialeval.comparison import compare


def stage(first: Path, second: Path, folder: Path) -> None:
    """Writes the page and the tables of the comparison into a folder."""
    print(compare(first, second, folder))
