"""The commands that docs, configurations and comments show, as they would be typed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAMS = (
    "snakemake|dialeval|python3?|pip|pytest|uv|vllm|ollama|export|source|conda|mamba|curl|wget|git|docker|sbatch|ruff|mypy"
    "|cd"
)
_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_CODE = re.compile(rf"`((?:{PROGRAMS}) [^`\n]+)`")
_COMMENT = re.compile(rf"^\s*#(?:\s+|.*?\s\s+)((?:{PROGRAMS}) .*)$", re.MULTILINE)
SHELLS = ("", "bash", "sh", "shell", "console", "zsh")


@dataclass(frozen=True)
class Shown:
    """A command that is shown somewhere.

    Attributes:
        place: file and line.
        words: the command, split as a shell does, without comments.
        in_own_folder: whether it is typed in a folder that `dialeval init` makes, whose profile names the cores.
    """

    place: str
    words: tuple[str, ...]
    in_own_folder: bool = False

    def __str__(self) -> str:
        return f"{self.place}: {shlex.join(self.words)}"


def shown_commands() -> list[Shown]:
    """Return every command of every document, configuration and comment of the workflow."""
    found: list[Shown] = []
    documents = ["README.md", "docs/*.md", "benchmarks/*.md", "results/*.md"]
    for path in sorted(path for pattern in documents for path in ROOT.glob(pattern)):
        found += _of_document(path)
    found += [shown for path in sorted(ROOT.glob("workflow/dialeval/**/*.py")) for shown in _of_messages(path)]
    commented = ["Snakefile", "config.yaml", "configs/**/*.yaml", "profiles/*/*.yaml", "envs/*", "rules/*.smk"]
    commented.append("mkdocs.yml")
    for path in sorted(path for pattern in commented for path in ROOT.glob(pattern)):
        found += _of_comments(path)
    return found


def _of_document(path: Path) -> Iterator[Shown]:
    text = path.read_text(encoding="utf-8")
    for block in _FENCE.finditer(text):
        content = block[2].replace("\\\n", " ")
        lines = content.splitlines()
        known = any(re.match(rf"\s*(?:\$ )?(?:{PROGRAMS})\b", line) for line in lines)
        if block[1] not in SHELLS or (not block[1] and not known):
            continue
        own = any(line.strip().startswith("dialeval init") for line in lines)
        for number, line in enumerate(lines):
            for shown in _commands(path, text, block.start(2), line.strip().removeprefix("$ "), number):
                yield replace(shown, in_own_folder=own)
    for code in _CODE.finditer(_FENCE.sub(lambda block: "\n" * block[0].count("\n"), text)):
        yield from _commands(path, text, 0, code[1], 0)


def _of_comments(path: Path) -> Iterator[Shown]:
    text = path.read_text(encoding="utf-8")
    for comment in _COMMENT.finditer(text):
        command = re.split(r"\s{2,}|\s\(", comment[1])[0]  # what follows explains it
        yield from _commands(path, text, comment.start(1), command, 0)
    lines = "\n".join(line for line in text.splitlines() if line.lstrip().startswith("#"))
    for code in _CODE.finditer(lines):
        yield from _commands(path, text, max(text.find(code[1]), 0), code[1], 0)


def _of_messages(path: Path) -> Iterator[Shown]:
    text = path.read_text(encoding="utf-8")
    for code in _CODE.finditer(text):
        if not {"{", "<"} & set(code[1]):
            yield from _commands(path, text, code.start(1), code[1], 0)


def _commands(path: Path, text: str, start: int, line: str, number: int) -> Iterator[Shown]:
    line_number = f":{text.count(chr(10), 0, start) + number + 1}" if start else ""
    place = f"{path.relative_to(ROOT)}{line_number}"
    words: list[str] = []
    for word in [*shlex.split(line, comments=True), "&&"]:
        if word != "&&":
            words.append(word)
        elif words:
            yield Shown(place, tuple(words))
            words = []
