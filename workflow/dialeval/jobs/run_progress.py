"""The log of a run: its progress in place of Snakemake's lines on jobs, and how jobs ended.

Under `quiet: [rules]`, as the default profile has it, Snakemake writes that a job began and the number of a job that
ended. A filter of its logger writes instead the rule, model, protocol and shard, the share of the run that is done, and
a line for each model that answers; the last two also every half minute, as a job may make requests for hours.

Snakemake prints the whole command of a failed job, settings included. The filter writes the rule, the exit status and
the log instead, here and in the processes of jobs on a cluster's nodes, and keeps them for the failure summary. It is
a filter and no logger plugin: Snakemake loads no plugin on nodes, nor where another workflow uses this one as a module.
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
from textwrap import dedent

from dialeval.jobs.process_setup import write_complete_lines
from dialeval.jobs.progress import Requests, duration, job_name

SECONDS = 30.0
"""Between two lines on the whole run while no other line is printed."""
_LOGGER = "snakemake.logging"
_CHOOSING = "Select jobs to execute..."
_BUILDING = "Building DAG of jobs"
_NOTHING = "Nothing to be done"
_OUT_OF_JOBS = "BUG: Out of jobs"
_UNTIL = ("--until", "-U")
_COMMAND = re.compile(
    r"Command '(?P<command>.*)' (?:returned non-zero exit status (\d+)|died with <Signals\.\w+: (\d+)>)", re.S
)
_RULE = re.compile(r"(?:RuleException:\s*)?CalledProcessError in file ")
_OF_OURS = re.compile(r'^(?:\w+(?:Error|Exception)) in file "[^"]*", line \d+:\n(.*?)(?:\n  File "[^\n]*)*$', re.S)
_OF_OUR_INPUT = re.compile(r"^InputFunctionException in .*?\n  WorkflowError:\n(.*?)\nWildcards:", re.S)
"""The same words where a rule's input refused them."""
_STOPPED = ("signal 2", "exit status 130")
"""How jobs end that the user stops; they are not reported."""
_UNKNOWN = re.compile(r"MissingRuleException:\nNo rule to produce (?P<target>.+) \(if you use input functions", re.S)
_PROTECTED = "ProtectedOutputException"
_NOT_OURS = (
    "These files cannot be replaced: they are write-protected, or belong to another user. Change their permissions "
    "or owner (chmod, chown), or set another results_dir; the store can stay the same if you can write there."
)
_FAILED = re.compile(r"^(?P<rule>\w+) failed \((?P<how>.+?)\), its log: (?P<log>.+)$", re.M)


@dataclass(frozen=True)
class Ending:
    """How a job ended, from Snakemake's records.

    Attributes:
        how: exit status or signal in words; empty where only a cluster knows.
        cluster_job: the number that a cluster gave the job; empty for one that ran here.
        cluster_log: the file that the cluster wrote for it; empty for one that ran here.
        words: the message of the scheduler.
    """

    how: str = ""
    cluster_job: str = ""
    cluster_log: str = ""
    words: str = ""


