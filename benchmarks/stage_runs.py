"""Stages in processes of their own, as the workflow runs them: processor time, wall time and memory of each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

_PROFILED = """
import cProfile, runpy, sys
run = "runpy.run_module('dialeval.stages', run_name='__main__', alter_sys=True)"
cProfile.run(run, f"{sys.argv[1]}.prof")
"""


class Taken(NamedTuple):
    """What a process took: seconds of the processor and of the clock, and the most memory it held, in MB."""

    cpu: float
    wall: float
    megabytes: float


def run_stage(
    stage: str, settings: Mapping[str, Any], *, profile: bool = False, **paths: Path | Sequence[Path]
) -> Taken:
    """Run a stage on files and return what it took, its start included; with `profile`, write STAGE.prof."""
    begin = ["-c", _PROFILED, stage] if profile else ["-m", "dialeval.stages", stage]
    command = [*begin, "--settings", json.dumps(settings)]
    for name, path in paths.items():
        command += [f"--{name}", *([str(path)] if isinstance(path, Path) else map(str, path))]
    return run_python(*command)


def run_python(*arguments: str) -> Taken:
    """Run Python with some arguments in a process of its own; what it prints is not shown."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, arguments
    return Taken(usage.ru_utime + usage.ru_stime, time.perf_counter() - start, usage.ru_maxrss / 1024)
