"""Items with a reference by construction: it falls with every step, and is never called human."""

from __future__ import annotations

from dialeval.corpora.items import Item
from dialeval.perturbations.constructed import constructed_items
from dialeval.perturbations.registry import STRATEGIES


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
