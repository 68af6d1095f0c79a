"""The summary of a failed run: failed jobs, their causes and logs, and the command to resume."""

from __future__ import annotations

import atexit
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from dialeval.errors import visible
from dialeval.jobs.lifecycle import LOCK, STOP_MARK
from dialeval.jobs.run_progress import Ending, RunLog, endings_in, job_words
from dialeval.jobs.slurm import JobState, job_state
from dialeval.text import counted

IN_FULL = 3
IN_A_LINE = 10
_RED, _AS_BEFORE = "\033[31m", "\033[0m"
_FORCING = {"-F", "--forceall", "-f", "--force"}
_FORCING_SOME = {"-R", "--forcerun"}
_SIGNALS = {
    "signal 9": "the job was killed (signal 9), by a user or by the system for lack of memory. If memory is short, "
    "run fewer jobs at once (--cores), or request more memory",
    "signal 15": "the job was terminated (signal 15)",
    "signal 11": "the job crashed (signal 11), because of a library or the machine",
    "signal 7": "the job crashed (signal 7); the network disk may be full or disconnected",
}
_STATES = {
    "TIMEOUT": "the job reached its time limit; request more time, in minutes: --set-resources {rule}:runtime=N",
    "DEADLINE": "the job reached its time limit; request more time, in minutes: --set-resources {rule}:runtime=N",
    "OUT_OF_MEMORY": "the job needed more memory than it requested; request more memory: --set-resources "
    "{rule}:mem_mb=N",
    "NODE_FAIL": "the job's node failed; run the same command again, or exclude the node with "
    "--slurm-exclude-failed-nodes",
    "BOOT_FAIL": "the job's node did not start; run the same command again",
    "PREEMPTED": "the job was preempted by a job of higher priority; run the same command again",
    "CANCELLED": "the job was cancelled (scancel), by a user or by the cluster",
}


def print_at_exit(failed: Iterable[object], run_log: RunLog, command: Sequence[str], results_dir: Path) -> None:
    """Print the summary of a failed run when the process ends, behind all of Snakemake's output.

    Args:
        failed: Snakemake's failed jobs and groups of jobs.
        run_log: the endings of jobs in Snakemake's log.
        command: the user's command.
        results_dir: the folder of the run's lock and signal.
    """
    groups = [list(getattr(one, "jobs", [one])) for one in failed]
    found = [job for group in groups for job in failed_in(group, run_log, _began(results_dir))]
    jobs = sorted(found, key=lambda job: job.name)
    colour = wants_colour(sys.stderr.isatty(), os.environ)
    words = summary_text(jobs, command, stopped=_signal(results_dir), colour=colour)
    atexit.register(partial(print, f"\n{words}", file=sys.stderr, flush=True))


@dataclass(frozen=True)
class FailedJob:
    """A job that failed.

    Attributes:
        name: its rule, and what it was about.
        cause: why, in lines.
        logs: files that say more.
        last_lines: the last lines of its log where these do not name the cause.
    """

    name: str
    cause: Sequence[str]
    logs: Sequence[Path]
    last_lines: Sequence[str] = ()


def summary_text(
    failed: Sequence[FailedJob], command: Sequence[str], *, stopped: str = "", colour: bool = False
) -> str:
    """Return the summary of a failed run, the causes at its end.

    Args:
        failed: the jobs that failed; the first causes are shown in full, equal causes once.
        command: the user's command, with the program's path.
        stopped: name of the signal that ended the run, such as SIGINT; empty if it ended by itself.
        colour: whether causes are red.
    """
    resume = f"To resume{' after fixing this' if failed and not stopped else ''}, run:\n  {command_to_resume(command)}"
    if stopped:
        by = {"SIGINT": "Ctrl-C (SIGINT)", "SIGTERM": "a request to end (SIGTERM)"}.get(stopped, stopped)
        return f"The run was stopped by {by}; responses and finished files are kept.\n\n{resume}"
    if not failed:
        return f"The run failed; see above.\n\n{resume}"
    groups: dict[tuple[str, ...], list[FailedJob]] = {}
    for job in failed:
        groups.setdefault(tuple(job.cause), []).append(job)
    distinct = list(groups.values())
    heading = "A job failed:" if len(failed) == 1 else f"{len(failed)} jobs failed:"
    rest = [_in_a_line(group) for group in distinct[IN_FULL : IN_FULL + IN_A_LINE]]
    if left := sum(map(len, distinct[IN_FULL + IN_A_LINE :])):
        rest.append(f"  and {left} more; their logs are in the same folder")
    full = [_in_full(group, colour=colour) for group in reversed(distinct[:IN_FULL])]
    return "\n\n".join([resume, heading, *(["\n".join(rest)] if rest else []), *full])


