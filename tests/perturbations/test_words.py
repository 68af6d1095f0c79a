"""Words, sentences, pieces, verb forms and unnatural synonyms."""

from __future__ import annotations

import csv
import itertools
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.perturbations.words import (
    Inflection,
    fitting_synonym,
    in_case_of,
    inflected,
    inflections_of,
    pieces,
    sentences,
    unnatural_synonyms,
    words,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("I saw Mr. Hill. He left", ["I saw Mr. Hill.", "He left"]),
        ("Wait... what ?!", ["Wait...", "what ?!"]),
        ("It is 3.5 km. Far .", ["It is 3.5 km.", "Far ."]),
        ("你好。你好吗？好！", ["你好。", "你好吗？", "好！"]),
        ("नमस्ते। ठीक है।", ["नमस्ते।", "ठीक है।"]),
        ("", []),
        ("...", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in sentences(text)] == expected


@given(st.text(max_size=60))
def test_sentences_lie_in_order_and_keep_every_letter(text: str) -> None:
    found = sentences(text)
    assert all(start < end for start, end in found)
    assert all(first[1] <= second[0] for first, second in itertools.pairwise(found))
    inside = "".join(text[start:end] for start, end in found)
    assert sum(letter.isalnum() for letter in inside) == sum(letter.isalnum() for letter in text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a  b c.", (["a", "b", "c."], " ")),
        ("我们都爱用这个iPad。", ([*"我们都爱用这个", "iPad", "。"], "")),
        ("かぞ\u3099く", (["か", "ぞ\u3099", "く"], "")),
        ("好👩\u200d🚀吗", (["好", "👩\u200d🚀", "吗"], "")),
    ],
)
def test_pieces(text: str, expected: tuple[list[str], str]) -> None:
    assert pieces(text) == expected


@pytest.mark.parametrize(
    ("verb", "inflection", "form"),
    [
        ("go", "past", "went"),
        ("stop", "ing", "stopping"),
        ("prefer", "past", "preferred"),
        ("try", "third", "tries"),
        ("play", "past", "played"),
        ("die", "ing", "dying"),
        ("agree", "ing", "agreeing"),
        ("have", "third", "has"),
        ("relish", "third", "relishes"),
        ("pore over", "ing", "poring over"),
        ("visit", "past", "visited"),
    ],
)
def test_verb_forms(verb: str, inflection: Inflection, form: str) -> None:
    assert inflected(verb, inflection) == form


def test_a_form_can_be_of_several_inflections() -> None:
    assert set(inflections_of("read")) == {"base", "past", "participle"}
    assert inflections_of("window") == ()


@pytest.mark.parametrize(
    ("model", "new", "first", "expected"),
    [
        ("Good", "fair", True, "Fair"),
        ("Good", "fair", False, "fair"),
        ("GOOD", "fair", False, "FAIR"),
        ("I", "we", True, "We"),
    ],
)
def test_case_passes_on(model: str, new: str, first: bool, expected: str) -> None:
    assert in_case_of(model, new, first=first) == expected


@pytest.mark.parametrize(
    ("text", "place", "forms"),
    [
        ("dogs", 0, {"canines", "hounds"}),
        ("i love it", 1, {"adore"}),
        ("she loves it", 1, {"adores"}),
        ("he was working", 2, {"toiling", "labouring"}),
        ("my work", 1, set()),
        ("like a bird", 0, set()),
        ("a kind of soup", 1, {"variety", "ilk"}),
        ("a kind man", 1, {"benevolent", "clement"}),
    ],
)
def test_synonyms_fit_the_sentence(text: str, place: int, forms: set[str]) -> None:
    found = words(text)
    previous = found[place - 1].lower if place else ""
    following = found[place + 1].lower if place + 1 < len(found) else ""
    synonym = fitting_synonym(found[place], previous, following)
    assert (set(synonym.forms) if synonym else set()) == forms


def test_the_list_of_synonyms_is_sound() -> None:
    text = files("dialeval.perturbations").joinpath("synonyms.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    assert len(rows) > 400
    assert {row["part"] for row in rows} == {"noun", "verb", "adjective", "adverb"}
    assert len({(row["word"], row["part"]) for row in rows}) == len(rows)
    for row in rows:
        assert all(synonym.strip() and synonym != row["word"] for synonym in row["unnatural"].split(";"))
        assert row["word"] in unnatural_synonyms()
