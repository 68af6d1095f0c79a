"""Finding the chosen letter: what is clear is read, what could be an article, a word or two letters is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.dialogbench.letters import read_letter

OPTIONS = ("to hire a cleaner", "to wait", "to repay a loan", "A dog is a friend")


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("B", "B"),
        ("B.", "B"),
        ("(B)", "B"),
        ("b", "B"),
        ("A", "A"),
        ("a", "A"),
        ("Ｂ", "B"),
        ("B。", "B"),
        ('"B"', "B"),
        ("`C`", "C"),
        ("**B**", "B"),
        ("Answer: B", "B"),
        ("Answer:\nB", "B"),
        ("**Answer: B**", "B"),
        ("The answer is B", "B"),
        ("The answer is A", "A"),
        ("The best answer is A because it fits.", "A"),
        ("The answer is B due to the lunch.", "B"),
        ("The correct answer is (C).", "C"),
        ("The answer is **D**.", "D"),
        ("The answer is option C.", "C"),
        ("The answer is B, not C.", "B"),
        ("The most coherent reply is B.", "B"),
        ("My choice: D", "D"),
        ("The letter is C", "C"),
        ("I would choose B because it fits.", "B"),
        ("Option B", "B"),
        ("Choice B is the best.", "B"),
        ("B is the correct answer.", "B"),
        ("B, because they said so", "B"),
        ("A. to hire a cleaner", "A"),
        ("B) to wait\n", "B"),
        ("B: to wait", "B"),
        ("B、to wait", "B"),
        ("C\n\nThe speaker says a lot.", "C"),
        ("Speaker 2: (B)", "B"),
        (r"The final answer is: \boxed{A}", "A"),
        ("A. x\nB. y\nC. z\nD. w\n\nAnswer: C", "C"),
        ("<think>A? Or B?</think>D", "D"),
        ("选B", "B"),
        ("应该选择 A", "A"),
        ("答案:B", "B"),
        ("答案：B", "B"),
        ("答案是：D。因为……", "D"),
        ("正确答案是C", "C"),
        ("【答案】B", "B"),
        ("选项：B", "B"),
        ("我认为选项B最合适", "B"),
        ("to wait", "B"),
        ("To wait.", "B"),
        ("Answer: to repay a loan", "C"),
        ("A dog is a friend", "D"),
        ("D. A dog is a friend", "D"),
    ],
)
def test_a_clear_choice_is_read(text: str, letter: str) -> None:
    assert read_letter(text, OPTIONS) == letter


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A dog would be nice",
        "A good reply",
        "The answer is a dog",
        "The answer is A dog of some kind",
        "Because",
        "Dad",
        "I cannot tell.",
        "A-flat",
        "C++",
        "vitamin C",
        "Plan B was what they agreed on",
        "A lot of people",
        "答案",
        "Answer:",
        "A or B",
        "A and B",
        "A/B",
        "B, C",
        "A B C D",
        "Both A and C",
        "Neither A nor B",
        "(A) and (B)",
        "The answer is A and B.",
        "The answer is B or C.",
        "The answer is B. No, the answer is C.",
        "A: Hi\nB: Hello",
        "The answer is not B",
        "E",
        "The answer is E",
        "it seems to wait for a loan",
    ],
)
def test_an_unclear_one_is_not(text: str) -> None:
    assert read_letter(text, OPTIONS) is None


def test_a_letter_beyond_the_options_is_no_choice() -> None:
    assert read_letter("D", OPTIONS[:3]) is None


def test_an_option_inside_another_is_told_apart() -> None:
    assert read_letter("non-offensive", ("offensive", "non-offensive")) == "B"
    assert read_letter("It is not offensive.", ("offensive", "non-offensive")) is None


@given(st.text(max_size=60))
def test_any_text_gives_a_letter_of_the_options_or_none(text: str) -> None:
    assert read_letter(text, OPTIONS) in {"A", "B", "C", "D", None}


@given(
    st.sampled_from("ABCD"), st.sampled_from(["{}", "({})", "{}.", "Answer: {}", "The answer is {}.", "**{}**", "选{}"])
)
def test_every_form_is_read_for_every_letter(letter: str, form: str) -> None:
    assert read_letter(form.format(letter), OPTIONS) == letter
