"""Items put to models: what they see, and what their answers come to."""

from __future__ import annotations

from typing import Any

import pytest
from dialogbench_examples import OPTIONS, UTTERANCES, answer, item

from dialeval.dialogbench.examination import parse, parse_all, place_of, plan
from dialeval.dialogbench.positions import rotations
from dialeval.dialogbench.subjects import fields_of
from dialeval.prompts.rendering import Templates

TEMPLATES = Templates()
OPEN = item("KRG", utterances=UTTERANCES[:9], extra={"knowledge": "Plates show a number."}, question="")


def test_the_dialogue_is_the_models_own_chat_with_the_user() -> None:
    (planned,) = plan([item()], "letter", TEMPLATES)
    messages = planned.request.messages
    assert [message.role for message in messages] == [*("user", "assistant") * 5, "user"]
    assert [message.content for message in messages[:10]] == list(UTTERANCES)
    assert "What does speaker 2 mean to do?" in messages[-1].content
    assert "A. to ring the plumber about the valve\nB. to wash" in messages[-1].content
    assert planned.request.sampling.temperature == 0.0
    assert planned.request.sampling.max_tokens == 256
    assert planned.request.request_id == "dialogbench/letter/en/i1/0"


def test_a_last_utterance_of_speaker_1_and_the_question_are_one_message() -> None:
    (planned,) = plan([OPEN], "letter", TEMPLATES)
    messages = planned.request.messages
    assert [message.role for message in messages] == [*("user", "assistant") * 4, "user"]
    assert messages[-1].content.startswith(f"{UTTERANCES[8]}\n\nBackground knowledge: Plates show a number.\n\n")


def test_as_text_the_dialogue_is_in_one_message() -> None:
    (planned,) = plan([OPEN], "letter", TEMPLATES, presentation="text")
    (message,) = planned.request.messages
    assert "Speaker 1: The boiler is cold again.\nSpeaker 2: It was fine when I left.\n" in message.content


def test_what_would_give_the_answer_away_is_not_shown() -> None:
    hidden = {"knowledge": "Plates.", "relation": "SECRET", "commonsense": "SECRET", "premise": "SECRET"}
    secret = item("KRG", extra=hidden, emotions=("SECRET", ""), analysis="SECRET", personalities=("SECRET", "SECRET"))
    for method in ("letter", "choice", "perplexity"):
        for planned in plan([secret], method, TEMPLATES):  # type: ignore[arg-type]
            assert "SECRET" not in str(planned.request)


def test_a_choice_asks_for_the_letters_that_there_are() -> None:
    (planned,) = plan([item("OD", options=("offensive", "non-offensive"))], "choice", TEMPLATES)
    assert (planned.request.kind, planned.request.labels) == ("choice", ("A", "B"))


def test_perplexity_scores_each_option_on_its_own() -> None:
    planned = list(plan([item(), OPEN], "perplexity", TEMPLATES, circular=True))
    assert len(planned) == 8
    assert [one.request.continuation for one in planned[:4]] == [f" {text}" for text in OPTIONS]
    assert planned[0].request.messages == planned[3].request.messages
    assert planned[0].request.messages[0].content.endswith("What does speaker 2 mean to do?\nAnswer:")
    assert planned[4].request.messages[0].content.endswith("\nSpeaker 2:")
    assert all(text not in planned[0].request.messages[0].content for text in OPTIONS)
    assert planned[3].request.request_id == "dialogbench/perplexity/en/i1/0/3"
    chinese = next(plan([item(language="zh")], "perplexity", TEMPLATES))
    assert chinese.request.continuation == OPTIONS[0]


def test_circular_asks_every_rotation_with_its_own_subject() -> None:
    planned = list(plan([item()], "letter", TEMPLATES, circular=True))
    assert [place_of(one.request.request_id, "letter") for one in planned] == [
        (0, None),
        (1, None),
        (2, None),
        (3, None),
    ]
    assert [one.request.subject[1] for one in planned] == [one.options for one in rotations(item())]
    assert fields_of(planned[0].request.subject[2:])["task"] == "IC"
    assert "label" not in fields_of(planned[0].request.subject[2:])


def rows(method: Any, answers: list[dict[str, Any]], rotation: int = 0) -> list[dict[str, Any]]:
    return list(parse("m", method, item(), rotation, answers))


def test_a_letter_is_compared_with_the_rotated_label() -> None:
    (row,) = rows("letter", [answer("The answer is B.")], rotation=1)
    assert (row["choice"], row["label"], row["correct"], row["status"]) == ("B", "B", True, "ok")
    (row,) = rows("letter", [answer("The answer is B.")])
    assert (row["choice"], row["label"], row["correct"]) == ("B", "A", False)


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"text": "A or B"}, "unparsed"),
        ({"text": "Let me think", "finish_reason": "length"}, "truncated"),
        ({"text": "", "finish_reason": "refusal"}, "refused"),
        ({"text": "", "status": "missing"}, "missing"),
    ],
)
def test_what_cannot_be_read_has_a_status_and_is_not_right(fields: dict[str, Any], status: str) -> None:
    (row,) = rows("letter", [answer(**fields)])
    assert (row["choice"], row["correct"], row["status"]) == (None, False, status)


