"""Texts read as numbers have the words that the texts themselves have, one by one."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from dialeval.engines.embedded.chatbots import is_question
from dialeval.engines.embedded.texts import (
    Batch,
    Signs,
    Texts,
    WordWeights,
    beginnings,
    distinct,
    signs_of_first_sentence,
    signs_of_last,
    signs_of_last_sentence,
    signs_of_reply,
)
from dialeval.engines.requests import Dialogue
from dialeval.text import is_word, surface_tokens, telling_tokens, tokens, unfinished_tokens

# Texts read as numbers have the words that the texts themselves have, one by one.

PIECES = st.sampled_from(
    ["Yes", "no", "It's", "5", "?", "？", "...", "!", "_", "我", "是", "e\u0301", " ", "\ud800", ""]
)
TEXTS = st.lists(st.lists(PIECES, max_size=6).map(" ".join), max_size=6)


def by_text(texts: Texts, kept: np.ndarray) -> list[tuple[str, ...]]:
    """Return the tokens of each text that are kept."""
    return [
        tuple(texts.vocabulary[place] for place in texts.token[kept & (texts.of == number)])
        for number in range(len(texts.n))
    ]


@given(TEXTS)
def test_tokens_and_what_they_are(given_texts: list[str]) -> None:
    texts = Texts(given_texts)
    assert by_text(texts, np.ones(len(texts.of), dtype=bool)) == [*map(tokens, given_texts)]
    assert by_text(texts, texts.is_word) == [tuple(filter(is_word, tokens(text))) for text in given_texts]
    assert by_text(texts, texts.tells) == [*map(telling_tokens, given_texts)]
    assert by_text(texts, texts.is_unfinished) == [*map(unfinished_tokens, given_texts)]
    assert texts.asks.tolist() == [*map(is_question, given_texts)]
    assert texts.ends_in_word.tolist() == [bool(found) and is_word(found[-1]) for found in map(tokens, given_texts)]


@given(TEXTS)
def test_first_tokens(given_texts: list[str]) -> None:
    texts = Texts(given_texts)
    length = texts.numbers({token: len(token) for token in texts.vocabulary if token != "no"}, 7)
    flat = [token for text in given_texts for token in tokens(text)]
    assert length.tolist() == [7 if token == "no" else len(token) for token in flat]
    assert texts.numbers_by_ending({"s": 3}, 1, 0).tolist() == [3 if token[-1] == "s" else 0 for token in flat]
    assert texts.hashes.tolist() == [zlib.crc32(token.encode("utf-8", "surrogatepass")) for token in flat]
    length = texts.numbers({token: len(token) for token in texts.vocabulary}, 0)
    assert texts.first(length, -1).tolist() == [len(found[0]) if found else -1 for found in map(tokens, given_texts)]
    telling = texts.first(length, -1, texts.tells)
    assert telling.tolist() == [len(found[0]) if found else -1 for found in map(telling_tokens, given_texts)]


@pytest.mark.parametrize("only_ends", [False, True])
@pytest.mark.parametrize("dialogues", [[], [("a",)], [("a", "b", "a"), ("b",), ("c", "c"), ("a", "b", "c"), ("a",)]])
def test_a_batch_has_every_place_or_the_last_of_every_dialogue(dialogues: list[Dialogue], only_ends: bool) -> None:
    batch = Batch(dialogues, only_ends=only_ends)
    every = [(number, turn) for number, dialogue in enumerate(dialogues) for turn in range(len(dialogue))]
    places = [place for place in every if not only_ends or place[1] == len(dialogues[place[0]]) - 1]
    turns = batch.turn[batch.beginning]
    assert [*zip(batch.dialogue.tolist(), turns.tolist(), strict=True)] == places
    said = [batch.texts.texts[row] for row in batch.row[batch.beginning].tolist()]
    assert said == [dialogues[number][turn] for number, turn in places]
    last = [batch.texts.texts[row] for row in batch.last[batch.beginning].tolist()]
    assert last == [dialogues[number][max(turn - 1, 0)] for number, turn in places]
    summed = batch.before @ np.arange(len(every))
    at = batch.place.tolist()
    assert summed.tolist() == [sum(range(end - turn, end)) for end, turn in zip(at, batch.turn.tolist(), strict=True)]


def test_dialogues_that_begin_alike_share_their_first_rows() -> None:
    batch = Batch([("a", "b", "a"), ("a", "b", "c"), ("b", "a"), ("a", "b")])
    assert batch.beginning.tolist() == [0, 1, 2, 0, 1, 3, 4, 5, 0, 1]
    assert len(batch.row) == len(batch.turn) == len(batch.place) == 6


@given(st.lists(st.integers(0, 50)))
def test_distinct_codes_are_those_that_numpy_finds(codes: list[int]) -> None:
    given_codes = np.array(codes, dtype=np.int64)
    np.testing.assert_array_equal(distinct(given_codes), np.unique(given_codes))


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


# Texts as weighted words, against scikit-learn's TfidfVectorizer.

WORD_WEIGHTS_TEXTS = st.lists(
    st.lists(st.sampled_from([*"abcdefgh", "?", "的"]), min_size=1, max_size=30).map(" ".join), min_size=1
)


def close(ours: sparse.csr_array, theirs: sparse.csr_matrix) -> bool:
    return ours.shape == theirs.shape and np.allclose(ours.toarray(), theirs.toarray(), rtol=0, atol=1e-11)


@given(WORD_WEIGHTS_TEXTS, WORD_WEIGHTS_TEXTS)
def test_rows_are_those_of_scikit_learn(learned: list[str], asked: list[str]) -> None:
    vectorizer = TfidfVectorizer(analyzer=tokens, sublinear_tf=True).fit(learned)
    weights = WordWeights([*map(tokens, learned)])
    assert close(weights.rows(asked), vectorizer.transform(asked))
    assert (weights.matrix([*map(tokens, asked)]) != weights.rows(asked)).nnz == 0


@given(WORD_WEIGHTS_TEXTS)
def test_the_order_of_words_may_be_given(texts: list[str]) -> None:
    words = ["</s>", *"hgfedcba", "?", "的", "of no text"]
    vectorizer = TfidfVectorizer(analyzer=surface_tokens, lowercase=False, sublinear_tf=True, vocabulary=words)
    surfaces = [*map(surface_tokens, texts)]
    assert close(WordWeights(surfaces, words).matrix(surfaces), vectorizer.fit_transform(texts))


def test_a_text_without_known_words_is_a_row_of_zeros() -> None:
    weights = WordWeights([["one", "two"], ["two", "three"]])
    assert weights.rows(["four", "two"]).toarray().tolist() == [[0, 0, 0], [0, 0, 1]]


def test_a_direction_is_a_weighted_sum_of_length_one() -> None:
    weights = WordWeights([["one"], ["two"]])
    assert weights.dense(weights.direction(["one", "two"], (4.0, 3.0))) == pytest.approx([0.8, 0.6])
    assert not weights.dense(weights.direction(["three"], (1.0,))).any()
