"""Requests for items: what they ask for, and how often they are asked again."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from dialogbench_examples import answer, item
from hypothesis import given
from hypothesis import strategies as st

from dialeval.dialogbench.briefs import WITHOUT_DOMAIN, fields_of, plan_briefs
from dialeval.dialogbench.tasks import ABBREVIATIONS, DOMAIN_NAMES, TASKS
from dialeval.dialogbench.writing import (
    filtered,
    parse_classification,
    parse_filtering,
    plan,
    plan_classification,
    plan_filtering,
    prompt,
    read_verdict,
)
from dialeval.dialogbench.written_items import Outcome
from dialeval.engines.requests import request_key
from dialeval.prompts.rendering import Templates

TEMPLATES = Templates()


def test_a_request_is_sampled_at_temperature_one_and_says_what_it_is_about() -> None:
    brief = next(plan_briefs(["MRG"], ["Film"], per_cell=1))
    planned = next(plan([brief], TEMPLATES))
    request = planned.request
    assert (planned.case_id, planned.left) == ("en/MRG/film/000", "MRG")
    assert request.request_id == "dialogbench_writing/en/MRG/film/000/0"
    assert (request.kind, request.sampling.temperature, request.repeat) == ("chat", 1.0, 0)
    assert fields_of(request.subject) == {
        "task": "MRG",
        "language": "en",
        "domain": "Film",
        "number": "0",
        "repeat": "0",
    }


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.abbreviation)
def test_a_prompt_requests_what_the_papers_prompt_requests(task, language: str) -> None:  # type: ignore[no-untyped-def]
    brief = next(plan_briefs([task.abbreviation], ["Physics"], per_cell=1, language=language))
    text = prompt(brief, TEMPLATES)
    assert re.search(r"10 turns or more|至少 10 轮", text)
    assert re.search(r"Avoid questions|不用问句", text)
    assert all(personality in text for personality in brief.personalities)
    assert ("unfriendly" in text) == (language == "en")
    assert all(emotion in text for emotion in brief.emotions)
    assert brief.drawn[1] in text
    assert ("Physics" if language == "en" else "物理") in text
    assert text.index('"dialogue"') < text.index('"option"') < text.index('"analysis"') < text.index('"label"')
    assert ('"test_question"' in text) == task.asks
    assert all(f'"{name}"' in text for name in task.shown)
    letters = "".join(re.findall(r'"([A-D])": "', text))
    assert letters == "ABCD"[: task.n_options]
    assert re.search(r"alike in length|长短和口吻相近", text) is not None or bool(task.values)
    assert ('{"speaker1": "..."}]' in text) == task.open_ended


def test_the_requested_form_is_json() -> None:
    for abbreviation in ABBREVIATIONS:
        text = prompt(next(plan_briefs([abbreviation], ["Film"], per_cell=1)), TEMPLATES)
        form = text[text.rindex("\n{") :].replace("..., ", "")
        assert "label" in json.loads(form)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_without_styles_no_personality_is_requested(language: str) -> None:
    text = prompt(next(plan_briefs(["IC"], ["Film"], per_cell=1, language=language, styles=False)), TEMPLATES)
    assert "personality" not in text.lower()
    assert "unfriendly" not in text
    assert "性格" not in text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_basic_prompt_names_no_domain(language: str) -> None:
    basic = prompt(next(plan_briefs(["DS"], WITHOUT_DOMAIN, per_cell=1, language=language)), TEMPLATES)
    plain = prompt(next(plan_briefs(["DS"], ["Film"], per_cell=1, language=language, styles=False)), TEMPLATES)
    given = [line for line in plain.splitlines() if line not in basic.splitlines()]
    assert len(given) == 1
    assert ("Film" if language == "en" else "影视") in given[0]
    assert set(basic.splitlines()) < set(plain.splitlines())


def test_items_with_the_same_prompt_are_separate_requests() -> None:
    same = list(plan_briefs(["DS"], WITHOUT_DOMAIN, per_cell=3))
    first = [one.request for one in plan(same, TEMPLATES)]
    assert len({request.messages for request in first}) == 1
    assert [request.repeat for request in first] == [0, 1000, 2000]
    assert len({request_key(request, "{}") for request in first}) == 3
    again = [one.request for one in plan(same, TEMPLATES, round_number=1, accepted=[same[0].item_id])]
    assert [request.repeat for request in again] == [1001, 2001]
    cells = list(plan_briefs(["DS", "RC"], ["Film", "Music"], per_cell=2, styles=False))
    numbers = {one.case_id: one.request.repeat for one in plan(cells, TEMPLATES)}
    assert [numbers[f"en-nostyles/DS/film/00{number}"] for number in range(2)] == [0, 1000]
    assert {numbers[f"en-nostyles/RC/film/00{number}"] for number in range(2)} == {0}  # other relations, other words


def test_a_round_requests_missing_items_as_another_request() -> None:
    briefs = list(plan_briefs(["OD"], ["Film", "Music"], per_cell=2))
    first = list(plan(briefs, TEMPLATES))
    accepted = ["en/OD/film/000", "en/OD/music/001"]
    second = list(plan(briefs, TEMPLATES, round_number=1, accepted=accepted))
    assert [planned.case_id for planned in second] == ["en/OD/film/001", "en/OD/music/000"]
    before = {planned.case_id: planned.request for planned in first}
    for planned in second:
        assert planned.request.messages == before[planned.case_id].messages
        assert planned.request.request_id != before[planned.case_id].request_id
        assert request_key(planned.request, "{}") != request_key(before[planned.case_id], "{}")


# The judge's filter: one word, and what it does to an item.


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
        assert parse_filtering("j", item(), answer(text, finish_reason=finish))["status"] == status


def test_the_request_shows_the_item_with_its_answer() -> None:
    planned = next(plan_filtering([item("KRG", label="C", extra={"knowledge": "Plates show a number."})], Templates()))
    text = planned.request.messages[0].content
    for part in ("Knowledge-grounded", "Plates show a number.", "Speaker 2: I have it on a photo", "Answer: C"):
        assert part in text
    assert "It is promised." not in text
    assert fields_of(planned.request.subject[2:])["label"] == "C"
    assert planned.request.request_id == "dialogbench_filter/en/i1"
    assert "【答案】A" in next(plan_filtering([item(language="zh")], Templates())).request.messages[0].content


def test_only_what_is_called_correct_is_kept() -> None:
    outcome = Outcome("i1", "IC", "Film", "en", "ok", item())
    results = {
        text: filtered(outcome, parse_filtering("j", item(), given)).reasons
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


NOT_PLAINLY_CORRECT = (
    "not entirely correct", "never correct", "hardly correct", "cannot say that it is correct", "不完全正确",
    "不太正确", "isn’t correct", "isn't correct", "not correct", "并不正确", "不能说是正确",
    "不能说这道题正确", "难说正确", "并非正确", "未必正确", "不一定正确", "不够正确", "没有正确", "不是很正确",
    "不全正确", "部分正确", "基本正确", "大致正确", "正确吗？", "正确？", "可能正确", "应该正确", "几乎正确",
    "看似正确，其实错误", "正确，但答案错误", "正确吗", "正确的答案是B", "正确答案应为B", "不算正确",
    "谈不上正确", "非正确", "无法判断是否正确", "是否正确", "题目正确，答案不正确", "问题正确，但答案有误",
    "正确或错误", "correct or incorrect", "correct/incorrect", "correct? no", "Correct?", "partially correct",
    "mostly correct", "almost correct", "not quite correct", "not completely correct", "not fully correct",
    "not really correct", "far from correct", "nowhere near correct", "anything but correct",
    "scarcely correct", "rarely correct", "barely correct", "Correct, but the answer is wrong",
    "The question is correct but the answer is wrong", "The question is correct. The answer is wrong.",
    "Correct. Actually incorrect.", "correct, except for the label", "correct if A is meant",
    "would be correct if", "could be correct", "might be correct", "may be correct", "probably correct",
    "possibly correct", "it seems correct", "I doubt it is correct", "I don't think it is correct",
    "I can't call it correct", "I cannot call it correct", "it is far from being correct",
    "The correct answer is A", "The correct answer would be B", "correct answer: B",
    "Neither correct nor incorrect", "less than correct", "un-correct", "non-correct", "in-correct",
    "InCorrect", "in correct", "only half correct", "the opposite is correct", "the other option is correct",
    "Option B is correct", "B is correct", "It was corrected.", "correctly", "correctness unclear",
    "Is it correct?", "Is the item correct? No", "~~correct~~ incorrect", "~~correct~~",
    "> correct\nincorrect", "> correct\nI disagree", "Incorrect. Actually correct", "no", "No, it is correct",
    "false", "correct\nincorrect", "correct\n\nincorrect", "correct. On reflection, no.",
    "fails to be correct", "lacks a correct answer", "without a correct answer", "no correct answer",
    "none is correct", "who says it is correct?", "if it's correct", "correct!?", "politically correct",
    "correct-ish", "sort of correct", "kind of correct", "more or less correct", "roughly correct",
    "technically correct", "The answer is not the correct one", "50% correct", "correct (50%)", "correct 50%",
    "It isn’t correct", "It isn´t correct", "ain't correct", "aren’t correct", "wasn’t correct",
    "doesn't seem correct", "uncorrect", "Not correct", "**not** correct", "not **correct**", "not\ncorrect",
    "不\n正确", "不 正确", "**不**正确", "Correct: no", "correct: false", "{\"correct\": false}",
    "{\"correct\": true}", "correct = false", "The label is correct only partly",
)  # fmt: skip
"""Answers that deny, soften, limit, ask, contradict themselves, or are about something else."""
CORRECT = (
    "correct", "Correct", "Correct.", "**correct**", "\"correct\"", "`correct`", "Correct!", "CORRECT",
    "Verdict: correct", "Your verdict: correct", "My verdict is correct", "The item is correct.",
    "The question is correct", "The answer is correct.", "It is correct.", "It's correct", "Yes, correct",
    "Yes, it is correct.", "This item is correct as a whole",
    "Correct. The question is clear and the answer fits the dialogue.", "correct\n",
    "correct\n\nThe question is clear.", "{\"verdict\": \"correct\"}", "> correct", "Answer: correct",
    "Correct - the answer fits", "正确", "正确。", "正确的", "判断：正确", "该题正确", "这道题是正确的。",
    "**正确**", "【正确】", "判断: 正确", "正确，问题清楚，答案合适。", "完全正确",
    "Correct (the answer fits)", "Final answer: correct", "答案正确", "题目正确", "这道题整体正确。",
    "<think>hm</think>\n\ncorrect",
)  # fmt: skip


@pytest.mark.parametrize("text", NOT_PLAINLY_CORRECT)
def test_no_item_is_kept_without_a_plain_verdict(text: str) -> None:
    assert read_verdict(text) != "correct"


@pytest.mark.parametrize("text", CORRECT)
def test_a_plain_verdict_keeps_an_item(text: str) -> None:
    assert read_verdict(text) == "correct"


RIGHT = ("correct", "The item is correct.", "正确", "该题正确")
WRONG = ("incorrect", "not correct", "isn’t correct", "不正确", "错误")


@given(
    st.tuples(st.sampled_from(RIGHT), st.sampled_from(WRONG), st.booleans()),
    st.sampled_from(
        [" or ", "/", ", ", ". ", "\n", ", no, ", "\nActually, ", "，", "，不，", " but ", " → ", " (", "? "]
    ),
    st.sampled_from(["{}", "**{}**", '"{}"', "Verdict: {}"]),
)
def test_two_verdicts_never_keep_an_item(both: tuple[str, str, bool], between: str, form: str) -> None:
    *verdicts, turned = both
    verdict_lines = [form.format(verdict) for verdict in (verdicts[::-1] if turned else verdicts)]
    assert read_verdict(between.join(verdict_lines)) != "correct"


@given(
    st.sampled_from(RIGHT),
    st.sampled_from(["not {}", "hardly {}", "never {}", "if {}", "不太{}", "并非{}", "{}吗", "{}?"]),
)
def test_a_denied_or_softened_verdict_keeps_no_item(right: str, form: str) -> None:
    assert read_verdict(form.format(right)) != "correct"


# The judge's description of a dialogue: two styles and a domain.

SOUND = "Speaker 1: friendly\nSpeaker 2: unfriendly\nDomain: Film"


def described(text: str, **fields: Any) -> tuple[str | None, str | None, str | None, str]:
    row = parse_classification("j", item(), answer(text, **fields))
    return row["speaker1_style"], row["speaker2_style"], row["domain"], row["status"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SOUND, ("friendly", "unfriendly", "Film", "ok")),
        (f"Sure.\n{SOUND}\nThat is all.", ("friendly", "unfriendly", "Film", "ok")),
        ("**Speaker 1:** Neutral.\n- speaker2: neutral\n**Domain**: movies", ("neutral", "neutral", "Film", "ok")),
        ("Speaker 1: neutral\nSpeaker 2: neutral\nDomain: Beekeeping", ("neutral", "neutral", "other", "ok")),
        ("Speaker 1: rude\nSpeaker 2: neutral\nDomain: Film", (None, "neutral", "Film", "unparsed")),
        ("Speaker 1: neutral\nDomain: Film", ("neutral", None, "Film", "unparsed")),
        (SOUND + "\nSpeaker 1: neutral", (None, "unfriendly", "Film", "unparsed")),
        ("Both are friendly.", (None, None, None, "unparsed")),
        ("", (None, None, None, "unparsed")),
    ],
)
def test_a_description_is_read(text: str, expected: tuple[str | None, ...]) -> None:
    assert described(text) == expected


def test_an_answer_that_failed_keeps_its_status() -> None:
    assert described(SOUND, status="missing") == (None, None, None, "missing")


def test_the_request_shows_the_dialogue_and_the_domains() -> None:
    planned = next(plan_classification([item()], Templates()))
    text = planned.request.messages[0].content
    assert "Speaker 1: The boiler is cold again." in text
    assert ", ".join(DOMAIN_NAMES) in text
    assert item().question not in text
