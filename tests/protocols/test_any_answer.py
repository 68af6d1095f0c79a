"""Whatever a model writes, every parser gives rows that its table takes, each with a status."""

from __future__ import annotations

import random

import pytest
from answer_parsers import PIECES, long_texts, read_everywhere
from hypothesis import given
from hypothesis import strategies as st

FINISHES = st.sampled_from(["stop", "length", "refusal", ""])
TEXTS = st.text(alphabet=st.characters(blacklist_categories=["Cs"]))


@given(st.lists(st.sampled_from(PIECES) | TEXTS, max_size=30).map("".join), FINISHES)
def test_any_answer_is_read_or_refused(text: str, finish_reason: str) -> None:
    read_everywhere(text, finish_reason)


@pytest.mark.parametrize("finish_reason", ["stop", "length"])
def test_long_and_deeply_nested_answers_are_read_or_refused(finish_reason: str) -> None:
    for text in long_texts(2_000):
        read_everywhere(text, finish_reason)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_thousands_of_answers_are_read_or_refused(part: int) -> None:
    """Ten thousand answers in each of the ten parts, put together of what real ones are made of and of anything."""
    drawn = random.Random(part)
    for _ in range(10_000):
        pieces = [
            *drawn.choices(PIECES, k=drawn.randrange(12)),
            "".join(chr(drawn.randrange(0xD800)) for _ in range(drawn.randrange(20))),
            chr(drawn.randrange(0xE000, 0x110000)),
        ]
        drawn.shuffle(pieces)
        read_everywhere("".join(pieces), drawn.choice(["stop", "length", "refusal", ""]))


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_no_answer_of_a_hundred_thousand_characters_is_read_many_times_over() -> None:
    """What is quadratic in the length takes minutes here and ends in the timeout; what is linear, half a minute."""
    for text in long_texts(100_000):
        read_everywhere(text, "length")
