"""Lines of several jobs that share one terminal or pipe: each is written at once, so that no two run into one."""

from __future__ import annotations

import io
import sys
from contextlib import suppress


def write_whole_lines() -> None:
    """Has standard output and error write a line with its end, at once and as soon as it is said.

    Told to write unbuffered (the option `-u`, PYTHONUNBUFFERED), Python writes the words and then, on its own, the
    end of the line. Between the two comes what another job says.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            with suppress(OSError):  # a closed pipe: whoever writes to it next is told
                stream.reconfigure(line_buffering=True, write_through=False)
