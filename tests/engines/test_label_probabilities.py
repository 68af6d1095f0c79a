"""Labels as token sequences: their variants, and what the probabilities of tokens say about them."""

from __future__ import annotations

import math

import pytest

from dialeval.engines.label_probabilities import label_logprobs, label_tree, variants
from dialeval.engines.requests import AnswerFailure


def test_variants_of_a_label() -> None:
    assert set(variants("Yes")) == {"Yes", "yes", " Yes", " yes"}
    assert set(variants("NO")) == {"NO", "No", "no", " NO", " No", " no"}


def characters(text: str) -> list[int]:
    return [ord(character) for character in text]


def test_labels_share_tokens_and_one_goes_on_from_another() -> None:
    tree = label_tree(["1", "10"], characters)
    one, zero, blank = map(ord, "10 ")
    assert set(tree.next_tokens) == {(), (blank,), (one,), (blank, one)}
    half = math.log(0.5)
    steps = {(): {one: half, blank: half}, (one,): {zero: half}, (blank,): {one: half}, (blank, one): {zero: half}}
    found, mass = label_logprobs(tree, steps)
    assert math.exp(found["10"]) == pytest.approx(0.25 + 0.125)
    assert math.exp(found["1"]) == pytest.approx(0.25 + 0.125)
    assert mass == pytest.approx(0.75)


@pytest.mark.parametrize("labels", [["Yes", "yes"], ["Yes", ""], ["A", " a "]])
def test_labels_that_cannot_be_distinguished_are_refused(labels: list[str]) -> None:
    with pytest.raises(AnswerFailure):
        label_tree(labels, characters)
