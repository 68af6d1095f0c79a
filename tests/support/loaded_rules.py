"""The rules of the workflow as Snakemake has read them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from workspace import ROOT

BASE = "stage"
"""The rule from which all rules of stages take their command."""
_MARK = "rules as read: "
_READ = f"""
import json, sys
import snakemake.cli
from snakemake.workflow import Workflow

def told(rule):
    return {{
        "name": rule.name, "doc": rule.docstring or "", "has_command": rule.shellcmd is not None,
        "is_local": rule.name in rule.workflow._localrules, "has_group": rule._group is not None,
        "params": list(rule.params.keys()), "outputs": list(map(str, rule.output)), "logs": list(map(str, rule.log)),
        "names_gpu": "gpu" in rule.resources,
        "command": rule.shellcmd or "",
    }}

def execute(self, *arguments, **options):
    print({_MARK!r} + json.dumps([told(rule) for rule in self.rules]))
    return True

Workflow.execute = execute
sys.argv = ["snakemake", "--dry-run", *sys.argv[1:]]
snakemake.cli.main()
"""


class LoadedRule(NamedTuple):
    """A rule."""

    name: str
    doc: str
    has_command: bool
    is_local: bool
    has_group: bool
    params: Sequence[str]
    outputs: Sequence[str]
    logs: Sequence[str]
    names_gpu: bool
    command: str


@cache
def loaded_rules() -> dict[str, LoadedRule]:
    """Return the rules of the default configuration where jobs are submitted, by name."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "workflow")}
    command = [sys.executable, "-c", _READ, "--jobs", "50"]
    output = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    lines = [line for line in output.stdout.splitlines() if line.startswith(_MARK)]
    assert lines, output.stdout + output.stderr
    return {one["name"]: LoadedRule(**one) for one in json.loads(lines[0].removeprefix(_MARK))}
