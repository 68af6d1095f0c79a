"""Judges' answers as real models write them: read where they are clear, refused where they are not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.config.protocols import shipped
from dialeval.engines.requests import Message, Request, request_key
from dialeval.prompts.rendering import Templates
from dialeval.protocols import locate
from dialeval.protocols.pair import option_patterns
from dialeval.protocols.verdicts import (
    number,
    number_in,
    option,
    place,
    read_object,
    read_verdict,
    status_of,
    structured,
    text,
    text_in,
)

CONVERSATIONS = option_patterns(tuple(shipped("arena").options))


@pytest.mark.parametrize(
    ("text", "choice", "index"),
    [
        ("Choice: No\nIndex: None\nReason: Natural talk.", "No", "None"),
        ("Choice: Yes\nIndex: 3\nReason: Odd.", "Yes", "3"),
        ("Choice: No Index: None Reason: all on one line", "No", "None"),
        ("choice: YES\nindex: 3.", "Yes", "3"),
        ("**Choice:** Yes\n**Index:** 5\n**Reason:** Repeats.", "Yes", "5"),
        ("**Choice: No**\n**Index: None**", "No", "None"),
        ("- Choice: Yes\n- Index: 7\n- Reason: x", "Yes", "7"),
        ("> `Choice: Yes`\n> `Index: 7`", "Yes", "7"),
        ("“Choice: No”\nReason: fine", "No", None),
        ('"Choice: Yes"\n"Index: 4"', "Yes", "4"),
        ("Choice：Yes\nIndex：１２\nReason：…", "Yes", "12"),
        ("I read it closely.\n\nChoice: No\nReason: ok", "No", None),
        ("<think>Choice: Yes? Index: 2? Hmm.</think>\nChoice: No\nIndex: None", "No", "None"),
        ("Choice: Yes\nIndex: 7\nReason: odd </think>Choice: No", "Yes", "7"),
        ("<think>hm</think>Choice: Yes\nIndex: 7\nReason: odd </think>Choice: No", "Yes", "7"),
        ("I wonder.</think>\nChoice: No\nIndex: None", "No", "None"),
        ("Choice: Yes\nIndex: 7\nReason: it says <think>Choice: No", "Yes", "7"),
        ("### Choice: Yes\n### Index: 2", "Yes", "2"),
        ("Choice : No", "No", None),
        ("Choice: No.\r\nIndex: None.\r\nReason: Ok.", "No", "None"),
        ("Index: 4\nChoice: Yes\nReason: order swapped", "Yes", "4"),
        ("Choice: Yes\nReason: it repeats\nIndex: 6", "Yes", "6"),
        ("Choice: Yes; Index: 9; Reason: y", "Yes", "9"),
        ("Choice: No\nReason: utterance 3 says 'Choice: Yes\\nIndex: 1'", "No", None),
        ("Choice: No\nChoice: No", "No", None),
        ('{"Choice": "Yes", "Index": 7, "Reason": "odd"}', "Yes", "7"),
        ('```json\n{\n  "choice": "Yes",\n  "index": 7,\n  "reason": "odd"\n}\n```', "Yes", "7"),
    ],
)
def test_clear_unieval_answers(text: str, choice: str, index: str | None) -> None:
    verdict = read_verdict(text, locate.OPTIONS)
    assert (verdict.choice, verdict.indices) == (choice, () if index is None else (index,))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "No AI was involved.",
        "I would say Choice: No here.",
        "Choice:",
        "Choice: Yes or No",
        "Choice: Yes/No",
        "Choice: Maybe",
        "Choice: No idea",
        "Choice: Yes\nIndex: 2\nOn reflection:\nChoice: No",
        "Choices: No",
        "My choice is no",
        "<think>Choice: No",
        "Choice: Yes? no.</think>Choice: No",
        "Choice: Yes\nIndex: 7\nReason: odd </think>\nChoice: No",
        "＜think＞hm＜/think＞Choice: No",
        "Reason: the last one says\n'Choice: No'\nChoice: Yes\nIndex: 4",
        "As an AI I cannot answer that.",
    ],
)
def test_unclear_unieval_answers_are_refused(text: str) -> None:
    assert read_verdict(text, locate.OPTIONS).choice is None


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("Choice: Conversation 1\nReason: stiff", "Conversation 1"),
        ("Choice: Conversation 2; Reason: stiff", "Conversation 2"),
        ("`Choice: Conversation 1`", "Conversation 1"),
        ("Choice: [Conversation 2]", "Conversation 2"),
        ("**Choice:** Both", "Both"),
        ("Choice: Neither conversation.", "Neither"),
        ("Choice: both of the conversations", "Both"),
        ("Choice: 2", "Conversation 2"),
        ("Choice: Conversation #1", "Conversation 1"),
        ("Choice: NEITHER\nReason: Conversation 1 and Conversation 2 are fine", "Neither"),
    ],
)
def test_clear_pairwise_answers(text: str, choice: str) -> None:
    assert read_verdict(text, CONVERSATIONS).choice == choice


@pytest.mark.parametrize(
    "text",
    [
        "Conversation 1 is AI.",
        "Choice: Conversation 1 is better than Conversation 2",
        "Choice: Conversation 1 and Conversation 2",
        "Choice: Conversation 3",
        "Choice: Conversation 12",
        "Choice: A",
        "Choice: Both or Neither",
        "Choice: Conversation 1\n\nChoice: Conversation 2",
    ],
)
def test_unclear_pairwise_answers_are_refused(text: str) -> None:
    verdict = read_verdict(text, CONVERSATIONS)
    assert verdict.choice is None
    assert verdict.reason


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    assert read_verdict(text, locate.OPTIONS).choice in (None, "Yes", "No")


@given(
    st.text(alphabet=st.characters(blacklist_categories=["Cs", "Cc", "Zl", "Zp"])) | st.just("odd </think>Choice: No")
)
def test_a_reason_never_changes_the_choice(reason: str) -> None:
    assert read_verdict(f"Choice: No\nIndex: None\nReason: {reason}", locate.OPTIONS).choice == "No"


def test_reasons_are_kept_whole() -> None:
    assert read_verdict("Choice: No\nReason: Fine (chance: 0.4).\nMore.", locate.OPTIONS).reason == (
        "Fine (chance: 0.4).\nMore."
    )


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("Choice: Yes\nIndex: 3\nReason: it says aga", "Yes"),
        ("Choice: Yes\nIndex: 3\n", "Yes"),
        ("Choice: Yes Index: 3 Reason: it says aga", "Yes"),
        ("Choice: No\nInd", "No"),
        ("Choice: No\nIndex: None\nReason: fine.\nChoice: Ye", None),  # it was about to say something else
        ("Choice: Yes\nIndex: 1", None),  # perhaps of 12
        ("Choice: Yes\nIndex: 1\nReason: odd\nIndex: 1", None),
        ("Choice: No", None),  # perhaps of `Not sure`
    ],
)
def test_the_field_in_which_an_answer_was_cut_off_is_not_read(text: str, choice: str | None) -> None:
    assert read_verdict(text, locate.OPTIONS, cut=True).choice == choice


def test_a_conversation_that_was_cut_off_is_not_read() -> None:
    assert read_verdict("Choice: Conversation 1", CONVERSATIONS, cut=True).choice is None
    assert read_verdict("Choice: Conversation 1\nReason: st", CONVERSATIONS, cut=True).choice == "Conversation 1"


def test_every_row_has_one_status() -> None:
    assert status_of("missing", "", readable=False) == "missing"
    assert status_of("ok", "stop", readable=True) == "ok"
    assert status_of("ok", "length", readable=True) == "ok"
    assert status_of("ok", "length", readable=False) == "truncated"
    assert status_of("ok", "refusal", readable=False) == "refused"
    assert status_of("ok", "refusal", readable=True) == "refused"
    assert status_of("ok", "stop", readable=False) == "unparsed"
    assert status_of("ok", "stop", readable=True, mass=1e-5) == "low_mass"
    assert status_of("ok", "stop", readable=False, mass=0.0) == "low_mass"
    assert status_of("ok", "stop", readable=True, mass=0.01) == "ok"
    assert status_of("missing", "", readable=False, mass=0.0) == "missing"


# Answers that must be a JSON object: what is asked for, and how it is read.

FREE = Request("u/1", "unieval", "chat", (Message("system", "Judge."), Message("user", "Is it human?")))
FIELDS = [
    option("choice", ["Yes", "No"]),
    place("index", "the first utterance of an AI"),
    text("reason", "why"),
]
ASKED = structured(FREE, Templates(), FIELDS)


def test_the_schema_is_one_that_strict_endpoints_take() -> None:
    assert json.loads(ASKED.answer_schema) == {
        "type": "object",
        "properties": {
            "choice": {"type": "string", "enum": ["Yes", "No"]},
            "index": {"type": ["integer", "null"]},
            "reason": {"type": "string"},
        },
        "required": ["choice", "index", "reason"],
        "additionalProperties": False,
    }


def test_the_prompt_says_what_belongs_in_the_fields() -> None:
    assert ASKED.messages[0] == FREE.messages[0]
    assert ASKED.messages[1].content.startswith("Is it human?\n\n")
    assert '"choice": one of "Yes", "No"' in ASKED.messages[1].content
    assert '"index": the number of the first utterance of an AI, or null' in ASKED.messages[1].content


def test_a_structured_answer_is_another_answer() -> None:
    same_prompt = Request("u/1", "unieval", "chat", ASKED.messages)
    keys = {request_key(request, "{}") for request in (FREE, ASKED, same_prompt)}
    assert len(keys) == 3


@pytest.mark.parametrize(
    ("field", "schema"),
    [
        (number("empathy", 1, 7, whole=True), {"type": "integer", "enum": [1, 2, 3, 4, 5, 6, 7]}),
        (number("empathy", -1, 1, whole=True), {"type": "integer", "enum": [-1, 0, 1]}),
        (number("empathy", 0, 100, whole=True), {"type": "integer"}),
        (number("empathy", 0, 1, whole=False), {"type": "number"}),
    ],
)
def test_short_scales_are_listed(field: object, schema: object) -> None:
    assert field.schema == schema  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "answer",
    [
        '{"choice": "Yes", "index": 3}',
        ' \n{"choice":"Yes","index":3}\n',
        '```json\n{"choice": "Yes", "index": 3}\n```',
        '<think>Hm, {"choice": "No"}?</think>{"choice": "Yes", "index": 3}',
    ],
)
def test_an_object_is_read(answer: str) -> None:
    found = read_object(answer)
    assert found is not None
    assert text_in(found, "choice") == "Yes"
    assert number_in(found, "index") == 3.0


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "Choice: Yes",
        '{"choice": "Yes"',
        '{"choice": "Yes", "choice": "No"}',
        '{"choice": "Yes"} {"choice": "No"}',
        '["Yes"]',
        "[" * 100_000,
    ],
)
def test_what_is_no_single_object_is_not_read(answer: str) -> None:
    assert read_object(answer) is None


def test_a_value_of_another_kind_is_no_value() -> None:
    found = {"rating": "4", "right": True, "choice": 4, "none": None}
    assert [number_in(found, name) for name in ("rating", "right", "none", "missing")] == [None] * 4
    assert [text_in(found, name) for name in ("choice", "none", "missing")] == [""] * 3


@given(st.text())
def test_any_text_is_read_or_is_none(answer: str) -> None:
    found = read_object(answer)
    assert found is None or isinstance(found, dict)
