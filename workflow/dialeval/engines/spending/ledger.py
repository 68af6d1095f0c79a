"""The ledger: what was spent on each model, in files beside the answers, so that no restart and no other job forgets.

    spending/lock                          held by whoever adds up and sets aside; a list of all files
    spending/<identity>/<writer>.spending  one per job that asks, whose lock the job holds while it lives
    spending/<identity>/<batch>.spending   one per batch that is out

A file of a job at work is a line about the job, and then, of each try, a line before it is sent and one when it ended;
and, where there is a budget, a line whenever the job is granted more: up to so much in all it may spend without asking
again. Only that line is waited for until it is on the disk, so that it costs nothing per try. A file that is closed is
one line, the sum.

A job that was killed leaves its file open: what it had begun and not ended counts at its most, since it may have been
billed. Where its last lines may be lost (another machine, or a power failure) all that it was granted counts.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import reduce
from operator import add
from pathlib import Path

from dialeval.engines.spending.entries import SUFFIX, Entry, Sums, close_file, read_on
from dialeval.engines.spending.writers import is_alive, is_same_system, no_locks_said
from dialeval.whole_files import open_no_link, refuse_links

FOLDER = "spending"
"""The ledger's place in the folder of the stores."""


class Ledger:
    """All files below a folder, read as they grow.

    Args:
        folder: the folder `spending` in a store.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: dict[Path, tuple[int, int, Entry]] = {}  # inode, bytes read, what they say
        self._lock: int | None = None
        self._one_thread = threading.Lock()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keeps all others from adding up and setting aside meanwhile."""
        lock = self.folder / "lock"
        refuse_links(lock, self.folder.parent)
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._one_thread:
            descriptor = open_no_link(lock, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            try:
                with no_locks_said(self.folder):
                    fcntl.flock(descriptor, fcntl.LOCK_EX)
                self._lock = descriptor
                yield
            finally:
                self._lock = None
                os.close(descriptor)

    def enter(self, path: Path) -> None:
        """Puts a new file on the list of all, so that other machines see it at once; the lock must be held.

        A network file system may show a new file of another machine late. What was written to the locked file is there
        for whoever locks it next.
        """
        assert self._lock is not None
        os.write(self._lock, f"{path.relative_to(self.folder)}\n".encode())
        os.fsync(self._lock)

    def entries(self) -> dict[Path, Entry]:
        """Returns what every file says now."""
        found: dict[Path, tuple[int, int, Entry]] = {}
        for path in {*self.folder.glob(f"*/*.{SUFFIX}"), *self._listed()}:
            known = self._files.get(path)
            try:
                if known is not None and known[2].closed and path.stat().st_ino == known[0]:
                    found[path] = known
                    continue
                found[path] = _read(path, known)
            except FileNotFoundError:  # someone has deleted it, to count anew
                continue
        self._files = found
        return {path: entry for path, (_, _, entry) in found.items()}

    def _listed(self) -> list[Path]:
        """Returns the files that `enter` was told of; known to those alone who hold the lock."""
        if self._lock is None:
            return []
        names = os.pread(self._lock, os.fstat(self._lock).st_size, 0).decode("utf-8", "replace")
        return [self.folder / name for name in names.split("\n") if name.endswith(f".{SUFFIX}")]

    def close_the_dead(self) -> None:
        """Closes the files of jobs that were killed; the lock must be held."""
        for path, entry in self.entries().items():
            if not entry.closed and entry.about.get("batch") is None and not is_alive(path, entry.about):
                most = entry.at_most if is_same_system(entry.about) else entry.committed
                entry.sums.tries += len(entry.open)
                entry.sums.unconfirmed += most - entry.sums.spent
                entry.sums.spent = most
                close_file(path, entry)

    def total(self) -> Sums:
        """Returns what was spent on all models."""
        return reduce(add, (entry.all_told for entry in self.entries().values()), Sums())

    def by_name(self, digests: Mapping[str, str]) -> dict[tuple[str, str], Sums]:
        """Returns what was spent, by a model's present name and the protocol.

        Args:
            digests: each model's digest, by its name. Of several names of one model each has what was spent under it,
                and the first what was spent under names of the past; a name has what was spent when it was another
                model's, too.
        """
        names: dict[str, list[str]] = {}
        for name, digest in digests.items():
            names.setdefault(digest, []).append(name)
        found: dict[tuple[str, str], Sums] = {}
        for entry in self.entries().values():
            then = str(entry.about.get("name", ""))
            now = names.get(entry.digest) or ([then] if then in digests else None)
            if now is not None:
                about = then if then in now else now[0], str(entry.about.get("protocol", ""))
                found[about] = found.get(about, Sums()) + entry.all_told
        return found


def _read(path: Path, known: tuple[int, int, Entry] | None) -> tuple[int, int, Entry]:
    """Reads on in a file; it is opened, which has a network file system look how long it is by now."""
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        inode, size, entry = known or (0, 0, Entry(path.parent.name))
        if inode != status.st_ino or size > status.st_size:
            size, entry = 0, Entry(path.parent.name)
        file.seek(size)
        size += read_on(path, file.read(), entry)
    return status.st_ino, size, entry
