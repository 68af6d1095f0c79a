"""Which definitions of ours run, to be held against those that a fingerprint covers."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import dialeval

ROOT = Path(dialeval.__file__).parent
Definition = tuple[str, str]
"""A module of ours and a name at its top."""


@contextmanager
def noting() -> Iterator[set[Definition]]:
    """Give a set that holds, when the block has ended, every definition of ours of which something ran in it."""
    codes: set[CodeType] = set()
    found: set[Definition] = set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            codes.add(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(before)
        found |= {definition for code in codes for definition in _definition(code)}


def _definition(code: CodeType) -> list[Definition]:
    path = Path(code.co_filename)
    if not path.is_relative_to(ROOT) or code.co_name == "<module>":
        return []
    module = ".".join([dialeval.__name__, *path.relative_to(ROOT).with_suffix("").parts]).removesuffix(".__init__")
    bounds = _bounds(path)
    return [(module, name) for first, last, name in bounds if first <= code.co_firstlineno <= last]


@cache
def _bounds(path: Path) -> list[tuple[int, int, str]]:
    """Return the first and the last line of every definition at the top of a module, with each name that it binds."""
    found = []
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        decorators = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(one.lineno for one in decorators)])
        targets = [statement] if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) else []
        names = [one.name for one in targets]
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            names += [node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and _is_bound(node)]
        found += [(first, statement.end_lineno or first, name) for name in names]
    return found


def _is_bound(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)
