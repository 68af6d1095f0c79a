"""The recipes of a document, as a reader would follow them: the files that each shows, and the commands.

A recipe is a section. A block whose fence names a file, "```yaml mine.yaml", is that file; one of kind `diff` is an
edit of it, with the lines that stand there marked ` ` or `-`. Commands stand in blocks of kind `bash`.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass
class Recipe:
    """One section of a document.

    Attributes:
        files: path -> content.
        edits: path, what stands there, and what shall stand there in its place.
        commands: split as a shell does.
    """

    title: str
    files: dict[str, str] = field(default_factory=dict)
    edits: list[tuple[str, str, str]] = field(default_factory=list)
    commands: list[list[str]] = field(default_factory=list)


def recipes(document: Path) -> dict[str, Recipe]:
    """Return the sections of a document that show a command, by title."""
    text = document.read_text(encoding="utf-8")
    _, *parts = _HEADING.split(text)
    found = [_recipe(title, body) for title, body in zip(parts[::2], parts[1::2], strict=True)]
    return {recipe.title: recipe for recipe in found if recipe.commands}


def _recipe(title: str, body: str) -> Recipe:
    recipe = Recipe(title)
    for kind, path, content in _BLOCK.findall(body):
        if kind == "bash":
            recipe.commands += [shlex.split(line, comments=True) for line in content.splitlines() if line.strip()]
        elif kind == "diff":
            lines = [(line[:1], line[1:]) for line in content.splitlines()]
            old, new = ("\n".join(text for mark, text in lines if mark != other) for other in "+-")
            recipe.edits.append((path, old, new))
        elif path:
            recipe.files[path] = content
    return recipe


def follow(recipe: Recipe, folder: Path, replace: dict[str, str]) -> None:
    """Write a recipe's files and makes its edits.

    Args:
        recipe: the recipe.
        folder: the project's.
        replace: what stands in the recipe for something of the reader's -> what it is here.
    """
    for path, content in recipe.files.items():
        for old, new in replace.items():
            content = content.replace(old, new)
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")
    for path, old, new in recipe.edits:
        text = (folder / path).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{recipe.title}: {path} does not hold once:\n{old}"
        (folder / path).write_text(text.replace(old, new), encoding="utf-8")
