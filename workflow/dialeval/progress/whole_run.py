"""How far a run is as a whole: counted in requests to models and not in jobs, of which one may ask for days."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.parquet as pq

from dialeval.progress.files import SoFar, read_job


@dataclass(frozen=True)
class AskingJob:
    """A job of this run that asks models.

    Attributes:
        name: as its progress files are called.
        requests: files of what was planned for it; none where it plans for itself.
        shards: how many jobs share these files.
    """

    name: str
    requests: tuple[Path, ...]
    shards: int = 1


@dataclass(frozen=True)
class Whole:
    """How far a run is.

    Attributes:
        done: requests that are answered, found in the store, or failed.
        total: of all jobs of which that is known.
        asked, stored, failed: of those done.
        unknown: jobs of which nobody knows yet how much they will ask.
        asking: jobs that are at it.
    """

    done: int
    total: int
    asked: int
    stored: int
    failed: int
    unknown: int
    asking: int

    def in_words(self) -> str:
        """Returns it in a line, empty where nothing is to be asked."""
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
    """All that a run asks, as far as it is known; plans are counted once, when they are there.

    Args:
        results_dir: where jobs leave word of how far they are.
        jobs: those of the run that ask models.
    """

    results_dir: Path
    jobs: Sequence[AskingJob]
    ended: set[str] = field(default_factory=set)
    """Names of jobs that are done, which are looked at once more; one whose files were put back has asked nothing."""
    begun: set[str] | None = None
    """Names of jobs that began; others are not looked at, on a disk that may be far away. None: nobody keeps count."""
    _final: dict[str, list[SoFar]] = field(default_factory=dict)
    _planned: dict[tuple[Path, int], int] = field(default_factory=dict)

    def so_far(self) -> Whole:
        """Returns how far the run is now."""
        told = {job.name: self._told(job.name) for job in self.jobs}
        done = total = unknown = asking = 0
        counted = [one for own in told.values() for one in own]
        for job in self.jobs:
            own = told[job.name]
            asking += any(one.state == "running" for one in own)
            done += sum(one.done for one in own)
            expected = self._expected(job, own)
            total += expected or 0
            unknown += expected is None
        asked, stored, failed = (sum(getattr(one, name) for one in counted) for name in ("asked", "stored", "failed"))
        return Whole(done, max(total, done), asked, stored, failed, unknown, asking)

    def _told(self, name: str) -> list[SoFar]:
        if name in self._final:
            return self._final[name]
        has_ended = name in self.ended  # before its files are read
        if not has_ended and self.begun is not None and name not in self.begun:
            return []
        told = read_job(self.results_dir, name)
        if has_ended:
            self._final[name] = told
        return told

    def _expected(self, job: AskingJob, told: Sequence[SoFar]) -> int | None:
        """Returns how much a job asks: what it did when it is done, what it says when it is at it, what was planned."""
        if job.name in self.ended:
            return sum(one.done for one in told)
        if told and all(one.state == "done" or one.total is not None for one in told):
            return sum(one.done if one.state == "done" else one.total or 0 for one in told)
        if not job.requests:
            return None
        counts = [self._rows(path) for path in job.requests]
        known = [count for count in counts if count is not None]
        return -(-sum(known) // job.shards) if len(known) == len(counts) else None

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
