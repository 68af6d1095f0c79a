"""What the library reads beside its own code goes into the wheel."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_a_wheel_carries_every_file_that_the_library_reads() -> None:
    library = ROOT / "workflow/dialeval"
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = settings["tool"]["setuptools"]["package-data"]["dialeval"]
    carried = {path for pattern in patterns for path in library.glob(pattern)}
    there = {path for path in library.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    read = {path for path in there if path.suffix != ".py"}
    assert len(read) > 50
    assert sorted(str(path.relative_to(library)) for path in read - carried) == []
