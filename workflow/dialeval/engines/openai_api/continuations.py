"""Where the tokens of a continuation begin, found out through a vLLM server.

The rule is that of `engine: vllm` (`Tokenization.with_continuation`): prompt and continuation are tokenised as the one
text that they are, and every token that says a part of the continuation is the continuation's, also one that begins in
the prompt. White space at the prompt's end thus belongs to the continuation where a token joins the two (` Yes` after
`Answer: `), and to the prompt where it is a token of its own (the newline of a chat template).

A server tells tokens and not where in the text they lie, so the end of the prompt is turned into text and back: what
comes back as the same tokens is as good as the text itself.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from itertools import takewhile

from dialeval.engines.request import AnswerFailure

ENDS = (64, 16, 4)
"""Tokens of a prompt's end that are tried where the whole prompt does not come back as it was."""
REMEMBERED = 2000
"""Prompts whose ends are remembered: all options of a test item have the same."""


class Continuations:
    """Tokenises prompts and continuations together.

    Args:
        encode: gives the tokens of a text, without the model's opening token.
        decode: gives the text of tokens.
    """

    def __init__(
        self, encode: Callable[[str], Awaitable[list[int]]], decode: Callable[[Sequence[int]], Awaitable[str]]
    ) -> None:
        self._encode, self._decode = encode, decode
        self._ends: OrderedDict[tuple[int, ...], tuple[int, str]] = OrderedDict()

    async def together(self, prompt: Sequence[int], continuation: str) -> tuple[list[int], int]:
        """Returns the tokens of prompt and continuation, and how many of them come before the continuation's.

        Args:
            prompt: the prompt's tokens.
            continuation: what is to be scored.

        Raises:
            AnswerFailure: the end of the prompt cannot be had as text.
        """
        kept, text = await self._end(tuple(prompt))
        end = prompt[kept:]
        tokens = await self._encode(text + continuation)
        start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(end, tokens, strict=False)))
        if start < len(end):  # a token reaches over the boundary, and others may be cut differently before it
            while start < len(tokens) and len(await self._decode(tokens[: start + 1])) <= len(text):
                start += 1
        return [*prompt[:kept], *tokens], kept + start

    async def _end(self, prompt: tuple[int, ...]) -> tuple[int, str]:
        """Returns how many tokens of a prompt stay as they are, and the text of the others."""
        if prompt not in self._ends:
            self._ends[prompt] = await self._find_end(prompt)
            if len(self._ends) > REMEMBERED:
                self._ends.popitem(last=False)
        return self._ends[prompt]

    async def _find_end(self, prompt: tuple[int, ...]) -> tuple[int, str]:
        for length in (len(prompt), *(length for length in ENDS if length < len(prompt))):
            end = list(prompt[-length:])
            text = await self._decode(end)
            if await self._encode(text) == end:
                return len(prompt) - length, text
        raise AnswerFailure(
            "unsupported",
            "the server's tokenizer does not read its own text as the same tokens, so that nobody can say where the "
            "continuation begins; run the model with engine: vllm for log-likelihoods",
        )
