"""A probe that runs on a node of the cluster: does it see the project, shared folders and GPUs?

    python -m dialeval.jobs.node_probe TASK.json

It runs on the node. The task names folders in each of which a file of the machine of the run lies; the answer is
written beside the task.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import dialeval


def answer(task: Path) -> dict[str, Any]:
    """Return the findings of this machine, with the seconds until a file was visible in each folder; None if never."""
    task_data = json.loads(task.read_text(encoding="utf-8"))
    folders = {
        name: _seconds_until_seen(Path(folder), task_data["nonce"], task_data["patience"])
        for name, folder in task_data["folders"].items()
    }
    return {**environment(), "host": socket.gethostname(), "folders": folders, "gpus": gpus()}


def environment() -> dict[str, str]:
    """Return versions of Python and of this project, and a digest of its code."""
    package = Path(dialeval.__file__).parent
    code = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        code.update(f"{path.relative_to(package)}\n".encode() + path.read_bytes())
    return {"python": platform.python_version(), "dialeval": dialeval.__version__, "code": code.hexdigest()[:16]}


def gpus() -> int:
    """Return how many GPUs a job sees here."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return len([one for one in visible.split(",") if one.strip() and one.strip() != "-1"])
    if not shutil.which("nvidia-smi"):
        return 0
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=30, check=False)
    return listed.stdout.count("GPU ")


def there(folder: Path, nonce: str) -> Path:
    """Return where the machine of the run leaves its mark in a folder."""
    return folder / f".check-{nonce}"


def back(folder: Path, nonce: str) -> Path:
    """Return where a node leaves its mark in a folder."""
    return folder / f".check-{nonce}-node"


def _seconds_until_seen(folder: Path, nonce: str, patience: float) -> dict[str, Any]:
    began = time.monotonic()
    seen = None
    while seen is None and time.monotonic() - began < patience:
        with suppress(OSError):
            seen = time.monotonic() - began if there(folder, nonce).read_text() == nonce else None
        if seen is None:
            time.sleep(0.1)
    try:
        back(folder, nonce).write_text(nonce)
        error = ""
    except OSError as reason:
        error = reason.strerror or str(reason)
    return {"seen_after": seen, "write_error": error}


if __name__ == "__main__":
    task = Path(sys.argv[1])
    text = json.dumps(answer(task))
    half = task.with_suffix(".half")
    half.write_text(text, encoding="utf-8")
    half.replace(task.with_suffix(".answer"))
