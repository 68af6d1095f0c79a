"""Which copy of a model gets a prompt: the one that has most of its beginning, unless it has too much to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

BLOCK = 64
"""Tokens of a block of a prompt; beginnings are compared block by block."""
KNOWN_BLOCKS = 200_000
"""Blocks that are remembered, half of them at least; more than the caches of eight copies commonly hold."""
AHEAD, SHARE_AHEAD = 32, 1.25
"""How many requests, and what multiple of the least, a copy may have in hand and still get another."""


class PrefixRouting:
    """Sends prompts that begin alike to one copy.

    What all prompts begin with, such as an instruction, soon lies with every copy, and says nothing then.

    Args:
        copies: how many there are.
    """

    def __init__(self, copies: int) -> None:
        self._all = range(copies)
        self._young: dict[int, int] = {}
        self._old: dict[int, int] = {}

    def choose(self, prompt: Sequence[int], in_hand: Sequence[int]) -> int:
        """Returns the number of the copy that is to have a prompt.

        Args:
            prompt: its tokens.
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
        """Returns the copies that were sent a block, as bits."""
        return self._young.get(block) or self._old.get(block, 0)

    def _remember(self, blocks: Sequence[int], copy: int) -> None:
        if len(self._young) >= KNOWN_BLOCKS // 2:
            self._young, self._old = {}, self._young
        for block in blocks:
            self._young[block] = self._holders(block) | 1 << copy


def _beginnings(prompt: Sequence[int]) -> Iterator[int]:
    """Yields a number for every beginning of a prompt that is whole blocks long."""
    number = 0
    for end in range(BLOCK, len(prompt) + 1, BLOCK):
        number = hash((number, *prompt[end - BLOCK : end]))
        yield number
