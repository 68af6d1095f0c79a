"""One run at a time in a results folder, and files whose time stamps lie in the future.

Snakemake's own lock outlives a killed run and then asks for `--unlock`; the default profile turns it off in favour of
this one.

Whatever is made of such a file is older than it, which Snakemake takes for a fault of the job that made it. Contents
decide what runs, so such a file is given the present time. Only the stamp that Snakemake compares is looked at and
changed: a link's own and never that of what it leads to, which may belong to another user, and a folder's note of it.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dialeval.errors import UserError
from dialeval.paths import open_no_link

LOCK = ".run.lock"
"""The lock of a results folder, written when a run begins."""
_locks: list[int] = []


def acquire(results_dir: Path) -> None:
    """Takes the lock of a results folder until this process ends.

    Raises:
        UserError: another run holds it.
    """
    path = results_dir / LOCK
    descriptor = open_no_link(path, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise _locked_by_other_run(results_dir, descriptor) from None
    except OSError as error:  # a file system without locks
        print(f"note: {results_dir} has no file locks ({error.strerror}); make sure that only one run uses it")
    os.ftruncate(descriptor, 0)
    os.write(descriptor, f"{os.getpid()}\n".encode())
    _locks.append(descriptor)


def refuse_second_run(results_dir: Path) -> None:
    """Checks that no run holds the lock of a results folder, without taking it.

    Raises:
        UserError: another run holds it.
    """
    try:
        descriptor = os.open(results_dir / LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:  # no run has been here
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise _locked_by_other_run(results_dir, descriptor) from None
    except OSError:  # a file system without locks
        return
    finally:
        os.close(descriptor)


def _locked_by_other_run(results_dir: Path, descriptor: int) -> UserError:
    owner = os.read(descriptor, 20).decode().strip()
    return UserError(
        f"another run (process {owner}) uses {results_dir}; wait for it to end, or use another folder for this run, "
        f"for example with --config results_dir=results/second; progress: snakemake --cores 1 status"
    )


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Has words for what cannot be written in the folder of the results.

    Raises:
        UserError: something could not be made or written there.
    """
    try:
        yield
    except OSError as error:
        raise UserError(
            f"the results folder {folder} cannot be written: {error.strerror or error}; correct `results_dir`, or "
            f"the permissions and free space of that disk"
        ) from error


def check_writable(folder: Path) -> None:
    """Makes a folder if need be and checks that files can be made there.

    Raises:
        UserError: it cannot be made or written.
    """
    probe = folder / f".writable.{os.urandom(4).hex()}"
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        os.close(open_no_link(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        probe.unlink()


# Time stamps in the future

_OF_A_FOLDER = ".snakemake_timestamp"


def reset_future_timestamps(paths: Iterable[Path], clock: Path) -> str:
    """Gives files whose time stamps lie in the future the present time; those that are missing are passed over.

    Args:
        paths: what jobs are to read.
        clock: a file that was written just now where jobs write: that file system's clock may differ from this
            machine's.

    Returns:
        A message about it; empty where all are of the past.

    Raises:
        UserError: a file is in the future and cannot be changed.
    """
    present = clock.stat()
    now = max(time.time(), present.st_mtime)
    ahead = sorted({one for path in paths if path.exists() and (one := _bearer(path)).lstat().st_mtime > now})
    for path in ahead:
        stamp = path.lstat()
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(stamp.st_mtime))
        try:
            # of another's file this is refused, whatever the rights to write it
            os.utime(path, ns=(stamp.st_atime_ns, present.st_mtime_ns), follow_symlinks=False)
        except OSError as error:
            raise UserError(
                f"{path} has a time stamp in the future, {when}, so its outputs would seem older, and it cannot be "
                f"set to the present time: {error.strerror}; set this machine's clock, or copy the file"
            ) from None
    if not ahead:
        return ""
    others = f" and {len(ahead) - 1} more" if len(ahead) > 1 else ""
    return f"note: {ahead[0]}{others} had time stamps in the future; set to the present time"


def _bearer(path: Path) -> Path:
    """Returns the file whose time stamp Snakemake takes for that of a path."""
    noted = path / _OF_A_FOLDER
    return noted if path.is_dir() and not path.is_symlink() and noted.exists() else path
