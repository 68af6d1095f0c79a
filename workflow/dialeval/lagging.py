"""Reading what another node has written, on a file system that shows it a moment later.

Snakemake waits until a job's files are there before it starts the job on a node. What is there may still be of an
earlier size, or gone from under an open file, so that a node tries for as long as Snakemake would (`--latency-wait`).
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

SECONDS = "DIALEVAL_LATENCY_WAIT"
"""The environment variable that says how long a job on a cluster's node waits; without it, none does."""
T = TypeVar("T")


def once_visible(path: Path, read: Callable[[Path], T]) -> T:
    """Returns what is read of a file, on a cluster's node as soon as that succeeds.

    Args:
        path: the file.
        read: reads it, and fails where it is not there or not whole.

    Raises:
        OSError: the file is not there, or cannot be read.
        pyarrow.ArrowInvalid: it is no Parquet file.
    """
    until, is_told = time.monotonic() + float(os.environ.get(SECONDS) or 0), False
    while True:
        try:
            return read(path)
        except (OSError, pa.ArrowInvalid) as error:
            if time.monotonic() >= until or not _may_pass(error):
                raise
            if not is_told:
                print(f"waiting: this node does not see {path} whole yet ({error})", flush=True)
                is_told = True
        with suppress(OSError):
            list(path.parent.iterdir())  # many file systems look again when a folder is listed
        time.sleep(min(1.0, max(0.0, until - time.monotonic())))


def _may_pass(error: Exception) -> bool:
    """Returns whether an error is one of those by which a lagging file system shows itself."""
    return isinstance(error, pa.ArrowInvalid | FileNotFoundError) or (
        isinstance(error, OSError) and error.errno in (errno.ESTALE, None)  # pyarrow gives no number
    )
