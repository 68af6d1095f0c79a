"""Languages stand in one order everywhere: that of xDial-Eval's tables, then by code, their average last."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.languages import AVERAGE, LANGUAGES, PAPER_ORDER, language_order
from dialeval.translation.checks import COMMON, reads_as_another


def test_the_papers_languages_come_in_its_order_and_their_average_last() -> None:
    names = ["it", "ru", "average", "zh", "ar", "de", "en", "cs", "ko", "de"]
    assert language_order(names) == ["en", "zh", "de", "ko", "ar", "ru", "cs", "it", "average"]


@given(st.permutations([*PAPER_ORDER, AVERAGE, "xx"]))
def test_the_order_does_not_depend_on_the_order_of_what_is_given(names: list[str]) -> None:
    assert language_order(names) == [*PAPER_ORDER, "xx", AVERAGE]


def test_translations_know_the_same_ten_first() -> None:
    assert tuple(LANGUAGES)[: len(PAPER_ORDER)] == PAPER_ORDER


# What a language is written with, and what its words tell.

OWN = {
    "zh": "我们明天下午一起去公园",
    "ja": "明日は公園に行きます",
    "ko": "우리는 내일 공원에 간다",
    "hi": "हम कल पार्क जाएंगे",
    "ar": "سنذهب إلى الحديقة غدا",
    "ru": "Завтра мы пойдём в парк",
    "el": "Αύριο θα πάμε στο πάρκο",
    "he": "מחר נלך לפארק",
    "th": "พรุ่งนี้เราจะไปสวนสาธารณะ",
    "ta": "நாளை பூங்காவிற்கு செல்வோம்",
    "es": "Mañana iremos al parque",
}


@pytest.mark.parametrize("code", OWN)
def test_a_language_takes_its_own_letters_and_no_other_scripts(code: str) -> None:
    assert {other for other, text in OWN.items() if LANGUAGES[code].may_be_in(text)} == {code}


def test_no_class_of_letters_reaches_over_to_another_script() -> None:
    blocks = {code: re.compile(f"[{LANGUAGES[code].letters}]") for code in OWN}
    for code, text in OWN.items():
        letters = [letter for letter in text if letter.isalpha()]
        for other in set(OWN) - {code, "ja"}:
            assert not any(blocks[other].match(letter) for letter in letters) or (code, other) == ("ja", "zh")


@pytest.mark.parametrize(
    ("text", "language", "source", "found"),
    [
        ("i think that you are right", "de", "en", "en"),
        ("ich glaube , dass du recht hast", "de", "en", None),
        ("ich mag the lord of the rings", "de", "en", None),
        ("i think that you are right", "tr", "en", "en"),
        ("ich glaube dass du recht hast", "tr", "en", None),
        ("sim , eu também não tenho", "es", "en", "pt"),
    ],
)
def test_common_words_tell_languages_of_the_same_letters(
    text: str, language: str, source: str, found: str | None
) -> None:
    assert reads_as_another(text.split(), language, source) == found


def test_the_lists_are_of_languages_that_are_known() -> None:
    assert set(COMMON) <= set(LANGUAGES)
