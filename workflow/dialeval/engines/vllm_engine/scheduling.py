"""The number of requests and dialogues in flight, and the choice of a model's copy."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager

FIRST_GUESS_OF_ANSWER, GUESSES = 64, 16
"""Expected tokens of an answer before the first one, and the number of answers that the guess counts for, since short
answers come first."""
MARKS = 5
"""Tokens that a chat template puts around an utterance."""
PART_IN_USE = 0.9
"""Share of the cache for running dialogues; the rest holds those that have just ended."""


class Admission:
    """Admits requests while their tokens fit the KV cache.

    Waiting requests are admitted by depth, most messages first, so that a dialogue continues while its history is in
    the cache; among equals in the order of their prompts, so that prompts with the same beginning meet.

    Args:
        capacity: tokens that the cache holds.
        block_size: tokens of a cache block; a request takes whole blocks.
        limit: most requests at once, whatever their size; 0 for no limit.
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

    @asynccontextmanager
    async def place(self, depth: int, rendered: str, prompt: Sequence[int], max_tokens: int) -> AsyncIterator[None]:
        """Wait for room for one request, which has it until the context ends.

        Args:
            depth: how many messages the request has.
            max_tokens: the longest answer.
        """
        expected = min(max_tokens, self._expected_answer())
        blocks = -(-(len(prompt) + expected) // self.block_size) - self._shared_blocks(prompt)
        need = blocks * self.block_size
        await self.enter(depth, rendered, need)
        try:
            yield
        finally:
            self.leave(need)

    def count_answer(self, tokens: int) -> None:
        """Take in the length of an answer."""
        self._answers += 1
        self._answer_tokens += tokens

    def fits(self, lengths: Mapping[int, int], n_utterances: int, max_tokens: int) -> bool:
        """Return whether the cache has room for concurrent dialogues, now and after every later turn.

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
        """Wait until a request of this need has room."""
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
        """Release the room of a request and admit others."""
        self.in_hand -= 1
        self._taken -= need
        # later, since a dialogue whose answer just came sends its next request first
        asyncio.get_running_loop().call_later(0, self._let_in)

    def _expected_answer(self) -> int:
        return int(self._mean_answer() * 1.5) + 1

    def _mean_answer(self) -> float:
        return (FIRST_GUESS_OF_ANSWER * GUESSES + self._answer_tokens) / (GUESSES + self._answers)

    def _shared_blocks(self, prompt: Sequence[int]) -> int:
        """Return how many blocks a prompt has in common with the one before it, which the cache holds once."""
        last, self._last_prompt = self._last_prompt, prompt
        size, blocks = self.block_size, 0
        end = min(len(prompt), len(last)) // size
        while blocks < end and prompt[blocks * size : (blocks + 1) * size] == last[blocks * size : (blocks + 1) * size]:
            blocks += 1
        return blocks

    def _fits(self, need: int) -> bool:
        if self.in_hand == 0:
            return True
        return self._taken + need <= self.capacity and not (self.limit and self.in_hand >= self.limit)

    def _take(self, need: int) -> None:
        self.in_hand += 1
        self.most_in_hand = max(self.most_in_hand, self.in_hand)
        self._taken += need

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


# Concurrent dialogues: as many as fit into the KV cache until each has ended.

LOOK_EVERY = 0.02
"""Seconds between two checks whether another dialogue has room."""


class DialogueRoom:
    """Lets dialogues begin so that none loses its history between two of its turns.

    Args:
        fits: returns whether dialogues of these lengths (utterances -> number of dialogues) fit into the cache
            together; called repeatedly, since the length of utterances is learned.
    """

    def __init__(self, fits: Callable[[Mapping[int, int]], bool]) -> None:
        self._fits = fits
        self._turn = asyncio.Lock()
        self._lengths: Counter[int] = Counter()
        self.most_going_on = 0

    @property
    def going_on(self) -> int:
        """How many dialogues go on."""
        return self._lengths.total()

    @asynccontextmanager
    async def dialogue(self, length: int) -> AsyncIterator[Callable[[], None]]:
        """Wait for memory for a dialogue of n utterances; yields the function to call after each further utterance."""
        async with self._turn:  # first come, first served; only the first in line checks
            while self._lengths and not self._fits(self._lengths + Counter([length])):
                await asyncio.sleep(LOOK_EVERY)
            self._lengths[length] += 1
        self.most_going_on = max(self.most_going_on, self.going_on)

        def grown() -> None:
            nonlocal length
            self._move(length, length + 1)
            length += 1

        try:
            yield grown
        finally:
            self._move(length, None)

    def _move(self, length: int, to: int | None) -> None:
        self._lengths[length] -= 1
        if not self._lengths[length]:
            del self._lengths[length]
        if to is not None:
            self._lengths[to] += 1


# The choice of a model's copy for a prompt

BLOCK = 64
"""Tokens of a block of a prompt; beginnings are compared block by block."""
KNOWN_BLOCKS = 200_000
"""Remembered blocks: more than the caches of eight copies commonly hold."""
AHEAD, SHARE_AHEAD = 32, 1.25
"""Most requests of a copy that gets another: a multiple of the least busy copy's, and so many more."""


class PrefixRouting:
    """Sends prompts that begin alike to one copy.

    A beginning that all prompts share, such as an instruction, is soon in every copy's cache and is ignored then.
    """

    def __init__(self, copies: int) -> None:
        self._all = range(copies)
        self._young: dict[int, int] = {}
        self._old: dict[int, int] = {}

    def choose(self, prompt: Sequence[int], in_hand: Sequence[int]) -> int:
        """Return the number of the copy that is to have a prompt.

        Args:
            in_hand: how many requests each copy has.
        """
        blocks = list(_beginnings(prompt))
        most = AHEAD + SHARE_AHEAD * min(in_hand)
        free = sum(1 << copy for copy in self._all if in_hand[copy] <= most)
        fitting = free
        for block in blocks:
            holders = self._holders(block) & fitting
            if not holders:
                break
            fitting = holders
        chosen = min((copy for copy in self._all if fitting >> copy & 1), key=in_hand.__getitem__)
        self._remember(blocks, chosen)
        return chosen

    def _holders(self, block: int) -> int:
        """Return the copies that were sent a block, as bits."""
        return self._young.get(block) or self._old.get(block, 0)

    def _remember(self, blocks: Sequence[int], copy: int) -> None:
        if len(self._young) >= KNOWN_BLOCKS // 2:
            self._young, self._old = {}, self._young
        for block in blocks:
            self._young[block] = self._holders(block) | 1 << copy


def _beginnings(prompt: Sequence[int]) -> Iterator[int]:
    """Yield a number for every beginning of a prompt that is whole blocks long."""
    number = 0
    for end in range(BLOCK, len(prompt) + 1, BLOCK):
        number = hash((number, *prompt[end - BLOCK : end]))
        yield number
