"""Progress of a stage, in lines and in small files, and progress of a run, read from these files.

A job writes `results/.progress/<its log's path>/<what it asks>.json` when it begins to ask, every few seconds, and at
its end; only jobs write there. A run that begins removes the files of an earlier one.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass, field
from pathlib import Path
from typing import TextIO

from dialeval.errors import UserError
from dialeval.paths import refuse_links, write_new


class Progress:
    """Counts finished requests and prints them every few seconds.

    Args:
        title: what is being done.
        total: how many there are in all, or None if that is not known.
        unit: what is counted.
        every: seconds between two lines.
        stream: where lines go; standard error if not given.

    Attributes:
        extra: returns further words for each line, such as an engine's state.
    """

    def __init__(
        self, title: str, total: int | None, unit: str, *, every: float = 5.0, stream: TextIO | None = None
    ) -> None:
        self.title, self.total, self.unit, self.every = title, total, unit, every
        self.done = self.stored = self.failed = self.tokens = 0
        self.extra: Callable[[], str] = str
        self._stream = stream or sys.stderr
        self._start = self._last = time.monotonic()
        self._first_sent: float | None = None
        self._report("running")

    def advance(self, *, stored: bool = False, failed: bool = False, tokens: int = 0) -> None:
        """Count one more request: answered, cached, or failed."""
        self.done += 1
        self.stored += stored
        self.failed += failed
        self.tokens += tokens
        if not stored and self._first_sent is None:
            self._first_sent = time.monotonic()
        if time.monotonic() - self._last >= self.every:
            self._last = time.monotonic()
            self._print(self._line())
            self._report("running")

    def finish(self) -> None:
        """Print the closing line."""
        seconds = time.monotonic() - self._start
        sent = self.done - self.stored
        self._print(
            f"{self.title}: {self.done} {self.unit} in {seconds:.1f} s{self._speed(seconds)} ({sent} sent, "
            f"{self.stored} cached, {self.failed} failed)"
        )
        self._report("done")

    def _line(self) -> str:
        seconds = max(time.monotonic() - self._start, 1e-9)
        rate = self.done / seconds
        parts = [f"{self.title}: {self.done}"]
        if self.total:
            parts[0] += f"/{self.total} ({100 * self.done / self.total:.0f}%)"
        parts.append(f"{rate:.1f} {self.unit}/s")
        parts[-1] += self._speed(seconds)
        if self.total and (pace := self._pace()):
            parts.append(f"{duration((self.total - self.done) / pace)} left")
        parts.append(f"{self.stored} cached")
        if self.failed:
            parts.append(f"{self.failed} failed")
        return ", ".join(parts)

    def _pace(self) -> float:
        """Return the requests per second since the first response; 0 before that is measurable."""
        since = time.monotonic() - self._first_sent if self._first_sent is not None else 0.0
        return (self.done - self.stored - 1) / since if since >= self.every and since > 0 else 0.0

    def _speed(self, seconds: float) -> str:
        tokens = f"{self.tokens / max(seconds, 1e-9):.0f} tokens/s" if self.tokens else ""
        return "".join(f", {words}" for words in (tokens, self.extra()) if words)

    def _report(self, state: str) -> None:
        seconds = round(time.monotonic() - self._start, 1)
        counts = (self.done, self.total, self.stored, self.failed, self.tokens)
        write(SoFar(self.title, self.unit, *counts, seconds, state))

    def _print(self, line: str) -> None:
        print(line, file=self._stream, flush=True)


def duration(seconds: float) -> str:
    """Return a time in seconds, minutes or hours."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


# Progress files of jobs that make model calls

FOLDER = ".progress"
_LOGS = "logs"
_UNFIT = re.compile(r"[^\w.-]+")
_folder: list[Path] = []


@dataclass(frozen=True)
class SoFar:
    """The progress of a job's requests to one model.

    Attributes:
        title: protocol and model of the requests.
        unit: what is counted.
        done: answered, found in the store, or failed.
        total: how many there are in all; None where that is not known yet.
        stored, failed: of those done.
        tokens: written by the model.
        seconds: since it began.
        state: `running` or `done`; one that was killed stays `running`.
    """

    title: str
    unit: str
    done: int
    total: int | None
    stored: int
    failed: int
    tokens: int
    seconds: float
    state: str

    @property
    def sent(self) -> int:
        """The number of requests that were sent, failures included."""
        return self.done - self.stored

    @property
    def model(self) -> str:
        """The name of the model, which ends the title."""
        return self.title.rpartition(" by ")[2]


def report_for(results_dir: Path, log: Path | None) -> None:
    """Make this process write its progress under its job's log; a job whose log lies elsewhere writes none."""
    name = job_name(results_dir, log) if log else ""
    _folder[:] = [results_dir / FOLDER / name] if name else []


def job_name(results_dir: Path, log: Path) -> str:
    """Return the name of a job's files: its log's path below the logs; empty for a log that lies elsewhere."""
    logs = results_dir / _LOGS
    return log.relative_to(logs).with_suffix("").as_posix() if log.is_relative_to(logs) else ""


def write(so_far: SoFar) -> None:
    """Write the progress of this process atomically; an error of writing is ignored."""
    for folder in _folder:
        path = folder / f"{_UNFIT.sub('_', so_far.title)}.json"
        with suppress(OSError, UserError):
            refuse_links(path)
            folder.mkdir(parents=True, exist_ok=True)
            write_new(path, json.dumps(asdict(so_far)) + "\n")


