"""What a dry run would do, job by job, and workspaces that look finished though nothing ran in them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from workspace import Workspace


class PlannedJob(NamedTuple):
    """A job that a dry run lists.

    Attributes:
        name: the rule and the wildcards' values: `plan arena`, `answer forest/arena/1/1`.
        reason: why it runs, in Snakemake's words.
    """

    name: str
    reason: str
    inputs: frozenset[str]
    outputs: frozenset[str]


def planned(workspace: Workspace, *arguments: str) -> list[PlannedJob]:
    """Return the jobs that a dry run lists, all that only name targets left out."""
    output = workspace.run("--dry-run", "--quiet", "host", *arguments)
    blocks = re.split(r"^ *(?:local)?(?:rule|checkpoint) (\w+):\n", output, flags=re.MULTILINE)[1:]
    jobs = [_job(rule, text) for rule, text in zip(blocks[::2], blocks[1::2], strict=True)]
    return [job for job in jobs if job.outputs]


def _job(rule: str, text: str) -> PlannedJob:
    said = dict(re.findall(r"^ +(\w+): (.*)$", text, flags=re.MULTILINE))
    wildcards = [one.partition("=")[2] for one in said.get("wildcards", "").split(", ") if one]
    inputs, outputs = (frozenset(said.get(kind, "").split(", ")) - {""} for kind in ("input", "output"))
    name = " ".join([rule, *(["/".join(wildcards)] if wildcards else [])])
    return PlannedJob(name, said.get("reason", ""), inputs, outputs)


def follows(graph: Iterable[PlannedJob], first: Iterable[str]) -> set[str]:
    """Return the names of some jobs and of all that need, directly or not, what these make."""
    jobs, reached = list(graph), set(first)
    while True:
        made = frozenset[str]().union(*(job.outputs for job in jobs if job.name in reached))
        more = {job.name for job in jobs if job.inputs & made} - reached
        if not more:
            return reached
        reached |= more


def pretend_to_finish(workspace: Workspace) -> None:
    """Make a workspace look as if everything had run: every output is there, and what it was made with is recorded."""
    for job in planned(workspace, "--forceall"):
        for output in job.outputs:
            path = Path(workspace.folder, output)
            if path.suffix:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(output)
            else:
                path.mkdir(parents=True, exist_ok=True)
    workspace.run("--touch", "--forceall", cores=64)
    still = {job.name: job.reason for job in planned(workspace)}
    assert not still, still
