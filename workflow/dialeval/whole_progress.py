"""How far a run is as a whole: counted in requests to models and not in jobs, of which one may ask for days."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.parquet as pq

from dialeval.progress_files import SoFar, read_all


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
        if not (self.total or self.unknown):
            return ""
        share = f" ({_share(self.done, self.total)})" if self.total else ""
        words = f"{self.done:,} of {self.total:,} requests answered{share}"
        failed = f", {self.failed:,} of them failed" if self.failed else ""
        jobs = "1 job that asks has" if self.unknown == 1 else f"{self.unknown:,} jobs that ask have"
        return words + failed + (f"; {jobs} not said yet how much" if self.unknown else "")


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
    """Names of jobs that are done; one whose files were put back has asked nothing."""
    _planned: dict[tuple[Path, int], int] = field(default_factory=dict)

    def so_far(self) -> Whole:
        """Returns how far the run is now."""
        told = read_all(self.results_dir)
        done = total = unknown = asking = 0
        counted = [one for job in self.jobs for one in told.get(job.name, [])]
        for job in self.jobs:
            own = told.get(job.name, [])
            asking += any(one.state == "running" for one in own)
            done += sum(one.done for one in own)
            expected = self._expected(job, own)
            total += expected or 0
            unknown += expected is None
        asked, stored, failed = (sum(getattr(one, name) for one in counted) for name in ("asked", "stored", "failed"))
        return Whole(done, max(total, done), asked, stored, failed, unknown, asking)

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
