"""Fingerprints of a stage's code and of the content of the user's files, which detect changes.

A fingerprint covers every definition of ours that the stage's module can reach: its own top-level statements, the
functions, classes and constants that these name, in whatever module of ours they stand, what those name, and so on.
Comments, docstrings, layout, words for readers, messages of errors and the texts of remarks do not count (see
`source_statements`), nor does what only speaks to people (`WITHOUT_EFFECT`). A string constant in reached code that
ends as a data file does (.j2, .csv, ...) stands for the file of that name beside the module or in the folder of
prompts, whose content counts too, as does that of the prompts that it includes, imports or extends.

What is followed: names, `module.name` for modules of ours, and imports of both kinds. A module of ours that is used in
any other way (passed on, say) counts whole. Relative imports are refused.

Modules themselves do not count: a definition is its name, its code, and the code of the definitions that it uses. One
that moves to another module is the same, so that moving code re-runs nothing.

`cp -p`, `rsync -a`, `unzip` and `mv` put files in the place of others that look older than what was made of these. Time
stamps therefore decide nothing here. They only save reading a large file again: what was computed of it is kept in the
user's cache for as long as its size, its inode, the time of its content and that of its last change of any kind
(`ctime`, which no tool can set) are the same.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from dialeval.errors import UserError
from dialeval.paths import cache_folder
from dialeval.prompts.rendering import PromptSet, template_folders, with_references
from dialeval.provenance.source_statements import DATA_SUFFIXES, PACKAGE, Import, Source, Statement, read_sources

ROOT = Path(__file__).parents[1]
PROMPTS = ROOT / "prompts"
WITHOUT_EFFECT = (
    "dialeval.errors",
    "dialeval.paths",
    "dialeval.jobs.lifecycle",
    "dialeval.jobs.process_setup",
    "dialeval.jobs.progress",
    "dialeval.jobs.run_progress",
)
"""Modules and packages of messages, processes and atomic writes, which change no result."""


class _Definition(NamedTuple):
    """A top-level name of a module; None stands for the statements that bind no name.

    Attributes:
        with_words: whether its messages count too, as they do where a whole module counts.
    """

    module: str
    name: str | None
    with_words: bool = False


@dataclass(frozen=True)
class _Module:
    """A module of ours.

    Attributes:
        statements: the top-level statements by the name that they bind; under None those that bind none.
        imports: local name -> (module, name in it or None for the module itself).
    """

    path: Path
    statements: dict[str | None, list[Statement]] = field(default_factory=dict)
    imports: dict[str, tuple[str, str | None]] = field(default_factory=dict)


def fingerprint(
    *modules: str,
    templates: Iterable[str] = (),
    prompts_directory: Path | None = None,
    prompt_set: PromptSet = "ours",
) -> str:
    """Return 16 hexadecimal digits that change when the behaviour of modules may have changed.

    Args:
        modules: modules of ours, such as `dialeval.engines.embedded.engine`, or functions of modules, such as
            `dialeval.stages.judging:plan_pair`.
        templates: prompts that they render besides those that their code names.
        prompts_directory: folder with templates that replace ours of the same name, or that only it has.
        prompt_set: the set whose templates replace ours behind that folder's.
    """
    reached = [_reach(module) for module in modules]
    digest = hashlib.sha256()
    definitions = frozenset[_Definition]().union(*(definitions for definitions, _ in reached))
    digest.update("".join(sorted(set(map(_line, definitions)))).encode())
    files = frozenset[Path]().union(*(files for _, files in reached))
    folders = template_folders(prompts_directory, prompt_set, PROMPTS)
    named = {*templates, *(file.name for file in files if file.parent == PROMPTS)}
    for file in sorted(file for file in files if file.parent != PROMPTS):
        digest.update(f"{file.name} {hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    for name, content in sorted(with_references(named, folders).items()):
        digest.update(f"{name} {hashlib.sha256(content).hexdigest()}\n".encode())
    return digest.hexdigest()[:16]


def stored_fingerprint(*modules: str) -> str:
    """Return the fingerprint of modules without templates; a job that finds it stored reads no source."""
    sources = sorted(path for path in ROOT.rglob("*") if path.suffix in (".py", *DATA_SUFFIXES))
    kind = f"code of {' and '.join(modules)} for {sys.implementation.cache_tag}"
    return kept(kind, sources, partial(fingerprint, *modules))


def templates_reached(modules: Iterable[str]) -> frozenset[str]:
    """Return the names of the prompts that the code of some modules names."""
    files = frozenset[Path]().union(*(_reach(module)[1] for module in modules))
    return frozenset(file.name for file in files if file.parent == PROMPTS)


@cache
def _reach(module: str) -> tuple[frozenset[_Definition], frozenset[Path]]:
    """Return the definitions that a module, or a function `module:function`, reaches, and their data files."""
    module, _, function = module.partition(":")
    parsed = _parse(module)
    if function and function not in parsed.statements:
        raise ValueError(f"{module} defines no {function}")
    found: set[_Definition] = set()
    waiting = [_Definition(module, name) for name in ([None, function] if function else parsed.statements)]
    while waiting:
        definition = waiting.pop()
        if definition in found:
            continue
        found.add(definition)
        # statements that bind no name run on import, whichever name of the module is used
        waiting += [_Definition(definition.module, None), *_uses(definition)]
    return frozenset(found), frozenset(file for definition in found for file in _data_files(definition))


@cache
def _sources() -> dict[Path, Source]:
    return read_sources(ROOT)


@cache
def _parse(module: str) -> _Module:
    path = _path(module)
    assert path is not None, module
    source = _sources()[path]
    parsed = _Module(path, {None: []}, _imported_names(module, source.imports))
    for statement in source.statements:
        for name in statement.binds or [None]:
            parsed.statements.setdefault(name, []).append(statement)
    return parsed


def _path(module: str) -> Path | None:
    """Return the source file of a module of ours, or None if the name is no module of ours."""
    return _modules().get(module)


@cache
def _modules() -> dict[str, Path]:
    """Return the source file of every module of ours, by its name."""
    found: dict[str, Path] = {}
    for path in _sources():
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = parts[:-1] if parts[-1] == "__init__" else parts
        found.setdefault(".".join((PACKAGE, *name)), path)  # a package stands before a module of its name
    return found


def _imported_names(module: str, imports: Iterable[Import]) -> dict[str, tuple[str, str | None]]:
    """Return the names that imports of this library bind."""
    bound: dict[str, tuple[str, str | None]] = {}
    for one in imports:
        if one.level:
            raise ValueError(f"{module} imports relatively, which fingerprints do not follow")
        if (one.source or one.name).split(".")[0] != PACKAGE:
            continue
        if one.source is None:
            raise ValueError(f"{module}: 'import {one.name}' is not followed; write 'from ... import ...'")
        qualified = f"{one.source}.{one.name}"
        bound[one.bound] = (qualified, None) if _path(qualified) else (one.source, one.name)
    return bound


def _uses(definition: _Definition) -> list[_Definition]:
    """Return the definitions of ours that the statements of one name."""
    return [used for _, resolved in _named_uses(definition) for used in resolved]


@cache
def _named_uses(definition: _Definition) -> tuple[tuple[str, tuple[_Definition, ...]], ...]:
    """Return each of our names in a definition's statements, without its module, and its definitions."""
    parsed = _parse(definition.module)
    uses: list[tuple[str, tuple[_Definition, ...]]] = []
    for statement in parsed.statements.get(definition.name, []):
        imports = parsed.imports | _imported_names(definition.module, statement.imports)
        for name, attribute in statement.uses + (statement.words_use if definition.with_words else ()):
            if name in parsed.statements:
                uses.append((f"{name}.{attribute}", (_Definition(definition.module, name),)))
            elif name in imports:
                of_module = imports[name][1] is None
                resolved = tuple(_resolve(*imports[name], attribute))
                uses.append((f"{attribute}." if of_module else f"{name}.{attribute}", resolved))
    return tuple(uses)


