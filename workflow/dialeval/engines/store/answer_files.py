"""Files of answers: an index of their lines by key, and writing of lines.

A line is

    <key: 32 hex digits> <CRC-32 of the rest: 8 hex digits> <response as JSON>

The index holds 24 bytes per line. Files may change while they are read: each line is checked when it is read, and a
corrupt one is ignored.

A write takes a tenth of a request's processor time, so that lines of one turn of the event loop are written together.
"""

from __future__ import annotations

import asyncio
import os
import zlib
from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from dialeval.errors import UserError

_MOST_OPEN = 64


class AnswerFiles:
    """The answers in some files; of several to one key the last one counts.

    Attributes:
        corrupt: number of corrupt lines, by file.
        unreadable: why a file could not be read, by file.
    """

    def __init__(self) -> None:
        self.corrupt: dict[str, int] = {}
        self.unreadable: dict[str, str] = {}
        self._paths: list[Path] = []
        self._open: OrderedDict[int, int] = OrderedDict()
        self._key_tails = self._offsets = self._lengths = self._files = memoryview(b"")

    def __len__(self) -> int:
        """Return the number of different keys."""
        key_tails = np.asarray(self._key_tails)
        return int(np.count_nonzero(key_tails[1:] != key_tails[:-1])) + bool(len(key_tails))

    def load(self, paths: Iterable[Path], *, grows: Callable[[Path], bool]) -> None:
        """Read the positions of all answers; called once.

        Args:
            grows: returns whether a job may be writing into a file, whose last line is then unfinished, not corrupt.
        """
        columns = array("Q"), array("Q"), array("I"), array("I")
        for path in paths:
            try:
                found, corrupt, is_unfinished = _places_in(path)
            except OSError as error:
                self.unreadable[str(path)] = error.strerror or str(error)
                continue
            files = array("I", [len(self._paths)]) * len(found[0])
            for column, of_file in zip(columns, (*found, files), strict=True):
                column.extend(of_file)
            self._paths.append(path)
            if corrupt := corrupt + (is_unfinished and not grows(path)):
                self.corrupt[str(path)] = corrupt
        order = np.argsort(np.asarray(columns[0]), kind="stable")  # those of one key stay in their order
        # memory views give plain integers, which bisection compares several times as fast as numpy's
        self._key_tails, self._offsets, self._lengths, self._files = (np.asarray(one)[order].data for one in columns)

    def find(self, key: str) -> Iterator[tuple[str, bytes]]:
        """Yield the file and the body of each answer to a key, the last one first.

        Raises:
            UserError: a file can no longer be read.
        """
        end = int(key[16:], 16)
        first = place = bisect_left(self._key_tails, end)
        while place < len(self._key_tails) and self._key_tails[place] == end:
            place += 1
        for at in range(place - 1, first - 1, -1):
            number = self._files[at]
            line = self._read(number, self._offsets[at], self._lengths[at])
            body = body_of(line)
            if body is None:
                self.count_corrupt(str(self._paths[number]))
            elif line[:KEY_LENGTH] == key.encode():
                yield str(self._paths[number]), body

    def count_corrupt(self, path: str) -> None:
        """Count a corrupt line, and print a note the first time."""
        if path not in self.corrupt:
            print(f"note: {path} has a corrupt line; its request is sent again")
        self.corrupt[path] = self.corrupt.get(path, 0) + 1

    def close(self) -> None:
        """Close the files; reading opens them again."""
        while self._open:
            os.close(self._open.popitem()[1])

    def _read(self, number: int, offset: int, length: int) -> bytes:
        try:
            descriptor = self._open.pop(number, None)
            if descriptor is None:
                if len(self._open) >= _MOST_OPEN:
                    os.close(self._open.popitem(last=False)[1])
                descriptor = os.open(self._paths[number], os.O_RDONLY)
            self._open[number] = descriptor
            return os.pread(descriptor, length, offset)
        except OSError as error:
            raise UserError(
                f"{self._paths[number]} was readable when this job began and is not readable now: "
                f"{error.strerror or error}; make it readable and run the same command again"
            ) from error


