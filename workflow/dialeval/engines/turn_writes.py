"""Lines for the end of a file: those that come within one turn of the event loop go in one write.

A write costs the processor as much as a tenth of a request, and of hundreds of requests under way many end in one turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from dialeval.errors import UserError


class TurnWrites:
    """Gathers lines till the turn ends. Once a write has failed, nothing more is written.

    Args:
        write: hands all that it is given to the operating system, or raises UserError.
    """

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._lines: list[bytes] = []
        self._n_added = self._n_written = 0
        self._failure: UserError | None = None

    def add(self, line: bytes) -> None:
        """Adds a line; it is written when the turn of the running loop ends.

        Raises:
            UserError: an earlier write has failed.
        """
        self._check()
        if not self._lines:
            asyncio.get_running_loop().call_soon(self._end_turn)
        self._lines.append(line)
        self._n_added += 1

    async def written(self) -> None:
        """Waits until all that was added is with the operating system, and would survive a kill of this process.

        Raises:
            UserError: it could not be written.
        """
        n_added = self._n_added
        if self._n_written < n_added:
            await asyncio.sleep(0)  # till the next turn, which begins with `_end_turn`: that was called for before this
        if self._n_written < n_added:  # it was interrupted
            self._end_turn()
        self._check()

    def flush(self) -> None:
        """Writes at once what was added.

        Raises:
            UserError: it, or what was added before, could not be written.
        """
        self._end_turn()
        self._check()

    def _end_turn(self) -> None:
        if self._lines:
            try:
                self._write(b"".join(self._lines))
            except UserError as error:
                self._failure = error
            self._lines.clear()  # not before: what an interruption kept from the file is written when all is closed
            self._n_written = self._n_added

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure
