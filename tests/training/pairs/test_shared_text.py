"""What counts as the same text, and what two dialogues may say alike by chance."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.training.pairs.shared_text import judged_passages, n_letters, passages, plain

LONG = "I sold the blue accordion to the man who repairs bicycles behind the station."


@pytest.mark.parametrize(
    "other",
    [LONG.lower(), LONG.upper(), LONG.replace(" ", "\t "), LONG.replace(".", " ."), f"m : {LONG}", f"User: {LONG}",
     f"Speaker 2:  {LONG}", f"A： {LONG}", LONG.replace("I", "Ｉ")],
)  # fmt: skip
def test_case_marks_blanks_and_names_make_no_difference(other: str) -> None:
    assert plain(other) == plain(LONG)
    assert judged_passages([other]) == judged_passages([LONG])


def test_a_word_with_a_colon_is_all_that_can_be_cut() -> None:
    assert plain("Yes:") == "yes"
    assert plain("Note: 5") == "5"
    assert plain("at half past: now") == plain("at half past now")


@pytest.mark.parametrize(
    ("utterances", "n"),
    [
        (["Hi.", "Hello!"], 0),
        (["Hi.", "Hello!", "How are you?", "Fine, and you?"], 1),  # as a whole it is no chance
        (["What can I do for you?"], 0),
        ([LONG], 1),
        (["Is it far?", LONG], 3),
        (["你好！", "你好。"], 0),
        (["你这二胡能不能换个时间拉？我家狗一听见就跟着嚎。"], 1),
        (["…", "?!"], 0),
        ([], 0),
    ],
)
def test_how_much_must_be_said(utterances: list[str], n: int) -> None:
    assert len(judged_passages(utterances)) == n


def test_what_says_nothing_is_passed_over() -> None:
    assert list(passages([LONG, "…", LONG[::-1]], singles=False)) == list(passages([LONG, LONG[::-1]], singles=False))


def test_characters_of_scripts_without_blanks_say_more() -> None:
    assert n_letters("ladder") == 6
    assert n_letters("梯子a") == 7


@given(st.lists(st.text(max_size=60), max_size=6))
def test_numbers_fit_into_a_column_and_follow_from_the_text(utterances: list[str]) -> None:
    found = judged_passages(utterances)
    assert all(0 <= number < 2**63 for number in found)
    assert found == judged_passages([text + " " for text in utterances])
