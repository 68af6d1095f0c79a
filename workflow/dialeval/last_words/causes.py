"""The cause of a failure, read from the end of a log."""

from __future__ import annotations

import re

MOST_LINES = 12
WIDEST = 400
READ = 200_000
"""Characters at the end of a log in which a cause is looked for."""
_OURS = re.compile(r"^(?:error in [\w-]+|python -m dialeval[\w.]*(?: \w+)?: error): ")
_TRACEBACK = "Traceback (most recent call last):"
_PLACE = re.compile(r'^\s+File "(?:.*/)?([^"/]+)", line (\d+), in ')
_CLUSTERS = re.compile(r"^(?:slurmstepd|srun|slurmd): error: |oom.?kill", re.I)
_SPEAKING = re.compile(r"^(?:slurmstepd: |srun: )?error|^\w*(?:Error|Exception)\b|command not found|No such file", re.I)
_NOISE = re.compile(
    r"^(?:\[.*\]|Exiting because|Complete log|Elapsed time|At least one job|WorkflowError:|Storing output|Cleaning up)"
)


def cause_in(text: str) -> list[str]:
    """Returns the lines of a stage's log that say why it failed; none where it says nothing about that.

    A stage that refuses to go on says "error in STAGE: " and why; one with a fault of its own ends with a traceback, of
    which the last line and the place are told.
    """
    lines = _lines(text)
    ours = max((n for n, line in enumerate(lines) if _OURS.match(line)), default=-1)
    trace = max((n for n, line in enumerate(lines) if line == _TRACEBACK), default=-1)
    if trace > ours:
        return _short(_of_traceback(lines[trace + 1 :]))
    return _short([_OURS.sub("", lines[ours]), *lines[ours + 1 :]]) if ours >= 0 else []


def cause_in_cluster_log(text: str) -> list[str]:
    """Returns the lines of a cluster's log of a job that say why it failed, or else its last ones."""
    if cause := cause_in(text):
        return cause
    lines = [line for line in _lines(text) if line.strip() and not _NOISE.match(line)]
    speaking = [line for line in lines if _CLUSTERS.search(line)] or [line for line in lines if _SPEAKING.search(line)]
    return _short(speaking[-3:] or lines[-3:])


def last_lines(text: str) -> list[str]:
    """Returns the last lines of a log that says nothing about a failure."""
    return _short([line for line in _lines(text) if line.strip()][-2:])


def _of_traceback(lines: list[str]) -> list[str]:
    end = next((n for n, line in enumerate(lines) if line and not line[0].isspace()), None)
    if end is None:
        return []
    place = [found for line in lines[:end] if (found := _PLACE.match(line))]
    told = [*lines[end:]]
    if place:
        told[0] += f" ({place[-1][1]}, line {place[-1][2]})"
    return told


def _lines(text: str) -> list[str]:
    return [line.rpartition("\r")[2].rstrip() for line in text.splitlines()]


def _short(lines: list[str]) -> list[str]:
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    kept = [line if len(line) <= WIDEST else f"{line[:WIDEST]} ..." for line in lines[:MOST_LINES]]
    return kept + ([f"... {len(lines) - MOST_LINES} more lines"] if len(lines) > MOST_LINES else [])
