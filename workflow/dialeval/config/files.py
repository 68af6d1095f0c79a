"""The configuration file: its location, its YAML, and the lines of mistakes in it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from yaml.constructor import SafeConstructor

from dialeval.errors import UserError

WRITTEN_DOWN = "configuration.yaml"
"""The configuration that a run wrote down in the folder of its results."""
MOST_ENTRIES = 100_000
"""Entries of a configuration, what aliases repeat counted each time."""


def read_config_file(path: Path) -> dict[str, Any]:
    """Read a configuration file, YAML or JSON.

    Raises:
        UserError: one message with all that is wrong with the file itself: names that are there twice, of which YAML
            readers would silently keep the last, values that cannot be read, parts that hold themselves.
    """
    text = _text(path)
    if text.lstrip().startswith("{") and _is_json(path, text):
        return _mapping(path, json.loads(text))
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise UserError(f"{path}{_line(error)} is not readable YAML: {_in_words(error)}") from None
    except RecursionError:
        raise UserError(f"{path} is nested too deeply (hundreds of levels); remove levels") from None
    if root is None:
        raise UserError(f"{path} is empty; a configuration names models, or battles: see docs/configuration.md")
    mistakes = list(_Nodes().mistakes(root))
    if mistakes:
        raise UserError("\n".join(f"{path}, {mistake}" for mistake in mistakes))
    try:
        return _mapping(path, SafeConstructor().construct_document(root))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UserError(f"{path} is not readable YAML: {error}; correct the file") from None


def _text(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(
            f"the configuration file {path} cannot be read: {error.strerror or error}; correct it"
        ) from None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UserError(f"{path}, line {line}: this is not UTF-8; save the file as UTF-8") from None


def _mapping(path: Path, content: Any) -> dict[str, Any]:
    if not isinstance(content, dict) or not content:
        found = "is empty" if not content else f"holds a {type(content).__name__}, not a section of names with values"
        raise UserError(f"{path} {found}; a configuration names models, or battles: see docs/configuration.md")
    return content


def _is_json(path: Path, text: str) -> bool:
    """Return whether a text is JSON, which Snakemake reads first, and refuse repeated names in it."""

    def checked(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise UserError(f"{path}: '{twice[0]}' occurs twice in one section; rename or remove one of them")
        return dict(pairs)

    try:
        json.loads(text, object_pairs_hook=checked)
    except (ValueError, RecursionError):
        return False
    return True


class _Nodes:
    """Walks through the nodes of a document; visits a node with several aliases once."""

    def __init__(self) -> None:
        self._sizes: dict[int, int] = {}
        self._open: set[int] = set()

    def mistakes(self, root: yaml.Node) -> Iterator[str]:
        """Yield the mistakes, each with its line."""
        yield from self._walk(root, "")
        if self._sizes[id(root)] > MOST_ENTRIES:
            yield f"line 1: its aliases (*name) expand to more than {MOST_ENTRIES} entries; use fewer"

    def _walk(self, node: yaml.Node, place: str) -> Iterator[str]:
        if id(node) in self._open:
            self._sizes.setdefault(id(node), 1)
            line = node.start_mark.line + 1
            yield f"line {line}: '{place.rstrip('.')}' contains itself through an alias (*name); write it out"
            return
        if id(node) in self._sizes:
            return
        self._open.add(id(node))
        size = 1
        if isinstance(node, yaml.SequenceNode):
            for entry in node.value:
                yield from self._walk(entry, place)
                size += self._sizes[id(entry)]
        elif isinstance(node, yaml.MappingNode):
            seen: set[str] = set()
            for key, value in node.value:
                line = key.start_mark.line + 1
                if not isinstance(key, yaml.ScalarNode):
                    yield f"line {line}: a list or section is used as a name; use a text"
                    self._sizes.setdefault(id(key), 1)
                    continue
                yield from self._walk(key, place)
                name = str(key.value)
                if name in seen:
                    yield f"line {line}: '{place}{name}' occurs twice; rename or remove one of them"
                seen.add(name)
                yield from self._walk(value, f"{place}{name}.")
                size += self._sizes[id(value)]
        else:
            yield from _scalar_mistakes(node, place)
        self._open.remove(id(node))
        self._sizes[id(node)] = size


def _scalar_mistakes(node: yaml.Node, place: str) -> Iterator[str]:
    where = f"line {node.start_mark.line + 1}: '{place.rstrip('.')}'"
    if node.tag in ("tag:yaml.org,2002:merge", "tag:yaml.org,2002:value"):
        return
    try:
        value = SafeConstructor().construct_object(node)
    except (yaml.YAMLError, ValueError, RecursionError):
        shown = str(node.value)[:40]
        yield f"{where}: {shown!r} looks like a number, date or type, but is not a valid one; put it in quotes"
        return
    if isinstance(value, str) and any("\ud800" <= mark <= "\udfff" for mark in value):
        yield f"{where}: the text contains half of a surrogate pair or another invalid character; remove it"


def _line(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    return f", line {mark.line + 1}," if mark else ""


def _in_words(error: yaml.YAMLError) -> str:
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    if "'\\t'" in problem:
        return "a TAB is used for indentation; use spaces"
    if "another document" in problem:
        return "a second document begins there (---); a configuration must be one document"
    return f"{problem}; correct the file"


# The configuration file of a run

DEFAULT = Path("config.yaml")
"""The configuration of a run that names none."""
PLACES = (DEFAULT, Path("config") / DEFAULT)
"""Where it is looked for in the folder of a run: Snakemake's catalogue of workflows has a folder for it."""


