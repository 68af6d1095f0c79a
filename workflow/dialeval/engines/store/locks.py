"""Who may answer into a store folder at the same time: the jobs of one run, each under a name of its own.

A run shares its requests out among its jobs, so that they may write at once. Two runs may want the same answers and
would both pay for them: the second waits, and then finds what the first has stored. The locks are the kernel's
(`flock`) and die with their process, however it ends.

    runs.lock       held for moments, while it is settled who may begin
    <run>.run       shared by the jobs of a run, held as long as they write
    <writer>.lock   held by the one job that writes under that name
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import time
from pathlib import Path

_STILL = 60.0
"""Seconds without a change after which nobody is taken to be writing, where locks cannot tell."""
_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)


class WriterLocks:
    """The locks of one job; `acquire` waits for them.

    Args:
        folder: the store folder, which exists.
        writer: the job's name within its run.
        run: what distinguishes its run from others, in words.
    """

    def __init__(self, folder: Path, writer: str, run: str) -> None:
        self._folder, self._writer, self._run = folder, writer, run
        self._held: list[int] = []

    def acquire(self) -> None:
        """Waits until no job of another run and none of the same name writes into the folder."""
        try:
            self._join_run()
            self._take_name()
        except OSError as error:
            self.release()
            if error.errno not in _NO_LOCKS:
                raise
            print(f"note: {self._folder} has no file locks ({error.strerror}); do not run this job twice at once")

    def release(self) -> None:
        """Gives the locks back."""
        while self._held:
            os.close(self._held.pop())

    def _join_run(self) -> None:
        run = self._run.encode("utf-8", "surrogateescape")  # names of folders may be in another encoding
        name = f"{hashlib.sha256(run).hexdigest()[:12]}.run"
        told = False
        while True:
            gate = _opened(self._folder / "runs.lock")
            try:
                fcntl.flock(gate, fcntl.LOCK_EX)
                other = self._other_run(name)
                if other is None:
                    own = _opened(self._folder / name)
                    self._held.append(own)
                    if not os.fstat(own).st_size:
                        os.write(own, run)
                    fcntl.flock(own, fcntl.LOCK_SH)
                    return
            finally:
                os.close(gate)
            try:
                if not told:
                    what = os.pread(other, 1000, 0).decode("utf-8", "replace")
                    print(
                        f"waiting: another run is answering into {self._folder} ({what}), and both might pay for the "
                        "same answers",
                        flush=True,
                    )
                    told = True
                fcntl.flock(other, fcntl.LOCK_EX)
            finally:
                os.close(other)

    def _other_run(self, own: str) -> int | None:
        """Returns the open file of another run that is at work; files of runs that are over are removed."""
        for path in sorted(self._folder.glob("*.run")):
            if path.name == own:
                continue
            descriptor = _opened(path)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return descriptor
            except BaseException:
                os.close(descriptor)
                raise
            path.unlink(missing_ok=True)
            os.close(descriptor)
        return None

    def _take_name(self) -> None:
        descriptor = _opened(self._folder / f"{self._writer}.lock")
        self._held.append(descriptor)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"waiting: another job is answering into {self._folder}", flush=True)
            fcntl.flock(descriptor, fcntl.LOCK_EX)


def is_at_work(folder: Path, writer: str) -> bool:
    """Returns whether a job of another process writes under a name."""
    return _is_held(folder / f"{writer}.lock") is True


def may_be_written(answers: Path) -> bool:
    """Returns whether a job of another process may be writing into a file of answers, `<writer>-<number>.jsonl`.

    On a file system without locks that is said of files that changed within the last minute.
    """
    writer, _, number = answers.stem.rpartition("-")
    held = _is_held(answers.with_name(f"{writer}.lock"))
    if held is None:
        return abs(time.time() - answers.stat().st_mtime) < _STILL
    return held and not (
        number.isdigit() and answers.with_name(f"{writer}-{int(number) + 1:05d}{answers.suffix}").exists()
    )


def _is_held(lock: Path) -> bool | None:
    """Returns whether another process holds a lock; None where the file system has no locks."""
    try:
        descriptor = os.open(lock, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError as error:
        return None if error.errno in _NO_LOCKS else False
    finally:
        os.close(descriptor)
    return False


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
