"""The rules, each broken once; near-duplicates; and the counts by reason."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from dialogbench_examples import OPTIONS, UTTERANCES, item

from dialeval.dialogbench.checking import Rules, checked, counts, problems
from dialeval.dialogbench.written import Outcome

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
    said = ("我明天去北京出差。", "知道了。") * 4
    options = ("明天去北京", "周末去上海呢", "在家里陪爸妈", "下周再说吧")
    assert reasons(language="zh", utterances=said, options=options) == ["option_copied"]
    assert reasons(language="zh", utterances=said, options=("去外地办事情", *options[1:])) == []


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
