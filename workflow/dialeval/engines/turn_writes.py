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

    async def written(self) -> None:
        """Waits until all that was added is with the operating system, and would survive a kill of this process.

        Raises:
            UserError: it could not be written.
        """
        if self._lines:
            await asyncio.sleep(0)  # till the next turn, which begins with `_end_turn`: that was called for before this
        self._check()

    def flush(self) -> None:
        """Writes at once what was added.

        Raises:
            UserError: it could not be written.
        """
        if self._lines:
            self._end_turn()
            self._check()

    def _end_turn(self) -> None:
        lines, self._lines = self._lines, []
        if lines:
            try:
                self._write(b"".join(lines))
            except UserError as error:
                self._failure = error

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure
