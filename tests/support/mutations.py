"""Changes to a workspace that looks finished, and the jobs that run first because of each.

A row of `tests/workflow/test_mutations.py` names a change and the jobs that must run because of it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml
from planned import PlannedJob, follows
from workspace import ROOT, Workspace

Change = Callable[[Workspace], None]


@dataclass(frozen=True)
class Mutation:
    """One change.

    Attributes:
        name: what is changed, in words.
        change: changes the workspace.
        first: names, or patterns of names, of the jobs that may come out otherwise for what they are themselves told
            and read; what needs their outputs follows. None where nothing runs.
        arguments: what is typed behind `snakemake` besides.
        environment: variables that are set besides.
    """

    name: str
    change: Change
    first: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)

    def expected(self, graph: list[PlannedJob]) -> set[str]:
        """Return the names of all jobs that must run, of a graph of jobs; every pattern must match one."""
        matched = {pattern: {job.name for job in graph if fnmatchcase(job.name, pattern)} for pattern in self.first}
        assert all(matched.values()), f"{self.name}: no job is called {[one for one in matched if not matched[one]]}"
        return follows(graph, frozenset[str]().union(*matched.values()))


def nothing(workspace: Workspace) -> None:
    """Leaves everything as it is."""


def code(file: str, old: str, new: str) -> Change:
    """Replace a text of the library, which must stand there."""
    path = f"workflow/dialeval/{file}"
    assert old in (ROOT / path).read_text(encoding="utf-8"), f"{path} does not say {old!r}"
    return lambda workspace: workspace.edit(path, old, new)


def settings(path: str, value: Any) -> Change:
    """Set a field of the configuration, named from the top: `elo.k`; None as value takes a field away."""

    def change(workspace: Workspace) -> None:
        file = workspace.folder / "config.yaml"
        whole = deepcopy(yaml.safe_load(file.read_text(encoding="utf-8")))
        *sections, name = path.split(".")
        section = whole
        for one in sections:
            section = section.setdefault(one, {})
        section[name] = value
        if value is None:
            del section[name]
        file.write_text(yaml.safe_dump(whole, sort_keys=False), encoding="utf-8")

    return change


def touched(pattern: str) -> Change:
    """Give files a new time stamp."""

    def change(workspace: Workspace) -> None:
        files = list(workspace.folder.glob(pattern))
        assert files, pattern
        for file in files:
            os.utime(file)

    return change


def written(file: str, old: str, new: str, age: float | None = None) -> Change:
    """Replace a text in a file of the user's; with an age in seconds it is given that old a time stamp."""

    def change(workspace: Workspace) -> None:
        path = workspace.folder / file
        text = path.read_text(encoding="utf-8")
        assert old in text, file
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        if age is not None:
            at = path.stat().st_mtime - age
            os.utime(path, (at, at))

    return change


def moved(folder: str, to: str, *then: Change) -> Change:
    """Move a folder or a file, and change what must be with it."""

    def change(workspace: Workspace) -> None:
        shutil.move(Path(workspace.folder, folder), Path(workspace.folder, to))
        all_of(*then)(workspace)

    return change


def all_of(*changes: Change) -> Change:
    """Make several changes."""

    def change(workspace: Workspace) -> None:
        for one in changes:
            one(workspace)

    return change
