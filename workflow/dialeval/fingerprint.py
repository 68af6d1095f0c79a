"""Fingerprints of a stage's code, so that a changed line re-runs what depends on it and nothing else.

A fingerprint covers every definition of ours that the stage's module can reach: its own top-level statements, the
functions, classes and constants that these name, in whatever module of ours they stand, what those name, and so on.
Comments, docstrings and layout do not count. A string constant in reached code that ends in one of `DATA_SUFFIXES`
stands for the data file of that name beside the module or in the folder of prompts, whose content counts too.

What is followed: names, `module.name` for modules of ours, and imports of both kinds. A module of ours that is used in
any other way (passed on, say) counts whole. Relative imports are refused.
"""

from __future__ import annotations

import ast
import hashlib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

PACKAGE = "dialeval"
ROOT = Path(__file__).parent
DATA_SUFFIXES = (".j2", ".csv", ".jsonl", ".css", ".js")


class _Definition(NamedTuple):
    """A top-level name of a module; None stands for the statements that bind no name, or for all of them."""

    module: str
    name: str | None


@dataclass(frozen=True)
class _Module:
    """A parsed module of ours.

    Attributes:
        statements: the top-level statements by the name that they bind; under None those that bind none.
        imports: local name -> (module, name in it or None for the module itself).
    """

    path: Path
    statements: dict[str | None, list[ast.stmt]] = field(default_factory=dict)
    imports: dict[str, tuple[str, str | None]] = field(default_factory=dict)


def fingerprint(module: str, prompts_directory: Path | None = None) -> str:
    """Returns 16 hexadecimal digits that change when the behaviour of a module may have changed.

    Args:
        module: a module of ours, such as `dialeval.stages.arena_plan`.
        prompts_directory: folder with templates that replace ours of the same name.
    """
    definitions, files = _reach(module)
    digest = hashlib.sha256()
    for definition in sorted(definitions, key=str):
        digest.update(f"{definition} {_digest(definition)}\n".encode())
    for file in sorted(files):
        own = prompts_directory / file.name if prompts_directory and file.suffix == ".j2" else file
        content = (own if own.exists() else file).read_bytes()
        digest.update(f"{file.name} {hashlib.sha256(content).hexdigest()}\n".encode())
    return digest.hexdigest()[:16]


@cache
def _reach(module: str) -> tuple[frozenset[_Definition], frozenset[Path]]:
    """Returns every definition that a module reaches, and the data files that these name."""
    parsed = _parse(module)
    found: set[_Definition] = set()
    waiting = [_Definition(module, name) for name in parsed.statements]
    while waiting:
        definition = waiting.pop()
        if definition in found:
            continue
        found.add(definition)
        # statements that bind no name run on import, whichever name of the module is used
        waiting += [_Definition(definition.module, None), *_uses(definition)]
    return frozenset(found), frozenset(file for definition in found for file in _data_files(definition))


@cache
def _parse(module: str) -> _Module:
    path = _path(module)
    assert path is not None, module
    parsed = _Module(path)
    parsed.statements[None] = []
    for statement in ast.parse(path.read_text(encoding="utf-8"), filename=str(path)).body:
        if _is_docstring(statement):
            continue
        if isinstance(statement, ast.Import | ast.ImportFrom):
            parsed.imports.update(_imported_names(module, statement))
            continue
        for name in _bound_names(statement) or [None]:
            parsed.statements.setdefault(name, []).append(_without_docstrings(statement))
    return parsed


def _path(module: str) -> Path | None:
    """Returns the source file of a module of ours, or None if the name is no module of ours."""
    package, *parts = module.split(".")
    if package != PACKAGE:
        return None
    base = ROOT.joinpath(*parts)
    candidates = [base / "__init__.py", *([base.with_suffix(".py")] if parts else [])]
    return next((path for path in candidates if path.is_file()), None)


def _imported_names(module: str, statement: ast.Import | ast.ImportFrom) -> dict[str, tuple[str, str | None]]:
    """Returns what an import binds, as far as it is ours."""
    if isinstance(statement, ast.Import):
        ours = [alias.name for alias in statement.names if alias.name.split(".")[0] == PACKAGE]
        if ours:
            raise ValueError(f"{module}: 'import {ours[0]}' is not followed; write 'from ... import ...'")
        return {}
    if statement.level:
        raise ValueError(f"{module} imports relatively, which fingerprints do not follow")
    source = statement.module or ""
    if source.split(".")[0] != PACKAGE:
        return {}
    return {
        alias.asname or alias.name: (f"{source}.{alias.name}", None)
        if _path(f"{source}.{alias.name}")
        else (source, alias.name)
        for alias in statement.names
    }


def _bound_names(statement: ast.stmt) -> list[str | None]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    names = [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
    simple = all(isinstance(target, ast.Name | ast.Tuple) for target in targets)
    return list(names) if simple else []


@cache
def _uses(definition: _Definition) -> tuple[_Definition, ...]:
    """Returns the definitions of ours that the statements of one name."""
    parsed = _parse(definition.module)
    uses: list[_Definition] = []
    for statement in parsed.statements.get(definition.name, []):
        through_module = {
            id(node.value): node.attr
            for node in ast.walk(statement)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        }
        imports = dict(parsed.imports)
        for node in ast.walk(statement):
            if isinstance(node, ast.Import | ast.ImportFrom):
                imports |= _imported_names(definition.module, node)
        for node in ast.walk(statement):
            if not isinstance(node, ast.Name):
                continue
            if node.id in parsed.statements:
                uses.append(_Definition(definition.module, node.id))
            elif node.id in imports:
                uses += _resolve(*imports[node.id], through_module.get(id(node)))
    return tuple(uses)


def _resolve(module: str, name: str | None, attribute: str | None) -> list[_Definition]:
    """Returns the definitions that an imported name, or `name.attribute` of an imported module, stands for."""
    parsed = _parse(module)
    if name is None and (attribute in parsed.statements or attribute in parsed.imports):
        name = attribute
    if name is None:
        return [_Definition(module, every) for every in parsed.statements]
    if name in parsed.imports:  # passed on from another module
        return [_Definition(module, None), *_resolve(*parsed.imports[name], None)]
    return [_Definition(module, name)]


@cache
def _digest(definition: _Definition) -> str:
    statements = _parse(definition.module).statements.get(definition.name, [])
    return hashlib.sha256("\n".join(ast.dump(statement) for statement in statements).encode()).hexdigest()


@cache
def _data_files(definition: _Definition) -> tuple[Path, ...]:
    parsed = _parse(definition.module)
    names = {
        node.value
        for statement in parsed.statements.get(definition.name, [])
        for node in ast.walk(statement)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.endswith(DATA_SUFFIXES)
    }
    candidates = [folder / name for name in names for folder in (parsed.path.parent, ROOT / "prompts")]
    return tuple(candidate for candidate in candidates if candidate.is_file())


def _without_docstrings(statement: ast.stmt) -> ast.stmt:
    for node in ast.walk(statement):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [child for child in node.body if not _is_docstring(child)]
    return statement


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
