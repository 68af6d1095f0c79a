"""The summary of a failed run: failed jobs, their causes and logs, and the command to resume.

Snakemake prints the whole command of a job that failed, settings included, and where `quiet: [rules]` stands it does
not say which job that was. A filter of its logger, in the process of the run and in those on a cluster's nodes,
remembers how commands ended and says instead which job failed and where its log is.
"""

from __future__ import annotations

import atexit
import difflib
import logging
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

from dialeval.errors import visible
from dialeval.jobs.run_progress import job_words
from dialeval.jobs.slurm import JobState, job_state
from dialeval.text import counted

IN_FULL = 3
IN_A_LINE = 10
_RED, _AS_BEFORE = "\033[31m", "\033[0m"
_FORCING = {"-F", "--forceall", "-f", "--force"}
_FORCING_SOME = {"-R", "--forcerun"}
_SIGNALS = {
    "signal 9": "it was killed (signal 9), by the system for lack of memory or by a user; for lack of memory run fewer "
    "jobs at once (--cores), or give it more",
    "signal 15": "it was asked to end (signal 15)",
    "signal 11": "it crashed (signal 11), which is a fault of a library or of the machine",
    "signal 7": "it crashed (signal 7); on a network disk that is most often one that went away or is full",
}
_STATES = {
    "TIMEOUT": "its time was over; give it more, in minutes: --set-resources {rule}:runtime=N",
    "DEADLINE": "its time was over; give it more, in minutes: --set-resources {rule}:runtime=N",
    "OUT_OF_MEMORY": "it needed more memory than it asked for; give it more: --set-resources {rule}:mem_mb=N",
    "NODE_FAIL": "its node failed; run the same command again, or leave the node out with --slurm-exclude-failed-nodes",
    "BOOT_FAIL": "its node did not start; run the same command again",
    "PREEMPTED": "it made room for a job of higher priority; run the same command again",
    "CANCELLED": "it was cancelled (scancel), by a user or by the cluster",
}


@dataclass(frozen=True)
class FailedJob:
    """A job that failed.

    Attributes:
        name: its rule, and what it was about.
        cause: why, in lines.
        logs: files that say more.
    """

    name: str
    cause: Sequence[str]
    logs: Sequence[Path]


def closing_words(
    failed: Sequence[FailedJob], command: Sequence[str], *, stopped: str = "", colour: bool = False
) -> str:
    """Returns the summary of a failed run, the causes at its end.

    Args:
        failed: the jobs that failed; the first causes are shown in full, equal causes once.
        command: the user's command, with the program's path.
        stopped: name of the signal that ended the run, such as SIGINT; empty if it ended by itself.
        colour: whether causes are red.
    """
    resume = f"To resume{' after fixing this' if failed and not stopped else ''}, run:\n  {command_to_resume(command)}"
    if stopped:
        by = {"SIGINT": "Ctrl-C (SIGINT)", "SIGTERM": "a request to end (SIGTERM)"}.get(stopped, stopped)
        return f"The run was stopped by {by}; what was answered or made so far is kept.\n\n{resume}"
    if not failed:
        return f"The run failed; see above.\n\n{resume}"
    groups: dict[tuple[str, ...], list[FailedJob]] = {}
    for job in failed:
        groups.setdefault(tuple(job.cause), []).append(job)
    distinct = list(groups.values())
    heading = "A job failed:" if len(failed) == 1 else f"{len(failed)} jobs failed:"
    rest = [_in_a_line(group) for group in distinct[IN_FULL : IN_FULL + IN_A_LINE]]
    if left := sum(map(len, distinct[IN_FULL + IN_A_LINE :])):
        rest.append(f"  and {left} more; their logs lie beside these")
    full = [_in_full(group, colour=colour) for group in reversed(distinct[:IN_FULL])]
    return "\n\n".join([resume, heading, *(["\n".join(rest)] if rest else []), *full])


def wants_colour(is_terminal: bool, environment: Mapping[str, str]) -> bool:
    """Returns whether output may be coloured: on a terminal with colours, unless NO_COLOR is set (https://no-color.org)."""
    return is_terminal and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


