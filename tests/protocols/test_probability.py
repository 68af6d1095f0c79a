"""P(Yes) from label probabilities; a label that was not seen is missing, not zero."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judged_dialogues import shipped_question

from dialeval.config.protocols import shipped
from dialeval.corpora.items import Item
from dialeval.criteria import DIMENSIONS, SHIPPED, YES_NO, Criterion, Scale, Words, labelled
from dialeval.engines.label_probabilities import label_tree
from dialeval.prompts.rendering import Templates
from dialeval.protocols.questions import Question
from dialeval.protocols.scores import CLEAR, expectation, parse_probability, plan_probability, values_of

QUESTION = shipped_question("yes_no")
ITEM = Item("fed", "FED-1", "en", "turn", "c1", ("human", "chatbot"), ("Any plans?", "Fishing, then a pie."))


def test_questions_on_one_item_share_their_beginning() -> None:
    planned = list(plan_probability(QUESTION, [ITEM], Templates()))
    assert [one.part for one in planned] == list(DIMENSIONS["turn"])
    prompts = [one.request.messages[0].content for one in planned]
    shared = len(prompts[0][: next(n for n in range(len(prompts[0])) if len({p[n] for p in prompts}) > 1)])
    assert "Fishing, then a pie." in prompts[0][:shared]
    assert len(set(prompts)) == 5


def test_only_the_named_dimensions_are_judged() -> None:
    assert [one.part for one in plan_probability(QUESTION, [ITEM], Templates(), lambda item: [SHIPPED["overall"]])] == [
        "overall"
    ]


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
    logprobs = {label: math.log(probability) for label, probability in probabilities.items()}
    value = expectation(logprobs, {"Yes": 1.0, "No": 0.0})
    assert value == (None if expected is None else pytest.approx(expected))


def test_a_score_keeps_the_captured_mass() -> None:
    planned = {"corpus": "fed", "language": "en", "item_id": "FED-1", "part": "overall", "repeat": 0}
    answer = {
        "status": "ok",
        "finish_reason": "stop",
        "label_logprobs": [("Yes", math.log(0.6)), ("No", math.log(0.2))],
        "label_mass": 0.8,
    }
    (row,) = parse_probability(QUESTION, planned, answer)
    assert (row["criterion"], row["mass"], row["status"]) == ("overall", 0.8, "ok")
    assert row["value"] == pytest.approx(0.75)
    (row,) = parse_probability(
        QUESTION,
        planned,
        answer | {"label_logprobs": None, "label_mass": None, "status": "missing"},
    )
    assert (row["value"], row["status"]) == (None, "missing")


@pytest.mark.parametrize(("mass", "status"), [(1e-5, "low_mass"), (0.0, "low_mass"), (0.01, "ok")])
def test_labels_with_little_probability_give_no_score(mass: float, status: str) -> None:
    """A model that opens its thinking by itself says neither label first, whatever their proportion."""
    planned = {"corpus": "fed", "language": "en", "item_id": "FED-1", "part": "overall", "repeat": 0}
    logprobs = {"Yes": math.log(0.75 * mass), "No": math.log(0.25 * mass)} if mass else {}
    answer = {"status": "ok", "finish_reason": "stop", "label_logprobs": logprobs, "label_mass": mass}
    (row,) = parse_probability(QUESTION, planned, answer)
    assert (row["status"], row["mass"]) == (status, mass)
    assert row["value"] == (pytest.approx(0.75) if status == "ok" else None)


LABELS = labelled(["poor", "fair", "good"])
SEVEN = Scale(1, 7)


def logs(**probabilities: float) -> dict[str, float]:
    return {name.lstrip("_"): math.log(probability) for name, probability in probabilities.items()}


@pytest.mark.parametrize(
    ("criterion", "labels"),
    [
        (Criterion("e", scale=YES_NO, words=Words({"turn": "Is it?"})), ("Yes", "No")),
        (Criterion("e", scale=SEVEN, words=Words({"turn": "Is it?"})), ("Yes", "No")),
        (Criterion("e", scale=SEVEN), tuple("1234567")),
        (Criterion("e", scale=Scale(0, 5)), tuple("012345")),
        (Criterion("e", scale=LABELS), ("1", "2", "3")),
        (Criterion("e", scale=Scale(0, 10)), tuple("ABCDEFGHIJK")),  # the first token of 10 is that of 1
        (Criterion("e", scale=Scale(-1, 1)), ("A", "B", "C")),
        (Criterion("e", scale=labelled([f"label {n}" for n in range(12)])), tuple("ABCDEFGHIJKL")),
    ],
)
def test_labels_are_distinguished_by_their_first_token(criterion: Criterion, labels: tuple[str, ...]) -> None:
    (planned,) = plan_probability(QUESTION, [ITEM], Templates(), lambda item: [criterion])
    assert planned.request.labels == labels
    assert planned.request.kind == "choice"
    prompt = planned.request.messages[0].content
    assert all(f"\n{label}" in prompt for label in labels) or "Answer with one word, Yes or No." in prompt
    tree = label_tree(labels, lambda text: [ord(mark) for mark in text])
    assert all(len({tree.label_of[path] for path in tree.label_of if path[:1] == one[:1]}) == 1 or one[:1] == (32,)
               for one in tree.label_of)  # fmt: skip


def test_options_are_shown_with_what_they_stand_for() -> None:
    words = Words(meaning={"turn": "it meets the feeling"}, rubric={"good": "names it"})
    criterion = Criterion("empathy", words=words, scale=LABELS)
    (planned,) = plan_probability(QUESTION, [ITEM], Templates(), lambda item: [criterion])
    assert planned.request.messages[0].content.endswith(
        "Which of these fits the response best, in empathy (it meets the feeling)?\n1: poor\n2: fair\n"
        "3: good - names it\nAnswer with one number, 1 to 3.\n\n### Answer"
    )


def test_a_score_between_labels_is_the_mean_of_their_values() -> None:
    values = values_of(Criterion("e", scale=LABELS))
    assert values == {"1": 1.0, "2": 2.0, "3": 3.0}
    assert expectation(logs(_1=0.1, _2=0.2, _3=0.3), values) == pytest.approx((0.1 + 0.4 + 0.9) / 0.6)
    assert values_of(Criterion("e", scale=Scale(-1, 1))) == {"A": -1.0, "B": 0.0, "C": 1.0}


@given(st.lists(st.floats(0.0, 1.0), min_size=7, max_size=7), st.sets(st.integers(0, 6), min_size=1))
def test_unseen_labels_bound_the_score(shares: list[float], seen: set[int]) -> None:
    """Whatever the unseen labels really have, the score is within CLEAR of the scale of the truth, or is none."""
    total = sum(shares) or 1.0
    truth = {str(n + 1): share / total for n, share in enumerate(shares) if share / total > 1e-9}
    values = {str(n + 1): float(n + 1) for n in range(7)}
    shown = {label: math.log(p) for label, p in truth.items() if int(label) - 1 in seen}
    value = expectation(shown, values)
    if value is None or not truth:
        return
    exact = sum(p * values[label] for label, p in truth.items()) / sum(truth.values())
    assert abs(value - exact) <= CLEAR * 6 + 1e-9


def test_the_row_of_a_criterion_with_labels() -> None:
    planned = {"corpus": "c", "language": "en", "item_id": "i", "part": "e", "repeat": 0}
    answer = {"status": "ok", "finish_reason": "stop", "label_logprobs": logs(_3=1.0), "label_mass": 1.0}
    (row,) = parse_probability(Question("p", shipped("yes_no"), own=(Criterion("e", scale=LABELS),)), planned, answer)
    assert (row["criterion"], row["value"], row["scale_min"], row["scale_max"]) == ("e", 3.0, 1.0, 3.0)
