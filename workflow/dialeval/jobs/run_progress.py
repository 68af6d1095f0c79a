"""Snakemake's log of a run: lines on the run's progress and its jobs, and notices of failed jobs.

In place of the messages that the default profile hides, a filter of Snakemake's logger prints the rule, model, protocol
and shard of each job that begins or ends, its requests, and how much of all requests is answered; that once more every
half minute, as a job may send requests for hours. A second filter records how failed jobs ended, for `failure_summary`.
"""

from __future__ import annotations

import difflib
import logging
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.parquet as pq

from dialeval.jobs.process_setup import write_complete_lines
from dialeval.jobs.progress import SoFar, job_name, read_job

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
class ModelJob:
    """A job of this run that sends requests to models.

    Attributes:
        name: as its progress files are called.
        requests: files of what was planned for it; none where it plans for itself.
        shards: how many jobs share these files.
    """

    name: str
    requests: tuple[Path, ...]
    shards: int = 1


@dataclass(frozen=True)
class RunProgress:
    """How far a run is.

    Attributes:
        done: requests that are answered, found in the store, or failed.
        total: of all jobs of which that is known.
        asked, stored, failed: of those done.
        unknown: jobs whose number of requests is not known yet.
        n_running: jobs that are at it.
    """

    done: int
    total: int
    asked: int
    stored: int
    failed: int
    unknown: int
    n_running: int

    def in_words(self) -> str:
        """Returns the progress in a line; empty without requests."""
        words = []
        if self.total:
            failed = f", {self.failed:,} of them failed" if self.failed else ""
            share = _share(self.done, self.total)
            words.append(f"{self.done:,} of {self.total:,} requests answered ({share}){failed}")
        if self.unknown:
            jobs = "1 job that asks has" if self.unknown == 1 else f"{self.unknown:,} jobs that ask have"
            words.append(f"{jobs} not said yet how much")
        return "; ".join(words)