def _resolve(module: str, name: str | None, attribute: str) -> list[_Definition]:
    """Return the definitions that an imported name, or `name.attribute` of an imported module, refers to."""
    if any(f"{module}.".startswith(f"{speaking}.") for speaking in WITHOUT_EFFECT):
        return []
    parsed = _parse(module)
    if name is None and (attribute in parsed.statements or attribute in parsed.imports):
        name = attribute
    if name is None:
        return [_Definition(module, every, with_words=True) for every in parsed.statements]
    if name in parsed.imports:  # passed on from another module
        return [_Definition(module, None), *_resolve(*parsed.imports[name], "")]
    return [_Definition(module, name)]


@cache
def _line(definition: _Definition) -> str:
    """Return a definition's name with digests of its code and of the code that each name in it refers to.

    Statements that bind no name have no line where a module has none.
    """
    own = _code(definition)
    if not own:
        return ""
    used = [f"{name}={'+'.join(filter(None, map(_code, resolved)))}" for name, resolved in _named_uses(definition)]
    return f"{definition.name} {own} {' '.join(used)}\n"


@cache
def _code(definition: _Definition) -> str:
    """Return the digest of a definition's own statements; empty without any."""
    statements = _parse(definition.module).statements.get(definition.name, [])
    digests = [statement.digest + (statement.words if definition.with_words else "") for statement in statements]
    return hashlib.sha256(chr(10).join(digests).encode()).hexdigest()[:16] if digests else ""


