from __future__ import annotations

import numpy as np
import pytest

from dialeval.engines.embedded.statistics import BOUNDARY, Integers, KneserNey


def flat(*texts: list[int]) -> tuple[Integers, Integers]:
    """Return the tokens of texts in a row, and how many each has."""
    return np.array([token for text in texts for token in text], dtype=np.int64), np.array(
        [*map(len, texts)], dtype=int
    )


def test_one_text_of_one_token() -> None:
    """Unigrams (0.5, 1.5, 1.5) / 3.5, then .25 + .75 * lower for each order, as every history was seen once."""
    trigrams = KneserNey(*flat([2]), size=3)
    grams = trigrams.grams(*flat([2]))
    alone = 1.5 / 3.5
    assert trigrams.alone(grams) == pytest.approx([alone, alone])
    assert trigrams.probability(grams) == pytest.approx([0.25 + 0.75 * (0.25 + 0.75 * alone)] * 2)


@pytest.mark.parametrize("history", [(BOUNDARY, BOUNDARY), (BOUNDARY, 2), (2, 3), (4, 4), (0, 0)])
def test_probabilities_sum_to_one(history: tuple[int, int]) -> None:
    size = 5
    trigrams = KneserNey(*flat([2, 3, 2], [2, 3, 4], [3], []), size)
    codes = (history[0] * size + history[1]) * size + np.arange(size)
    assert trigrams.probability(codes).sum() == pytest.approx(1)
    assert trigrams.alone(codes).sum() == pytest.approx(1)


def test_grams_of_texts_are_those_of_each_text() -> None:
    trigrams = KneserNey(*flat([2, 3], [3]), 4)
    texts = [[2, 3, 2], [], [3], [2] * 6]
    alone = [gram for text in texts for gram in trigrams.grams(*flat(text)).tolist()]
    assert trigrams.grams(*flat(*texts)).tolist() == alone
    assert trigrams.grams(*flat([2, 3])).tolist() == [1 * 16 + 1 * 4 + 2, 1 * 16 + 2 * 4 + 3, 2 * 16 + 3 * 4 + 1]
    assert trigrams.grams(*flat()).tolist() == []