@pytest.mark.parametrize(
    ("logprobs", "choice"),
    [
        ({"A": -0.1, "B": -3.0, "C": -4.0, "D": -5.0}, "A"),
        ({"C": -4.0, "D": -5.0}, "C"),
        ([("B", -1.0), ("C", -2.0)], "B"),
        ({"A": -1.0, "B": -1.0}, None),
        ({}, None),
        (None, None),
        ({"A": None, "B": -2.0}, "B"),
    ],
)
def test_the_most_probable_letter_is_chosen(logprobs: Any, choice: str | None) -> None:
    (row,) = rows("choice", [answer("", label_logprobs=logprobs, label_mass=0.9)])
    assert (row["choice"], row["status"]) == (choice, "ok" if choice else "unparsed")


def test_letters_that_are_hardly_ever_said_are_no_choice() -> None:
    (row,) = rows("choice", [answer("", label_logprobs={"A": -11.6, "B": -12.0}, label_mass=1.5e-5)])
    assert (row["choice"], row["correct"], row["status"]) == (None, False, "low_mass")
    (row,) = rows("choice", [answer("", label_logprobs={}, label_mass=0.0)])  # none among the likeliest tokens
    assert row["status"] == "low_mass"


@pytest.mark.parametrize(
    ("text", "finish_reason", "choice", "status"),
    [
        ("B", "length", None, "truncated"),  # perhaps of `Both`
        ("The answer is B", "length", None, "truncated"),
        ("B. Because the others contradict what was sa", "length", "B", "ok"),
        ("B", "refusal", None, "refused"),
        ("odd </think>B", "stop", None, "unparsed"),
        ("<think>A?</think>B", "stop", "B", "ok"),
    ],
)
def test_a_letter_that_may_not_be_meant_is_not_read(
    text: str, finish_reason: str, choice: str | None, status: str
) -> None:
    (row,) = rows("letter", [answer(text, finish_reason=finish_reason)])
    assert (row["choice"], row["status"]) == (choice, status)


def scored(*pairs: tuple[float, int]) -> list[dict[str, Any]]:
    return [answer("", logprob=logprob, n_tokens=n) for logprob, n in pairs]


def test_perplexity_prefers_the_short_option_only_in_total() -> None:
    """Option A has twelve tokens of -1.0, B two of -2.0: A is likelier per token, B in total."""
    per_token, total = rows("perplexity", scored((-12.0, 12), (-4.0, 2), (-30.0, 10), (-30.0, 10)))
    assert (per_token["method"], per_token["choice"], per_token["correct"]) == ("perplexity", "A", True)
    assert (total["method"], total["choice"], total["correct"]) == ("perplexity_total", "B", False)


def test_an_option_without_a_score_leaves_the_item_unread() -> None:
    answers = scored((-1.0, 1), (-2.0, 1), (-3.0, 1), (-4.0, 1))
    answers[2] = answer("", status="missing")
    assert [row["status"] for row in rows("perplexity", answers)] == ["missing", "missing"]
    answers[2] = answer("", logprob=None, n_tokens=None)
    assert [row["status"] for row in rows("perplexity", answers)] == ["unparsed", "unparsed"]
    answers[2] = answer("", logprob=None, n_tokens=None, finish_reason="length")  # it did not fit the window
    assert [row["status"] for row in rows("perplexity", answers)] == ["truncated", "truncated"]
    tied = scored((-1.0, 1), (-1.0, 1), (-3.0, 1), (-4.0, 1))
    assert [row["choice"] for row in rows("perplexity", tied)] == [None, None]


@pytest.mark.parametrize(("method", "n_rows"), [("letter", 8), ("choice", 8), ("perplexity", 4)])
def test_all_answers_of_a_plan_are_read(method: Any, n_rows: int) -> None:
    items = {"i1": item(), "i2": item(item_id="i2", label="D")}
    planned = [one.to_row() for one in plan(items.values(), method, TEMPLATES, circular=True)]
    given = [answer("B", label_logprobs={"B": 0.0}, logprob=float(-n), n_tokens=1) for n in range(len(planned))]
    found = list(parse_all("m", method, items, zip(planned, given, strict=True)))
    assert len(found) == n_rows
    assert {row["item_id"] for row in found} == {"i1", "i2"}
    assert all(row["choice"] == ("A" if method == "perplexity" else "B") for row in found)
    if method != "perplexity":
        assert sum(row["correct"] for row in found) == 2  # once per item: where the right option stands at B
