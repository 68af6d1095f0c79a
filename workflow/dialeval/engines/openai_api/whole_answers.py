"""Reading answers to their end, while all that are under way take no more memory than a few long ones."""

from __future__ import annotations

import asyncio

import aiohttp

LARGEST_ANSWER = 64 * 1024 * 1024
"""Bytes of an answer; the longest ones with all likeliest tokens have some megabytes."""
MOST_TOGETHER = 64 * 1024 * 1024
"""Bytes of answers that are not read to their end; beyond them the long ones are read on one at a time."""
LONG = 1024 * 1024


class WholeAnswers:
    """Reads the answers of one event loop: of those without end, each up to the largest, one at a time."""

    def __init__(self) -> None:
        self._held = 0
        self._alone = asyncio.Lock()

    async def read(self, response: aiohttp.ClientResponse) -> bytes | None:
        """Returns the body of an answer and gives its connection back, or closes it; None for one that is too long."""
        parts: list[bytes] = []
        size, alone = 0, False
        try:
            while part := await response.content.readany():
                parts.append(part)
                size += len(part)
                self._held += len(part)
                if size > LARGEST_ANSWER:
                    response.close()
                    return None
                if size > LONG and self._held > MOST_TOGETHER and not alone:
                    alone = await self._alone.acquire()  # what comes meanwhile is left with the endpoint
            return b"".join(parts)
        except BaseException:
            response.close()
            raise
        finally:
            self._held -= size
            if alone:
                self._alone.release()