def command_to_resume(command: Sequence[str]) -> str:
    """Returns the user's command without the options that force jobs whose outputs exist.

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


def words_of_ending(how: str, *, known: bool) -> list[str]:
    """Returns how a command ended; nothing where a known cause says as much."""
    if how in _SIGNALS and not (known and how == "signal 15"):
        return [_SIGNALS[how]]
    return [] if known or not how else [f"it ended with {how}"]


def words_of_state(state: JobState, rule: str) -> list[str]:
    """Returns Slurm's state of a failed job with a remedy; nothing for other states."""
    where = f" on {state.nodes}" if state.nodes else ""
    said = f"Slurm job {state.number}{where}: {state.state}"
    helps = _STATES.get(state.state)
    if helps is None:
        return []
    return [f"{said}: {helps.format(rule=rule)}"]


def _in_full(group: Sequence[FailedJob], *, colour: bool) -> str:
    """Returns jobs with the same cause: the first by name and logs, how many others, and the cause."""
    first = group[0]
    lines = map(visible, first.cause)
    cause = [f"    {_RED}{line}{_AS_BEFORE}" if colour else f"    {line}" for line in lines]
    return "\n".join([f"  {_names(group)}", *(f"    log: {path}" for path in first.logs), *cause])


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


class Rule(Protocol):
    """The attributes of a rule that the summary shows."""

    name: str


class Job(Protocol):
    """The attributes of a job of Snakemake that the summary shows."""

    rule: Rule
    log: Sequence[str]
    output: Sequence[str]
    wildcards: Mapping[str, str]


def print_at_exit(failed: Iterable[object], notices: Notices, command: Sequence[str], results_dir: Path) -> None:
    """Prints the summary of a failed run when the process ends, behind all of Snakemake's output.

    Args:
        failed: Snakemake's failed jobs and groups of jobs.
        notices: what Snakemake's log says about them.
        command: the user's command.
        results_dir: the folder of the run's lock and signal.
    """
    groups = [list(getattr(one, "jobs", [one])) for one in failed]
    found = [job for group in groups for job in failed_in(group, notices, _began(results_dir))]
    jobs = sorted(found, key=lambda job: job.name)
    colour = wants_colour(sys.stderr.isatty(), os.environ)
    words = closing_words(jobs, command, stopped=_signal(results_dir), colour=colour)
    atexit.register(partial(print, f"\n{words}", file=sys.stderr, flush=True))


def failed_in(group: Sequence[Job], notices: Notices, began: float) -> list[FailedJob]:
    """Returns the failed jobs of a group of jobs, with causes and logs.

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
    return [_failed_job(job, notices, notice, named, state, cluster_text, began) for job in blamed]


def _unfinished(group: Sequence[Job], began: float) -> list[Job]:
    """Returns the jobs of a group whose logs have a cause, or else those that began and made nothing, or else all."""
    blamed = [job for job in group if cause_in(_log_of(job, began))]
    return blamed or [job for job in group if _log_of(job, began) and not _made(job)] or list(group)


def _failed_job(
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
        cause = [f"the disk of {_shown(full)} is full, and its log could not be written; make room there"]
    if not cause and (missing := [one for one in notices.not_there if any(path in one for path in job.output)]):
        paths = [path for path in job.output if path in missing[-1]]
        cause = [f"it ended without an error, but {', '.join(paths)} was missing after --latency-wait"]
    cause += words_of_ending(how, known=bool(cause)) + (words_of_state(state, job.rule.name) if state else [])
    if not cause_in(text) and cluster:
        cause += cause_in_cluster_log(cluster)
    if not cause and notice.words:
        cause = notice.words.splitlines()[:3]
    if not cause:
        cause = ["its log ends with:", *last_lines(text)] if text else ["the cause is unknown"]
        if notice.cluster_job and not state:
            cause.append(f"Slurm job {notice.cluster_job}: Slurm does not answer, or no longer knows it")
    logs = [_shown(log)] if log and text else []
    return FailedJob(
        job_words(job.rule.name, job.wildcards),
        cause,
        [*logs, *([_shown(Path(notice.cluster_log))] if cluster else [])],
    )


def _shown(path: Path) -> Path:
    """Returns a path relative to the folder that the command was typed in, which --directory may differ from."""
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


# The cause of a failure, read from the end of a log

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
    """Returns the lines of a stage's log with the cause of its failure; none where the log has no cause.

    A cause is a message `error in STAGE: ...`, or the last line and the place of a traceback.
    """
    lines = _lines(text)
    ours = max((n for n, line in enumerate(lines) if _OURS.match(line)), default=-1)
    trace = max((n for n, line in enumerate(lines) if line == _TRACEBACK), default=-1)
    if trace > ours:
        return _short(_of_traceback(lines[trace + 1 :]))
    return _short([_OURS.sub("", lines[ours]), *lines[ours + 1 :]]) if ours >= 0 else []


def cause_in_cluster_log(text: str) -> list[str]:
    """Returns the lines of a cluster's log of a job with the cause of its failure, or else its last ones."""
    if cause := cause_in(text):
        return cause
    lines = [line for line in _lines(text) if line.strip() and not _NOISE.match(line)]
    speaking = [line for line in lines if _CLUSTERS.search(line)] or [line for line in lines if _SPEAKING.search(line)]
    return _short(speaking[-3:] or lines[-3:])


def last_lines(text: str) -> list[str]:
    """Returns the last lines of a log without a cause."""
    return _short([line for line in _lines(text) if line.strip()][-2:])


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
    return [line.rpartition("\r")[2].rstrip() for line in text.splitlines()]


def _short(lines: list[str]) -> list[str]:
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    kept = [line if len(line) <= WIDEST else f"{line[:WIDEST]} ..." for line in lines[:MOST_LINES]]
    return kept + ([f"... {len(lines) - MOST_LINES} more lines"] if len(lines) > MOST_LINES else [])


# Failed jobs in Snakemake's log

_LOGGER = "snakemake.logging"
_COMMAND = re.compile(
    r"Command '(?P<command>.*)' (?:returned non-zero exit status (\d+)|died with <Signals\.\w+: (\d+)>)", re.S
)
_RULE = re.compile(r"(?:RuleException:\s*)?CalledProcessError in file ")
_OF_OURS = re.compile(r'^(?:\w+(?:Error|Exception)) in file "[^"]*", line \d+:\n(.*?)(?:\n  File "[^\n]*)*$', re.S)
_STOPPED = ("signal 2", "exit status 130")
"""How jobs end that the user stops; they are not reported."""
_UNKNOWN = re.compile(r"MissingRuleException:\nNo rule to produce (?P<target>.+) \(if you use input functions", re.S)
_PROTECTED = "ProtectedOutputException"
_NOT_OURS = (
    "These files cannot be replaced: they are write-protected, or another user's. Take them back (chmod, chown), or "
    "choose a results_dir of your own; the store may stay the same, if you may write there."
)
_BUILDING = "Building DAG of jobs"
_NOTHING = "Nothing to be done"
_OUT_OF_JOBS = "BUG: Out of jobs"
_UNTIL = ("--until", "-U")
_LINE = re.compile(r"^(?P<rule>\w+) failed \((?P<how>.+?)\), its log: (?P<log>.+)$", re.M)


@dataclass(frozen=True)
class Notice:
    """How a job ended, as far as Snakemake knows.

    Attributes:
        how: exit status or signal in words; empty where only a cluster knows.
        cluster_job: the number that a cluster gave the job; empty for one that ran here.
        cluster_log: the file that the cluster wrote for it; empty for one that ran here.
        words: what the scheduler said.
    """

    how: str = ""
    cluster_job: str = ""
    cluster_log: str = ""
    words: str = ""


@dataclass
class Notices(logging.Filter):
    """Remembers what Snakemake logs about failed jobs, and shortens its messages.

    Args:
        commands_shown: whether the user asked to see commands; then nothing is shortened.
    """

    commands_shown: bool = False
    of_logs: dict[str, Notice] = field(default_factory=dict)
    """By the log of the job."""
    not_there: list[str] = field(default_factory=list)
    """What Snakemake said about files that a job did not make."""
    when_nothing_to_do: Callable[[], object] | None = None
    """Called where a run finds everything made, and so ends without any of Snakemake's hooks."""
    when_jobs_are_sought: Callable[[], object] | None = None
    """Called when Snakemake begins to find out which jobs run; its hooks come later."""
    targets: Callable[[], Iterable[str]] = tuple
    """Gives the names that can stand behind `snakemake`."""
    _ended: dict[str, str] = field(default_factory=dict)
    _plain: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def attach(self) -> Notices:
        """Begins to look at the records of Snakemake's logger."""
        logger = logging.getLogger(_LOGGER)
        for earlier in [one for one in logger.filters if isinstance(one, Notices)]:
            logger.removeFilter(earlier)
        logger.addFilter(self)
        return self

    def shown_alone(self, message: str) -> str:
        """Returns a message that is shown without the place in the workflow's files that refused to go on."""
        self._plain.add(message)
        return message

    def filter(self, record: logging.LogRecord) -> bool:
        """Takes note of a record; returns whether it is shown."""
        event = getattr(getattr(record, "event", None), "value", None)
        text = str(record.msg)
        if text.startswith(_BUILDING) and self.when_jobs_are_sought:
            self.when_jobs_are_sought()
        if text.startswith(_NOTHING) and self.when_nothing_to_do:
            self.when_nothing_to_do()
        if text.startswith(_OUT_OF_JOBS) and any(word.partition("=")[0] in _UNTIL for word in sys.argv):
            record.msg = (
                "Snakemake goes no further than each rule that --until names, and so never comes to one of them that "
                "follows from another: name the last of them alone. What else was asked for is made."
            )
        if event == "job_error":
            self._job_failed(record)
        elif event == "group_error":
            for job in record.job_error_info:  # type: ignore[attr-defined]
                self._remember(job["log"], Notice(**self._of_cluster(record, record.aux_logs)))  # type: ignore[attr-defined]
        elif event == "error":
            command = _COMMAND.search(text) if _RULE.search(text) else None
            if command and not self.commands_shown:
                self._ended[command["command"]] = how_it_ended(int(command[2] or -int(command[3])))
                return False
            if "Exception" in text and "output files are missing" in text:
                self.not_there.append(text)
            if text.startswith(_PROTECTED):
                record.msg = f"{text}\n{_NOT_OURS}"
            if unknown := _UNKNOWN.match(text):
                record.msg = unknown_target(unknown["target"], sorted(self.targets()))
            ours = _OF_OURS.match(text)
            if ours and ours[1] in self._plain:
                record.msg = ours[1]
        return True

    def _job_failed(self, record: logging.LogRecord) -> None:
        logs: Sequence[str] = record.log  # type: ignore[attr-defined]
        command = record.shellcmd or ""  # type: ignore[attr-defined]
        how = next((how for known, how in self._ended.items() if command and command in known), "")
        notice = Notice(how, **self._of_cluster(record, logs[1:]), words=record.rule_msg or "")  # type: ignore[attr-defined]
        self._remember(logs[:1], notice)
        if not self.commands_shown:
            record.shellcmd = None
        if logs and how and how not in _STOPPED:
            rule = record.rule_name  # type: ignore[attr-defined]
            logging.getLogger(_LOGGER).error(f"{rule} failed ({how}), its log: {logs[0]}")

    def _of_cluster(self, record: logging.LogRecord, logs: Sequence[str]) -> dict[str, str]:
        aux = getattr(record, "aux", None) or {}
        number = aux.get("external_jobid") or getattr(record, "external_jobid", "")
        return {"cluster_job": str(number or ""), "cluster_log": next((log for log in logs if log), "")}

    def _remember(self, logs: Sequence[str], notice: Notice) -> None:
        for log in logs[:1]:
            self.of_logs.setdefault(log, notice)


def how_it_ended(status: int) -> str:
    """Returns an exit status in words; those of a shell whose command a signal ended name the signal.

    Args:
        status: an exit status, or a signal's number below zero.
    """
    signal = -status if status < 0 else status - 128 if status > 128 else 0
    return f"signal {signal}" if signal else f"exit status {status}"


def unknown_target(target: str, known: Sequence[str]) -> str:
    """Returns what is said of a target that nothing makes.

    Args:
        target: what the user typed.
        known: the targets that there are.
    """
    close = difflib.get_close_matches(target, known, n=1)
    meant = f"; did you mean '{close[0]}'?" if close else ""
    listed = f"\nTargets: {', '.join(known)}" if known else ""
    return (
        f"nothing in this configuration makes '{target}'{meant}{listed}\n"
        "Or name a file that a run makes; `snakemake --dry-run` lists what would be made."
    )


def failed_of(text: str) -> dict[str, str]:
    """Returns how jobs ended that the log of a group names, by the log of each."""
    return {found["log"]: found["how"] for found in _LINE.finditer(text)}