def configuration_file(here: Path, project: Path) -> tuple[Path, str]:
    """Return the configuration file of a run that names none, and a notice about it, or an empty text.

    A run in another folder has the one of that folder, or else that of the project.

    Args:
        here: the folder that the run works in.
        project: the folder of the Snakefile.

    Raises:
        UserError: there is none at either place.
    """
    for place in PLACES:
        if (here / place).exists():
            return place, ""
    ours = project / DEFAULT
    if ours.exists():
        words = f"{here} has no {DEFAULT}, so this run uses the project's own, {ours}"
        return ours, f"note: {words}; to change it, copy it here or use --configfile"
    raise UserError(f"neither {here} nor {project} has a {DEFAULT}; name a configuration with --configfile")


def shown(path: Path) -> str:
    """Return the shortest form of a path, for messages."""
    path, here = Path(path), Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def from_results(files: Sequence[str | Path], results: Path) -> str:
    """Return configuration files as records of jobs name them: by their place as seen from the folder of the results.

    Folders that different projects share tell their files apart so, and a project can be moved with its results.

    Args:
        files: paths from here.
        results: the folder of the results.
    """
    folder = results.expanduser().resolve()
    return ", ".join(os.path.relpath(Path(file).resolve(), folder) for file in files)


def check_files(files: Sequence[Path]) -> None:
    """Check that configuration files can be read unambiguously.

    Raises:
        UserError: the files, with lines and remedies.
    """
    mistakes = []
    for path in files:
        try:
            read_config_file(Path(path))
        except UserError as error:
            mistakes.append(str(error))
    if mistakes:
        raise UserError("\n".join(mistakes))


def check_module(config: Mapping[str, Any], moved: str | None) -> None:
    """Check the `module` statement of another workflow that uses this one.

    Args:
        config: what its `module` statement gives as `config`.
        moved: the folder that it puts before all paths by `prefix`; "" where it replaces parts of them; None where it
            does neither.

    Raises:
        UserError: it gives no configuration, or it moves paths that jobs receive as options.
    """
    if not config:
        raise UserError(
            "the module statement has no configuration; add `config:` with the content of a config.yaml of this "
            'project, for example config["dialeval"]'
        )
    if moved is not None:
        folder = moved.rstrip("/") or "FOLDER"
        raise UserError(
            "the module statement has `prefix` or `replace_prefix`, which moves the files of rules but not the "
            f"folders of jobs; remove it, and set `results_dir: {folder}/results` and `store_dir: {folder}/store` in "
            "the module's configuration"
        )
