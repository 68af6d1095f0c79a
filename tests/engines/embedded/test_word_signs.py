from __future__ import annotations

import numpy as np
import pytest

from dialeval.engines.embedded.word_signs import (
    Signs,
    beginnings,
    signs_of_first_sentence,
    signs_of_last,
    signs_of_last_sentence,
    signs_of_reply,
)


def test_inflected_words_begin_alike() -> None:
    assert beginnings("Gardens, gardening?") == ("gard", "gard", "?")
    assert beginnings("今天好") == ("今", "天", "好")


def test_the_last_sentence_is_replied_to_by_the_first() -> None:
    last = signs_of_last_sentence("I was ill. Where did you go in 1999?")
    assert set(last) >= {"wher", "did", "#", "^where", "^where did", "^where did you", "asks"}
    assert "ill" not in last
    first = signs_of_first_sentence("To Rome. And you?")
    assert set(first) >= {"to", "rome", "^to", "asks", "asks not first", "no numbers"}
    assert "you" not in first


def test_signs_of_a_whole_have_all_its_words_once() -> None:
    assert {"ill", "wher", "asks"} <= set(signs_of_last("I was ill. Where did you go?"))
    for signs in (signs_of_last, signs_of_reply, signs_of_last_sentence, signs_of_first_sentence):
        found = signs("No no no. No?")
        assert len(found) == len(set(found))


@pytest.mark.parametrize("text", ["", "...", "?!", " \t", "😀", "\ud800"])
def test_texts_without_words_have_signs(text: str) -> None:
    for signs in (signs_of_last, signs_of_reply, signs_of_last_sentence, signs_of_first_sentence):
        assert all(isinstance(sign, str) for sign in signs(text))


def test_rows_are_inverse_document_frequencies_of_length_one() -> None:
    """Of four texts, a is in all and b in two: 1 + ln(5 / 5) = 1 and 1 + ln(5 / 3) = 1.5108; c is in one alone."""
    signs = Signs([("a", "b"), ("a", "b"), ("a",), ("a", "c")])
    rows = signs.rows([("a", "b"), ("b",), ("c", "d"), ()]).toarray()
    assert rows == pytest.approx(np.array([[0.5519, 0.8339], [0, 1], [0, 0], [0, 0]]), abs=1e-4)
