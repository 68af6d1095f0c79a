"""Named entities and numbers: what is found, and what is not mistaken for one."""

from __future__ import annotations

import numpy as np
import pytest
from perturbation_items import response

from dialeval.perturbations.entities import find_entities
from dialeval.perturbations.strategy import NotApplicable, build_pool, draw_entity


def found(text: str) -> list[tuple[str, str]]:
    return [(entity.text, entity.category) for entity in find_entities(text)]


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        ("I met Mr. Fenwick in Lyon.", [("Fenwick", "person"), ("Lyon", "place")]),
        ("i live in denver", [("denver", "place")]),
        ("New York is far.", [("New York", "place")]),
        ("We fly to New York City on Friday.", [("New York City", "place"), ("Friday", "weekday")]),
        ("Come at 7:30 pm.", [("7:30 pm", "time")]),
        ("It costs $20, or 30 dollars.", [("$20", "money"), ("30 dollars", "money")]),
        ("In 1999 we had twenty five hens.", [("1999", "year"), ("twenty five", "number")]),
        ("Only 50% of them.", [("50%", "percent")]),
        ("Tom's hat is in the Grand Hotel.", [("Tom", "person"), ("Grand Hotel", "organisation")]),
        ("She speaks French.", [("French", "people")]),
        ("We read Moomin every night.", [("Moomin", "name")]),
    ],
)
def test_known_entities(text: str, entities: list[tuple[str, str]]) -> None:
    assert found(text) == entities


@pytest.mark.parametrize(
    "text",
    ["", "Yes, I do.", "mark my words", "May I?", "I'm OK.", "THIS IS ALL SHOUTED NOW", "Hello. Well, then.",
     "t112 and 3d", "😀"],
)  # fmt: skip
def test_no_entity(text: str) -> None:
    assert found(text) == []


def test_places_point_into_the_text() -> None:
    text = "Tell Ines and Tom's aunt in Oslo: it's 12:15, or 3.5 km."
    for entity in find_entities(text):
        assert text[entity.start : entity.end] == entity.text


def test_another_entity_is_of_the_corpus_or_of_our_list() -> None:
    pool = build_pool([response("Where?", "In Ulan Bator.")])
    drawn = {draw_entity(pool, "en", "place", {"oslo"}, np.random.default_rng(seed)) for seed in range(400)}
    assert "Ulan Bator" in drawn
    assert len(drawn) > 50
    assert draw_entity(pool, "en", "colour", (), np.random.default_rng(0)) == NotApplicable(
        "the corpus has no other named entity of the category"
    )
