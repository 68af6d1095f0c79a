"""Cached outputs of jobs, restored where a job would make the same again.

Snakemake deletes a job's outputs before it starts it, and decides at the start of a run which jobs run. So a job whose
inputs were made again without a change is started all the same. Its earlier outputs have a second hard link below
`.kept` in the results, which takes no space while the first link exists.

Outputs are restored only if the job's record (`records`) has the same key, the libraries that made it are installed
in the same versions, and the files have the digests of the record. It must import quickly, as `records` must.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from dialeval.paths import linked_folder
from dialeval.provenance.records import Job, digest_of, installed, name_below, read_record

FOLDER = ".kept"
_reasons: list[str] = []


def disable_caching(reason: str) -> None:
    """Excludes the outputs of this process from the cache, as another run may add to them; the log has the reason."""
    _reasons.append(reason)


def restore(job: Job) -> bool:
    """Restores the cached outputs of a job with the same key; returns whether it could."""
    record = read_record(job.record)
    if record.get("key") != job.key or not _same_libraries(record.get("libraries", {})):
        return False
    kept = {path: _kept(job.results, job.name(path)) for path in job.makes}
    known = record.get("outputs", {})
    if any(_digest(one) != known.get(job.name(path)) for path, one in kept.items()):
        return False
    for path, one in kept.items():
        if not _link(job.results, one, path):
            return False
        os.utime(path, follow_symlinks=False)  # it is newer than what it was made of
    return True


def keep(job: Job) -> None:
    """Caches the outputs of a finished job; none if it excluded them, if one is a folder, or without hard links."""
    forget(job.results, job.makes)
    if _reasons:
        print(f"not kept for later runs: {'; '.join(_reasons)}", flush=True)
        return
    for path in job.makes:
        if path.is_dir() or not _link(job.results, path, _kept(job.results, job.name(path))):
            forget(job.results, job.makes)
            return


def forget(results: Path, made: Iterable[Path]) -> None:
    """Removes files from the cache, so that the next job makes them."""
    for path in made:
        kept = _kept(results, name_below(results, path))
        with suppress(OSError):
            if not linked_folder(kept, results):
                kept.unlink(missing_ok=True)


def _kept(results: Path, name: str) -> Path:
    return results / FOLDER / name.lstrip(os.sep)


def _link(results: Path, path: Path, other: Path) -> bool:
    """Gives a file another name, in place of what has it; returns whether the file system lets it."""
    if linked_folder(other, results) or linked_folder(path, results):
        return False
    temporary = other.with_name(f".{other.name}.{os.getpid()}.partial")
    try:
        other.parent.mkdir(parents=True, exist_ok=True)
        temporary.unlink(missing_ok=True)
        temporary.hardlink_to(path)
        temporary.replace(other)
    except OSError:
        return False
    finally:
        with suppress(OSError):  # two names of one file: `replace` then leaves both
            temporary.unlink(missing_ok=True)
    return True


def _digest(path: Path) -> str | None:
    return digest_of(path) if path.is_file() and not path.is_symlink() else None


def _same_libraries(made_with: dict[str, Any]) -> bool:
    return all(installed(name) == known for name, known in made_with.items())
