"""The response store: every answer ever given, kept outside the workflow's declared outputs.

A store is a folder per model and protocol that holds append-only text files. A line is

    <key: 32 hex digits> <CRC-32 of the rest: 8 hex digits> <response as JSON>

Every job writes a file of its own, so that no two writers ever share one; readers take the lines of all files. A line
whose checksum is wrong, or that was cut off, is left out and reported; its request is simply asked again. Errors are
never stored.

Durability: `append` hands each line to the operating system before it returns, so killing the process loses nothing;
`sync_seconds` bounds what a power failure can take (the file is fsynced at least that often, and on close).
"""

from __future__ import annotations

import fcntl
import hashlib
import itertools
import mmap
import os
import re
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from dialeval.engines.request import Response
from dialeval.errors import UserError

KEY_LENGTH = 32
_BODY_START = KEY_LENGTH + 10
_OWN_FILE = (1 << 32) - 1  # the file number of the present job's own file


@dataclass
class LoadReport:
    """What was found in a store folder: whole responses, and damaged lines by file."""

    responses: int = 0
    damaged: dict[str, int] = field(default_factory=dict)


class ResponseStore:
    """The stored responses of one model under one protocol, and the file of the present job.

    Reading keeps an index of 16-byte keys in memory, not the texts, which stay in the mapped files.

    Args:
        directory: where stores lie, `store_dir` of the configuration.
        identity: the model's identity; each identity has a folder of its own.
        name: the model's readable name, for the folder's name.
        protocol: the protocol, a folder below.
        writer: distinguishes jobs that answer for the same model and protocol (a shard); one job at a time may write
            under one name, a second waits for it.
        sync_seconds: longest time between two fsyncs while answers arrive.
    """

    def __init__(
        self,
        directory: Path,
        *,
        identity: str,
        name: str,
        protocol: str,
        writer: str = "job",
        sync_seconds: float = 1.0,
    ) -> None:
        digest = hashlib.sha256(identity.encode()).hexdigest()[:12]
        readable = re.sub(r"[^A-Za-z0-9._-]+", "-", name)[:60]
        self.folder = directory / f"{readable}-{digest}" / protocol
        self.report = LoadReport()
        self.written = 0
        self._writer = writer
        self._sync_seconds = sync_seconds
        self._index: dict[bytes, int] = {}
        self._files: list[mmap.mmap] = []
        self._output: int | None = None
        self._output_size = 0
        self._lock: int | None = None
        self._last_sync = 0.0

    def __enter__(self) -> Self:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = self._acquire_lock()
            self._load()
        except OSError as error:
            raise UserError(
                f"the response store at {self.folder} cannot be used: {error.strerror or error}; "
                "check `store_dir` in the configuration and the rights and space of that disk"
            ) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._output is not None:
            os.fsync(self._output)
            os.close(self._output)
            self._output = None
        for mapped in self._files:
            mapped.close()
        if self._lock is not None:
            os.close(self._lock)

    def __len__(self) -> int:
        return len(self._index)

    def __contains__(self, key: str) -> bool:
        return bytes.fromhex(key) in self._index

    def get(self, key: str) -> Response | None:
        """Returns the stored response, or None."""
        place = self._index.get(bytes.fromhex(key))
        if place is None:
            return None
        number, offset, length = _unpack(place)
        if number == _OWN_FILE:
            assert self._output is not None
            return Response.from_json(os.pread(self._output, length, offset))
        return Response.from_json(self._files[number][offset : offset + length])

    def append(self, key: str, response: Response) -> None:
        """Stores an answer; it survives a kill of this process once the call returns.

        Raises:
            UserError: the disk is full or not writable.
        """
        body = response.to_json().encode("utf-8", "surrogatepass")
        line = b"%s %08x %s\n" % (key.encode(), zlib.crc32(key.encode() + body), body)
        try:
            if self._output is None:
                self._open_output()
            assert self._output is not None
            written = os.write(self._output, line)
            while written < len(line):
                written += os.write(self._output, line[written:])
            if time.monotonic() - self._last_sync > self._sync_seconds:
                os.fsync(self._output)
                self._last_sync = time.monotonic()
        except OSError as error:
            raise UserError(
                f"an answer could not be stored in {self.folder}: {error.strerror or error}; free some space or "
                "choose another `store_dir`, then run the same command again: what is stored is kept"
            ) from error
        self._index[bytes.fromhex(key)] = _pack(_OWN_FILE, self._output_size + _BODY_START, len(body))
        self._output_size += len(line)
        self.written += 1

    def sync(self) -> None:
        """Makes what was stored survive a power failure."""
        if self._output is not None:
            os.fsync(self._output)
            self._last_sync = time.monotonic()

    def beside(self, suffix: str) -> Path:
        """Returns the path of a file of this job's writer that lies beside its answers and holds none."""
        return self.folder / f"{self._writer}.{suffix}"

    def _acquire_lock(self) -> int:
        """Waits until no other job writes under the same name; the lock dies with its process."""
        descriptor = os.open(self.folder / f"{self._writer}.lock", os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"waiting: another job is answering into {self.folder}", flush=True)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError as error:  # a file system without locks
            print(f"note: {self.folder} has no file locks ({error.strerror}); do not run this job twice at once")
        return descriptor

    def _open_output(self) -> None:
        for number in itertools.count():
            path = self.folder / f"{self._writer}-{number:05d}.jsonl"
            try:
                self._output = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)
            except FileExistsError:
                continue
            self._last_sync = time.monotonic()
            return

    def _load(self) -> None:
        for path in sorted(self.folder.glob("*.jsonl")):
            if path.stat().st_size == 0:
                continue
            with path.open("rb") as file:
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            number = len(self._files)
            self._files.append(mapped)
            damaged = 0
            for start, line in _lines(mapped):
                if _is_whole(line):
                    place = _pack(number, start + _BODY_START, len(line) - _BODY_START - 1)
                    self._index[bytes.fromhex(line[:KEY_LENGTH].decode())] = place
                else:
                    damaged += 1
            if damaged:
                self.report.damaged[str(path)] = damaged
        self.report.responses = len(self._index)
        for name, count in self.report.damaged.items():
            print(f"note: {name} has {count} damaged line(s); the rest is used and those requests are asked again")


def _pack(number: int, offset: int, length: int) -> int:
    return number << 80 | offset << 32 | length


def _unpack(place: int) -> tuple[int, int, int]:
    return place >> 80, place >> 32 & (1 << 48) - 1, place & (1 << 32) - 1


def _lines(mapped: mmap.mmap) -> Iterator[tuple[int, bytes]]:
    start = 0
    for line in iter(mapped.readline, b""):
        yield start, line
        start += len(line)


def _is_whole(line: bytes) -> bool:
    try:
        key, checksum = line[:KEY_LENGTH], int(line[KEY_LENGTH + 1 : _BODY_START - 1], 16)
        bytes.fromhex(key.decode())
    except ValueError:
        return False
    return line.endswith(b"\n") and zlib.crc32(key + line[_BODY_START:-1]) == checksum
