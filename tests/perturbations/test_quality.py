"""Good items are those that people rated highly."""

from __future__ import annotations

from typing import Any

import pytest

from dialeval.corpora.items import Item
from dialeval.errors import UserError
from dialeval.perturbations.quality import well_rated


def item(name: str) -> Item:
    return Item("fed", name, "en", "dialogue", name, ("human", "chatbot"), ("Hi.", "Hello."))


def rated(name: str, dimension: str, value: float, kind: str = "human", n: int | None = None) -> dict[str, Any]:
    scale = {"scale_min": 1.0, "scale_max": 5.0}
    about = {"corpus": "fed", "item_id": name, "dimension": dimension, "rater_kind": kind}
    return {**about, **scale, "value": value, "n_raters": n}


ITEMS = [item("good"), item("poor"), item("model's"), item("parts"), item("unrated")]
RATINGS = [
    rated("good", "overall", 5.0, n=3),  # three people's mean, and one more: (3 * 1 + 0.6) / 4 of the scale
    rated("good", "overall", 3.4),
    rated("good", "coherence", 1.0),
    rated("poor", "overall", 2.0),
    rated("model's", "overall", 5.0, kind="model"),
    rated("parts", "coherence", 5.0),
    rated("parts", "coherence", 5.0),
    rated("parts", "diversity", 3.0),  # (1 + 0.5) / 2, each dimension alike
]


@pytest.mark.parametrize(
    ("at_least", "names"),
    [
        (None, ["good", "poor", "model's", "parts", "unrated"]),
        (0.0, ["good", "poor", "parts"]),
        (0.75, ["good", "parts"]),
        (0.76, ["good"]),
        (0.9, ["good"]),
    ],
)
def test_what_counts_is_overall_or_the_mean_of_what_people_rated(at_least: float | None, names: list[str]) -> None:
    assert [one.item_id for one in well_rated(ITEMS, RATINGS, at_least)] == names


def test_a_threshold_that_nothing_reaches_is_told() -> None:
    with pytest.raises(UserError, match=r"rated 0\.95 or more .*\(the best has 0\.90\); lower it"):
        well_rated(ITEMS, RATINGS, 0.95)
    with pytest.raises(UserError, match="people rated none of them"):
        well_rated(ITEMS[-1:], RATINGS, 0.5)
    assert well_rated([], RATINGS, 0.95) == []