@dataclass
class RunLog(logging.Filter):
    """A filter of Snakemake's log that writes the progress and remembers how jobs ended.

    Args:
        commands_shown: whether the user chose to see commands; then nothing is shortened.
    """

    commands_shown: bool = False
    endings: dict[str, Ending] = field(default_factory=dict)
    """How jobs failed, by the log of the job."""
    missing_outputs: list[str] = field(default_factory=list)
    """Snakemake's messages on outputs that a job did not write."""
    on_nothing_to_do: Callable[[], object] | None = None
    """Called where all outputs are up to date, and so none of Snakemake's hooks runs."""
    on_planning: Callable[[], object] | None = None
    """Called when Snakemake begins to find out which jobs run; its hooks come later."""
    targets: Callable[[], Iterable[str]] = tuple
    """Return the names that can stand behind `snakemake`."""
    progress: ProgressLines | None = None
    """Lines on jobs; None leaves Snakemake its own."""
    _statuses: dict[str, str] = field(default_factory=dict)
    _refusals: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def attach(self) -> RunLog:
        """Begin to filter the records of Snakemake's logger."""
        logger = logging.getLogger(_LOGGER)
        for earlier in [one for one in logger.filters if isinstance(one, RunLog)]:
            logger.removeFilter(earlier)
        logger.addFilter(self)
        return self

    def without_location(self, message: str) -> str:
        """Return a message that is shown without the place in the workflow's files that refused to go on."""
        self._refusals.add(message)
        return message

    def filter(self, record: logging.LogRecord) -> bool:
        """Take note of a record, and change its text; return whether it is shown."""
        event = getattr(getattr(record, "event", None), "value", None)
        if event == "job_error":
            self._job_failed(record)
        elif event == "group_error":
            for job in record.job_error_info:  # type: ignore[attr-defined]
                self._remember(job["log"], Ending(**_of_cluster(record, record.aux_logs)))  # type: ignore[attr-defined]
        elif event == "error":
            return self._is_shown_of_error(record)
        elif self.progress and (event or record.msg == _CHOOSING):
            return self.progress.filter(record, event)
        elif event is None:
            self._plain(record)
        return True

    def _plain(self, record: logging.LogRecord) -> None:
        text = str(record.msg)
        if text.startswith(_BUILDING) and self.on_planning:
            self.on_planning()
        if text.startswith(_NOTHING) and self.on_nothing_to_do:
            self.on_nothing_to_do()
        if text.startswith(_OUT_OF_JOBS) and any(word.partition("=")[0] in _UNTIL for word in sys.argv):
            record.msg = (
                "Snakemake stops at each rule under --until, and does not run a rule there that depends on another "
                "one: name only the last rule. All other requested files exist."
            )

    def _is_shown_of_error(self, record: logging.LogRecord) -> bool:
        text = str(record.msg)
        command = _COMMAND.search(text) if _RULE.search(text) else None
        if command and not self.commands_shown:
            self._statuses[command["command"]] = exit_words(int(command[2] or -int(command[3])))
            return False
        if "Exception" in text and "output files are missing" in text:
            self.missing_outputs.append(text)
        if text.startswith(_PROTECTED):
            record.msg = f"{text}\n{_NOT_OURS}"
        if unknown := _UNKNOWN.match(text):
            record.msg = unknown_target(unknown["target"], sorted(self.targets()))
        for ours in (_OF_OURS.match(text), _OF_OUR_INPUT.match(text)):
            if ours and (words := dedent(ours[1]).strip()) in self._refusals:
                record.msg = words
        return True

    def _job_failed(self, record: logging.LogRecord) -> None:
        logs: Sequence[str] = record.log  # type: ignore[attr-defined]
        command = record.shellcmd or ""  # type: ignore[attr-defined]
        how = next((how for known, how in self._statuses.items() if command and command in known), "")
        ending = Ending(how, **_of_cluster(record, logs[1:]), words=record.rule_msg or "")  # type: ignore[attr-defined]
        self._remember(logs[:1], ending)
        if not self.commands_shown:
            record.shellcmd = None
        if logs and how and how not in _STOPPED:
            rule = record.rule_name  # type: ignore[attr-defined]
            logging.getLogger(_LOGGER).error(f"{rule} failed ({how}), its log: {logs[0]}")

    def _remember(self, logs: Sequence[str], ending: Ending) -> None:
        for log in logs[:1]:
            self.endings.setdefault(log, ending)


def _of_cluster(record: logging.LogRecord, logs: Sequence[str]) -> dict[str, str]:
    aux = getattr(record, "aux", None) or {}
    number = aux.get("external_jobid") or getattr(record, "external_jobid", "")
    return {"cluster_job": str(number or ""), "cluster_log": next((log for log in logs if log), "")}


def exit_words(status: int) -> str:
    """Return an exit status in words; those of a shell whose command a signal ended name the signal.

    Args:
        status: an exit status, or a signal's number below zero.
    """
    signal = -status if status < 0 else status - 128 if status > 128 else 0
    return f"signal {signal}" if signal else f"exit status {status}"


def unknown_target(target: str, known: Sequence[str]) -> str:
    """Return the message on a target that nothing makes.

    Args:
        target: what the user typed.
        known: the targets that there are.
    """
    close = difflib.get_close_matches(target, known, n=1)
    meant = f"; did you mean '{close[0]}'?" if close else ""
    listed = f"\nTargets: {', '.join(known)}" if known else ""
    return (
        f"no rule of this configuration makes '{target}'{meant}{listed}\n"
        "Or name an output file of a run; `snakemake --dry-run` lists them."
    )


def endings_in(text: str) -> dict[str, str]:
    """Return how jobs ended that the log of a group names, by the log of each."""
    return {found["log"]: found["how"] for found in _FAILED.finditer(text)}


# Lines on jobs and on the whole run


@dataclass(frozen=True)
class _Begun:
    words: str
    log: str
    at: float


