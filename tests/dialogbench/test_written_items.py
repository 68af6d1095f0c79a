"""What writers return: JSON in every wrapping is read, and everything else ends with its reason."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from typing import Any

import pytest
from dialogbench_examples import OPTIONS, UTTERANCES, answer, item, record
from hypothesis import given
from hypothesis import strategies as st

from dialeval.dialogbench.briefs import plan_briefs
from dialeval.dialogbench.items import RecordProblem
from dialeval.dialogbench.written_items import (
    Outcome,
    Rules,
    checked,
    counts,
    find_record,
    near_duplicates,
    problems,
    read_written,
    shingles,
    similar_to_earlier,
)

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


# The rules, each broken once; near-duplicates; and the counts by reason.

REPLIES = (
    "He has the number already.",
    "I will send it to him now.",
    "He can read it off himself.",
    "Nobody knows it now.",
)


def reasons(task: str = "IC", rules: Rules | None = None, **fields: Any) -> list[str]:
    return [problem.reason for problem in problems(item(task, **fields), rules)]


def test_a_sound_item_breaks_no_rule() -> None:
    assert reasons() == []
    assert reasons("MRG", utterances=UTTERANCES[:9], options=REPLIES) == []
    assert reasons("OD", options=("offensive", "non-offensive")) == []
    assert reasons("RC", options=("friends", "Couples", "brothers", "colleagues")) == []
    assert reasons("SF", options=("sink", "boiler", "valve", "phone")) == []


@pytest.mark.parametrize(
    ("task", "fields", "expected"),
    [
        ("IC", {"utterances": UTTERANCES[:6]}, ["too_few_turns"]),
        ("IC", {"utterances": UTTERANCES[:9]}, ["wrong_last_speaker"]),
        ("MRG", {"options": REPLIES}, ["wrong_last_speaker"]),
        ("IC", {"options": OPTIONS[:3]}, ["wrong_number_of_options"]),
        ("IC", {"options": (*OPTIONS[:3], "To WASH in the sink, from now on!")}, ["options_not_distinct"]),
        ("IC", {"options": (*OPTIONS[:3], "to wash")}, ["unequal_lengths"]),
        ("IC", {"options": ("I'll ring Mr Bell", *OPTIONS[1:])}, ["option_copied"]),
        ("IC", {"options": (OPTIONS[0], "I'll ring Mr Bell", *OPTIONS[2:])}, []),
        ("SF", {"options": ("sink", "boiler", "valve", "Tuesday")}, ["option_not_in_dialogue"]),
        ("DI", {"options": REPLIES, "extra": {"response": "Good. I will send it to him now."}}, ["option_copied"]),
        ("DI", {"options": REPLIES, "extra": {"response": "Please do."}}, []),
        ("DS", {"options": (UTTERANCES[0], *REPLIES[1:])}, ["option_copied"]),
        ("OD", {"options": ("offensive", "polite")}, ["unknown_option"]),
        ("OD", {"options": ("offensive", "contain")}, ["options_not_distinct"]),
        (
            "OD",
            {"options": ("offensive", "non-offensive"), "extra": {"offensive": "non-offensive"}},
            ["not_the_drawn_answer"],
        ),
        (
            "NLI",
            {
                "options": ("entailment", "contradiction", "neutrality"),
                "extra": {"semantic relationship": "entailment"},
            },
            [],
        ),
        ("NLI", {"options": ("entailment", "contradiction")}, ["wrong_number_of_options"]),
        ("RC", {"options": ("friends", "brothers", "lovers", "pen pals")}, ["unknown_option"]),
        ("ED", {"options": ("joy", "fear", "anger", "sadness"), "emotions": ("joy", "surprise")}, []),
        (
            "ED",
            {"options": ("joy", "fear", "anger", "sadness"), "emotions": ("fear", "anger")},
            ["not_the_drawn_answer"],
        ),
        (
            "ED",
            {"options": ("joy", "fear", "anger", "sadness"), "utterances": (*UTTERANCES[:9], "Oh joy.")},
            ["option_copied"],
        ),
    ],
)
def test_a_broken_rule_is_a_reason(task: str, fields: dict[str, Any], expected: list[str]) -> None:
    assert reasons(task, **fields) == expected


def test_chinese_quotations_are_found() -> None:
    utterances = ("我明天去北京出差。", "知道了。") * 4
    options = ("明天去北京", "周末去上海呢", "在家里陪爸妈", "下周再说吧")
    assert reasons(language="zh", utterances=utterances, options=options) == ["option_copied"]
    assert reasons(language="zh", utterances=utterances, options=("去外地办事情", *options[1:])) == []


def test_rules_can_be_stricter() -> None:
    assert reasons(rules=Rules(min_turns=6)) == ["too_few_turns"]
    asking = ("Is it cold?", *UTTERANCES[1:])
    assert reasons(utterances=asking) == []
    assert reasons(rules=Rules(max_question_share=0.05), utterances=asking) == ["too_many_questions"]


def outcome(name: str, **fields: Any) -> Outcome:
    one = item(item_id=name, **fields)
    return Outcome(name, one.task, one.domain, one.language, "ok", one)


def test_the_same_item_twice_is_a_duplicate_and_a_bad_one_hides_no_good_one() -> None:
    bad = outcome("bad", options=OPTIONS[:3])
    first, second = outcome("first"), outcome("second", options=tuple(reversed(OPTIONS)))
    unread = replace(outcome("unread"), item=None, reasons=("no_json",))
    found = checked([bad, unread, first, second])
    assert [one.reasons for one in found] == [
        ("wrong_number_of_options",),
        ("no_json",),
        (),
        ("near_duplicate",),
    ]
    assert found[3].details == ("near_duplicate: first",)
    assert [(row["reason"], row["n"]) for row in counts(found)] == [
        ("accepted_short", 1),
        ("near_duplicate", 1),
        ("no_json", 1),
        ("wrong_number_of_options", 1),
    ]


# Near-duplicates: the same pairs as by comparing all with all, and the first one is kept.


def test_one_changed_word_is_near_and_another_dialogue_is_not() -> None:
    changed = ("The boiler is icy again.", *UTTERANCES[1:])
    other = tuple(reversed(UTTERANCES))
    items = [item(item_id="a"), item(item_id="b", utterances=changed), item(item_id="c", utterances=other)]
    assert near_duplicates(items) == {"b": "a"}


def test_only_items_of_one_task_and_language_are_compared() -> None:
    items = [item(item_id="a"), item("DS", item_id="b"), item(item_id="c", language="zh"), item(item_id="d")]
    assert near_duplicates(items) == {"d": "a"}


def test_case_and_punctuation_do_not_count() -> None:
    loud = tuple(text.upper().replace(".", "!") for text in UTTERANCES)
    assert shingles(loud) == shingles(UTTERANCES)


def test_chinese_is_compared_by_characters() -> None:
    assert shingles(["我明天去北京"]) == {"我 明 天", "明 天 去", "天 去 北", "去 北 京"}


@pytest.mark.parametrize("threshold", [0.0, 1.1])
def test_a_threshold_out_of_range_is_refused(threshold: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        near_duplicates([], threshold)


sets_of_words = st.lists(st.frozensets(st.sampled_from("abcdefghij"), min_size=1), max_size=12)


@given(sets_of_words, st.sampled_from([0.2, 0.5, 0.6, 0.7, 1.0]))
def test_it_finds_what_comparing_all_pairs_finds(sets: list[frozenset[str]], threshold: float) -> None:
    expected: dict[int, int] = {}
    for later, one in enumerate(sets):
        for earlier in (e for e in range(later) if e not in expected):
            if len(one & sets[earlier]) / len(one | sets[earlier]) >= threshold:
                expected[later] = earlier
                break
    assert similar_to_earlier(sets, threshold) == expected
