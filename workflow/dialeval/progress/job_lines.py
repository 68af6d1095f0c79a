"""What a run says of its jobs: a line when one begins, one when it ends, and how far the whole is.

Where the default profile keeps Snakemake quiet about rules, it says only that some job began and which number ended. A
filter of its logger says instead which rule for which model, protocol and shard, what it asked, and how much of all
requests is answered; that once more every half minute, as a job may ask for hours.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dialeval.processes.whole_lines import write_whole_lines
from dialeval.progress.files import job_name, read_job
from dialeval.progress.whole_run import Requests

_LOGGER = "snakemake.logging"
_CHOOSING = "Select jobs to execute..."
SECONDS = 30.0
"""Between two lines on the whole while nothing else is said about it."""


@dataclass
class _Begun:
    words: str
    log: str
    at: float


@dataclass
class JobLines(logging.Filter):
    """Says of jobs what a reader wants to know, in place of what Snakemake says.

    Args:
        requests: what the run asks in all.
        here: whether jobs run here, and not on a cluster to which they are sent.
    """

    requests: Requests
    here: bool = True
    _begun: dict[int, _Begun] = field(default_factory=dict)
    _ended: list[str] = field(default_factory=list)
    _over: threading.Event = field(default_factory=threading.Event)
    _said: str = ""

    def __post_init__(self) -> None:
        super().__init__()

    def attach(self) -> JobLines:
        """Begins to speak in place of Snakemake."""
        self.requests.begun = set()
        write_whole_lines()
        logging.getLogger(_LOGGER).addFilter(self)
        threading.Thread(target=self._keep_telling, name="requests so far", daemon=True).start()
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
            return self._begins(record)
        if event == "job_finished":
            self._ends(record.job_id)  # type: ignore[attr-defined]
            return False
        if event == "progress":
            if not self._ended:
                return False
            record.msg = self._told(record.done, record.total)  # type: ignore[attr-defined]
            record.event = None
        return True

    def _begins(self, record: logging.LogRecord) -> bool:
        """Turns what Snakemake says of a job that begins into a line; targets, which do nothing, have none."""
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
        if job is None:
            return
        name = job_name(self.requests.results_dir, Path(job.log))
        self.requests.ended.add(name)
        told = read_job(self.requests.results_dir, name)
        asked = [
            f"{one.asked:,} asked, {one.stored:,} from the store" + (f", {one.failed:,} failed" if one.failed else "")
            for one in told
        ]
        self._ended.append("; ".join([f"{job.words}: done in {duration(time.monotonic() - job.at)}", *asked]))

    def _told(self, done: int, total: int) -> str:
        words, self._ended = "\n".join(self._ended), []
        whole = self.requests.so_far().in_words()
        news, self._said = ("" if whole == self._said else f"; {whole}"), whole
        return f"{words} ({done:,} of {total:,} jobs{news})"

    def _keep_telling(self) -> None:
        while not self._over.wait(SECONDS):
            whole = self.requests.so_far()
            words = whole.in_words()
            if whole.asking and words != self._said:
                self._said = words
                logging.getLogger(_LOGGER).info(f"so far {words}")


def job_words(rule: str, wildcards: Mapping[str, str]) -> str:
    """Returns what a job is called in a line: its rule, what it is about, and its shard where there are several."""
    about = {name: str(value) for name, value in wildcards.items()}
    shard, shards = about.pop("shard", None), about.pop("shards", "1")
    words = [*about.values(), *([f"shard {shard} of {shards}"] if shard and shards != "1" else [])]
    return f"{rule} ({', '.join(words)})" if words else rule


def duration(seconds: float) -> str:
    """Returns a time as one says it."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