@dataclass
class ProgressLines:
    """Lines on jobs, on the share of the run that is done, and on each model that answers.

    The share counts each job once, and a job under way by its share of requests done. The number of jobs is known from
    the start, the number of requests only when all are planned: a share of the known requests would fall.

    Args:
        requests: the requests of the run.
        total: number of jobs of the run.
        here: whether jobs run here, and not on a cluster to which they are sent.
    """

    requests: Requests
    total: int
    here: bool = True
    done: int = 0
    _share: float = 0.0
    _begun: dict[int, _Begun] = field(default_factory=dict)
    _ended: list[str] = field(default_factory=list)
    _over: threading.Event = field(default_factory=threading.Event)
    _printed: dict[str, str] = field(default_factory=dict)

    def start(self) -> ProgressLines:
        """Begin to write the progress every half minute."""
        self.requests.begun = set()
        write_complete_lines()
        threading.Thread(target=self._print_progress, name="progress", daemon=True).start()
        return self

    def stop(self) -> None:
        """Write no more lines."""
        self._over.set()

    def filter(self, record: logging.LogRecord, event: str | None) -> bool:
        """Turn Snakemake's record on jobs into lines; return whether it is shown."""
        if event == "job_info":
            return self._begins(record)
        if event == "job_finished":
            self._ends(record.job_id)  # type: ignore[attr-defined]
            return False
        if event == "progress":
            self.done, self.total = record.done, record.total  # type: ignore[attr-defined]
            record.msg, record.event = "\n".join([*self._lines_of_ended(), *self.news()]), None
            return bool(record.msg)
        return event not in ("job_started", None)

    def share(self) -> int:
        """Return the share of the run that is done, in percent, which never falls."""
        done = self.done + self.requests.jobs_under_way()
        self._share = max(self._share, min(done / self.total, 1.0) if self.total else 1.0)
        return min(int(100 * self._share), 100 if self.done >= self.total else 99)

    def news(self) -> list[str]:
        """Return a line for each model that answered more requests since the last call."""
        now = {model: progress.in_words() for model, progress in self.requests.by_model().items() if progress.done}
        changed = [f"  {model}: {words}" for model, words in now.items() if words != self._printed.get(model)]
        self._printed = now
        return changed

    def _begins(self, record: logging.LogRecord) -> bool:
        """Turn the record on a job that begins into a line; targets, which do nothing, have none."""
        logs: Sequence[str] = record.log  # type: ignore[attr-defined]
        if not logs:
            return False
        words = job_words(record.rule_name, record.wildcards)  # type: ignore[attr-defined]
        self._begun[record.jobid] = _Begun(words, logs[0], time.monotonic())  # type: ignore[attr-defined]
        if self.requests.begun is not None:
            self.requests.begun.add(job_name(self.requests.results_dir, Path(logs[0])))
        is_here = self.here or record.local  # type: ignore[attr-defined]
        record.msg, record.event = f"{words}: {'begins' if is_here else 'sent to the cluster'}", None
        return True

    def _ends(self, number: int) -> None:
        job = self._begun.pop(number, None)
        if job:
            self.requests.ended.add(job_name(self.requests.results_dir, Path(job.log)))
            self._ended.append(f"{job.words}: done in {duration(time.monotonic() - job.at)}")

    def _lines_of_ended(self) -> list[str]:
        """Return a line for each job that ended since the last call; the last has the progress of the run."""
        lines, self._ended = self._ended, []
        if not lines and self.done == self.total:
            lines = ["all jobs are done"]
        return [*lines[:-1], f"{lines[-1]} ({self.in_words()})"] if lines else []

    def in_words(self) -> str:
        """Return the progress of the run: the share that is done, and the number of jobs."""
        return f"{self.share()}%, {self.done:,} of {self.total:,} jobs"

    def _print_progress(self) -> None:
        while not self._over.wait(SECONDS):
            if news := self.news():
                logging.getLogger(_LOGGER).info("\n".join([f"progress: {self.in_words()}", *news]))


def job_words(rule: str, wildcards: Mapping[str, str]) -> str:
    """Return a job's name in lines: its rule, its wildcards, and its shard where there are several."""
    about = {name: str(value) for name, value in wildcards.items()}
    shard, shards = about.pop("shard", None), about.pop("shards", "1")
    words = [*about.values(), *([f"shard {shard} of {shards}"] if shard and shards != "1" else [])]
    return f"{rule} ({', '.join(words)})" if words else rule
