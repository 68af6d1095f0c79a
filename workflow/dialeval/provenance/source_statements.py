"""The statements of our modules' sources, with a digest of each.

Reading a source takes milliseconds, and every start of Snakemake asks for hundreds. What was read is kept in this
process and, as Python keeps what it compiles, in a file in `__pycache__`, by the digest of the text.

Comments and layout are gone once a source is parsed. Here docstrings are left out too, the words of messages and
remarks, and modules of ours: imports from them count by name alone. Words for readers have a digest of their own.
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
    """Return the statements of every module in a folder."""
    texts = {path: path.read_bytes() for path in sorted(folder.rglob("*.py"))}
    keys = {path: _digest(text) for path, text in texts.items()}
    if not _READ.keys() >= set(keys.values()):
        kept = Path(cache_from_source(str(folder / "sources.py"))).with_suffix(".json")
        reader = _digest(Path(__file__).read_bytes())
        if not _READ:
            _READ.update(_load(kept, reader))
        if new := {keys[path]: path for path in texts if keys[path] not in _READ}:
            _READ.update({key: _read(texts[path], path) for key, path in new.items()})
            if len(new) > _FEW * len(texts):
                _keep(kept, reader, {key: _READ[key] for key in keys.values()})
    return {path: _READ[key] for path, key in keys.items()}


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def _load(path: Path, reader: str) -> dict[str, Source]:
    """Return the kept readings; none where they are missing, corrupt, or made by another reader."""
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
        for node in _statements_in(tree)
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


_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def _statements_in(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements in a node, at any depth."""
    for name in _BLOCKS:
        for part in getattr(node, name, ()):
            yield part
            yield from _statements_in(part)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a node that can have names."""
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            for part in value:
                if isinstance(part, ast.AST):
                    yield part
        elif isinstance(value, ast.AST) and name not in ("ctx", "op"):
            yield value


def _statement(statement: ast.stmt, messages: frozenset[str], imported: frozenset[str]) -> Statement:
    spelling = Serialisation(messages, imported)
    spelling.serialise(statement)
    in_words = Serialisation(messages, imported)
    for word in spelling.words:
        in_words.serialise(word)
    local = {id(node) for node in _local_names(statement, frozenset())}
    nodes = [node for node in spelling.nodes if id(node) not in local]
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return Statement(
        tuple(_bound_names(statement)),
        _digest("\n".join(spelling.tokens).encode()),
        _names(nodes),
        tuple(sorted(text for text in texts if text.endswith(DATA_SUFFIXES))),
        tuple(one for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for one in _imported(node)),
        _digest("\n".join(in_words.tokens).encode()) if spelling.words else "",
        _names(in_words.nodes),
    )


def _names(nodes: list[ast.AST]) -> tuple[tuple[str, str], ...]:
    attributes = {id(node.value): node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return tuple(dict.fromkeys((node.id, attributes.get(id(node), "")) for node in nodes if isinstance(node, ast.Name)))


def _local_names(node: ast.AST, local: frozenset[str]) -> Iterator[ast.Name]:
    """Yield the names in a node that are parameters or variables of its functions, or in `local`."""
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
        within = [] if isinstance(node, ast.Lambda) else _statements_in(node)
        declared = [one.names for one in within if isinstance(one, ast.Global)]
        bound -= {name for names in declared for name in names}
    for part in inside:
        yield from _local_names(part, local | bound)
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        yield from _local_names(node.generators[0].iter, local)  # it is evaluated outside
    else:
        for part in _children(node):
            if part not in inside:
                yield from _local_names(part, local)


def _inside(parts: list[ast.comprehension]) -> Iterator[ast.AST]:
    """Yield the parts that are evaluated in the scope of a comprehension."""
    for number, part in enumerate(parts):
        yield part.target
        yield from part.ifs
        if number:
            yield part.iter


def _names_of_scope(node: ast.AST) -> Iterator[ast.Name]:
    """Yield the names in a node, without those in scopes of their own."""
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
        for part in _children(node):
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


PACKAGE = "dialeval"
WORDS: dict[str, frozenset[str]] = {
    "Field": frozenset({"description", "json_schema_extra"}),
    "argparse.ArgumentParser": frozenset({"description", "prog"}),
    "parser.add_argument": frozenset({"help", "metavar"}),
    **dict.fromkeys(
        ("Table", "differences"),
        frozenset({"row", "title", "caption", "columns", "cells", "numbers", "formats", "shown"}),
    ),
}
"""Arguments, by the name of what is called, that are words for readers: no stage that names the constant uses them."""
MESSAGES = frozenset({"UserError", "BudgetUsedUp", "_fail"})
"""Exceptions and functions that end a stage with a message. Their arguments do not count: a failed stage has no output,
and an error whose words enter a table has a name of its own."""
IN_CONFIGURATION = frozenset({"ValueError"})
"""The same in the modules of the configuration, of which every job gets one that was found right."""
REMARKS = frozenset({"print", "Progress", "parser.error", "sys.exit"})
"""Functions that print. Their texts do not count; what is computed for them does."""
_TERMINAL = frozenset({"sys.stdout", "sys.stderr"})
_UNSAID = ("ctx", "kind", "type_comment")


def messages_in(path: Path) -> frozenset[str]:
    """Return the functions of a module whose messages do not count."""
    return MESSAGES | (IN_CONFIGURATION if path.parent.name == "config" else frozenset())


class Serialisation:
    """Serialises a syntax node for its digest.

    Args:
        messages: the functions whose messages do not count.
        imported: names that the module imports from modules of ours.

    Attributes:
        parts: the parts of the digest.
        nodes: those that count.
        words: arguments that are words for readers, kept apart from the rest.
    """

    def __init__(self, messages: frozenset[str], imported: frozenset[str] = frozenset()) -> None:
        self.tokens: list[str] = []
        self.nodes: list[ast.AST] = []
        self.words: list[ast.keyword] = []
        self._messages = messages
        self._imported = imported
        self._taken_of: dict[str, list[str]] = {}

    def serialise(self, node: ast.AST) -> None:
        """Append a node."""
        self.nodes.append(node)
        if is_import_of_ours(node):
            return
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in self._imported:
            self.nodes.append(node.value)
            of = self._taken_of.setdefault(node.attr, [])
            if node.value.id not in of:
                of.append(node.value.id)
            self.tokens += ["Name", repr(node.attr), *(["of"] * of.index(node.value.id))]
            return
        self.tokens.append(type(node).__name__)
        called = _dotted(node.func) if isinstance(node, ast.Call) else ""
        if called in self._messages:
            self.tokens.append(called)
        elif isinstance(node, ast.Call) and called in REMARKS and _prints_to_the_terminal(node):
            self.tokens.append(called)
            for argument in (*node.args, *node.keywords):
                self._serialise_remark(argument)
        else:
            self._serialise_fields(node, WORDS.get(called, frozenset()))

    def _serialise_fields(self, node: ast.AST, new: frozenset[str]) -> None:
        block = isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        for name in node._fields:
            if name in _UNSAID:
                continue
            value = getattr(node, name, None)
            if isinstance(value, list):
                self.tokens.append("[")
                for part in value:
                    if isinstance(part, ast.keyword) and part.arg in new:
                        self.words.append(part)
                    elif isinstance(part, ast.AST):
                        if not (block and name == "body" and is_docstring(part)):
                            self.serialise(part)
                    else:
                        self.tokens.append(repr(part))
                self.tokens.append("]")
            elif isinstance(value, ast.AST):
                self.serialise(value)
            else:
                self.tokens.append(repr(value))

    def _serialise_remark(self, node: ast.AST) -> None:
        """Append the computed parts of a message, without its texts."""
        match node:
            case ast.Constant(value=str()):
                pass
            case ast.JoinedStr(values=parts):
                for part in parts:
                    self._serialise_remark(part)
            case ast.FormattedValue(value=value) | ast.Starred(value=value) | ast.keyword(value=value):
                self._serialise_remark(value)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                self._serialise_remark(left)
                self._serialise_remark(right)
            case ast.IfExp(test=test, body=body, orelse=other):
                self.serialise(test)
                self._serialise_remark(body)
                self._serialise_remark(other)
            case _:
                self.serialise(node)


def _dotted(node: ast.expr) -> str:
    """Return `name` or `name.attribute`; empty for other nodes."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _prints_to_the_terminal(call: ast.Call) -> bool:
    """Return whether a call writes into no file."""
    return all(_dotted(word.value) in _TERMINAL for word in call.keywords if word.arg in ("file", None))


def is_import_of_ours(node: ast.AST) -> bool:
    """Return whether a node imports from a module of ours."""
    return isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE


def is_for_types_alone(node: ast.AST) -> bool:
    """Return whether a statement is `if TYPE_CHECKING: ...`, which never runs."""
    return isinstance(node, ast.If) and _dotted(node.test) == "TYPE_CHECKING" and not node.orelse


def is_docstring(node: ast.AST) -> bool:
    """Return whether a statement is only a text."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
