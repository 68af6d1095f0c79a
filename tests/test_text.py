from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dialeval
from dialeval.text import (
    by_script,
    counted,
    join_tokens,
    normalised,
    noted,
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


# A count and its noun agree.


@pytest.mark.parametrize(
    ("count", "noun", "words"),
    [
        (0, "seed", "0 seeds"),
        (1, "seed", "1 seed"),
        (1200, "seed", "1,200 seeds"),
        (2, "entry", "2 entries"),
        (2, "key", "2 keys"),
        (2, "batch", "2 batches"),
        (2, "more leaderboard", "2 more leaderboards"),
        (1, "NVIDIA GPU", "1 NVIDIA GPU"),
    ],
)
def test_a_noun_follows_its_count(count: int, noun: str, words: str) -> None:
    assert counted(count, noun) == words


@pytest.mark.parametrize(
    ("count", "note", "words"),
    [
        (1, "dialogues without an id", "1 dialogue without an id"),
        (1200, "dialogues without an id", "1,200 dialogues without an id"),
        (1, "entries without a text", "1 entry without a text"),
        (1, "batches", "1 batch"),
        (1, "pairs of texts", "1 pair of texts"),
    ],
)
def test_the_first_word_of_a_note_follows_its_count(count: int, note: str, words: str) -> None:
    assert noted(count, note) == words


def test_no_text_of_the_library_leaves_the_plural_open() -> None:
    open_plural = re.compile(r"[a-z]\(s\)")
    library = Path(dialeval.__file__).parent
    assert [str(path) for path in library.rglob("*.py") if open_plural.search(path.read_text(encoding="utf-8"))] == []
