"""Texts as weighted words, against scikit-learn's TfidfVectorizer, to the last bit."""

from __future__ import annotations

import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from dialeval.engines.embedded.word_weights import WordWeights
from dialeval.text.tokens import surface_tokens, tokens

TEXTS = st.lists(st.lists(st.sampled_from([*"abcdefgh", "?", "的"]), min_size=1, max_size=30).map(" ".join), min_size=1)


def same(ours: sparse.csr_matrix, theirs: sparse.csr_matrix) -> bool:
    parts = ((getattr(of, name) for name in ("data", "indices", "indptr")) for of in (ours, theirs))
    return ours.shape == theirs.shape and all(map(np.array_equal, *parts))


@given(TEXTS, TEXTS)
def test_rows_are_those_of_scikit_learn(learned: list[str], asked: list[str]) -> None:
    vectorizer = TfidfVectorizer(analyzer=tokens, sublinear_tf=True)
    theirs = vectorizer.fit_transform(learned)
    weights, rows = WordWeights.learned_from(learned)
    assert same(rows, theirs)
    assert same(weights.rows(asked), vectorizer.transform(asked))
    assert same(pickle.loads(pickle.dumps(weights)).rows(asked), vectorizer.transform(asked))


@given(TEXTS)
def test_words_may_be_numbered_by_others(texts: list[str]) -> None:
    number = {word: place for place, word in enumerate(["</s>", *"hgfedcba", "?", "的", "never said"])}
    vectorizer = TfidfVectorizer(analyzer=surface_tokens, lowercase=False, sublinear_tf=True, vocabulary=number)
    theirs = vectorizer.fit_transform(texts)
    assert same(WordWeights.learned_from(texts, number, surface_tokens)[1], theirs)


def test_a_text_without_known_words_is_a_row_of_zeros() -> None:
    weights, _ = WordWeights.learned_from(["one two", "two three"])
    assert weights.rows(["four", "two"]).toarray().tolist() == [[0, 0, 0], [0, 0, 1]]
