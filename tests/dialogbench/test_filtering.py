"""The judge's filter: one word, and what it does to an item."""

from __future__ import annotations

import pytest
from dialogbench_examples import answer, item

from dialeval.dialogbench.filtering import filtered, parse, plan, read_verdict
from dialeval.dialogbench.subjects import fields_of
from dialeval.dialogbench.written import Outcome
from dialeval.prompts.rendering import Templates


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("correct", "correct"),
        ("Correct.", "correct"),
        ("**incorrect**", "incorrect"),
        ("The item is not correct.", "incorrect"),
        ('"correct"', "correct"),
        ("<think>incorrect?</think>correct", "correct"),
        ("正确", "correct"),
        ("不正确", "incorrect"),
        ("错误。", "incorrect"),
        ("correct or incorrect", None),
        ("It was corrected.", None),
        ("Fine.", None),
        ("", None),
    ],
)
def test_a_verdict_is_read(text: str, verdict: str | None) -> None:
    assert read_verdict(text) == verdict


def test_a_verdict_that_was_cut_off_or_refused_is_not_read() -> None:
    for text, finish, status in (
        ("The item is correct", "length", "truncated"),
        ("Correct. The question is clear and the ans", "length", "ok"),
        ("correct", "refusal", "refused"),
    ):
        assert parse("j", item(), answer(text, finish_reason=finish))["status"] == status


def test_the_request_shows_the_item_with_its_answer() -> None:
    planned = next(plan([item("KRG", label="C", extra={"knowledge": "Plates show a number."})], Templates()))
    text = planned.request.messages[0].content
    for part in ("Knowledge-grounded", "Plates show a number.", "Speaker 2: I have it on a photo", "Answer: C"):
        assert part in text
    assert "It is promised." not in text
    assert fields_of(planned.request.subject[2:])["label"] == "C"
    assert planned.request.request_id == "dialogbench_filter/en/i1"
    assert "【答案】A" in next(plan([item(language="zh")], Templates())).request.messages[0].content


def test_only_what_is_called_correct_is_kept() -> None:
    outcome = Outcome("i1", "IC", "Film", "en", "ok", item())
    results = {
        text: filtered(outcome, parse("j", item(), given)).reasons
        for text, given in {
            "correct": answer("correct"),
            "incorrect": answer("incorrect"),
            "unclear": answer("hm"),
            "cut": answer("hm", finish_reason="length"),
            "missing": answer("", status="missing"),
        }.items()
    }
    assert results == {
        "correct": (),
        "incorrect": ("filtered_out",),
        "unclear": ("filter_unparsed",),
        "cut": ("filter_truncated",),
        "missing": ("filter_missing",),
    }
