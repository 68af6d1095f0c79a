"""Files that may be packed, by gzip or bzip2, opened as what is in them."""

from __future__ import annotations

import io
from importlib import import_module
from pathlib import Path
from typing import Any

_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2"}
"""First bytes of packed files, and the modules that unpack them."""
_PIECE = 1 << 20
UNPACKED, _TIMES_SMALLER = 1 << 28, 200
"""Bytes that a packed file may unpack to in any case, and how many times its own beyond; text is seldom 50 times."""


def unpacked(path: Path) -> io.BufferedReader:
    """Opens a file, and another within it where it is packed.

    Raises:
        OSError: the file cannot be opened; reading it raises ValueError where it unpacks to more than text can.
    """
    with path.open("rb") as file:
        beginning = file.read(max(map(len, _PACKED)))
    module = next((module for mark, module in _PACKED.items() if beginning.startswith(mark)), None)
    if module is None:
        return path.open("rb")
    return io.BufferedReader(_Packed(import_module(module).open(path), path.stat().st_size), _PIECE)


class _Packed(io.RawIOBase):
    """A packed file, which is read until it is plain that it was made to fill a memory."""

    def __init__(self, file: io.BufferedIOBase, n_bytes: int) -> None:
        self._file = file
        self._left = max(UNPACKED, _TIMES_SMALLER * n_bytes)

    def readable(self) -> bool:
        """Returns that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Reads into a buffer.

        Raises:
            ValueError: it unpacks to more than any text.
        """
        n = self._file.readinto(buffer)
        self._left -= n
        if self._left < 0:
            raise ValueError(f"it unpacks to more than {_TIMES_SMALLER} times its size, which is no text")
        return n

    def close(self) -> None:
        """Closes the file."""
        self._file.close()
        super().close()
