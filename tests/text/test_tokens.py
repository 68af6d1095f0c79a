from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.text.tokens import (
    by_script,
    join_tokens,
    normalised,
    script_of,
    surface_tokens,
    telling_tokens,
    tokens,
    unfinished_tokens,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I’m OK. It's 3.50!", ("i'm", "ok", ".", "it's", "3.50", "!")),
        ("你好吗？OK", ("你", "好", "吗", "？", "ok")),
        ("नमस्ते दुनिया", ("नमस्ते", "दुनिया")),
        ("", ()),
    ],
)
def test_words_of_spaced_scripts_and_characters_of_others(text: str, expected: tuple[str, ...]) -> None:
    assert tokens(text) == expected


def test_marks_can_be_left_out() -> None:
    assert telling_tokens("Well, is it?!") == ("well", "is", "it", "?")
    assert unfinished_tokens("Well, it is...") == ("well", ",", "it", "is")


@pytest.mark.parametrize(
    "text", ["Well, I'm (almost) sure. Are you?", "水管又漏了，我拿盆接着呢。", "买 iPhone 了吗？"]
)
def test_joining_gives_the_text_back(text: str) -> None:
    assert join_tokens(surface_tokens(text)).replace(" ", "") == text.replace(" ", "")


def test_joining_puts_blanks_only_between_words() -> None:
    assert join_tokens(["Well", ",", "yes", "."]) == "Well, yes."
    assert join_tokens(["你", "好", "。"]) == "你好。"


def test_normalising_keeps_letters_and_digits_of_any_script() -> None:
    assert normalised(" Ｈi,  YOU 2! 你好。") == "hiyou2你好"


def test_scripts() -> None:
    assert script_of(["How are you?"]) == "spaced"
    assert script_of(["你好吗", "OK"]) == "unspaced"
    assert by_script([("a", "b"), ("你", "好")]) == {"spaced": [("a", "b")], "unspaced": [("你", "好")]}


@given(st.text())
def test_tokens_hold_every_letter(text: str) -> None:
    assert normalised("".join(surface_tokens(text))) == normalised(text)
