"""Even choices of places: Pearson's test for one order, every shift by brute force, and its error rate."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from dialeval.stats.places import even_places


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60))
def test_with_one_order_it_is_pearsons_test(chosen: list[int]) -> None:
    expected = chisquare(np.bincount(chosen, minlength=4))
    found = even_places(np.eye(4)[chosen])
    assert found.statistic == pytest.approx(expected.statistic, abs=1e-9)
    assert (found.freedom, found.p) == (3, pytest.approx(expected.pvalue, abs=1e-9))


@pytest.mark.parametrize("n_places", [2, 3, 4])
def test_the_variance_is_that_over_every_shift_of_every_question(n_places: int) -> None:
    """By brute force: all shifts of three questions' counts, each set of shifts as likely as another."""
    rng = np.random.default_rng(n_places)
    counts = rng.integers(0, 3, size=(3, n_places))
    sums = np.array(
        [
            sum(np.roll(row, shift) for row, shift in zip(counts, shifts, strict=True))
            for shifts in itertools.product(range(n_places), repeat=3)
        ]
    )
    covariance = np.cov(sums, rowvar=False, bias=True)
    excess = counts.sum(axis=0) - counts.sum() / n_places
    expected = excess @ np.linalg.pinv(covariance, rcond=1e-9) @ excess
    found = even_places(counts)
    assert found.statistic == pytest.approx(expected)
    assert found.freedom == np.linalg.matrix_rank(covariance, tol=1e-9)


def test_who_answers_by_content_alone_is_even_and_who_takes_the_first_is_not() -> None:
    by_content = even_places(np.ones((50, 4)))
    assert (by_content.statistic, by_content.freedom, by_content.p) == (0.0, 0, 1.0)
    first = even_places(np.tile([4, 0, 0, 0], (50, 1)))
    assert first.statistic == pytest.approx(50 * 3)  # of 50 questions, not of 200 answers
    mixed = even_places([[4, 0, 0, 0]] * 2 + [[1, 1, 1, 1]] * 48)
    assert mixed.p == pytest.approx(chisquare([2, 0, 0, 0]).pvalue)  # as if only the two had been asked


def test_answers_that_hang_together_mislead_nobody() -> None:
    """Who guesses once per question and says the same letter in every order: 5% are refused, not most."""
    rng = np.random.default_rng(7)
    refused = alone = 0
    for _ in range(600):
        counts = 4 * np.eye(4)[rng.integers(0, 4, 60)]
        refused += even_places(counts).p < 0.05
        alone += chisquare(counts.sum(axis=0)).pvalue < 0.05
    assert 0.02 < refused / 600 < 0.09
    assert alone / 600 > 0.3


def test_nothing_chosen_is_no_test_and_mistakes_are_told() -> None:
    assert math.isnan(even_places(np.zeros((3, 4))).p)
    with pytest.raises(ValueError, match="two places or more"):
        even_places([[1], [2]])
    with pytest.raises(ValueError, match="-1"):
        even_places([[1, -1]])
