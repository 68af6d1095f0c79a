"""What is put in is written as the rest."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.criteria import LEVELS, SHIPPED, Level
from dialeval.errors import UserError
from dialeval.perturbations.registry import STRATEGIES, targets_of
from dialeval.perturbations.strategy import NotApplicable
from dialeval.perturbations.words import words
from dialeval.training.pairs import (
    DEFAULT_CRITERIA,
    Manner,
    chosen_perturbations,
    perturbations_for,
    perturbations_of_level,
    shuffled_words,
)

TOKENISED = ["i do n't know , maybe later .", "is n't it late ?"]


@pytest.mark.parametrize(
    ("utterances", "text", "written"),
    [
        (["I don't know.", "Why?"], "That's nice, really.", "That's nice, really."),
        (["i don't know.", "why?"], "That's nice, Ann.", "that's nice, ann."),
        (TOKENISED, "I don't mind. That's 6:30, Ann!", "i do n't mind . that 's 6:30 , ann !"),
        (["Look , a cat .", "Where ?"], "It can't be...", "It ca n't be ..."),
        (["Look , a cat .", "Where?"], "It's there.", "It's there."),
        (["你好。", "嗯？"], "我明白了。", "我明白了。"),
        (["…"], "Okay.", "okay."),
    ],
)
def test_capitals_and_blanks_are_as_in_the_dialogue(utterances: list[str], text: str, written: str) -> None:
    assert Manner(utterances).written(text) == written


def test_what_is_written_alike_already_stays() -> None:
    for text in TOKENISED:
        assert Manner(TOKENISED).written(text) == text


# Shuffled words.


def shuffled(text: str, seed: int = 0) -> str:
    new = shuffled_words(text, np.random.default_rng(seed))
    assert not isinstance(new, NotApplicable), new
    return new.text


@given(st.integers(0, 50))
def test_marks_and_blanks_stay_where_they_were(seed: int) -> None:
    text = "Well,\tthe kettle (blue) broke; who'll mend it?"
    new = shuffled(text, seed)
    assert re.sub(r"[\w']+", "w", new) == re.sub(r"[\w']+", "w", text)
    assert sorted(word.lower for word in words(new)) == sorted(word.lower for word in words(text))
    assert new[0].isupper()


@given(st.text(max_size=80), st.integers(0, 3))
def test_letters_are_kept_and_half_of_the_words_moved(text: str, seed: int) -> None:
    new = shuffled_words(text, np.random.default_rng(seed))
    if not isinstance(new, NotApplicable):
        assert new.text.lower() != text.lower()


def test_chinese_moves_in_words_of_two_characters() -> None:
    text = "楼道窗台上那盆葱，我种了两个月。"
    new = shuffled(text)
    assert sorted(new) == sorted(text)
    assert new.endswith("。")
    assert {"楼道", "窗台"} <= {new[place : place + 2] for place in range(len(new))}


def test_names_keep_their_capital_and_sentences_begin_with_one() -> None:
    new = shuffled("The parrot and Callista left Dundee early.", 3)
    assert {"Callista", "Dundee"} <= set(re.findall(r"\w+", new))
    assert new.startswith("The") or " the" in new


@pytest.mark.parametrize("text", ["", "Yes.", "Yes, I do.", "no no no no no", "好的。", "?!"])
def test_few_words_have_no_wrong_order(text: str) -> None:
    assert isinstance(shuffled_words(text, np.random.default_rng(0)), NotApplicable)


def test_detached_endings_and_numbers_stay_whole() -> None:
    new = shuffled("you 've come at 6:30 , to the right place .", 1)
    assert {"'ve", "6:30"} <= set(new.split())


# Which ways of spoiling stand for which criteria.


@pytest.mark.parametrize("level", LEVELS)
def test_negatives_are_of_their_level_and_every_perturbation_has_a_use(level: Level) -> None:
    used = {kind for name in SHIPPED if name != "overall" for kind in perturbations_for(name, level)}
    assert used == set(perturbations_of_level(level)) == set(perturbations_for("overall", level))
    for name, strategy in STRATEGIES.items():
        for target in targets_of(name):
            if strategy.level == level and name != "random_response":
                assert name in perturbations_for(target.dimension, level), (
                    "what a perturbation is known to lower, it does"
                )


def test_a_users_criterion_is_lowered_by_what_it_says() -> None:
    sensitivities = {"empathy": ["random_response", "dullness", "order_shuffle"]}
    assert perturbations_for("empathy", "turn", sensitivities) == ("random", "dullness")
    assert perturbations_for("empathy", "dialogue", sensitivities) == ("order_shuffle",)
    assert chosen_perturbations(["empathy"], ["dullness"], "turn", sensitivities) == {"empathy": ("dullness",)}


def test_criteria_that_are_not_named_are_the_papers() -> None:
    assert list(chosen_perturbations(None, None, "turn")) == ["relevance"] == list(DEFAULT_CRITERIA["turn"])
    assert list(chosen_perturbations(None, None, "dialogue")) == ["coherence", "engagingness", "informativeness"]


@pytest.mark.parametrize(
    ("criteria", "kinds", "level", "words"),
    [
        (None, ["randm"], "turn", "'randm' is not a perturbation of a turn; did you mean 'random'"),
        (None, ["random_response"], "turn", "use 'random'"),
        (None, ["near"], "dialogue", "not a perturbation of a dialogue"),
        (["diversity"], None, "dialogue", "no perturbation lowers 'diversity' of a dialogue"),
        (["empathy"], None, "turn", "criteria.empathy.sensitive_to"),
        (["specificity"], ["near"], "turn", "none of the perturbations lowers 'specificity'; these do: dullness"),
    ],
)
def test_what_means_nothing_is_refused(
    criteria: list[str] | None, kinds: list[str] | None, level: Level, words: str
) -> None:
    with pytest.raises(UserError, match=words):
        chosen_perturbations(criteria, kinds, level)


def test_the_docs_name_the_negatives_of_each_criterion() -> None:
    text = (Path(__file__).parents[2] / "docs" / "training.md").read_text(encoding="utf-8")
    for criterion in ("understandability", "specificity", "coherence", "engagingness", "informativeness"):
        level: Level = "turn" if criterion in ("understandability", "specificity") else "dialogue"
        row = next(line for line in text.splitlines() if line.startswith(f"| `{criterion}`"))
        assert tuple(re.findall(r"`(\w+)`", row.split("|")[2])) == perturbations_for(criterion, level)
    assert set(perturbations_for("relevance", "turn")) == set(perturbations_of_level("turn")) - {"unnatural_paraphrase"}
    for kind in (*perturbations_of_level("turn"), *perturbations_of_level("dialogue")):
        assert f"`{kind}`" in text
