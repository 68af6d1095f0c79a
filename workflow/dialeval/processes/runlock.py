"""One run at a time in a results folder, with a lock that dies with its process.

Snakemake's own lock outlives a killed run and then asks for `--unlock`; the default profile turns it off in favour of
this one.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dialeval.errors import UserError
from dialeval.whole_files import open_no_link

_held: list[int] = []


def acquire(results_dir: Path) -> None:
    """Takes the lock of a results folder until this process ends.

    Raises:
        UserError: another run holds it.
    """
    path = results_dir / ".run.lock"
    descriptor = open_no_link(path, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise _held_elsewhere(results_dir, descriptor) from None
    except OSError as error:  # a file system without locks
        print(f"note: {results_dir} has no file locks ({error.strerror}); see to it that only one run uses it")
    os.ftruncate(descriptor, 0)
    os.write(descriptor, f"{os.getpid()}\n".encode())
    _held.append(descriptor)


def refuse_second_run(results_dir: Path) -> None:
    """Checks that nobody holds the lock of a results folder, without taking it.

    Raises:
        UserError: another run holds it.
    """
    try:
        descriptor = os.open(results_dir / ".run.lock", os.O_RDWR | os.O_NOFOLLOW)
    except OSError:  # no run has been here
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise _held_elsewhere(results_dir, descriptor) from None
    except OSError:  # a file system without locks
        return
    finally:
        os.close(descriptor)


def _held_elsewhere(results_dir: Path, descriptor: int) -> UserError:
    owner = os.read(descriptor, 20).decode().strip()
    return UserError(
        f"another run (process {owner}) is at work in {results_dir}; wait for it to end, or give this one a folder of "
        "its own, for example with --config results_dir=results/second; what is there so far: snakemake --cores 1 live"
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
            f"the results folder {folder} cannot be written: {error.strerror or error}; "
            "correct `results_dir` or the rights and space of that disk"
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
