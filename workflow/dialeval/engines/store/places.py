"""Where in a file of answers each one lies: found by reading the file, and kept beside it once it is long.

What is kept is only believed while the file has the size and the time that it had, and every line is checked again
when it is wanted: a wrong note of places can cost a second reading, never an answer.
"""

from __future__ import annotations

import os
import struct
import zlib
from array import array
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dialeval.errors import UserError
from dialeval.whole_files import replacing

KEY_LENGTH = 32
BODY_START = KEY_LENGTH + 10
LONG = 10_000
"""Lines from which on the places are kept: a shorter file is read in a moment."""
_SUFFIX = ".places"
_HEAD = struct.Struct("<8sQqQII")
_MAGIC = b"places 1"
_UNFINISHED = 1 << 31
"""Added to the number of damaged lines where the last line is unfinished."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_AT_ONCE = 1 << 20


class Places(NamedTuple):
    """The whole lines of a file, in their order.

    Attributes:
        ends: the last half of each key, as a number.
        offsets: where each line begins.
        lengths: bytes of each line.
        damaged: number of damaged lines, without the last one where that is unfinished.
        is_unfinished: whether the last line has no end and is not whole: cut off, or just being written.
    """

    ends: npt.NDArray[np.uint64]
    offsets: npt.NDArray[np.uint64]
    lengths: npt.NDArray[np.uint32]
    damaged: int
    is_unfinished: bool


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


def places_in(path: Path, *, keep: bool) -> Places:
    """Returns where the answers of a file lie.

    Args:
        path: the file.
        keep: whether the places may be written down beside a long file.

    Raises:
        OSError: the file cannot be read.
    """
    kept = _kept(path)
    if kept is not None:
        return kept
    ends, offsets, lengths, damaged, is_unfinished = array("Q"), array("Q"), array("I"), 0, False
    before = path.stat()
    for offset, line in _lines(path):
        end = _end(line)
        if end is not None and body_of(line) is not None:
            ends.append(end)
            offsets.append(offset)
            lengths.append(len(line))
        elif not line.endswith(b"\n"):
            is_unfinished = True
        elif line.strip():
            damaged += 1
    found = np.frombuffer(ends, np.uint64), np.frombuffer(offsets, np.uint64), np.frombuffer(lengths, np.uint32)
    places = Places(*found, damaged, is_unfinished)
    if keep and len(ends) >= LONG and _stamp(path.stat()) == _stamp(before):
        with suppress(OSError, UserError):  # a full or read-only disk: the file is read again the next time
            _keep(path, places, before)
    return places


def _kept(path: Path) -> Places | None:
    stat = path.stat()
    try:
        content = path.with_name(path.name + _SUFFIX).read_bytes()
        magic, size, changed, n, damaged, checksum = _HEAD.unpack_from(content)
    except (OSError, struct.error):
        return None
    parts = memoryview(content)[_HEAD.size :]
    if (magic, size, changed) != (_MAGIC, *_stamp(stat)) or len(parts) != 20 * n or zlib.crc32(parts) != checksum:
        return None
    return Places(
        np.frombuffer(parts[: 8 * n], np.uint64),
        np.frombuffer(parts[8 * n : 16 * n], np.uint64),
        np.frombuffer(parts[16 * n :], np.uint32),
        damaged & ~_UNFINISHED,
        bool(damaged & _UNFINISHED),
    )


def _keep(path: Path, places: Places, stat: os.stat_result) -> None:
    parts = b"".join(column.tobytes() for column in (places.ends, places.offsets, places.lengths))
    damaged = places.damaged | (_UNFINISHED if places.is_unfinished else 0)
    head = _HEAD.pack(_MAGIC, *_stamp(stat), len(places.ends), damaged, zlib.crc32(parts))
    with replacing(path.with_name(path.name + _SUFFIX)) as temporary:
        temporary.write_bytes(head + parts)


def _stamp(stat: os.stat_result) -> tuple[int, int]:
    return stat.st_size, stat.st_mtime_ns


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