def wants_colour(is_terminal: bool, environment: Mapping[str, str]) -> bool:
    """Return whether output may be coloured: on a terminal with colours, unless NO_COLOR is set (https://no-color.org)."""
    return is_terminal and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


def command_to_resume(command: Sequence[str]) -> str:
    """Return the user's command without the options that force jobs whose outputs exist.

    Forced jobs that did not finish run without these options, too.
    """
    program, *words = command
    name = Path(program).name
    kept = ["snakemake"] if name == "snakemake" else ["python", "-m", "snakemake"]
    dropping = False
    for word in words:
        dropping = dropping and not word.startswith("-")
        if word in _FORCING_SOME:
            dropping = True
        if not (dropping or word in _FORCING or word.startswith(("--forcerun=", "-R"))):
            kept.append(word)
    return shlex.join(kept)


def exit_message(how: str, *, known: bool) -> list[str]:
    """Return how a command ended; nothing where a known cause says as much."""
    if how in _SIGNALS and not (known and how == "signal 15"):
        return [_SIGNALS[how]]
    return [] if known or not how else [f"it ended with {how}"]


def words_of_state(state: JobState, rule: str) -> list[str]:
    """Return Slurm's state of a failed job with a remedy; nothing for other states."""
    where = f" on {state.nodes}" if state.nodes else ""
    state_line = f"Slurm job {state.number}{where}: {state.state}"
    helps = _STATES.get(state.state)
    if helps is None:
        return []
    return [f"{state_line}: {helps.format(rule=rule)}"]


def _in_full(group: Sequence[FailedJob], *, colour: bool) -> str:
    """Return jobs with the same cause: the first by name, logs and last lines, how many others, and the cause."""
    first = group[0]
    lines = map(visible, first.cause)
    cause = [f"    {_RED}{line}{_AS_BEFORE}" if colour else f"    {line}" for line in lines]
    ends = [f"      {visible(line)}" for line in first.last_lines]
    logs = [f"    log: {path}" for path in first.logs]
    return "\n".join([f"  {_names(group)}", *logs, *(["    the log ends with:", *ends] if ends else []), *cause])


def _in_a_line(group: Sequence[FailedJob]) -> str:
    first = group[0]
    log = f" (log: {first.logs[0]})" if first.logs else ""
    return f"  {_names(group)}: {visible((first.cause or ['?'])[0])}{log}"


def _names(group: Sequence[FailedJob]) -> str:
    others = len(group) - 1
    if not others:
        return group[0].name
    return f"{group[0].name}; same error in {counted(others, 'other job')}"


# Failed jobs and their logs

_NO_ROOM = 64 * 1024
"""Bytes, fewer than which a disk is full."""


class Job(Protocol):
    """The attributes of a job of Snakemake that the summary shows."""

    rule: Rule
    log: Sequence[str]
    output: Sequence[str]
    wildcards: Mapping[str, str]


class Rule(Protocol):
    """The attributes of a rule that the summary shows."""

    name: str


def failed_in(group: Sequence[Job], run_log: RunLog, began: float) -> list[FailedJob]:
    """Return the failed jobs of a group of jobs, with causes and logs.

    Args:
        group: jobs that ran as one.
        run_log: the endings of jobs in Snakemake's log.
        began: time of the run's begin on the clock of the results' file system; older logs are of earlier runs.
    """
    ending = next((run_log.endings[log] for job in group for log in job.log if log in run_log.endings), Ending())
    state = job_state(ending.cluster_job) if ending.cluster_job else None
    cluster_text = _end_of(Path(ending.cluster_log)) if ending.cluster_log else ""
    named = endings_in(cluster_text)
    blamed = [job for job in group if job.log and job.log[0] in named] or _unfinished(group, began)
    return [_failed_job(job, run_log, ending, named, state, cluster_text, began) for job in blamed]


def _unfinished(group: Sequence[Job], began: float) -> list[Job]:
    """Return the jobs of a group whose logs have a cause, or else those that began and made nothing, or else all."""
    blamed = [job for job in group if cause_in(_log_of(job, began))]
    return blamed or [job for job in group if _log_of(job, began) and not _made(job)] or list(group)


