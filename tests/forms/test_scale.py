"""Ratings are planned once for all dimensions, and read tolerantly in form and exactly in content."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.corpora.items import Item
from dialeval.criteria import DIMENSIONS
from dialeval.engines.request import Sampling
from dialeval.forms.scale import parse, plan, read_ratings
from dialeval.prompts.rendering import Templates

TURN = Item("fed", "FED-1", "en", "turn", "c1", ("human", "chatbot"), ("Any plans?", "Fishing, then a pie."))
DIALOGUE = Item("fed", "FED-2", "en", "dialogue", "c2", ("human", "chatbot"), ("Any plans?", "Fishing, then a pie."))
ALONE = Item("fed", "FED-3", "en", "turn", "c3", ("chatbot",), ("Hello there.",))


def test_one_request_asks_for_all_dimensions_of_the_level() -> None:
    turn, dialogue, alone = (one.request for one in plan([TURN, DIALOGUE, ALONE], Templates(), Sampling(), 1))
    assert turn.labels == DIMENSIONS["turn"]
    assert dialogue.labels == DIMENSIONS["dialogue"]
    prompt = turn.messages[0].content
    assert prompt.index("Human: Any plans?") < prompt.index("### Response") < prompt.index("Chatbot: Fishing")
    assert all(f"{dimension} - x" in prompt for dimension in DIMENSIONS["turn"])
    assert "nothing was said before" in alone.messages[0].content
    assert turn.request_id == "rating/fed/en/FED-1/0"


def test_repeats_differ_in_nothing_but_their_draw() -> None:
    first, second = (one.request for one in plan([TURN], Templates(), Sampling(0.7, 0.95), 2))
    assert first.messages == second.messages
    assert (first.repeat, second.repeat) == (0, 1)
    assert (first.sampling.seed, second.sampling.seed) == (0, 1)
    assert first.sampling.temperature == second.sampling.temperature == 0.7


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("coherence - 4\nengagingness - 3", {"coherence": 4, "engagingness": 3}),
        ("Coherence: 4/5\nENGAGINGNESS: 3.5 out of 5", {"coherence": 4, "engagingness": 3.5}),
        ("1. **Coherence** – 4\n2. **Engagingness** – 2.", {"coherence": 4, "engagingness": 2}),
        ('{"coherence": 4, "engagingness": 5}', {"coherence": 4, "engagingness": 5}),
        ("| coherence | 4 |\n| engagingness | 1 |", {"coherence": 4, "engagingness": 1}),
        ("Coherence (1-5): 4\nengagement = 2", {"coherence": 4, "engagingness": 2}),
        ("coherence：４\nengagingness：３", {"coherence": 4, "engagingness": 3}),
        ("<think>coherence - 1</think>coherence - 4", {"coherence": 4}),
        ("coherence - 4\nAs said, coherence - 4", {"coherence": 4}),
        # no score: nothing, a placeholder, a range, off the scale, of another scale, two different ones, another word
        ("I would rather not say.", {}),
        ("coherence - x\nengagingness - n/a", {}),
        ("coherence - 3-4\nengagingness - 3 to 4", {}),
        ("coherence - 6\nengagingness - 0\noverall - -3", {}),
        ("coherence - 8/10\nengagingness: 3 out of 10\noverall: 80%", {}),
        ("coherence - 3\ncoherence - 4", {}),
        ("incoherence - 4", {}),
    ],
)
def test_answers_are_read(text: str, expected: dict[str, float]) -> None:
    assert read_ratings(text, DIMENSIONS["dialogue"]) == expected


@given(values=st.lists(st.integers(10, 50).map(lambda n: n / 10), min_size=5, max_size=5))
def test_what_is_asked_for_is_read_back(values: list[float]) -> None:
    given_values = dict(zip(DIMENSIONS["turn"], values, strict=True))
    text = "\n".join(f"{dimension} - {value}" for dimension, value in given_values.items())
    assert read_ratings(text, DIMENSIONS["turn"]) == given_values


@given(text=st.text())
def test_any_text_is_read_without_an_error(text: str) -> None:
    assert all(1 <= value <= 5 for value in read_ratings(text, DIMENSIONS["turn"]).values())


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ({"status": "ok", "text": "coherence - 4", "finish_reason": "stop"}, "ok"),
        ({"status": "ok", "text": "well", "finish_reason": "stop"}, "unparsed"),
        ({"status": "ok", "text": "I", "finish_reason": "refusal"}, "refused"),
        ({"status": "ok", "text": "coherence -", "finish_reason": "length"}, "truncated"),
        ({"status": "ok", "text": "coherence - 4", "finish_reason": "length"}, "truncated"),  # perhaps of 4.5
        ({"status": "ok", "text": "coherence - 4 out", "finish_reason": "length"}, "truncated"),
        ({"status": "ok", "text": "coherence - 4\n", "finish_reason": "length"}, "ok"),
        ({"status": "ok", "text": '{"coherence": 4, "overall": 3', "finish_reason": "length"}, "ok"),
        ({"status": "ok", "text": "coherence - 4", "finish_reason": "refusal"}, "refused"),
        ({"status": "ok", "text": "coherence - 2 </think>coherence - 4", "finish_reason": "stop"}, "unparsed"),
        ({"status": "missing", "text": "", "finish_reason": ""}, "missing"),
    ],
)
def test_every_dimension_has_a_row_with_its_status(answer: dict[str, Any], status: str) -> None:
    planned = {"labels": ["coherence"], "corpus": "fed", "language": "en", "item_id": "FED-2", "repeat": 0}
    (row,) = parse("judge", planned, answer)
    assert row["status"] == status
    assert row["value"] == (4.0 if status == "ok" else None)
    assert (row["scale_min"], row["scale_max"]) == (1.0, 5.0)
