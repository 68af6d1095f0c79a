"""What a try may cost at most, and which counts of tokens are believed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback_endpoint import completion

from dialeval.engines.openai_api.retries import Fault
from dialeval.engines.openai_api.token_counts import billed_for, bound_of
from dialeval.engines.spending.prices import Billed, Bound

BOUND = Bound(100, 50)


def usage(prompt: Any, answer: Any, **more: Any) -> dict[str, Any]:
    return {"prompt_tokens": prompt, "completion_tokens": answer, **more}


@pytest.mark.parametrize(
    ("usage", "billed"),
    [
        (usage(30, 20), Billed(30, 20)),
        (usage(30, 20, total_tokens=50), Billed(30, 20)),
        (usage(30.0, 20), Billed(30, 20)),
        (usage(400, 700), Billed(400, 700)),  # more than it may, but it can be
        (usage(0, 20), Billed(100, 20, confirmed=False)),
        (usage(30, 0), Billed(30, 50, confirmed=False)),
        (usage(0, 0), Billed(100, 50, confirmed=False)),
        (usage(None, None), Billed(100, 50, confirmed=False)),
        (usage(-1, 20), Billed(100, 20, confirmed=False)),
        (usage(3e9, 1e20), Billed(100, 50, confirmed=False)),
        (usage(True, "20"), Billed(100, 50, confirmed=False)),
        (usage(float("nan"), float("inf")), Billed(100, 50, confirmed=False)),
        ("none", Billed(100, 50, confirmed=False)),
        ([], Billed(100, 50, confirmed=False)),
        # reasoning that is in the total alone (Gemini), or beside the answer's tokens (Grok)
        (usage(30, 5, total_tokens=75), Billed(30, 45)),
        (usage(30, 5, completion_tokens_details={"reasoning_tokens": 40}), Billed(30, 45)),
        (usage(30, 45, completion_tokens_details={"reasoning_tokens": 40}), Billed(30, 45)),
        (usage(30, 5, total_tokens=10**20), Billed(30, 5)),
    ],
)
def test_what_an_endpoint_says_is_believed_where_it_can_be(usage: Any, billed: Billed) -> None:
    assert billed_for(completion("an answer", usage=usage), BOUND) == billed


def test_fewer_tokens_than_there_is_text_are_not_believed() -> None:
    assert billed_for(completion("x" * 1000, usage=usage(30, 2)), BOUND) == Billed(30, 50, confirmed=False)
    assert billed_for(completion("x", usage=usage(1, 2)), Bound(1000, 50)) == Billed(1000, 2, confirmed=False)


@pytest.mark.parametrize(
    ("fault", "billed"),
    [
        (Fault("timeout", "late"), Billed(100, 50, confirmed=False)),
        (Fault("rate_limit", "no", billed="nothing"), Billed(0, 0)),
        (Fault("refusal", "no", billed="prompt"), Billed(100, 0, confirmed=False)),
    ],
)
def test_failures(fault: Fault, billed: Billed) -> None:
    assert billed_for(fault, BOUND) == billed


def test_all_that_enters_the_prompt_is_in_the_bound() -> None:
    plain = {"model": "m", "messages": [{"role": "user", "content": "é" * 50}], "max_completion_tokens": 7}
    assert bound_of(plain) == Bound(100 + 4 + 3, 7)
    assert bound_of(plain | {"tools": ["x" * 500]}).input_tokens > 600
    assert bound_of({"prompt": [1, 2, 3], "max_tokens": 1}) == Bound(6, 1)


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_whatever_stands_for_a_count_gives_a_bill(value: Any) -> None:
    for payload in ({"usage": usage(value, value, total_tokens=value)}, {"usage": value}, {"choices": value}):
        billed = billed_for(payload, BOUND)
        assert 0 < billed.input_tokens <= 20 * 100 + 200_000
        assert 0 < billed.output_tokens <= 20 * 150 + 200_000
