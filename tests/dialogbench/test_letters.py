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


DENIED_OR_TWO = (
    "Answer: A\nAnswer: B", "Option A is tempting but wrong.", "**B** is wrong", "Answer: A\n\nAnswer: B",
    "Answer: A. Answer: B", "B is wrong", "B is incorrect.", "(B) is incorrect", "B: wrong", "B - incorrect",
    "B (wrong)", "Not B", "It is not B.", "The answer isn't B", "The answer isn’t B", "The wrong answer is B",
    "The worst option is B", "The least coherent reply is B", "Incorrect answer: B", "Wrong answer: B.",
    "I would not choose B", "I wouldn't choose B", "I can't choose B", "I don't pick B", "Never choose B",
    "The answer is A... no wait, B.", "The answer is A. Wait, B.", "The answer is A, no, B.",
    "The answer is A or maybe B", "A, no wait, B", "A... B", "A → B", "A -> B", "A B", "A/B", "A & B", "A, B",
    "~~A~~ B", "~~A~~\nB", "A\nB", "Both A and B", "Neither A nor B", "Neither A nor B is right",
    "Either A or B", "Either (A) or (B)", "A or B", "答案是A或B", "答案是A和B", "答案是A、B", "A和B都正确",
    "A、B正确", "不选B", "不应选B", "不能选B", "不要选B", "别选B", "不应该选择B", "排除选项B", "无法选B",
    "答案不是B", "B不正确", "B是错误的", "选项B错误", "B不对", "选A，不，选B", "答案是A，不对，是B",
    "答案：A\n答案：B", "选A还是B？", "A正确吗？", "The answer is B?", "B?", "Answer: B?", "B, maybe",
    "Maybe B", "Possibly B", "Probably not B", "B. to hire a cleaner", "Answer: B (to hire a cleaner)",
    "Answer: A\nFinal answer: B", "\\boxed{A} \\boxed{B}", "The answer is A. \\boxed{B}",
    "Answer: A, although B is better", "The answer is anything but B", "The answer could be B or C",
    "The answer is not A", "Answer: not A", "Answer: None", "Answer: E", "I rule out B", "B can be ruled out.",
    "B does not fit.", "B doesn't fit.", "B doesn’t fit", "B seems wrong", "B looks tempting",
    "B is not the best", "Option B is not correct", "option B contradicts the dialogue",
    "A is not correct, neither is B.", "All except B", "All but B", "Everything other than B",
    "I choose A. I choose B.", "My answer is A; on reflection my answer is B", "Answer: A, actually B",
    "Answer: A (or B)", "Answer: A/B", "Answer: A | B", "Answer: A|B", "Answer: AB", "Answer: A+B",
    "Answer: A\nB", "I eliminated B", "B and C", "The answer is B and also C.", "{\"answer\": [\"A\",\"B\"]}",
    "{\"answer\": \"A\", \"answer\": \"B\"}", "A. to hire a cleaner\nB. to wait", "A is right. B is right.",
    "A is right\nNo, B is right", "Answer: A\nOn reflection, B.", "The answer is A.\nActually, it's B.",
    "B is the most tempting distractor", "The best answer is not B", "B would be a bad answer", "选B不对",
    "正确答案不是B", "错误答案是B", "我不认为是B", "B选项不符合", "B不合适", "B is right? No.",
    "Answer: B. Hmm, A?", "The answer is B. Perhaps A.", "B, not A?", "A) wrong B) right", "Not A. B.",
)  # fmt: skip
"""Answers that name two options, take one back, ask, or say of one alone that it is wrong."""
CLEAR = (
    ("> Answer: A\nI choose B", "B"), ("> Answer: A", "A"), ("A is wrong, so the answer is B.", "B"),
    ("The answer is B. A is wrong because it does not follow.", "B"),
    ("The answer is B because A and C contradict the dialogue.", "B"),
    ("B. The other options are wrong.", "B"), ("**B**", "B"), ("**B.** to wait", "B"),
    ("Option B is the most coherent since it doesn't repeat.", "B"),
    ("Answer: B\n\nExplanation: A, C and D do not fit.", "B"), ("The correct answer is B, not A.", "B"),
    ("A不正确，B正确", "B"), ("A is not correct. The answer is B.", "B"),
    ("B\n\nOption A is tempting but wrong.", "B"), ("I would choose B over A.", "B"),
    ("The answer is not A; the answer is B", "B"), ("A, C and D are wrong. Answer: B", "B"),
    ("**Answer:** B", "B"), ("Answer: **B. to wait**", "B"), ("Answer: B. to wait", "B"), ("B) to wait", "B"),
    ("The answer is (B) to wait.", "B"), ("```\nB\n```", "B"), ("{\"answer\": \"B\"}", "B"),
    ("Answer: B (to wait)", "B"), ("答案是B，因为A不正确。", "B"), ("选B。A和C都不对。", "B"),
    ("B。因为A错误", "B"), ("Answer: A", "A"), ("Answer: A\n", "A"), ("Answer: A\nBecause it is said.", "A"),
    ("Final answer: A", "A"), ("A\n\nBecause B is wrong", "A"),
    ("B is the correct answer because it is not contradictory.", "B"),
    ("Answer: B.\n\nA does not follow; C is wrong; D is off topic.", "B"),
)  # fmt: skip


@pytest.mark.parametrize("text", DENIED_OR_TWO)
def test_two_answers_and_a_letter_said_to_be_wrong_are_no_choice(text: str) -> None:
    assert read_letter(text, OPTIONS) is None


@pytest.mark.parametrize(("text", "letter"), CLEAR)
def test_other_letters_said_to_be_wrong_leave_the_choice_clear(text: str, letter: str) -> None:
    assert read_letter(text, OPTIONS) == letter


FORMS = (
    "{}",
    "({})",
    "{}.",
    "**{}**",
    "Answer: {}",
    "The answer is {}.",
    "Option {}",
    "选{}",
    "答案是{}",
    "I choose {}.",
)
BETWEEN = (
    " or ", " and ", "/", ", ", " ", "\n", "\n\n", ". ", " → ", " | ", ", no, ", ". No, ", "... wait, ", "\nActually, ",
    ", or maybe ", "或", "和", "、", "，不，", "\nFinal answer: ", "\nOn reflection, ",
)  # fmt: skip


@given(st.permutations("ABCD"), st.sampled_from(FORMS), st.sampled_from(BETWEEN), st.sampled_from(FORMS))
def test_two_letters_are_never_read_as_one_of_them(letters: list[str], form: str, between: str, other: str) -> None:
    one, two, *_ = letters
    assert read_letter(form.format(one) + between + other.format(two), OPTIONS) is None
