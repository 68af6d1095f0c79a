"""Files of answers, one line each, and looking answers up in them.

A line is

    <key: 32 hex digits> <CRC-32 of the rest: 8 hex digits> <response as JSON>

The index holds 24 bytes for each line, whatever its length. Files may be cut, replaced or changed while they are read:
every line is checked again when it is wanted, and what is no longer whole is as if it had never been there.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from dialeval.engines.store.places import KEY_LENGTH, Places, body_of, places_in
from dialeval.errors import UserError

_MOST_OPEN = 64


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
        self._sort([])

    def __len__(self) -> int:
        """Returns the number of different keys."""
        ends = np.asarray(self._ends)
        return int(np.count_nonzero(ends[1:] != ends[:-1])) + bool(len(ends))

    def load(self, paths: Iterable[Path], *, keep: bool, grows: Callable[[Path], bool]) -> None:
        """Finds out which answers lie where; done once.

        Args:
            paths: the files.
            keep: whether the places may be written down beside long files, so that they need not be read again.
            grows: whether somebody may be writing into a file, whose last line is then not damaged but unfinished.
        """
        found = []
        for path in paths:
            try:
                places = places_in(path, keep=keep)
            except OSError as error:
                self.unreadable[str(path)] = error.strerror or str(error)
                continue
            found.append(places)
            self._paths.append(path)
            if damaged := places.damaged + (places.is_unfinished and not grows(path)):
                self.damaged[str(path)] = damaged
        self._sort(found)

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
            number = self._files[at]
            line = self._read(number, self._offsets[at], self._lengths[at])
            body = body_of(line)
            if body is None:
                self.count_damaged(str(self._paths[number]))
            elif line[:KEY_LENGTH] == key.encode():
                yield str(self._paths[number]), body

    def count_damaged(self, path: str) -> None:
        """Counts a line that turned out to be damaged when it was wanted, and says so the first time."""
        if path not in self.damaged:
            print(f"note: {path} has a damaged line; its request is asked again")
        self.damaged[path] = self.damaged.get(path, 0) + 1

    def close(self) -> None:
        """Closes the files; they are opened again when they are needed."""
        while self._open:
            os.close(self._open.popitem()[1])

    def _sort(self, found: Sequence[Places]) -> None:
        """Keeps all places by key; those of one key stay in their order."""
        keys = np.concatenate([np.zeros(0, np.uint64), *(places.ends for places in found)])
        order = np.argsort(keys, kind="stable")
        offsets = np.concatenate([np.zeros(0, np.uint64), *(places.offsets for places in found)])
        lengths = np.concatenate([np.zeros(0, np.uint32), *(places.lengths for places in found)])
        files = np.repeat(np.arange(len(found), dtype=np.uint32), [len(places.ends) for places in found])
        # memory views give plain integers, which bisection compares several times as fast as numpy's
        self._ends, self._offsets = keys[order].data, offsets[order].data
        self._lengths, self._files = lengths[order].data, files[order].data

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


class GrowingFiles:
    """The answers in files that jobs at work write, each read on from where it was read last."""

    def __init__(self) -> None:
        self._read: dict[Path, int] = {}
        self._places: dict[bytes, tuple[Path, int, int]] = {}

    def read_on(self, paths: Iterable[Path]) -> None:
        """Finds the whole lines that were added to files.

        Raises:
            OSError: a file cannot be read.
        """
        for path in paths:
            place = self._read.get(path, 0)
            with path.open("rb") as file:  # which has a network file system look how long it is by now
                file.seek(place)
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    if body_of(line) is not None:
                        self._places[bytes.fromhex(line[:KEY_LENGTH].decode())] = path, place, len(line)
                    place += len(line)
            self._read[path] = place

    def get(self, key: str) -> bytes | None:
        """Returns the body of an answer, or None."""
        found = self._places.get(bytes.fromhex(key))
        if found is None:
            return None
        path, place, length = found
        with path.open("rb") as file:
            file.seek(place)
            return body_of(file.read(length))
