"""What writers return: JSON in every wrapping is read, and everything else ends with its reason."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from dialogbench_examples import OPTIONS, UTTERANCES, answer, record
from hypothesis import given
from hypothesis import strategies as st

from dialeval.corpora.dialogbench_records import RecordProblem
from dialeval.dialogbench.briefs import plan_briefs
from dialeval.dialogbench.written import Outcome, find_record, read_written

BRIEF = next(plan_briefs(["IC"], ["Film"], per_cell=1))
GOOD = json.dumps(record(), ensure_ascii=False, indent=1)


def read(text: str, **fields: Any) -> Outcome:
    return read_written(BRIEF, answer(text, **fields), "writer")


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Here is the question you asked for:\n```\n{GOOD}\n```\nI hope that it is hard enough!",
        f"{GOOD}\n\nNote that the label is {{A}}.",
        f"<think>{{'dialogue': 1}} {{</think>{GOOD}",
        f"[{GOOD}]",
        f"{GOOD}\n{GOOD}",
        GOOD[:-1].rstrip() + ",\n}",
        GOOD.replace("\n ]", ",\n ]"),
        GOOD.replace("It is promised.", 'It is\npromised, as {this} shows: \\"a,}\\"'),
        '{"note": "a thought before"}\n' + GOOD,
    ],
)
def test_an_item_is_found_in_every_wrapping(text: str) -> None:
    outcome = read(text)
    assert outcome.accepted, outcome.details
    assert outcome.item is not None
    assert (outcome.item.utterances, outcome.item.options, outcome.item.label) == (UTTERANCES, OPTIONS, "A")


@pytest.mark.parametrize(
    ("text", "reason", "status"),
    [
        ("", "empty", "unparsed"),
        ("<think>Let me think about it", "empty", "unparsed"),
        ("I'm sorry, but I can't write offensive content.", "refused", "refused"),
        ("抱歉，我无法完成这个请求。", "refused", "refused"),
        ("The conversation is about a boiler.", "no_json", "unparsed"),
        (GOOD[:-40], "broken_json", "unparsed"),
        (GOOD.replace('"option":', '"option"'), "broken_json", "unparsed"),
        ('{"question": "What?", "label": "A"}', "not_an_item", "unparsed"),
        (GOOD + json.dumps(record(label="B")), "several_items", "unparsed"),
        (json.dumps(record(label="E")), "label_outside_options", "unparsed"),
        (json.dumps(record(label="A, C")), "several_labels", "unparsed"),
        (json.dumps(record(option=dict.fromkeys("ABCDEFGHIJKL", "x"))), "too_many_options", "unparsed"),
        (json.dumps(record(option={"A": "x", "B": "None"})), "empty_option", "unparsed"),
        (json.dumps(record(test_question="")), "no_question", "unparsed"),
        (json.dumps(record(dialogue="Hi!")), "no_dialogue", "unparsed"),
        ('{"dialogue": ' + "[" * 100_000, "broken_json", "unparsed"),
    ],
)
def test_everything_else_ends_with_its_reason(text: str, reason: str, status: str) -> None:
    outcome = read(text)
    assert (outcome.reasons, outcome.status, outcome.item) == ((reason,), status, None)
    assert outcome.item_id == BRIEF.item_id


def test_an_answer_that_was_cut_off_or_is_missing_says_so() -> None:
    assert read(GOOD[:-40], finish_reason="length").reasons == ("truncated",)
    missing = read("", status="missing")
    assert (missing.status, missing.reasons) == ("missing", ("missing",))
    refused = read("", finish_reason="refusal")
    assert (refused.status, refused.reasons) == ("refused", ("refused",))


def test_a_whole_item_counts_even_if_the_text_after_it_was_cut_off() -> None:
    assert read(GOOD + " And this is wh", finish_reason="length").accepted


def test_what_was_drawn_stands_whatever_the_writer_says() -> None:
    brief = next(plan_briefs(["ED"], ["Film"], per_cell=1))
    text = json.dumps(record(task="Slot Filling", domain="Opera", **{"speaker1 emotion": "hunger"}))
    item = read_written(brief, answer(text), "writer").item
    assert item is not None
    assert (item.task, item.domain, item.origin, item.item_id) == ("ED", "Film", "writer", brief.item_id)
    assert item.emotions == brief.emotions


def test_personalities_are_the_drawn_ones_unless_the_writer_names_its_own() -> None:
    bare = {name: value for name, value in record().items() if "personality" not in name}
    item = read(json.dumps(bare)).item
    assert item is not None
    assert item.personalities == BRIEF.personalities
    own = read(json.dumps(bare | {"speaker1 personality": "", "speaker2 personality": ""})).item
    assert own is not None
    assert own.personalities == ("", "")


def test_an_outcome_as_a_row() -> None:
    row = read("Sorry.").to_row()
    assert (row["accepted"], row["reasons"], row["status"]) == (False, ["refused"], "refused")


@given(st.text(alphabet='{}[]",:\\ abdialogue\n', max_size=80))
def test_no_text_crashes_the_reading(text: str) -> None:
    read = None
    with contextlib.suppress(RecordProblem):
        read = find_record(text)
    assert read is None or isinstance(read, dict)
