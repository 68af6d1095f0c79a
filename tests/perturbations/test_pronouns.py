"""Pronouns: who is meant changes, the case stays, and the verb beside a subject agrees."""

from __future__ import annotations

import numpy as np
import pytest

from dialeval.perturbations.pronouns import FORMS, SUBSTITUTES, Feature, replace_pronouns
from dialeval.perturbations.strategy import NewText, NotApplicable


def every_result(text: str, way: Feature) -> set[str]:
    results = (replace_pronouns(text, way, np.random.default_rng(seed)) for seed in range(60))
    return {result.text for result in results if isinstance(result, NewText)}


@pytest.mark.parametrize(
    ("way", "text", "expected"),
    [
        ("gender", "She lost her hat.", {"It lost its hat.", "They lost their hat."}),
        ("gender", "I saw her.", {"I saw it.", "I saw them."}),
        ("gender", "It's on the table.", {"He's on the table.", "She's on the table."}),
        ("gender", "They are late.", {"He is late.", "She is late."}),
        ("number", "I am ready, wait for me.", {"We are ready, wait for us."}),
        ("number", "I'm sure we have it.", {"We're sure I have they.", "We're sure I have them."}),
        ("number", "This is yours.", {"These are yours."}),
        ("number", "he likes tea", {"they like tea"}),
        ("person", "You were right.", {"I was right.", "We were right."}),
        ("person", "what are you doing ?", {"what am i doing ?", "what are we doing ?"}),
        ("person", "Take your coat.", {"Take my coat.", "Take our coat."}),
    ],
)
def test_known_answers(way: Feature, text: str, expected: set[str]) -> None:
    assert every_result(text, way) <= expected
    assert every_result(text, way)


def test_one_person_becomes_the_same_other_one_throughout() -> None:
    for text in every_result("I lost my key, give me yours.", "person"):
        person = next(name for name in ("You", "He", "She", "They") if text.startswith(name))
        own = {"You": ("your", "you"), "He": ("his", "him"), "She": ("her", "her"), "They": ("their", "them")}[person]
        assert text.startswith(f"{person} lost {own[0]} key, give {own[1]} ")


@pytest.mark.parametrize("text", ["Rain.", "", "US dollars and IT jobs", "the book that fell", "😀", "那是她的书"])
def test_without_a_pronoun_nothing_is_replaced(text: str) -> None:
    for way in SUBSTITUTES:
        assert isinstance(replace_pronouns(text, way, np.random.default_rng(0)), NotApplicable)


def test_capitals_pass_on_only_at_the_beginning() -> None:
    assert every_result("Then I slept.", "number") == {"Then we slept."}
    assert every_result("I slept.", "number") == {"We slept."}


def test_detached_contractions_are_known() -> None:
    assert every_result("i ' m cold", "number") == {"we ' re cold"}
    assert every_result("What ’ s she doing ?", "gender") == {"What ’ s it doing ?", "What ’ s they doing ?"}


def test_every_option_is_a_known_person() -> None:
    for options in SUBSTITUTES.values():
        for person, others in options.items():
            assert person in FORMS
            assert set(others) <= set(FORMS) - {person}
