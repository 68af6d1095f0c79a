"""How many requests the engine has in hand at once: as many as its KV cache holds, begun dialogues first."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Mapping, Sequence

FIRST_GUESS_OF_ANSWER, GUESSES = 64, 16
"""Tokens expected of an answer before any has been seen, and how many answers the guess counts for; short answers come
first, so that the first few say little."""
MARKS = 5
"""Tokens that a chat template puts around an utterance."""
PART_IN_USE = 0.9
"""Of the cache, what dialogues that go on may take; the rest is with those that have just ended."""


class Admission:
    """Lets requests in while the tokens they need fit the KV cache.

    Those that wait are let in by depth, most messages first: a dialogue that has begun goes on before a new one does,
    while its history is still in the cache. Among equals the order is that of their prompts, so that prompts with the
    same beginning meet.

    Args:
        capacity: tokens that the cache holds.
        block_size: tokens of a cache block; a request takes whole blocks.
        limit: most requests in hand, whatever their size; 0 for no such limit.
    """

    def __init__(self, capacity: int, block_size: int, limit: int = 0) -> None:
        self.capacity, self.block_size, self.limit = capacity, block_size, limit
        self.in_hand = self.most_in_hand = 0
        self._taken = 0
        self._last_prompt: Sequence[int] = ()
        self._answers = 0
        self._answer_tokens = 0
        self._order = itertools.count()
        self._waiting: list[tuple[int, str, int, int, asyncio.Future[None]]] = []

    def place(self, depth: int, rendered: str, prompt: Sequence[int], max_tokens: int) -> Place:
        """Returns an asynchronous context for one request; entering it waits for room.

        Args:
            depth: how many messages the request has.
            rendered: its prompt.
            prompt: the prompt's tokens.
            max_tokens: the longest answer.
        """
        expected = min(max_tokens, self._expected_answer())
        blocks = -(-(len(prompt) + expected) // self.block_size) - self._shared_blocks(prompt)
        return Place(self, depth, rendered, blocks * self.block_size)

    def count_answer(self, tokens: int) -> None:
        """Learns how long answers are."""
        self._answers += 1
        self._answer_tokens += tokens

    def holds(self, lengths: Mapping[int, int], n_utterances: int, max_tokens: int) -> bool:
        """Returns whether the cache holds dialogues that all go on, now and after every turn to come.

        A dialogue is in the cache twice, because its two speakers change places in the prompt with every turn.

        Args:
            lengths: utterances of a dialogue -> how many dialogues have so many.
            n_utterances: utterances that they have in the end.
            max_tokens: longest utterance.
        """
        utterance = min(max_tokens, self._mean_answer()) + MARKS
        shortest = min(lengths, default=n_utterances)
        return all(
            sum(
                2 * number * ((length + turns) * utterance + self.block_size / 2)
                for length, number in lengths.items()
                if length + turns <= n_utterances
            )
            <= PART_IN_USE * self.capacity
            for turns in range(n_utterances - shortest + 1)
        )

    async def enter(self, depth: int, prompt: str, need: int) -> None:
        """Waits until a request of this need has room."""
        if not self._waiting and self._fits(need):
            self._take(need)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (-depth, prompt, next(self._order), need, future))
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self.leave(need)
            raise

    def leave(self, need: int) -> None:
        """Gives back the room of a request and lets others in."""
        self.in_hand -= 1
        self._taken -= need
        # A dialogue whose answer just came is about to ask again: let it, before a new one takes its place.
        asyncio.get_running_loop().call_later(0, self._let_in)

    def _shared_blocks(self, prompt: Sequence[int]) -> int:
        """Returns how many blocks a prompt has in common with the one before it, which the cache holds once."""
        last, self._last_prompt = self._last_prompt, prompt
        size, blocks = self.block_size, 0
        end = min(len(prompt), len(last)) // size
        while blocks < end and prompt[blocks * size : (blocks + 1) * size] == last[blocks * size : (blocks + 1) * size]:
            blocks += 1
        return blocks

    def _let_in(self) -> None:
        while self._waiting:
            *_, need, future = self._waiting[0]
            if future.done():
                heapq.heappop(self._waiting)
                continue
            if not self._fits(need):
                return
            heapq.heappop(self._waiting)
            self._take(need)
            future.set_result(None)

    def _fits(self, need: int) -> bool:
        if self.in_hand == 0:
            return True
        return self._taken + need <= self.capacity and not (self.limit and self.in_hand >= self.limit)

    def _take(self, need: int) -> None:
        self.in_hand += 1
        self.most_in_hand = max(self.most_in_hand, self.in_hand)
        self._taken += need

    def _expected_answer(self) -> int:
        return int(self._mean_answer() * 1.5) + 1

    def _mean_answer(self) -> float:
        return (FIRST_GUESS_OF_ANSWER * GUESSES + self._answer_tokens) / (GUESSES + self._answers)


class Place:
    """The room of one request in the cache."""

    def __init__(self, admission: Admission, depth: int, prompt: str, need: int) -> None:
        self._admission, self._depth, self._prompt, self._need = admission, depth, prompt, need

    async def __aenter__(self) -> None:
        await self._admission.enter(self._depth, self._prompt, self._need)

    async def __aexit__(self, *_: object) -> None:
        self._admission.leave(self._need)