def forget(results_dir: Path) -> None:
    """Remove the files of an earlier run."""
    shutil.rmtree(results_dir / FOLDER, ignore_errors=True)


def read_all(results_dir: Path) -> dict[str, list[SoFar]]:
    """Return the progress of the jobs of the last run by name; empty before any has sent a request."""
    folder = results_dir / FOLDER
    found: dict[str, list[SoFar]] = {}
    for path in sorted(folder.rglob("*.json")):
        found.setdefault(path.parent.relative_to(folder).as_posix(), []).extend(_read(path))
    return found


def read_job(results_dir: Path, name: str) -> list[SoFar]:
    """Return the progress of one job, by model."""
    return [one for path in sorted((results_dir / FOLDER / name).glob("*.json")) for one in _read(path)]


def _read(path: Path) -> Iterator[SoFar]:
    with suppress(OSError, ValueError, TypeError):  # one that is just being replaced, or is of another version
        yield SoFar(**json.loads(path.read_text(encoding="utf-8")))


# Requests of a run


@dataclass
class Requests:
    """The requests of a run as far as they are planned; each plan is counted once.

    Args:
        results_dir: the folder of the progress files.
        jobs: the jobs of the run that make requests.
    """

    results_dir: Path
    jobs: Sequence[ModelJob]
    ended: set[str] = field(default_factory=set)
    """Names of jobs that ended, whose files are read once more; a job whose outputs were restored has none."""
    begun: set[str] | None = None
    """Names of jobs that began; files of others are not read, as the disk may be slow. None: all are read."""
    _final: dict[str, list[SoFar]] = field(default_factory=dict)
    _planned: dict[tuple[Path, int], int] = field(default_factory=dict)

    def so_far(self) -> RunProgress:
        """Return the progress of all requests."""
        return sum(self.by_model().values(), RunProgress())

    def by_model(self) -> dict[str, RunProgress]:
        """Return the progress of the requests to each model, by its name."""
        found: dict[str, RunProgress] = {}
        for job in self.jobs:
            for model, progress in self._of_job(job).items():
                found[model] = found.get(model, RunProgress()) + progress
        return dict(sorted(found.items()))

    def jobs_under_way(self) -> float:
        """Return the sum of the shares of requests done, over the jobs that began and did not end."""
        at_work = [self._of_job(job).values() for job in self.jobs if job.name not in self.ended]
        sums = [sum(models, RunProgress()) for models in at_work]
        return sum(one.done / one.total for one in sums if one.total and not one.unplanned)

    def _of_job(self, job: ModelJob) -> dict[str, RunProgress]:
        counts = self._counts_of(job.name)
        found: dict[str, RunProgress] = {}
        for one in counts:
            total = one.done if one.state == "done" or job.name in self.ended else one.total
            if total is None:
                total = self._rows_of(job)
            known = max(total or 0, one.done)
            found[one.model] = RunProgress(one.done, known, one.sent, one.stored, one.failed, int(total is None))
        if found or job.name in self.ended:
            return found
        planned = self._rows_of(job) if len(job.models) == 1 else None
        return {model: RunProgress(total=planned or 0, unplanned=int(planned is None)) for model in job.models}

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

    def _rows_of(self, job: ModelJob) -> int | None:
        """Return the number of planned requests of a job; None where a plan is missing."""
        planned = [self._rows(path) for path in job.requests]
        known = [rows for rows in planned if rows is not None]
        return -(-sum(known) // job.shards) if known and len(known) == len(planned) else None

    def _rows(self, path: Path) -> int | None:
        try:
            version = path, path.stat().st_mtime_ns
            if version not in self._planned:
                import pyarrow.parquet as pq  # every job loads this module before it looks for kept outputs

                self._planned[version] = pq.read_metadata(path).num_rows
        except (OSError, ValueError):  # not planned yet
            return None
        return self._planned[version]


@dataclass(frozen=True)
class RunProgress:
    """Progress of the requests of a run, or of those to one model.

    Attributes:
        done: requests that are answered, found in the store, or failed.
        total: requests of the jobs that are planned.
        sent, stored, failed: of those done.
        unplanned: jobs whose number of requests is not known yet.
    """

    done: int = 0
    total: int = 0
    sent: int = 0
    stored: int = 0
    failed: int = 0
    unplanned: int = 0

    def __add__(self, other: RunProgress) -> RunProgress:
        return RunProgress(*(one + more for one, more in zip(astuple(self), astuple(other), strict=True)))

    def in_words(self) -> str:
        """Return the progress in one line; empty where no request is planned."""
        if not self.total:
            return ""
        counts = [(self.stored, "cached"), (self.failed, "failed")]
        words = [f"{n:,} {name}" for n, name in counts if n]
        jobs = "1 job" if self.unplanned == 1 else f"{self.unplanned:,} jobs"
        more = f"; {jobs} not planned yet" if self.unplanned else ""
        return ", ".join([f"{self.done:,} of {self.total:,} requests", *words]) + more


@dataclass(frozen=True)
class ModelJob:
    """A job of a run that makes requests.

    Attributes:
        name: the name of its progress files.
        requests: tables of its planned requests; none where it plans while it runs.
        shards: number of jobs that share these tables.
        models: the models that answer.
    """

    name: str
    requests: tuple[Path, ...]
    shards: int = 1
    models: tuple[str, ...] = ()
