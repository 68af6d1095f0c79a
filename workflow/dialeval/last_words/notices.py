"""What Snakemake says about failed jobs: remembered for the end, and shown in one line instead of a long command.

Snakemake prints the whole command of a job that failed, settings included, and where `quiet: [rules]` stands it does
not say which job that was. A filter of its logger, in the process of the run and in those on a cluster's nodes,
remembers how commands ended and says instead which job failed and where its log is.
"""

from __future__ import annotations

import difflib
import logging
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

_LOGGER = "snakemake.logging"
_COMMAND = re.compile(
    r"Command '(?P<command>.*)' (?:returned non-zero exit status (\d+)|died with <Signals\.\w+: (\d+)>)", re.S
)
_RULE = re.compile(r"(?:RuleException:\s*)?CalledProcessError in file ")
_OF_OURS = re.compile(r'^(?:\w+(?:Error|Exception)) in file "[^"]*", line \d+:\n(.*?)(?:\n  File "[^\n]*)*$', re.S)
_STOPPED = ("signal 2", "exit status 130")
"""How jobs end that a user stops, who need not be told which."""
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
    """Remembers what Snakemake's records say about failed jobs, and shortens what is shown of them.

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