@dataclass
class Requests:
    """The requests of a run, as far as they are planned; plans are counted once, when they exist.

    Args:
        results_dir: where jobs leave word of how far they are.
        jobs: those of the run that ask models.
    """

    results_dir: Path
    jobs: Sequence[ModelJob]
    ended: set[str] = field(default_factory=set)
    """Names of finished jobs, which are read once more; one with restored outputs has sent no request."""
    begun: set[str] | None = None
    """Names of jobs that began; the files of others are not read, as the disk may be slow. None: all are read."""
    _final: dict[str, list[SoFar]] = field(default_factory=dict)
    _planned: dict[tuple[Path, int], int] = field(default_factory=dict)

    def so_far(self) -> RunProgress:
        """Returns how far the run is now."""
        counts = {job.name: self._counts_of(job.name) for job in self.jobs}
        done = total = unknown = n_running = 0
        counted = [one for own in counts.values() for one in own]
        for job in self.jobs:
            own = counts[job.name]
            n_running += any(one.state == "running" for one in own)
            done += sum(one.done for one in own)
            expected = self._expected(job, own)
            total += expected or 0
            unknown += expected is None
        asked, stored, failed = (sum(getattr(one, name) for one in counted) for name in ("asked", "stored", "failed"))
        return RunProgress(done, max(total, done), asked, stored, failed, unknown, n_running)

    def _counts_of(self, name: str) -> list[SoFar]:
        if name in self._final:
            return self._final[name]
        has_ended = name in self.ended  # before its files are read
        if not has_ended and self.begun is not None and name not in self.begun:
            return []
        counts = read_job(self.results_dir, name)
        if has_ended:
            self._final[name] = counts
        return counts

    def _expected(self, job: ModelJob, counts: Sequence[SoFar]) -> int | None:
        """Returns the number of a job's requests: sent ones if it is done, its total if it runs, else planned ones."""
        if job.name in self.ended:
            return sum(one.done for one in counts)
        if counts and all(one.state == "done" or one.total is not None for one in counts):
            return sum(one.done if one.state == "done" else one.total or 0 for one in counts)
        if not job.requests:
            return None
        planned = [self._rows(path) for path in job.requests]
        known = [rows for rows in planned if rows is not None]
        return -(-sum(known) // job.shards) if len(known) == len(planned) else None

    def _rows(self, path: Path) -> int | None:
        try:
            version = path, path.stat().st_mtime_ns
            if version not in self._planned:
                self._planned[version] = pq.read_metadata(path).num_rows
        except (OSError, ValueError):  # not planned yet
            return None
        return self._planned[version]


def _share(done: int, total: int) -> str:
    """Returns a share that is 100 % only when all is done."""
    return "100%" if done >= total else f"{min(100 * done / total, 99.9):.{0 if done < 0.99 * total else 1}f}%"


# Lines about jobs in a run's log

_CHOOSING = "Select jobs to execute..."
SECONDS = 30.0
"""Seconds between two lines on the run's progress."""


@dataclass
class _StartedJob:
    words: str
    log: str
    at: float


@dataclass
class JobLines(logging.Filter):
    """Prints a line for each job that begins or ends, in place of Snakemake's.

    Args:
        requests: what the run asks in all.
        here: whether jobs run here, and not on a cluster to which they are sent.
    """

    requests: Requests
    here: bool = True
    _begun: dict[int, _StartedJob] = field(default_factory=dict)
    _ended: list[str] = field(default_factory=list)
    _over: threading.Event = field(default_factory=threading.Event)
    _printed: str = ""

    def __post_init__(self) -> None:
        super().__init__()

    def attach(self) -> JobLines:
        """Begins to speak in place of Snakemake."""
        self.requests.begun = set()
        write_complete_lines()
        logging.getLogger(_LOGGER).addFilter(self)
        threading.Thread(target=self._print_progress, name="requests so far", daemon=True).start()
        return self

    def detach(self) -> None:
        """Leaves Snakemake its words again."""
        self._over.set()
        logging.getLogger(_LOGGER).removeFilter(self)

    def filter(self, record: logging.LogRecord) -> bool:
        """Takes note of a record, and changes what is shown of it; returns whether it is shown."""
        event = getattr(getattr(record, "event", None), "value", None)
        if event == "job_started" or record.msg == _CHOOSING:
            return False
        if event == "job_info":
            return self._job_started(record)
        if event == "job_finished":
            self._job_finished(record.job_id)  # type: ignore[attr-defined]
            return False
        if event == "progress":
            if not self._ended:
                return False
            record.msg = self._progress_line(record.done, record.total)  # type: ignore[attr-defined]
            record.event = None
        return True

    def _job_started(self, record: logging.LogRecord) -> bool:
        """Turns Snakemake's record of a job that begins into a line; targets have none."""
        logs: Sequence[str] = record.log  # type: ignore[attr-defined]
        if not logs:
            return False
        words = job_words(record.rule_name, record.wildcards)  # type: ignore[attr-defined]
        self._begun[record.jobid] = _StartedJob(words, logs[0], time.monotonic())  # type: ignore[attr-defined]
        if self.requests.begun is not None:
            self.requests.begun.add(job_name(self.requests.results_dir, Path(logs[0])))
        is_here = self.here or record.local  # type: ignore[attr-defined]
        record.msg, record.event = f"{words}: {'begins' if is_here else 'sent to the cluster'}", None
        return True

    def _job_finished(self, number: int) -> None:
        job = self._begun.pop(number, None)
        if job is None:
            return
        name = job_name(self.requests.results_dir, Path(job.log))
        self.requests.ended.add(name)
        counts = read_job(self.requests.results_dir, name)
        lines = [
            f"{one.asked:,} asked, {one.stored:,} from the store" + (f", {one.failed:,} failed" if one.failed else "")
            for one in counts
        ]
        self._ended.append("; ".join([f"{job.words}: done in {duration(time.monotonic() - job.at)}", *lines]))

    def _progress_line(self, done: int, total: int) -> str:
        words, self._ended = "\n".join(self._ended), []
        progress = self.requests.so_far().in_words()
        news, self._printed = ("" if progress == self._printed else f"; {progress}"), progress
        return f"{words} ({done:,} of {total:,} jobs{news})"

    def _print_progress(self) -> None:
        while not self._over.wait(SECONDS):
            progress = self.requests.so_far()
            words = progress.in_words()
            if progress.n_running and words != self._printed:
                self._printed = words
                logging.getLogger(_LOGGER).info(f"so far {words}")


def job_words(rule: str, wildcards: Mapping[str, str]) -> str:
    """Returns a job's name in a line: its rule, its wildcards, and its shard where there are several."""
    about = {name: str(value) for name, value in wildcards.items()}
    shard, shards = about.pop("shard", None), about.pop("shards", "1")
    words = [*about.values(), *([f"shard {shard} of {shards}"] if shard and shards != "1" else [])]
    return f"{rule} ({', '.join(words)})" if words else rule


def duration(seconds: float) -> str:
    """Returns a duration in words."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


@dataclass(frozen=True)
class Notice:
    """How a job ended, as far as Snakemake knows.

    Attributes:
        how: exit status or signal in words; empty if only the cluster has it.
        cluster_job: the number that a cluster gave the job; empty for one that ran here.
        cluster_log: the file that the cluster wrote for it; empty for one that ran here.
        words: the scheduler's message.
    """

    how: str = ""
    cluster_job: str = ""
    cluster_log: str = ""
    words: str = ""


@dataclass
class Notices(logging.Filter):
    """Remembers what Snakemake logs about failed jobs, and shortens its messages.

    Args:
        commands_shown: whether the user wants to see commands; then messages are not shortened.
    """

    commands_shown: bool = False
    of_logs: dict[str, Notice] = field(default_factory=dict)
    """By the log of the job."""
    missing_outputs: list[str] = field(default_factory=list)
    """Snakemake's messages about outputs that a job did not make."""
    on_nothing_to_do: Callable[[], object] | None = None
    """Called where all outputs are up to date, and the run ends without any of Snakemake's hooks."""
    on_planning: Callable[[], object] | None = None
    """Called when Snakemake begins to find out which jobs run; its hooks come later."""
    targets: Callable[[], Iterable[str]] = tuple
    """Returns the names of targets."""
    _ended: dict[str, str] = field(default_factory=dict)
    _plain: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def attach(self) -> Notices:
        """Adds the filter to Snakemake's logger."""
        logger = logging.getLogger(_LOGGER)
        for earlier in [one for one in logger.filters if isinstance(one, Notices)]:
            logger.removeFilter(earlier)
        logger.addFilter(self)
        return self

    def without_location(self, message: str) -> str:
        """Returns a message that is shown without the place in the workflow's files that refused to go on."""
        self._plain.add(message)
        return message

    def filter(self, record: logging.LogRecord) -> bool:
        """Takes note of a record; returns whether it is shown."""
        event = getattr(getattr(record, "event", None), "value", None)
        text = str(record.msg)
        if text.startswith(_BUILDING) and self.on_planning:
            self.on_planning()
        if text.startswith(_NOTHING) and self.on_nothing_to_do:
            self.on_nothing_to_do()
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
                self._ended[command["command"]] = exit_words(int(command[2] or -int(command[3])))
                return False
            if "Exception" in text and "output files are missing" in text:
                self.missing_outputs.append(text)
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


def exit_words(status: int) -> str:
    """Returns an exit status in words; those of a shell whose command a signal ended name the signal.

    Args:
        status: an exit status, or a signal's number below zero.
    """
    signal = -status if status < 0 else status - 128 if status > 128 else 0
    return f"signal {signal}" if signal else f"exit status {status}"


def unknown_target(target: str, known: Sequence[str]) -> str:
    """Returns the message about an unknown target.

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