class GrowingFiles:
    """The answers in files that jobs are writing, read incrementally."""

    def __init__(self) -> None:
        self._read: dict[Path, int] = {}
        self._places: dict[bytes, tuple[Path, int, int]] = {}

    def read_on(self, paths: Iterable[Path]) -> None:
        """Index the complete lines that were added to files.

        Raises:
            OSError: a file cannot be read.
        """
        for path in paths:
            place = self._read.get(path, 0)
            with path.open("rb") as file:  # on a network file system, opening refreshes the length
                file.seek(place)
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    if body_of(line) is not None:
                        self._places[bytes.fromhex(line[:KEY_LENGTH].decode())] = path, place, len(line)
                    place += len(line)
            self._read[path] = place

    def get(self, key: str) -> bytes | None:
        """Return the body of an answer, or None."""
        found = self._places.get(bytes.fromhex(key))
        if found is None:
            return None
        path, place, length = found
        with path.open("rb") as file:
            file.seek(place)
            return body_of(file.read(length))


# The lines of a file of answers.

KEY_LENGTH = 32
BODY_START = KEY_LENGTH + 10
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BUFFER_BYTES = 1 << 20


def line_of(key: str, body: bytes) -> bytes:
    """Return the line that holds an answer."""
    return b"%s %08x %s\n" % (key.encode(), zlib.crc32(key.encode() + body), body)


def body_of(line: bytes) -> bytes | None:
    """Return the answer in a line, without line ends, or None if the line is corrupt."""
    key, checksum, body = line[:KEY_LENGTH], line[KEY_LENGTH + 1 : BODY_START - 1], line[BODY_START:].rstrip(b"\r\n")
    try:
        is_intact = int(checksum, 16) == zlib.crc32(body, zlib.crc32(key))
    except ValueError:
        return None
    return body if is_intact else None


def _places_in(path: Path) -> tuple[tuple[array[int], array[int], array[int]], int, bool]:
    """Return the positions of the complete lines of a file, the number of corrupt lines, and whether the last is cut.

    Returns:
        Of each line: the last half of its key as a number, where it begins, and its bytes. Then the number of corrupt
        lines, and whether the last line is incomplete: cut off, or being written.

    Raises:
        OSError: the file cannot be read.
    """
    key_tails, offsets, lengths, corrupt, is_unfinished = array("Q"), array("Q"), array("I"), 0, False
    for offset, line in _lines(path):
        end = _key_tail(line)
        if end is not None and body_of(line) is not None:
            key_tails.append(end)
            offsets.append(offset)
            lengths.append(len(line))
        elif not line.endswith(b"\n"):
            is_unfinished = True
        elif line.strip():
            corrupt += 1
    return (key_tails, offsets, lengths), corrupt, is_unfinished


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file and their offsets; without mmap, since the file may be cut meanwhile."""
    start = 0
    with path.open("rb", buffering=_BUFFER_BYTES) as file:
        for line in file:
            if start == 0 and line.startswith(_BYTE_ORDER_MARK):
                start, line = len(_BYTE_ORDER_MARK), line[len(_BYTE_ORDER_MARK) :]
            yield start, line
            start += len(line)


def _key_tail(line: bytes) -> int | None:
    """Return the last half of a line's key as a number."""
    try:
        int(line[:16], 16)
        return int(line[16:KEY_LENGTH], 16)
    except ValueError:
        return None


# Writing: the lines of one turn of the event loop go in one write.


class TurnWrites:
    """Gathers lines until the turn ends; after a failed write nothing more is written.

    Args:
        write: writes all bytes, or raises UserError.
    """

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._lines: list[bytes] = []
        self._n_added = self._n_written = 0
        self._failure: UserError | None = None

    def add(self, line: bytes) -> None:
        """Add a line, which is written when the turn of the running loop ends.

        Raises:
            UserError: an earlier write has failed.
        """
        self._check()
        if not self._lines:
            asyncio.get_running_loop().call_soon(self._end_turn)
        self._lines.append(line)
        self._n_added += 1

    async def written(self) -> None:
        """Wait until all added lines are written, so that they survive a kill of this process.

        Raises:
            UserError: it could not be written.
        """
        n_added = self._n_added
        if self._n_written < n_added:
            await asyncio.sleep(0)  # till the next turn, which begins with `_end_turn`, scheduled before this
        if self._n_written < n_added:  # it was interrupted
            self._end_turn()
        self._check()

    def flush(self) -> None:
        """Write the added lines at once.

        Raises:
            UserError: a line could not be written.
        """
        self._end_turn()
        self._check()

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _end_turn(self) -> None:
        if self._lines:
            try:
                self._write(b"".join(self._lines))
            except UserError as error:
                self._failure = error
            self._lines.clear()  # not before: lines of an interrupted write are written on closing
            self._n_written = self._n_added