@cache
def _data_files(definition: _Definition) -> tuple[Path, ...]:
    parsed = _parse(definition.module)
    names = {name for statement in parsed.statements.get(definition.name, []) for name in statement.files}
    candidates = [folder / name for name in names for folder in (parsed.path.parent, PROMPTS)]
    return tuple(candidate for candidate in candidates if candidate.is_file())


# Digests of files

SMALL = 1 << 20
"""Bytes up to which a file is read every time, which is sooner done than looking it up."""
SETTLED = 2.0
"""Seconds that a file must have been left alone for: within a tick of a file system's clock, two changes look alike."""


def content_digest(paths: Iterable[Path]) -> str:
    """Return a digest of the contents of files, in their order; empty without any. Their names and times do not count.

    A folder in the place of a file is no mistake here: its reader reports it.

    Raises:
        UserError: a file cannot be read.
    """
    digests = [_file_digest(path) for path in paths]
    return hashlib.sha256("".join(digests).encode()).hexdigest() if digests else ""


def kept(kind: str, files: Sequence[Path], compute: Callable[[], str]) -> str:
    """Return the result of a computation on files, cached while the files are unchanged.

    Where it cannot be cached it is computed again. Processes may do this at the same time.

    Args:
        kind: what is computed.
        files: the files that it is computed from.
        compute: reads them.

    Raises:
        OSError: a file cannot be looked at.
    """
    paths = [str(path.resolve()) for path in files]
    seen = _file_states(files)
    name = hashlib.sha256(json.dumps([kind, paths]).encode()).hexdigest()[:32]
    place = _folder() / f"{name}.json"
    with suppress(OSError, ValueError, KeyError, TypeError):
        found = json.loads(place.read_bytes())
        if found["paths"] == paths and found["seen"] == seen:
            return str(found["digest"])
    settled = all(time.time_ns() - changed > SETTLED * 1e9 for *_, changed in seen)
    digest = compute()
    if settled and seen == _file_states(files):
        _keep(place, json.dumps({"paths": paths, "seen": seen, "digest": digest}))
    return digest


def _file_digest(path: Path) -> str:
    try:
        if path.is_dir():
            return "a folder"
        if path.stat().st_size <= SMALL:
            return _read(path)
        return kept("file", [path], partial(_read, path))
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}; check its permissions") from error


def _read(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _file_states(files: Iterable[Path]) -> list[list[int]]:
    """Return values that change if a file's content changes or the file is replaced; the last is its `ctime`."""
    found = [path.stat() for path in files]
    return [[of.st_size, of.st_ino, of.st_mtime_ns, of.st_ctime_ns] for of in found]


def _folder() -> Path:
    return cache_folder() / "contents"


def _keep(place: Path, text: str) -> None:
    with suppress(OSError):  # a full disk, or a home that is only read: it is computed again the next time
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=place.parent, prefix=place.name, delete=False) as part:
            part.write(text)
        Path(part.name).replace(place)
