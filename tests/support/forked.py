"""Commands in forks of a process that has imported what is slow: see `forked_runs.py`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path


def run_all(commands: list[list[str]], folder: Path) -> list[tuple[int, str]]:
    """Runs commands in a workspace, one after the other, and returns exit status and output of each."""
    keys = {"OPENAI_API_KEY": "none", "ANTHROPIC_API_KEY": "none"}
    environment = {**os.environ, **keys, "PYTHONPATH": str(folder / "workflow"), "TIKTOKEN_CACHE_DIR": ""}
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("forked_runs.py")],
        input=json.dumps(commands), cwd=folder, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [(status, output) for status, output in json.loads(done.stdout)]
