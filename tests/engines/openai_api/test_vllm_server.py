"""Where a continuation's tokens begin, with a tokenizer that joins letters over the boundary."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.engines.openai_api.vllm_server import Continuations
from dialeval.engines.requests import AnswerFailure

PIECES = sorted([" Yes", " No", "be", "before", "fore", "\n", "\n\n", " ", "ab", "abc", *"AYNabcdefors:.en"], key=len)
SPECIAL = 999


class Tokenizer:
    """Takes the longest piece at every place; `<s>` is one token, which it forgets in text if so set."""

    def __init__(self, *, forgets: bool = False) -> None:
        self.forgets = forgets
        self.n_calls = 0

    def tokens(self, text: str) -> list[int]:
        found: list[int] = []
        while text:
            if text.startswith("<s>"):
                found, text = [*found, SPECIAL], text[3:]
                continue
            piece = next(piece for piece in reversed(PIECES) if text.startswith(piece))
            found, text = [*found, PIECES.index(piece)], text[len(piece) :]
        return found

    def text(self, tokens: Sequence[int]) -> str:
        special = "" if self.forgets else "<s>"
        return "".join(special if token == SPECIAL else PIECES[token] for token in tokens)

    async def encode(self, text: str) -> list[int]:
        self.n_calls += 1
        return self.tokens(text)

    async def decode(self, tokens: Sequence[int]) -> str:
        self.n_calls += 1
        return self.text(tokens)


def split(prompt: str, continuation: str, tokenizer: Tokenizer) -> tuple[str, str]:
    """Return the texts of the tokens before and of the continuation."""
    together = Continuations(tokenizer.encode, tokenizer.decode).together
    tokens, start = asyncio.run(together(tokenizer.tokens(prompt), continuation))
    return tokenizer.text(tokens[:start]), tokenizer.text(tokens[start:])


@pytest.mark.parametrize(
    ("prompt", "continuation", "before", "scored"),
    [
        ("Ao:", " Yes", "Ao:", " Yes"),
        ("Ao: ", "Yes", "Ao:", " Yes"),  # joined, as lm-evaluation-harness has it
        ("Ao:\n", "Yes", "Ao:\n", "Yes"),  # a token of its own: the prompt's
        ("Ao:\n", "\nYes", "Ao:", "\n\nYes"),
        ("Ao be", "fore", "Ao ", "before"),
        ("ab", "c", "", "abc"),
        ("A" * 99, "Yes", "A" * 99, "Yes"),
    ],
)
def test_a_token_over_the_boundary_is_the_continuations(
    prompt: str, continuation: str, before: str, scored: str
) -> None:
    assert split(prompt, continuation, Tokenizer()) == (before, scored)


def test_a_prompt_whose_beginning_does_not_come_back_keeps_it() -> None:
    tokenizer = Tokenizer(forgets=True)
    tokens = [SPECIAL, *tokenizer.tokens("A" * 80 + ": ")]
    together = Continuations(tokenizer.encode, tokenizer.decode).together
    found, start = asyncio.run(together(tokens, "Yes"))
    assert found[0] == SPECIAL
    assert (tokenizer.text(found[:start]), tokenizer.text(found[start:])) == ("A" * 80 + ":", " Yes")
    with pytest.raises(AnswerFailure, match="engine: vllm"):
        asyncio.run(together([*tokens, SPECIAL], "Yes"))


def test_the_end_of_a_prompt_is_computed_once() -> None:
    tokenizer = Tokenizer()
    continuations = Continuations(tokenizer.encode, tokenizer.decode)
    for option in (" Yes", " No", " A"):
        asyncio.run(continuations.together(tokenizer.tokens("Ao:"), option))
    assert tokenizer.n_calls == 2 + 3


letters = st.text(alphabet="A \nabcfore:", max_size=12)


@given(prompt=letters.filter(bool), continuation=letters.filter(bool))
def test_the_boundary_lies_where_offsets_say(prompt: str, continuation: str) -> None:
    tokenizer = Tokenizer()
    before, scored = split(prompt, continuation, tokenizer)
    assert before + scored == prompt + continuation
    assert len(before) <= len(prompt)
    first = tokenizer.text(tokenizer.tokens(prompt + continuation)[len(tokenizer.tokens(before)) :][:1])
    assert len(before) + len(first) > len(prompt)
