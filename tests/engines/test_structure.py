"""Engines share what lies above them and know nothing of each other."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import dialeval.engines

ENGINES = Path(dialeval.engines.__file__).parent
KINDS = ("embedded", "openai_api", "vllm_engine")


def imported(path: Path) -> set[str]:
    """Return the modules that a file imports, at its top or later."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    direct = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return direct | {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}


@pytest.mark.parametrize("kind", KINDS)
def test_an_engine_imports_no_other_engine(kind: str) -> None:
    modules = {module for path in (ENGINES / kind).rglob("*.py") for module in imported(path)}
    assert f"dialeval.engines.{kind}" in {".".join(module.split(".")[:3]) for module in modules}
    others = tuple(f"dialeval.engines.{other}" for other in KINDS if other != kind)
    assert not [module for module in modules if module.startswith(others)]


def test_the_map_of_the_folder_names_everything_in_it() -> None:
    assert dialeval.engines.__doc__ is not None
    named = set(re.findall(r"\w+", dialeval.engines.__doc__))
    there = {path.stem for path in ENGINES.iterdir() if path.is_dir() or path.suffix == ".py"}
    assert there - {"__init__", "__pycache__"} <= named
