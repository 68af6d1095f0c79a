"""P(Yes) from label probabilities; a label that was not seen is missing, not zero."""

from __future__ import annotations

import math

import pytest

from dialeval.corpora.items import Item
from dialeval.criteria import DIMENSIONS
from dialeval.forms.probability import p_yes, parse, plan
from dialeval.prompts.rendering import Templates

ITEM = Item("fed", "FED-1", "en", "turn", "c1", ("human", "chatbot"), ("Any plans?", "Fishing, then a pie."))


def test_questions_on_one_item_share_their_beginning() -> None:
    planned = list(plan([ITEM], Templates()))
    assert [one.part for one in planned] == list(DIMENSIONS["turn"])
    prompts = [one.request.messages[0].content for one in planned]
    shared = len(prompts[0][: next(n for n in range(len(prompts[0])) if len({p[n] for p in prompts}) > 1)])
    assert "Fishing, then a pie." in prompts[0][:shared]
    assert len(set(prompts)) == 5


def test_only_the_named_dimensions_are_asked_about() -> None:
    assert [one.part for one in plan([ITEM], Templates(), lambda item: ["overall"])] == ["overall"]


@pytest.mark.parametrize(
    ("probabilities", "expected"),
    [
        ({"Yes": 0.6, "No": 0.2}, 0.75),
        ({"Yes": 1e-9, "No": 3e-9}, 0.25),
        ({}, None),
        ({"Yes": 0.9}, None),  # No may be anything up to 0.1
        ({"Yes": 0.995}, 0.995 / 0.9975),  # No is between 0 and 0.005
        ({"No": 0.998}, 0.001 / 0.999),
    ],
)
def test_p_yes(probabilities: dict[str, float], expected: float | None) -> None:
    value = p_yes({label: math.log(probability) for label, probability in probabilities.items()})
    assert value == (None if expected is None else pytest.approx(expected))


def test_a_score_keeps_the_captured_mass() -> None:
    planned = {"corpus": "fed", "language": "en", "item_id": "FED-1", "part": "overall", "repeat": 0}
    answer = {
        "status": "ok",
        "finish_reason": "stop",
        "label_logprobs": [("Yes", math.log(0.6)), ("No", math.log(0.2))],
        "label_mass": 0.8,
    }
    (row,) = parse("judge", planned, answer)
    assert (row["criterion"], row["mass"], row["status"]) == ("overall", 0.8, "ok")
    assert row["value"] == pytest.approx(0.75)
    (row,) = parse("judge", planned, answer | {"label_logprobs": None, "label_mass": None, "status": "missing"})
    assert (row["value"], row["status"]) == (None, "missing")


@pytest.mark.parametrize(("mass", "status"), [(1e-5, "low_mass"), (0.0, "low_mass"), (0.01, "ok")])
def test_labels_that_are_hardly_ever_said_give_no_score(mass: float, status: str) -> None:
    """A model that opens its thinking by itself says neither label first, whatever their proportion."""
    planned = {"corpus": "fed", "language": "en", "item_id": "FED-1", "part": "overall", "repeat": 0}
    logprobs = {"Yes": math.log(0.75 * mass), "No": math.log(0.25 * mass)} if mass else {}
    answer = {"status": "ok", "finish_reason": "stop", "label_logprobs": logprobs, "label_mass": mass}
    (row,) = parse("judge", planned, answer)
    assert (row["status"], row["mass"]) == (status, mass)
    assert row["value"] == (pytest.approx(0.75) if status == "ok" else None)
