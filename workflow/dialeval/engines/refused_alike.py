"""Ends a job whose every request is refused with the same words: a proxy may say of a wrong key no more than 400."""

from __future__ import annotations

import asyncio

from dialeval.errors import UserError

ENOUGH = 20
"""Equal refusals without one answer before or between them after which nothing more is asked."""
KIND = "bad_request"
"""The kind of refusal that may be of one request or of all; `pacing.breaker` counts those of a whole endpoint."""
_SECONDS = 0.02


class RefusedAlike:
    """Counts refusals until the first answer, or until one says something else."""

    def __init__(self) -> None:
        self._words = ""
        self._refused = self._under_way = 0
        self._over = False

    async def enter(self, may_fail: float) -> None:
        """Takes a place for one request, which waits where all were refused for those that are still under way.

        Args:
            may_fail: how many requests of the job may fail.

        Raises:
            UserError: all were refused, with the same words.
        """
        while self._in_vain(may_fail) and self._under_way:  # one of these may be answered yet, and is paid for then
            await asyncio.sleep(_SECONDS)
        if self._in_vain(may_fail):
            raise UserError(
                f"the first {self._refused} requests were all refused with the same words, and no more are asked: "
                f"{self._words}; see whether `model`, the key and `base_url` are what this endpoint, or the proxy "
                "before it, expects, and whether it takes the fields that are sent. Then run the same command again"
            )
        self._under_way += 1

    def leave(self) -> None:
        """Gives the place back."""
        self._under_way -= 1

    def answered(self) -> None:
        """Notes that the model answered: whatever is refused from now on is refused for itself."""
        self._over = True

    def failed(self, kind: str, words: str) -> None:
        """Notes a request that failed.

        Args:
            kind: of the failure.
            words: what the endpoint said.
        """
        self._over = self._over or kind != KIND or words != (self._words or words)
        self._words = words
        self._refused += 1

    def _in_vain(self, may_fail: float) -> bool:
        return not self._over and self._refused >= ENOUGH and self._refused > may_fail
