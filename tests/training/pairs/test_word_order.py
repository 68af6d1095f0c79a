"""Shuffled words."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.perturbations.item_damage import NotApplicable
from dialeval.perturbations.words import words
from dialeval.training.pairs.word_order import shuffled_words


def shuffled(text: str, seed: int = 0) -> str:
    new = shuffled_words(text, np.random.default_rng(seed))
    assert not isinstance(new, NotApplicable), new
    return new.text


@given(st.integers(0, 50))
def test_marks_and_blanks_stay_where_they_were(seed: int) -> None:
    text = "Well,\tthe kettle (blue) broke; who'll mend it?"
    new = shuffled(text, seed)
    assert re.sub(r"[\w']+", "w", new) == re.sub(r"[\w']+", "w", text)
    assert sorted(word.lower for word in words(new)) == sorted(word.lower for word in words(text))
    assert new[0].isupper()


@given(st.text(max_size=80), st.integers(0, 3))
def test_letters_are_kept_and_half_of_the_words_moved(text: str, seed: int) -> None:
    new = shuffled_words(text, np.random.default_rng(seed))
    if not isinstance(new, NotApplicable):
        assert new.text.lower() != text.lower()


def test_chinese_moves_in_words_of_two_characters() -> None:
    text = "楼道窗台上那盆葱，我种了两个月。"
    new = shuffled(text)
    assert sorted(new) == sorted(text)
    assert new.endswith("。")
    assert {"楼道", "窗台"} <= {new[place : place + 2] for place in range(len(new))}


def test_names_keep_their_capital_and_sentences_begin_with_one() -> None:
    new = shuffled("The parrot and Callista left Dundee early.", 3)
    assert {"Callista", "Dundee"} <= set(re.findall(r"\w+", new))
    assert new.startswith("The") or " the" in new


@pytest.mark.parametrize("text", ["", "Yes.", "Yes, I do.", "no no no no no", "好的。", "?!"])
def test_few_words_have_no_wrong_order(text: str) -> None:
    assert isinstance(shuffled_words(text, np.random.default_rng(0)), NotApplicable)


def test_detached_endings_and_numbers_stay_whole() -> None:
    new = shuffled("you 've come at 6:30 , to the right place .", 1)
    assert {"'ve", "6:30"} <= set(new.split())
