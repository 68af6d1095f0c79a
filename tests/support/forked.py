"""Commands in forks of a process that has imported what is slow: see `forked_runs.py`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

RunAll = Callable[[list[list[str]]], list[tuple[int, str]]]


@contextmanager
def forking(folder: Path) -> Iterator[RunAll]:
    """Gives what runs commands in a workspace, one after the other, and returns exit status and output of each."""
    keys = {"OPENAI_API_KEY": "none", "ANTHROPIC_API_KEY": "none"}
    environment = {**os.environ, **keys, "PYTHONPATH": str(folder / "workflow"), "TIKTOKEN_CACHE_DIR": ""}
    with subprocess.Popen(
        [sys.executable, Path(__file__).with_name("forked_runs.py")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, env=environment, text=True,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        commands, results = process.stdin, process.stdout

        def run_all(of: list[list[str]]) -> list[tuple[int, str]]:
            print(json.dumps(of), file=commands, flush=True)
            return [(status, output) for status, output in json.loads(results.readline())]

        yield run_all
