"""Jobs that train, in forks of a process that has imported what they need: six seconds of each would be that."""

from __future__ import annotations

import multiprocessing
import os
import resource
import runpy
import sys
from multiprocessing.context import ForkServerProcess
from pathlib import Path

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["peft", "dialeval.stages.training", "dialeval.training.trainer"])


def started(arguments: list[str], log: Path, *, most_bytes: int | None = None) -> ForkServerProcess:
    """Start `python -m dialeval.stages` in a session of its own, with what it says in a log.

    Args:
        arguments: the stage and its options.
        log: added to.
        most_bytes: beyond which no file of the process may grow.
    """
    process = FORKS.Process(target=_become, args=(arguments, log, most_bytes))
    process.start()
    return process


def ended(process: ForkServerProcess) -> int | None:
    """Wait up to three minutes for the end of a process and return its exit status."""
    process.join(180)
    return process.exitcode


def _become(arguments: list[str], log: Path, most_bytes: int | None) -> None:
    os.setsid()
    with log.open("ab") as output:
        for number in (1, 2):
            os.dup2(output.fileno(), number)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    if most_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    sys.argv = ["dialeval.stages", *arguments]
    runpy.run_module("dialeval.stages", run_name="__main__", alter_sys=True)
