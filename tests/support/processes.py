"""Processes of tests."""

from __future__ import annotations

import time
from pathlib import Path


def is_running(pid: int) -> bool:
    """Return whether a process is there and has not ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def wait_until_gone(pid: int, seconds: float = 60) -> None:
    """Wait for the end of a process; fails if it does not come."""
    deadline = time.monotonic() + seconds
    while is_running(pid):
        assert time.monotonic() < deadline, f"process {pid} is still there after {seconds} s"
        time.sleep(0.02)
