from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.corpora.clusters import generator_for
from dialeval.engines.embedded.training_examples import KINDS, Perturber, most_generic
from dialeval.engines.requests import Dialogue
from dialeval.text import tokens


@pytest.fixture(scope="module")
def perturber(english: list[Dialogue]) -> Perturber:
    return Perturber(english, ["I see.", "Yes.", "Right."])


@pytest.mark.parametrize("kind", KINDS)
@given(number=st.integers(0, 99), random_seed=st.integers(0, 5))
def test_a_perturbation_keeps_the_length_and_marks_its_changes(
    perturber: Perturber, english: list[Dialogue], kind: str, number: int, random_seed: int
) -> None:
    dialogue = english[number]
    copy = perturber.perturb(dialogue, kind, np.random.default_rng(random_seed))
    if copy is None:
        return
    assert len(copy.utterances) == len(copy.changed) == len(dialogue)
    assert copy.kind == kind
    assert any(copy.changed)
    assert not copy.changed[0]
    first = copy.changed.index(True)
    assert copy.utterances[:first] == dialogue[:first]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_too_short_is_left_alone(perturber: Perturber, kind: str) -> None:
    assert perturber.perturb(("Hello.",), kind, np.random.default_rng(0)) is None


def test_word_salad_has_the_same_words(perturber: Perturber, english: list[Dialogue]) -> None:
    copy = perturber.perturb(english[0], "word salad", generator_for(0))
    assert copy is not None
    for new, old in zip(copy.utterances, english[0], strict=True):
        assert sorted(tokens(new)) == sorted(tokens(old))


def test_reordered_has_the_same_utterances(perturber: Perturber, english: list[Dialogue]) -> None:
    copy = perturber.perturb(english[0], "reordered", generator_for(0))
    assert copy is not None
    assert sorted(copy.utterances) == sorted(english[0])


def test_a_misspelt_kind_is_refused(perturber: Perturber, english: list[Dialogue]) -> None:
    with pytest.raises(ValueError, match="unknown kind of perturbation: 'salad'"):
        perturber.perturb(english[0], "salad", generator_for(0))


def test_generic_utterances_are_the_least_rare_ones() -> None:
    utterances = [f"u{number}" for number in range(100)]
    assert most_generic(utterances, [float(number) for number in range(100)]) == utterances[:10]
