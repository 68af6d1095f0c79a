"""Failed jobs as Snakemake knows them, with what their logs say, told when the process of the run ends."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from dialeval.cluster.slurm import JobState, job_state
from dialeval.last_words.causes import READ, cause_in, cause_in_cluster_log, last_lines
from dialeval.last_words.notices import Notice, Notices, failed_of
from dialeval.last_words.told import FailedJob, closing_words, wants_colour, words_of_ending, words_of_state
from dialeval.progress.job_lines import job_words

_NO_ROOM = 64 * 1024
"""Bytes, fewer than which a disk is full."""


class Rule(Protocol):
    """A rule, as far as it is told."""

    name: str


class Job(Protocol):
    """A job of Snakemake's, as far as it is told."""

    rule: Rule
    log: Sequence[str]
    output: Sequence[str]
    wildcards: Mapping[str, str]


def say_at_exit(failed: Iterable[object], notices: Notices, command: Sequence[str], results_dir: Path) -> None:
    """Has the last words of a run printed behind everything that Snakemake says.

    Args:
        failed: Snakemake's failed jobs and groups of jobs.
        notices: what its records said about them.
        command: what the user typed.
        results_dir: where the run leaves its marks.
    """
    groups = [list(getattr(one, "jobs", [one])) for one in failed]
    found = [job for group in groups for job in failed_in(group, notices, _began(results_dir))]
    told = sorted(found, key=lambda job: job.name)
    colour = wants_colour(sys.stderr.isatty(), os.environ)
    words = closing_words(told, command, stopped=_signal(results_dir), colour=colour)
    atexit.register(partial(print, f"\n{words}", file=sys.stderr, flush=True))


def failed_in(group: Sequence[Job], notices: Notices, began: float) -> list[FailedJob]:
    """Returns what is told about a job, or about those of a group that failed.

    Args:
        group: jobs that ran as one.
        notices: what Snakemake's records said about them.
        began: time of the run's begin on the clock of the results' file system; older logs are of earlier runs.
    """
    notice = next((notices.of_logs[log] for job in group for log in job.log if log in notices.of_logs), Notice())
    state = job_state(notice.cluster_job) if notice.cluster_job else None
    cluster_text = _end_of(Path(notice.cluster_log)) if notice.cluster_log else ""
    named = failed_of(cluster_text)
    blamed = [job for job in group if job.log and job.log[0] in named] or _unfinished(group, began)
    return [_told(job, notices, notice, named, state, cluster_text, began) for job in blamed]


def _unfinished(group: Sequence[Job], began: float) -> list[Job]:
    """Returns the jobs of a group that say that they failed, or else those that began and made nothing, or else all."""
    told = [job for job in group if cause_in(_log_of(job, began))]
    return told or [job for job in group if _log_of(job, began) and not _made(job)] or list(group)


def _told(
    job: Job,
    notices: Notices,
    notice: Notice,
    named: dict[str, str],
    state: JobState | None,
    cluster: str,
    began: float,
) -> FailedJob:
    log = Path(job.log[0]) if job.log else None
    text = _log_of(job, began)
    how = named.get(str(log), notice.how)
    cause = cause_in(text)
    if not cause and not text and log and (full := _full_disk_of(log)):
        cause = [f"the disk of {_shown(full)} is full, so that not even its log could be written; make room there"]
    if not cause and (missing := [one for one in notices.not_there if any(path in one for path in job.output)]):
        paths = [path for path in job.output if path in missing[-1]]
        cause = [f"it ended well, and yet {', '.join(paths)} was not there after --latency-wait"]
    cause += words_of_ending(how, told=bool(cause)) + (words_of_state(state, job.rule.name) if state else [])
    if not cause_in(text) and cluster:
        cause += cause_in_cluster_log(cluster)
    if not cause and notice.words:
        cause = notice.words.splitlines()[:3]
    if not cause:
        cause = ["its log ends with:", *last_lines(text)] if text else ["nothing is known about the cause"]
        if notice.cluster_job and not state:
            cause.append(f"Slurm job {notice.cluster_job}: Slurm does not answer, or has forgotten it")
    logs = [_shown(log)] if log and text else []
    return FailedJob(
        job_words(job.rule.name, job.wildcards),
        cause,
        [*logs, *([_shown(Path(notice.cluster_log))] if cluster else [])],
    )


def _shown(path: Path) -> Path:
    """Returns a path as the user can type it, who with --directory is in another folder than the run."""
    typed_in, full = Path(os.environ.get("PWD", ".")).absolute(), path.absolute()
    return full.relative_to(typed_in) if full.is_relative_to(typed_in) else full


def _made(job: Job) -> bool:
    return all(Path(path).exists() for path in job.output)


def _log_of(job: Job, began: float) -> str:
    """Returns the end of a job's log if it is of this run."""
    path = Path(job.log[0]) if job.log else None
    try:
        return _end_of(path) if path and path.stat().st_mtime >= began else ""
    except OSError:
        return ""


def _full_disk_of(log: Path) -> Path | None:
    """Returns the folder nearest to a log that is there, if its disk has no room; else None."""
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
        return (results_dir / ".run.lock").stat().st_mtime  # written when the run began, by the same clock as the logs
    except OSError:
        return 0.0


def _signal(results_dir: Path) -> str:
    """Returns the signal that ended the run, as its mark tells jobs; nothing where it ended by itself."""
    try:
        return (results_dir / ".run.stop").read_text()
    except OSError:
        return ""
