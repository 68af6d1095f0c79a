"""Good items are those that people rated highly."""

from __future__ import annotations

from typing import Any

import pytest

from dialeval.corpora.items import Item
from dialeval.errors import UserError
from dialeval.perturbations.registry import STRATEGIES
from dialeval.perturbations.suite import constructed_items, well_rated


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


def test_a_threshold_that_nothing_reaches_is_reported() -> None:
    with pytest.raises(UserError, match=r"a human rating of 0\.95 or more.* \(the highest rating is 0\.90\); lower it"):
        well_rated(ITEMS, RATINGS, 0.95)
    with pytest.raises(UserError, match="none of them has human ratings"):
        well_rated(ITEMS[-1:], RATINGS, 0.5)
    assert well_rated([], RATINGS, 0.95) == []


# Items with a reference by construction: it falls with every step, and is never called human.


def dialogue(number: int, n: int = 10) -> Item:
    texts = tuple(f"In week {number} the mill stood still for {t} days, so we baked less bread." for t in range(n))
    return Item("bundled", f"d{number}", "en", "dialogue", f"d{number}", ("human", "chatbot") * (n // 2), texts)


def test_every_step_lowers_the_reference_by_one() -> None:
    strategies = [STRATEGIES["utterance_replacement"], STRATEGIES["generic_utterance"]]
    made = list(constructed_items("steps", [dialogue(n) for n in range(4)], strategies, n_steps=3, random_seed=0))
    assert len(made) == 16
    assert {item.corpus for item, _ in made} == {"steps"}
    assert len({item.item_id for item, _ in made}) == 16
    first = [ratings for item, ratings in made if item.cluster == "d0"]
    assert [[rating.value for rating in ratings] for ratings in first] == [[3, 3], [2, 2], [1, 1], [0, 0]]
    assert {rating.dimension for rating in first[0]} == {"coherence", "overall"}
    second = [ratings for item, ratings in made if item.cluster == "d1"]
    assert {rating.dimension for rating in second[0]} == {"engagingness", "informativeness", "overall"}
    every = [rating for _, ratings in made for rating in ratings]
    assert {(rating.rater_kind, rating.scale_min, rating.scale_max) for rating in every} == {("construction", 0.0, 3.0)}


def test_a_dialogue_too_short_for_all_steps_is_left_out() -> None:
    strategies = [STRATEGIES["utterance_replacement"]]
    dialogues = [dialogue(0, 2), dialogue(1), dialogue(2)]
    made = list(constructed_items("steps", dialogues, strategies, n_steps=3, random_seed=0))
    assert {item.cluster for item, _ in made} == {"d1", "d2"}
