"""Lists with a number per rater, some of whom gave none."""

from __future__ import annotations

from collections import Counter

import pytest

from dialeval.corpora.rated import Scale
from dialeval.corpora.single_ratings import is_missing, ratings_of, ratings_on
from dialeval.errors import UserError

ITEM = ("c", "i", "coherence")
SCALE = Scale(0.0, 2.0)


@pytest.mark.parametrize("value", [None, "N/A", "n/a", "NA", " N/A (no errors)", "N/A: the user\nleft", "na."])
def test_these_are_no_ratings(value: object) -> None:
    assert is_missing(value)


@pytest.mark.parametrize("value", [0, 1.5, "0", "", "Natural", "no N/A", "none", [], float("nan")])
def test_these_are_not_taken_for_missing(value: object) -> None:
    assert not is_missing(value)


def test_a_missing_rating_keeps_its_place() -> None:
    notes: Counter[str] = Counter()
    ratings = ratings_on(ITEM, ["N/A", 2, None, 1], SCALE, "f, record 1", notes)
    assert [(rating.round, rating.value, rating.n_raters) for rating in ratings] == [
        (1, 2, 1),
        (3, 1, 1),
        (None, 1.5, 2),
    ]
    assert notes == {"ratings that are missing or N/A": 2}


def test_dimensions_without_a_rating_are_counted() -> None:
    notes: Counter[str] = Counter()
    known = {"Coherent": ("coherence", SCALE), "Overall": ("overall", Scale(0.0, 4.0))}
    assert ratings_of(("c", "i"), {"Coherent": [], "Overall": ["N/A"]}, known, "f, record 1", notes) == []
    assert notes["items that nobody rated on coherence"] == notes["items that nobody rated on overall"] == 1
    assert ratings_of(("c", "i"), None, known, "f, record 1", notes) == []
    with pytest.raises(
        UserError, match="f, record 1: 'Coherence' is not rated in this data set .did you mean 'Coherent'"
    ):
        ratings_of(("c", "i"), {"Coherence": [1]}, known, "f, record 1", notes)
