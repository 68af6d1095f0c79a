"""Files of answers, one line each, and where in them each answer lies.

A line is

    <key: 32 hex digits> <CRC-32 of the rest: 8 hex digits> <response as JSON>

The index holds 24 bytes for each line, whatever its length. Files may be cut, replaced or changed while they are read:
every line is checked again when it is wanted, and what is no longer whole is as if it had never been there.
"""

from __future__ import annotations

import os
import zlib
from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from dialeval.errors import UserError

KEY_LENGTH = 32
BODY_START = KEY_LENGTH + 10
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MOST_OPEN = 64
_AT_ONCE = 1 << 20


def line_of(key: str, body: bytes) -> bytes:
    """Returns the line that holds an answer."""
    return b"%s %08x %s\n" % (key.encode(), zlib.crc32(key.encode() + body), body)


def body_of(line: bytes) -> bytes | None:
    """Returns the answer in a line, or None if the line is damaged. Editors' line ends are none of its content."""
    key, checksum, body = line[:KEY_LENGTH], line[KEY_LENGTH + 1 : BODY_START - 1], line[BODY_START:].rstrip(b"\r\n")
    try:
        whole = int(checksum, 16) == zlib.crc32(body, zlib.crc32(key))
    except ValueError:
        return None
    return body if whole else None


class AnswerFiles:
    """The answers in some files; of several to one key the one in the last place counts.

    Attributes:
        damaged: number of damaged lines, by file.
        unreadable: why a file could not be read, by file.
    """

    def __init__(self) -> None:
        self.damaged: dict[str, int] = {}
        self.unreadable: dict[str, str] = {}
        self._paths: list[Path] = []
        self._open: OrderedDict[int, int] = OrderedDict()
        self._sort(array("Q"), array("Q"), array("I"), array("I"))

    def __len__(self) -> int:
        """Returns the number of different keys."""
        return len(np.unique(np.asarray(self._ends)))

    def load(self, paths: Iterable[Path]) -> None:
        """Finds out which answers lie where; done once."""
        ends, offsets, lengths, files = array("Q"), array("Q"), array("I"), array("I")
        for path in paths:
            self._paths.append(path)
            n_before, damaged = len(ends), 0
            try:
                for offset, line in _lines(path):
                    if body_of(line) is not None and (end := _end(line)) is not None:
                        ends.append(end)
                        offsets.append(offset)
                        lengths.append(len(line))
                    elif line.strip():
                        damaged += 1
            except OSError as error:  # what was read of it before may be used
                self.unreadable[str(path)] = error.strerror or str(error)
            files.extend([len(self._paths) - 1] * (len(ends) - n_before))
            if damaged:
                self.damaged[str(path)] = damaged
        self._sort(ends, offsets, lengths, files)

    def find(self, key: str) -> Iterator[tuple[str, bytes]]:
        """Yields the file and the body of each answer to a key, the last one first.

        Raises:
            UserError: a file that could be read before cannot be read any more.
        """
        end = int(key[16:], 16)
        first = place = bisect_left(self._ends, end)
        while place < len(self._ends) and self._ends[place] == end:
            place += 1
        for at in range(place - 1, first - 1, -1):
            line = self._read(int(self._files[at]), int(self._offsets[at]), int(self._lengths[at]))
            body = body_of(line)
            path = str(self._paths[self._files[at]])
            if body is None:
                self.count_damaged(path)
            elif line[:KEY_LENGTH] == key.encode():
                yield path, body

    def everything(self) -> Iterator[tuple[str, bytes]]:
        """Yields key and body of every answer, file by file; of several to one key, all."""
        for path in self._paths:
            for _, line in _lines(path):
                body = body_of(line)
                if body is not None:
                    yield line[:KEY_LENGTH].decode(), body

    def count_damaged(self, path: str) -> None:
        """Counts a line that turned out to be damaged when it was wanted, and says so the first time."""
        if path not in self.damaged:
            print(f"note: {path} has a damaged line; its request is asked again")
        self.damaged[path] = self.damaged.get(path, 0) + 1

    def close(self) -> None:
        """Closes the files; they are opened again when they are needed."""
        while self._open:
            os.close(self._open.popitem()[1])

    def _sort(self, ends: array[int], offsets: array[int], lengths: array[int], files: array[int]) -> None:
        """Keeps places by key; those of one key stay in their order."""
        keys = np.frombuffer(ends, dtype=np.uint64)
        order = np.argsort(keys, kind="stable")
        # a memory view gives plain integers, which bisection compares several times as fast as numpy's
        self._ends = keys[order].data
        self._offsets = np.frombuffer(offsets, dtype=np.uint64)[order]
        self._lengths = np.frombuffer(lengths, dtype=np.uint32)[order]
        self._files = np.frombuffer(files, dtype=np.uint32)[order]

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
                f"{self._paths[number]} could be read when this job began and cannot be read now: "
                f"{error.strerror or error}; mend that and run the same command again"
            ) from error


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yields the lines of a file and where they begin; nothing of it is mapped, since it may be cut meanwhile."""
    start = 0
    with path.open("rb", buffering=_AT_ONCE) as file:
        for line in file:
            if start == 0 and line.startswith(_BYTE_ORDER_MARK):
                start, line = len(_BYTE_ORDER_MARK), line[len(_BYTE_ORDER_MARK) :]
            yield start, line
            start += len(line)


def _end(line: bytes) -> int | None:
    """Returns the last half of a line's key as a number."""
    try:
        int(line[:16], 16)
        return int(line[16:KEY_LENGTH], 16)
    except ValueError:
        return None
