"""The ledger of the spending on each model: its files, entries and writers.

    spending/lock                          locked while amounts are added up and reserved; a list of all files
    spending/<identity>/<writer>.spending  one per job, which holds its lock while it runs
    spending/<identity>/<batch>.spending   one per open batch

The file of a running job has a line about the job, a line before each attempt and one after it, and with a budget a
line per grant, the sum up to which the job may spend. Only grants are fsynced. A closed file has one line, the sum.

The file of a killed job stays open: its open attempts count at their largest cost, since they may have been billed.
Where its last lines may be lost (another machine, a power failure), the whole grant counts.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

from dialeval.engines.store.answer_files import TurnWrites
from dialeval.errors import UserError
from dialeval.paths import new_beside, open_no_link, refuse_links

FOLDER = "spending"
"""The ledger's place in the folder of the stores."""


class Ledger:
    """All files below a folder, read as they grow."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: dict[Path, tuple[int, int, Entry]] = {}  # inode, bytes read, their content
        self._lock: int | None = None
        self._one_thread = threading.Lock()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the ledger's lock."""
        lock = self.folder / "lock"
        refuse_links(lock, self.folder.parent)
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._one_thread:
            descriptor = open_no_link(lock, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            try:
                with without_locks(self.folder):
                    fcntl.flock(descriptor, fcntl.LOCK_EX)
                self._lock = descriptor
                yield
            finally:
                self._lock = None
                os.close(descriptor)

    def enter(self, path: Path) -> None:
        """List a new file, so that other machines see it at once; the lock must be held.

        A network file system may show a new file of another machine late, but the content of the locked file in time.
        """
        assert self._lock is not None
        os.write(self._lock, f"{path.relative_to(self.folder)}\n".encode())
        os.fsync(self._lock)

    def entries(self) -> dict[Path, Entry]:
        """Return the present entry of every file."""
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

    def close_dead_jobs(self) -> None:
        """Close the files of jobs that were killed; the lock must be held."""
        for path, entry in self.entries().items():
            if not entry.closed and entry.about.get("batch") is None and not is_alive(path, entry.about):
                most = entry.largest if is_same_system(entry.about) else entry.committed
                entry.sums.tries += len(entry.open)
                entry.sums.unconfirmed += most - entry.sums.spent
                entry.sums.spent = most
                close_file(path, entry)

    def total(self) -> Sums:
        """Return the sums of all models."""
        return reduce(add, (entry.including_open for entry in self.entries().values()), Sums())

    def by_name(self, digests: Mapping[str, str]) -> dict[tuple[str, str], Sums]:
        """Return the sums by a model's present name and the protocol.

        Args:
            digests: each model's digest, by its name. Of several names of one model, the first gets the spending under
                earlier names; a name also gets the spending under it when it was another model's.
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
                found[about] = found.get(about, Sums()) + entry.including_open
        return found

    def _listed(self) -> list[Path]:
        """Return the files that were entered; empty without the lock."""
        if self._lock is None:
            return []
        names = os.pread(self._lock, os.fstat(self._lock).st_size, 0).decode("utf-8", "replace")
        return [self.folder / name for name in names.split("\n") if name.endswith(f".{SUFFIX}")]


def _read(path: Path, known: tuple[int, int, Entry] | None) -> tuple[int, int, Entry]:
    """Read the new lines of a file; opening it refreshes its length on a network file system."""
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        inode, size, entry = known or (0, 0, Entry(path.parent.name))
        if inode != status.st_ino or size > status.st_size:
            size, entry = 0, Entry(path.parent.name)
        file.seek(size)
        size += read_new_lines(path, file.read(), entry)
    return status.st_ino, size, entry


# The format of one file of the ledger.

SUFFIX = "spending"


@dataclass
class Sums:
    """Sums of cost, tokens and tries.

    Attributes:
        spent: money, in the currency of the prices.
        unconfirmed: the part that no endpoint reported: attempts that may have been billed, at their largest cost.
        input_tokens: prompt tokens.
        output_tokens: answer tokens, reasoning included.
        tries: attempts.
    """

    spent: float = 0.0
    unconfirmed: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    tries: int = 0

    def add(self, cost: float, input_tokens: int, output_tokens: int, confirmed: bool) -> None:
        """Count an ended attempt."""
        self.spent += cost
        self.unconfirmed += 0.0 if confirmed else cost
        self.input_tokens += input_tokens
        self.output_tokens += output_tokens
        self.tries += 1

    def __add__(self, other: Sums) -> Sums:
        return Sums(**{name: value + getattr(other, name) for name, value in asdict(self).items()})


@dataclass
class Entry:
    """The content of one file of the ledger.

    Attributes:
        digest: the model, by the digest of its identity.
        about: its writer: name, protocol, host, ...
        sums: of ended attempts.
        open: the largest cost of attempts in flight, by number.
        granted: the sum up to which the job may spend, or None without a budget.
        over: largest excess of an answer over the bounds of prompt and answer tokens.
        closed: whether the file is complete.
    """

    digest: str
    about: dict[str, Any] = field(default_factory=dict)
    sums: Sums = field(default_factory=Sums)
    open: dict[int, float] = field(default_factory=dict)
    granted: float | None = None
    over: tuple[int, int] = (0, 0)
    closed: bool = False

    @property
    def including_open(self) -> Sums:
        """The sums, with tries in flight at their largest cost."""
        in_flight = sum(self.open.values())
        return self.sums + Sums(in_flight, in_flight, tries=len(self.open))

    @property
    def largest(self) -> float:
        """The largest amount spent by the lines."""
        return self.sums.spent + sum(self.open.values())

    @property
    def committed(self) -> float:
        """The amount that counts as long as the file is not closed."""
        return self.largest if self.granted is None or self.closed else max(self.largest, self.granted)

    def is_of(self, digest: str, name: str) -> bool:
        """Return whether the entry is of a model, by its digest or by its name."""
        return self.digest == digest or self.about.get("name") == name

    def end(self, number: int, cost: float, input_tokens: int, output_tokens: int, confirmed: bool) -> None:
        """Count the cost of an attempt in place of its largest cost."""
        self.open.pop(number, None)
        self.sums.add(cost, input_tokens, output_tokens, confirmed)

    def read(self, line: Any) -> None:
        """Take in a line."""
        match line:
            case ["+", number, most]:
                self.open[number] = most
            case ["-", number, cost, input_tokens, output_tokens, confirmed]:
                self.end(number, cost, input_tokens, output_tokens, bool(confirmed))
            case ["to", granted]:
                self.granted = granted
            case ["over", input_tokens, output_tokens]:
                self.over = (input_tokens, output_tokens)
            case {"sums": sums, "over": [input_tokens, output_tokens]}:
                self.sums, self.over, self.closed = Sums(**sums), (input_tokens, output_tokens), True
                self.about = {name: value for name, value in line.items() if name not in ("sums", "over")}
            case dict():
                self.about = line


def close_file(path: Path, entry: Entry) -> None:
    """Replace a file's lines by the line of their sum, atomically."""
    refuse_links(path, path.parents[2])
    path.parent.mkdir(parents=True, exist_ok=True)
    entry.closed = True
    write_lines(path, [{**entry.about, "sums": asdict(entry.sums), "over": entry.over}])


def write_lines(path: Path, lines: list[Any]) -> None:
    """Write a file of lines, atomically and flushed to the disk."""
    refuse_links(path, path.parents[2])
    temporary = None
    try:
        temporary = new_beside(path)
        with temporary.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        if temporary:
            temporary.unlink(missing_ok=True)
        raise UserError(
            f"the spending could not be recorded in {path}: {error.strerror or error}; free some space or choose "
            "another `store_dir`, then run the same command again; stored responses are kept"
        ) from error


def read_new_lines(path: Path, content: bytes, entry: Entry) -> int:
    """Read the complete new lines of a file into its entry, and return their length."""
    length = content.rfind(b"\n") + 1
    for line in content[:length].splitlines():
        try:
            entry.read(json.loads(line))
        except (ValueError, TypeError):
            raise UserError(
                f"{path} has a corrupt line, so the spending is not known: delete the folder {path.parent} to "
                "compute it from the stored responses (attempts without a response are then not counted)"
            ) from None
    return length


# The ledger's file of one running job.

_as_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

_WITHOUT_LOCKS: set[Path] = set()


class Writer:
    """The file of one job. The ledger's lock must be held while it is made."""

    def __init__(self, folder: Path, about: dict[str, str]) -> None:
        refuse_links(folder / SUFFIX, folder.parent.parent)
        folder.mkdir(parents=True, exist_ok=True)
        host = "".join(letter if letter.isalnum() else "-" for letter in socket.gethostname())[:40]
        self.path = folder / f"{host}-{os.getpid()}-{secrets.token_hex(4)}.{SUFFIX}"
        self.entry = Entry(folder.name)
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)
        with without_locks(folder):
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._number = 0
        self._lines = TurnWrites(self._write)
        self._write_line(about | _this_system() | {"pid": os.getpid(), "time": round(time.time())})

    def begin(self, most: float) -> int:
        """Record the largest cost of an attempt, to be sent once that is `written`, and return its number."""
        self._number += 1
        self._lines.add(f'["+",{self._number},{most!r}]\n'.encode())
        self.entry.open[self._number] = most
        return self._number

    async def written(self) -> None:
        """Wait until the operating system has the lines.

        Raises:
            UserError: it could not be written.
        """
        await self._lines.written()

    def end(self, number: int, cost: float, input_tokens: int, output_tokens: int, confirmed: bool) -> None:
        """Record the cost of an attempt."""
        self.entry.end(number, cost, input_tokens, output_tokens, confirmed)
        self._write_soon(f'["-",{number},{cost!r},{input_tokens},{output_tokens},{confirmed:d}]\n'.encode())

    def grant(self, to: float) -> None:
        """Record, fsynced, the sum up to which this job may spend."""
        self._write_line(["to", to])
        os.fsync(self._file)

    def exceed(self, input_tokens: int, output_tokens: int) -> None:
        """Record by how much answers exceed their bounds."""
        self.entry.over = (input_tokens, output_tokens)
        self._write_soon(_line(["over", input_tokens, output_tokens]))

    def close(self) -> None:
        """Replace all lines by their sum; attempts in flight count at their largest cost."""
        with suppress(UserError):  # the sum holds what these lines say
            self._lines.flush()
        self.entry.sums = self.entry.including_open
        self.entry.open.clear()
        close_file(self.path, self.entry)
        os.close(self._file)

    def _write_soon(self, line: bytes) -> None:
        """Write a line of an ended attempt, in one write with all others of this turn of the event loop.

        After a failed write the file counts the largest cost, and the next `begin` raises the error.
        """
        with suppress(UserError):
            self._lines.add(line)

    def _write_line(self, line: Any) -> None:
        """Write a line at once."""
        self._write(_line(line))
        self.entry.read(line)

    def _write(self, rest: bytes) -> None:
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError as error:
            raise UserError(
                f"the cost of a request could not be recorded in {self.path}: {error.strerror or error}; free some "
                "space or choose another `store_dir`, then run the same command again; stored responses are kept"
            ) from error


def is_alive(path: Path, about: dict[str, Any]) -> bool:
    """Return whether the job that writes a file is running: it holds the file's lock."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        if not is_same_system(about):
            return True
        try:
            os.kill(int(about["pid"]), 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True
    finally:
        os.close(descriptor)
    return False


def is_same_system(about: dict[str, Any]) -> bool:
    """Return whether a job wrote on this machine since its last start, so that no line of its file is lost."""
    return {name: about.get(name) for name in ("host", "boot")} == _this_system()


@contextmanager
def without_locks(folder: Path) -> Iterator[None]:
    """Continue without a lock where the file system has none, and print a note once."""
    try:
        yield
    except BlockingIOError:
        raise
    except OSError as error:
        if folder not in _WITHOUT_LOCKS:
            _WITHOUT_LOCKS.add(folder)
            print(f"note: {folder} has no file locks ({error.strerror}); concurrent jobs may exceed a budget")


def _this_system() -> dict[str, str]:
    """Names this machine since its last start."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        boot = ""
    return {"host": socket.gethostname(), "boot": boot}


def _line(content: Any) -> bytes:
    return f"{_as_json(content)}\n".encode()
