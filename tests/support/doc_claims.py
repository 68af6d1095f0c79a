"""What docs say in back-ticks of paths, tables, fields and names, and what there is of these."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from layout_patterns import patterns
from loaded_rules import loaded_rules

from dialeval.report.reference.configuration import schema_text

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "results" / "README.md", *ROOT.glob("docs/*.md")])
FENCE = re.compile(r"^ *```([\w-]*)([^\n]*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_PLACEHOLDER = re.compile(r"<[^>]+>|\{[^}]+\}|\b[A-Z]{3,}\b|\*|\.\.\.")


@dataclass(frozen=True)
class Said:
    """Something in back-ticks."""

    page: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: `{self.text}`"


def spans() -> Iterator[Said]:
    """Yield what stands in back-ticks on a line, outside blocks of code."""
    for path in PAGES:
        text = FENCE.sub(lambda block: "\n" * block[0].count("\n"), path.read_text(encoding="utf-8"))
        for span in _SPAN.finditer(text):
            yield Said(str(path.relative_to(ROOT)), text.count("\n", 0, span.start()) + 1, span[1])


def yaml_blocks() -> Iterator[tuple[Said, Any]]:
    """Yield every block of YAML, as it is read."""
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        for block in FENCE.finditer(text):
            if block[1] == "yaml":
                line = text.count("\n", 0, block.start()) + 1
                read = yaml.safe_load(re.sub(r"\.\.\.(?=[,}\s])", "etc: etc", block[3]))
                yield Said(str(path.relative_to(ROOT)), line, block[3].splitlines()[0]), read


@cache
def made_below_results() -> tuple[str, ...]:
    """Return the paths below the results that rules name, in folders of known names, with what varies as `*`."""
    logs = {log.removeprefix("results/") for rule in loaded_rules().values() for log in rule.logs}
    named = {*patterns(), *logs, "tables/{folder}/{name}.{suffix}"}  # the name of a table has its folder
    found = {re.sub(r"\{[^}]*\}", "*", pattern).replace("**", "*") for pattern in named}
    return tuple(sorted(path for path in found if not path.startswith("*")))


def is_made(path: str) -> bool:
    """Return whether a path below the results is what a rule makes, or a folder on the way to it."""
    wanted = _PLACEHOLDER.sub("*", path).strip("/")
    return any(_fits(wanted.split("/"), made.split("/")) for made in made_below_results())


def _fits(wanted: list[str], made: list[str]) -> bool:
    if len(wanted) > len(made) and not (made[-1] == "*" and len(wanted) == len(made) + 1):
        return False
    return all(_alike(one, other) for one, other in zip(wanted, made, strict=False))


def _alike(one: str, other: str) -> bool:
    def pattern(text: str) -> str:
        return ".+".join(map(re.escape, text.split("*")))

    return bool(re.fullmatch(pattern(one), other) or re.fullmatch(pattern(other), one) or (one == "*" == other))


@cache
def words_of_the_code() -> frozenset[str]:
    """Return every word of the library's, rules' and configurations' text."""
    patterns = ("workflow/dialeval/**/*.py", "workflow/dialeval/**/*.j2", "workflow/dialeval/**/*.yaml", "rules/*.smk")
    patterns += (
        "Snakefile",
        "configs/**/*.yaml",
        "profiles/*/*",
        "envs/*",
        "benchmarks/*.py",
        "workflow/dialeval/*/*.csv",
    )
    files = [path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file()]
    return frozenset(word for path in files for word in re.findall(r"\w+", path.read_text(encoding="utf-8")))


SCHEMA = json.loads(schema_text())


def unknown_fields(value: Any, schema: Mapping[str, Any] = SCHEMA, where: str = "") -> Iterator[str]:
    """Yield the fields of a part of a configuration that the schema does not know."""
    branches = list(_branches(schema))
    if isinstance(value, list):
        for item in value:
            for branch in branches:
                if "items" in branch:
                    yield from unknown_fields(item, branch["items"], where)
    if not isinstance(value, dict):
        return
    objects = [one for one in branches if one.get("type") == "object"]
    if not objects:
        return
    for name, inner in value.items():
        deeper = [one["properties"][name] for one in objects if name in one.get("properties", {})]
        deeper += [one["additionalProperties"] for one in objects if isinstance(one.get("additionalProperties"), dict)]
        deeper += [inside for one in objects for inside in one.get("patternProperties", {}).values()]
        free = any(one.get("additionalProperties", False) is True for one in objects)
        if not deeper and not free and name != "etc":
            yield f"{where}{name}"
        elif deeper:
            yield from unknown_fields(inner, {"anyOf": deeper}, f"{where}{name}.")


def _branches(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if "$ref" in schema:
        yield from _branches(SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]])
    for key in ("anyOf", "oneOf", "allOf"):
        for one in schema.get(key, ()):
            yield from _branches(one)
    if "type" in schema or "properties" in schema:
        yield schema
