"""What is asked at the same moment is answered together, and each question only once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from dialeval.engines.request import Dialogue

Answer = TypeVar("Answer")


class Batched(Generic[Answer]):
    """Answers questions about single dialogues.

    Args:
        answer_all: answers what was asked about at one moment; the answer on a dialogue must not depend on the others.
    """

    def __init__(self, answer_all: Callable[[Sequence[Dialogue]], Mapping[Dialogue, Answer]]) -> None:
        self._answer_all = answer_all
        self._known: dict[Dialogue, Answer] = {}
        self._waiting: dict[Dialogue, asyncio.Future[Answer]] = {}

    def learn(self, dialogues: Sequence[Dialogue]) -> None:
        """Finds out the answers on dialogues that are not known yet."""
        if new := [dialogue for dialogue in dict.fromkeys(dialogues) if dialogue not in self._known]:
            self._known.update(self._answer_all(new))

    def known(self, dialogue: Dialogue) -> Answer:
        """Returns the answer on a dialogue that was learned."""
        return self._known[dialogue]

    async def ask(self, dialogue: Dialogue) -> Answer:
        """Returns the answer on a dialogue; what goes wrong is raised for every question of the moment."""
        if dialogue in self._known:
            return self._known[dialogue]
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._answer_waiting)
        if dialogue not in self._waiting:
            self._waiting[dialogue] = asyncio.get_running_loop().create_future()
        return await asyncio.shield(self._waiting[dialogue])

    def forget(self) -> None:
        """Forgets all answers."""
        self._known.clear()

    def _answer_waiting(self) -> None:
        waiting, self._waiting = self._waiting, {}
        try:
            self.learn(list(waiting))
        except Exception as error:
            for future in waiting.values():
                future.set_exception(error)
            return
        for dialogue, future in waiting.items():
            future.set_result(self._known[dialogue])
