"""The file of one batch, filled until it holds what a batch may hold."""

from __future__ import annotations

import tempfile
from typing import IO

from dialeval.engines.openai_api.batches.ledger import Asked
from dialeval.engines.spending.account import Reserved

MOST_REQUESTS, MOST_BYTES = 50_000, 200_000_000
"""What OpenAI takes in one batch."""


class BatchFile:
    """Lines on the disk, and what they ask; the file has no name and ends with the process.

    Args:
        most_requests: lines that it may hold.
        most_bytes: bytes that it may hold.
    """

    def __init__(self, most_requests: int, most_bytes: int) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        self.size = 0
        self.asked: dict[str, Asked] = {}
        self.paid_from: dict[str, Reserved] = {}
        self._most_requests, self._most_bytes = most_requests, most_bytes

    def close(self) -> None:
        """Ends the file."""
        self._file.close()

    def holds(self, line: bytes) -> bool:
        """Returns whether a line has room; the first always has."""
        room = len(self.asked) < self._most_requests and self.size + len(line) <= self._most_bytes
        return room or not self.asked

    def add(self, key: str, asked: Asked, line: bytes, reserved: Reserved | None) -> None:
        """Adds a request and what was set aside for it, if anything is counted."""
        self._file.write(line)
        self.asked[key] = asked
        if reserved is not None:
            self.paid_from[key] = reserved
        self.size += len(line)

    def content(self) -> IO[bytes]:
        """Returns the file as it is to be read: whole on the disk, where its length is looked up, from its start."""
        self._file.flush()
        self._file.seek(0)
        return self._file
