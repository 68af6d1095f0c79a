"""Texts as weighted words: TF-IDF over the tokens of the embedded models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from dialeval.text.tokens import tokens


class WordWeights:
    """Turns texts into rows of length 1 over the words that it learned."""

    def __init__(self, vectorizer: TfidfVectorizer) -> None:
        self._vectorizer = vectorizer

    @classmethod
    def learned_from(cls, texts: Sequence[str]) -> tuple[WordWeights, sparse.csr_matrix]:
        """Returns what was learned from some texts, and the texts by words."""
        vectorizer = TfidfVectorizer(analyzer=tokens, sublinear_tf=True)
        return cls(vectorizer), vectorizer.fit_transform(texts)

    def rows(self, texts: Sequence[str]) -> sparse.csr_matrix:
        """Returns texts by words."""
        rows: sparse.csr_matrix = self._vectorizer.transform(texts)
        return rows

    def __getstate__(self) -> dict[str, Any]:
        return {"words": self._vectorizer.get_feature_names_out().tolist(), "idf": self._vectorizer.idf_}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._vectorizer = TfidfVectorizer(analyzer=tokens, sublinear_tf=True, vocabulary=state["words"])
        self._vectorizer.idf_ = state["idf"]