def _failed_job(
    job: Job,
    run_log: RunLog,
    ending: Ending,
    named: dict[str, str],
    state: JobState | None,
    cluster: str,
    began: float,
) -> FailedJob:
    log = Path(job.log[0]) if job.log else None
    text = _log_of(job, began)
    how = named.get(str(log), ending.how)
    cause = cause_in(text)
    if not cause and not text and log and (full := _full_disk_of(log)):
        cause = [f"the disk of {_shown(full)} is full, and its log could not be written; make room there"]
    if not cause and (missing := [one for one in run_log.missing_outputs if any(path in one for path in job.output)]):
        paths = [path for path in job.output if path in missing[-1]]
        cause = [f"the job ended without an error, but {', '.join(paths)} was missing after --latency-wait"]
    cause += exit_message(how, known=bool(cause)) + (words_of_state(state, job.rule.name) if state else [])
    if not cause_in(text) and cluster:
        cause += cause_in_cluster_log(cluster)
    if not cause and ending.words:
        cause = ending.words.splitlines()[:3]
    if not cause:
        cause = ["the cause is unknown"]
        if ending.cluster_job and not state:
            cause.append(f"Slurm job {ending.cluster_job}: Slurm does not respond, or no longer knows the job")
    logs = [_shown(log)] if log and text else []
    return FailedJob(
        job_words(job.rule.name, job.wildcards),
        cause,
        [*logs, *([_shown(Path(ending.cluster_log))] if cluster else [])],
        () if cause_in(text) else last_lines(text),
    )


def _shown(path: Path) -> Path:
    """Return a path relative to the folder that the command was typed in, which --directory may differ from."""
    typed_in, full = Path(os.environ.get("PWD", ".")).absolute(), path.absolute()
    return full.relative_to(typed_in) if full.is_relative_to(typed_in) else full


def _made(job: Job) -> bool:
    return all(Path(path).exists() for path in job.output)


def _log_of(job: Job, began: float) -> str:
    """Return the end of a job's log if it is of this run."""
    path = Path(job.log[0]) if job.log else None
    try:
        return _end_of(path) if path and path.stat().st_mtime >= began else ""
    except OSError:
        return ""


def _full_disk_of(log: Path) -> Path | None:
    """Return the folder nearest to a log that is there, if its disk has no room; else None."""
    try:
        folder = next(one for one in log.absolute().parents if one.is_dir())
        return folder if shutil.disk_usage(folder).free < _NO_ROOM else None
    except OSError:
        return None


def _end_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - READ))
            return file.read().decode(errors="replace")
    except OSError:
        return ""


def _began(results_dir: Path) -> float:
    try:
        return (results_dir / LOCK).stat().st_mtime  # written when the run began, by the same clock as the logs
    except OSError:
        return 0.0


def _signal(results_dir: Path) -> str:
    """Return the signal that ended the run, from the mark in the results; None without a mark."""
    try:
        return (results_dir / STOP_MARK).read_text()
    except OSError:
        return ""


# The cause of a failure, read from the end of a log

MOST_LINES = 12
LAST = 5
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
    """Return the lines of a stage's log with the cause of its failure; none where the log has no cause.

    A cause is a message `error in STAGE: ...`, or the last line and the place of a traceback.
    """
    lines = _lines(text)
    ours = max((n for n, line in enumerate(lines) if _OURS.match(line)), default=-1)
    trace = max((n for n, line in enumerate(lines) if line == _TRACEBACK), default=-1)
    if trace > ours:
        return _short(_of_traceback(lines[trace + 1 :]))
    return _short([_OURS.sub("", lines[ours]), *lines[ours + 1 :]]) if ours >= 0 else []


def cause_in_cluster_log(text: str) -> list[str]:
    """Return the lines of a cluster's log of a job with the cause of its failure, or else its last ones."""
    if cause := cause_in(text):
        return cause
    lines = [line for line in _lines(text) if line.strip() and not _NOISE.match(line)]
    speaking = [line for line in lines if _CLUSTERS.search(line)] or [line for line in lines if _SPEAKING.search(line)]
    return _short(speaking[-3:] or lines[-3:])


def last_lines(text: str) -> list[str]:
    """Return the last lines of a log without a cause."""
    return _short([line for line in _lines(text) if line.strip()][-LAST:])


def _of_traceback(lines: list[str]) -> list[str]:
    end = next((n for n, line in enumerate(lines) if line and not line[0].isspace()), None)
    if end is None:
        return []
    place = [found for line in lines[:end] if (found := _PLACE.match(line))]
    shown = [*lines[end:]]
    if place:
        shown[0] += f" ({place[-1][1]}, line {place[-1][2]})"
    return shown


def _lines(text: str) -> list[str]:
    return [line.rstrip().rpartition("\r")[2] for line in text.split("\n")]  # bars of progress rewrite their line


def _short(lines: list[str]) -> list[str]:
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    kept = [line if len(line) <= WIDEST else f"{line[:WIDEST]} ..." for line in lines[:MOST_LINES]]
    return kept + ([f"... {len(lines) - MOST_LINES} more lines"] if len(lines) > MOST_LINES else [])
