"""Options of a user's own are read as tolerantly as those of the papers, and never taken for one another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.forms.option_labels import option_patterns
from dialeval.forms.verdict_text import read_verdict


@pytest.mark.parametrize(
    ("labels", "text", "choice"),
    [
        (("A", "B", "Tie"), "Choice: a", "A"),
        (("A", "B", "Tie"), "**Choice:** `Answer B.`", "B"),
        (("A", "B", "Tie"), "Choice: only the TIE", None),
        (("A", "B", "Tie"), "Choice: A and B", None),
        (("A", "B", "Tie"), "Choice: A\nChoice: B", None),
        (("A", "B", "Tie"), "Choice: (Tie)", "Tie"),
        (("A", "Answer A", "B"), "Choice: A", "A"),
        (("A", "Answer A", "B"), "Choice: answer a", "Answer A"),
        (("A", "AB"), "Choice: AB", "AB"),
        (("Very good", "Very", "Good"), "Choice: very good", "Very good"),
        (("System 1", "System 2", "No difference"), "Choice: 2", "System 2"),
        (("甲", "乙"), "Choice：甲。", "甲"),
        (("C++", "C"), "Choice: C++", "C++"),
    ],
)
def test_labels(labels: tuple[str, ...], text: str, choice: str | None) -> None:
    assert read_verdict(text, option_patterns(labels)).choice == choice


PAIR = option_patterns(("A", "B", "Tie"))


@pytest.mark.parametrize(
    "text",
    [
        "> Choice: A\nI choose B",
        "> Choice: A\nChoice B is better",
        "Choice: A\nOn reflection, I choose B.",
        "Choice: A\n\nNo wait, B.",
        "Choice: A, no wait, B",
        "Choice: not A",
        "Choice: not B",
        "~~Choice: A~~\nChoice: B",
        "Choice: ~~A~~ B",
        "Choice: neither A nor B",
        "Choice: both A and B",
        "I’d choose B because it is warm\nChoice: A",
        "Choice: A\nAnswer: B",
        "Choice: A?",
        "Choice: A or B",
        "Choice: A\n\nActually B",
        "Choice: A\nReason: warm\n\nOn reflection B is better",
        "Choice: A\nB",
        "A\nChoice: B",
        "Choice: A → B",
        "Choice: A/B",
        '{"choice": ["A", "B"]}',
        '{"choice": "A", "choice": "B"}',
        "Choice: A\nMy final choice is B",
        "Choice: anything but A",
        "Choice: A, but B is close",
        "Choice: A > B",
        "Choice: A\n> no\nCorrection: B",
        "Choice: A\nFinal choice: B",
        "Choice: A\nSorry, B.",
        "Choice: A\nHmm, maybe B",
        "Choice: A\nOr B.",
        "Choice: A\n→ B",
        "Choice: A\nI meant B.",
        "Choice: A\nIt should be B.",
        "<del>Choice: A</del>\nChoice: B",
    ],
)
def test_two_options_a_denied_one_and_a_quotation_are_no_choice(text: str) -> None:
    verdict = read_verdict(text, PAIR)
    assert (verdict.choice, verdict.reason != "") == (None, True)


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("> Choice: B\nChoice: A", "A"),
        ("> Choice: A\n> Reason: warm", "A"),
        ("I'd say A.\nChoice: A", "A"),
        ("Choice: A\nReason: I would choose B for its length, but A is warmer.", "A"),
        ("Both have their strengths.\n\n**Choice: A**\n\nB is longer, A is warmer.", "A"),
        ("Choice: A\n\nReason: B repeats itself.\nA does not.", "A"),
        ("```\nChoice: Tie\n```", "Tie"),
        ("Choice: A\nB is also good.", "A"),
        ("Choice: A\nI would not choose B.", "A"),
        ("I was torn between A and B.\nChoice: A", "A"),
        ("It could be A or B.\nChoice: A", "A"),
    ],
)
def test_other_words_leave_the_choice_clear(text: str, choice: str) -> None:
    assert read_verdict(text, PAIR).choice == choice


@given(
    st.permutations(["A", "B", "Tie"]),
    st.sampled_from(["{}", "**{}**", "`{}`", "({})", "~~{}~~"]),
    st.sampled_from(
        [
            " or ",
            ", ",
            "/",
            " and ",
            " → ",
            ", no, ",
            "\nChoice: ",
            "\nAnswer: ",
            "\nNo, ",
            "\nI choose ",
            "\n",
            " but not ",
        ]
    ),
)
def test_two_options_are_never_read_as_one_of_them(options: list[str], form: str, between: str) -> None:
    one, two, _ = options
    assert read_verdict(f"Choice: {form.format(one)}{between}{form.format(two)}", PAIR).choice is None
