"""Claims on requests: which of several concurrent jobs sends a request that they share.

One job claims the request; the other waits for the response and sends its own requests meanwhile. Locks (`flock`) end
with their process.

    <model>/claims                      a line for each job and for each request that it sends; locked for moments
    <model>/<protocol>/<writer>.lock    held by the one job that writes under that name
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from dialeval.errors import UserError
from dialeval.paths import open_no_link

CLAIMS = "claims"
_IDLE_SECONDS = 60.0
"""Seconds without a change after which no job is writing a file, on file systems without locks."""
_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)


class OtherJob(NamedTuple):
    """A concurrent job of the same model: its folder of the store, its name there, and its `run`."""

    folder: Path
    writer: str
    run: str


class Claims:
    """The name of one job in a store, and the requests that it sends.

    Args:
        folder: the store folder of the job, which exists; the folder of the model is its parent.
        writer: the job's name in the folder.
        run: jobs of the same run share no request; an empty text is a run of its own.
        read_answers: reads the new answers of another job.
        is_read: returns whether the answer to a key was read.
    """

    def __init__(
        self,
        folder: Path,
        writer: str,
        run: str,
        read_answers: Callable[[OtherJob], None],
        is_read: Callable[[str], bool],
    ) -> None:
        self._folder, self._writer, self._run = folder, writer, run
        self._read_answers, self._is_read = read_answers, is_read
        self._name_lock: int | None = None
        self._file: int | None = None
        self._place = 0
        self._jobs: dict[str, OtherJob] = {}
        self._replaced: set[str] = set()
        self._claimed: dict[str, str] = {}
        self._given_up: list[str] = []
        self._number = ""

    def acquire(self) -> None:
        """Take the job's name, once no other job has it, and announces the job."""
        try:
            self._take_name()
            self._file = _opened(self._folder.parent / CLAIMS)
            with self._locked():
                self._truncate_if_alone()
                self._number = str(len(self._jobs))
                self._append([f"job {self._number} {json.dumps([self._folder.name, self._writer, self._run])}"])
        except UserError:
            self.release()
            raise
        except OSError as error:
            self.release()
            if error.errno not in _NO_LOCKS:
                raise
            print(
                f"note: {self._folder} has no file locks ({error.strerror}); do not run this job twice at the same time"
            )

    def release(self) -> None:
        """Release the name and all claims without an answer."""
        if self._file is not None:
            with suppress(OSError), self._locked():
                self._truncate_if_alone()
            os.close(self._file)
        if self._name_lock is not None:
            os.close(self._name_lock)
        self._file = self._name_lock = None

    def claim(self, keys: Sequence[str]) -> list[bool]:
        """Claim requests and return for each whether this job must send it; read other jobs' answers to the rest."""
        if self._file is None:  # a file system without locks
            return [True] * len(keys)
        with self._locked():
            taken = self._taken(keys)
            own = [key for key in dict.fromkeys(keys) if key not in taken]
            for key in own:
                self._claimed.pop(key, None)
            free = [f"free {self._number} {key}" for key in self._given_up]
            self._append([*free, *(f"{self._number} {key}" for key in own)])
            self._given_up.clear()
        return [key not in taken for key in keys]

    def give_up(self, key: str) -> None:
        """Release the claim on a request that got no answer."""
        self._given_up.append(key)

    def _take_name(self) -> None:
        self._name_lock = _opened(self._folder / f"{self._writer}.lock")
        try:
            fcntl.flock(self._name_lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"waiting: another job writes responses to {self._folder} as {self._writer}", flush=True)
            fcntl.flock(self._name_lock, fcntl.LOCK_EX)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        assert self._file is not None
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            self._read_new_lines()
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def _read_new_lines(self) -> None:
        assert self._file is not None
        size = os.fstat(self._file).st_size
        content = os.pread(self._file, size - self._place, self._place) if size > self._place else b""
        complete = content[: content.rfind(b"\n") + 1]
        self._place += len(complete)
        for line in complete.decode("utf-8", "replace").splitlines():
            match line.split(" ", 2):
                case ["job", number, about]:
                    self._note_job(number, about)
                case ["free", number, key] if self._claimed.get(key) == number:
                    del self._claimed[key]
                case [number, key] if number in self._jobs and not self._shares_no_request(self._jobs[number]):
                    self._claimed[key] = number

    def _note_job(self, number: str, about: str) -> None:
        with suppress(ValueError, TypeError):  # an incomplete line
            place, writer, run = json.loads(about)
            job = OtherJob(self._folder.parent / place, writer, run)
            same = [known for known, one in self._jobs.items() if one[:2] == job[:2]]
            self._replaced.update(same)
            self._jobs[number] = job

    def _shares_no_request(self, job: OtherJob) -> bool:
        return job[:2] == (self._folder, self._writer) or bool(self._run and job.run == self._run)

    def _truncate_if_alone(self) -> None:
        assert self._file is not None
        others = {job[:2] for job in self._jobs.values()} - {(self._folder, self._writer)}
        if not any(is_at_work(folder, writer) for folder, writer in others):
            os.ftruncate(self._file, 0)
            self._place = 0
            self._jobs.clear()
            self._replaced.clear()
            self._claimed.clear()

    def _append(self, lines: Sequence[str]) -> None:
        assert self._file is not None
        if not lines:
            return
        rest = "".join(f"{line}\n" for line in lines).encode()
        if os.fstat(self._file).st_size > self._place:  # a job was killed within a line
            rest = b"\n" + rest
        while rest:
            rest = rest[os.write(self._file, rest) :]
        self._place = os.fstat(self._file).st_size

    def _taken(self, keys: Sequence[str]) -> set[str]:
        """Return the keys that another job has claimed or answered."""
        owners = {key: self._claimed[key] for key in keys if key in self._claimed}
        at_work = {number for number in set(owners.values()) - self._replaced if is_at_work(*self._jobs[number][:2])}
        for number in set(owners.values()):  # after `at_work`: a job may end in between
            self._read_answers(self._jobs[number])
        return {key for key, number in owners.items() if number in at_work or self._is_read(key)}


def is_at_work(folder: Path, writer: str) -> bool:
    """Return whether a job of another process writes under a name."""
    return _is_locked(folder / f"{writer}.lock") is True


def may_be_written(answers: Path) -> bool:
    """Return whether another process may be writing a file of answers, `<writer>-<number>.jsonl`.

    On a file system without locks these are files that changed within the last minute.
    """
    writer, _, number = answers.stem.rpartition("-")
    locked = _is_locked(answers.with_name(f"{writer}.lock"))
    if locked is None:
        return abs(time.time() - answers.stat().st_mtime) < _IDLE_SECONDS
    return locked and not (
        number.isdigit() and answers.with_name(f"{writer}-{int(number) + 1:05d}{answers.suffix}").exists()
    )


def _opened(path: Path) -> int:
    return open_no_link(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)


def _is_locked(lock: Path) -> bool | None:
    """Return whether another process holds a lock; None where the file system has no locks."""
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_NOFOLLOW)
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
