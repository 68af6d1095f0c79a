"""What stands in `results/README.md` is what the rules make."""

from __future__ import annotations

import re
from pathlib import Path

from layout_patterns import patterns

from dialeval.tables.catalogue import TABLES

ROOT = Path(__file__).parents[1]
README = (ROOT / "results" / "README.md").read_text(encoding="utf-8")
BESIDE_RULES = {"provenance"}
"""What jobs and runs write down besides what rules make."""


def made() -> set[str]:
    """Return the folders and files below the results that any rule names, but for hidden ones."""
    return {first for pattern in patterns() if not (first := pattern.partition("/")[0]).startswith(".")}


def named() -> set[str]:
    """Return the same as the page names it."""
    first_columns = [line.split("|")[1] for line in README.splitlines() if line.startswith("| `")]
    paths = [
        path for column in first_columns for path in re.findall(r"`([^`]+)`", column) if "/" in path or "." in path
    ]
    return {path.partition("/")[0] for path in paths}


def test_the_page_names_all_that_is_made_and_nothing_else() -> None:
    assert len(made()) > 20
    assert named() == made() | BESIDE_RULES


def test_the_page_names_all_parts_that_have_tables() -> None:
    parts = {name.partition("/")[0] for name in TABLES if "/" in name} - {"measures", "comparison"}
    rows = {line.split("|")[1].strip(" `") for line in README.splitlines() if re.match(r"\| `\w+` \|", line)}
    assert rows >= parts
