"""What our modules' sources say, statement by statement, with a digest of each.

Reading a source takes milliseconds, and every start of Snakemake asks for hundreds. What was read is kept in this
process and, as Python keeps what it compiles, in a file in `__pycache__`, by the digest of the text.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any, NamedTuple

from dialeval.provenance import statement_digests
from dialeval.provenance.statement_digests import (
    Spelling,
    is_docstring,
    is_for_types_alone,
    is_import_of_ours,
    messages_in,
)

DATA_SUFFIXES = (".j2", ".csv", ".jsonl", ".css", ".js")
_FEW = 0.02
"""The share of sources that are read again at every start rather than that all are written down again."""
_READ: dict[str, Source] = {}


class Import(NamedTuple):
    """One name that an import binds.

    Attributes:
        bound: the name that it has here.
        source: the module that it is taken from; None for `import module`.
        name: its name there, or the imported module's.
        level: number of leading dots.
    """

    bound: str
    source: str | None
    name: str
    level: int


class Statement(NamedTuple):
    """A top-level statement that is no import.

    Attributes:
        binds: the names that it binds.
        digest: changes with everything but comments, docstrings, layout and the words of messages and remarks.
        uses: every name in it that is none of a function's own, in order, with the attribute that is taken of it or "".
        files: the string constants in it that end as data files do.
        imports: what is imported inside it.
        words: changes with the words for readers in it; empty without any.
        words_use: every name in these, likewise.
    """

    binds: tuple[str, ...]
    digest: str
    uses: tuple[tuple[str, str], ...]
    files: tuple[str, ...]
    imports: tuple[Import, ...]
    words: str = ""
    words_use: tuple[tuple[str, str], ...] = ()


class Source(NamedTuple):
    """The imports and the other statements at the top of a module, in their order."""

    imports: tuple[Import, ...]
    statements: tuple[Statement, ...]


def read_sources(folder: Path) -> dict[Path, Source]:
    """Returns what every module in a folder says."""
    texts = {path: path.read_bytes() for path in sorted(folder.rglob("*.py"))}
    keys = {path: _digest(text) for path, text in texts.items()}
    if not _READ.keys() >= set(keys.values()):
        kept = Path(cache_from_source(str(folder / "sources.py"))).with_suffix(".json")
        reader = _digest(b"".join(Path(str(file)).read_bytes() for file in (__file__, statement_digests.__file__)))
        if not _READ:
            _READ.update(_load(kept, reader))
        if unread := {keys[path]: path for path in texts if keys[path] not in _READ}:
            _READ.update({key: _read(texts[path], path) for key, path in unread.items()})
            if len(unread) > _FEW * len(texts):
                _keep(kept, reader, {key: _READ[key] for key in keys.values()})
    return {path: _READ[key] for path, key in keys.items()}


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def _load(path: Path, reader: str) -> dict[str, Source]:
    """Returns the kept readings; none where they are not there, damaged, or made by another reader."""
    try:
        content = json.loads(path.read_bytes())
        return (
            {key: _from_json(source) for key, source in content["sources"].items()}
            if content["reader"] == reader
            else {}
        )
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _from_json(source: Any) -> Source:
    imports, statements = source
    return Source(
        tuple(Import(*one) for one in imports),
        tuple(
            Statement(
                tuple(binds),
                digest,
                tuple((name, of) for name, of in uses),
                tuple(files),
                tuple(Import(*one) for one in inner),
                words,
                tuple((name, of) for name, of in words_use),
            )
            for binds, digest, uses, files, inner, words, words_use in statements
        ),
    )


def _keep(path: Path, reader: str, sources: dict[str, Source]) -> None:
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    with suppress(OSError):  # a folder that is only read: the sources are read again the next time
        path.parent.mkdir(exist_ok=True)
        temporary.write_text(json.dumps({"reader": reader, "sources": sources}), encoding="utf-8")
        temporary.replace(path)


def _read(text: bytes, path: Path) -> Source:
    tree = ast.parse(text, filename=str(path))
    imported = frozenset(
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and is_import_of_ours(node)
        for alias in node.names
    )
    imports: list[Import] = []
    statements = []
    messages = messages_in(path)
    for statement in tree.body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            imports += _imported(statement)
        elif not (is_docstring(statement) or is_for_types_alone(statement)):
            statements.append(_statement(statement, messages, imported))
    return Source(tuple(imports), tuple(statements))


def _statement(statement: ast.stmt, messages: frozenset[str], imported: frozenset[str]) -> Statement:
    spelling = Spelling(messages, imported)
    spelling.spell(statement)
    in_words = Spelling(messages, imported)
    for word in spelling.words:
        in_words.spell(word)
    local = {id(node) for node in _local_names(statement, frozenset())}
    nodes = [node for node in spelling.nodes if id(node) not in local]
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return Statement(
        tuple(_bound_names(statement)),
        _digest("\n".join(spelling.said).encode()),
        _names(nodes),
        tuple(sorted(text for text in texts if text.endswith(DATA_SUFFIXES))),
        tuple(one for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for one in _imported(node)),
        _digest("\n".join(in_words.said).encode()) if spelling.words else "",
        _names(in_words.nodes),
    )


def _names(nodes: list[ast.AST]) -> tuple[tuple[str, str], ...]:
    attributes = {id(node.value): node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return tuple(dict.fromkeys((node.id, attributes.get(id(node), "")) for node in nodes if isinstance(node, ast.Name)))


def _local_names(node: ast.AST, local: frozenset[str]) -> Iterator[ast.Name]:
    """Yields the names in a node that stand for parameters and variables of functions in it, or are among `local`."""
    inside: list[ast.AST] = []
    bound: set[str] = set()
    match node:
        case ast.Name(id=name):
            if name in local:
                yield node
            return
        case ast.FunctionDef(body=body) | ast.AsyncFunctionDef(body=body):
            inside = list(body)
        case ast.Lambda(body=value):
            inside = [value]
        case ast.ListComp(generators=parts) | ast.SetComp(generators=parts) | ast.GeneratorExp(generators=parts):
            inside = [node.elt, *_inside(parts)]
            bound = {one.id for part in parts for one in _names_of_scope(part.target)}
        case ast.DictComp(generators=parts):
            inside = [node.key, node.value, *_inside(parts)]
            bound = {one.id for part in parts for one in _names_of_scope(part.target)}
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        names = [one for part in inside for one in _names_of_scope(part)]
        bound = {one.id for one in names if not isinstance(one.ctx, ast.Load)}
        bound |= {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
        declared = [one.names for part in inside for one in ast.walk(part) if isinstance(one, ast.Global)]
        bound -= {name for names in declared for name in names}
    for part in inside:
        yield from _local_names(part, local | bound)
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        yield from _local_names(node.generators[0].iter, local)  # it is evaluated outside
    else:
        for part in ast.iter_child_nodes(node):
            if part not in inside:
                yield from _local_names(part, local)


def _inside(parts: list[ast.comprehension]) -> Iterator[ast.AST]:
    """Yields what is evaluated in the scope of a comprehension."""
    for number, part in enumerate(parts):
        yield part.target
        yield from part.ifs
        if number:
            yield part.iter


def _names_of_scope(node: ast.AST) -> Iterator[ast.Name]:
    """Yields the names in a node, without those in scopes of their own."""
    if isinstance(node, ast.Name):
        yield node
    if not isinstance(
        node,
        ast.FunctionDef
        | ast.AsyncFunctionDef
        | ast.ClassDef
        | ast.Lambda
        | ast.ListComp
        | ast.SetComp
        | ast.DictComp
        | ast.GeneratorExp,
    ):
        for part in ast.iter_child_nodes(node):
            yield from _names_of_scope(part)


def _imported(statement: ast.Import | ast.ImportFrom) -> Iterator[Import]:
    for alias in statement.names:
        if isinstance(statement, ast.Import):
            yield Import(alias.asname or alias.name, None, alias.name, 0)
        else:
            yield Import(alias.asname or alias.name, statement.module or "", alias.name, statement.level)


def _bound_names(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    names = [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
    simple = all(isinstance(target, ast.Name | ast.Tuple) for target in targets)
    return names if simple else []
